/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/command.h"

const struct command *const *command_all(void)
{
    static const struct command *const all[] = {
        &cmd_cpu,    &cmd_load,    &cmd_capacity, &cmd_probe,  &cmd_serve, &cmd_run,
        &cmd_report, &cmd_compare, &cmd_plan,     &cmd_doctor, &cmd_list,  NULL,
    };
    return all;
}

const struct command *command_find(const char *name)
{
    for (const struct command *const *at = command_all(); *at; at++)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    return NULL;
}

const struct command *command_find_section(const char *section)
{
    for (const struct command *const *at = command_all(); *at; at++)
        if ((*at)->section && strcmp((*at)->section, section) == 0)
            return *at;
    return NULL;
}

int command_need_backends(const struct command_call *call, struct err *e)
{
    const struct command_context *context = call->context;
    if (context->backends->count > 0)
        return 0;
    return err_set(e, context->backends_error->kind, "%s", context->backends_error->text);
}

void command_call_init(struct command_call *call, const struct command *command,
                       const struct command_context *context)
{
    *call = (struct command_call){.command = command, .context = context};
    options_init(&call->options, command->options, mem_alloc_zeroed(1, command->values_size));
}

int command_call_run(struct command_call *call, struct err *e)
{
    const struct command *command = call->command;
    if (command->check && command->check(call, e) != 0)
        return -1;
    return command->run(call, e);
}

void command_call_fini(struct command_call *call)
{
    options_fini(&call->options);
    free(call->options.values);
    *call = (struct command_call){0};
}
