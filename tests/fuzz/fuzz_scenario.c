/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: refused with file and reason, or steps whose options read back as they are
 * echoed and whose arms are arms. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "cli/arm_options.h"
#include "cli/scenario.h"
#include "fuzz_target.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void require_reason(const struct err *e)
{
    require(e->kind == ERR_USAGE && strncmp(e->text, "fuzz.ini", 8) == 0);
    require(strpbrk(e->text, "\n\r\033") == NULL);
}

/* "arm.2" is the option "arm". */
static const struct option *row_of_echo(const struct options *o, const char *name)
{
    char own[64] = "";
    strncat(own, name, strcspn(name, ".") < sizeof own ? strcspn(name, ".") : sizeof own - 1);
    return options_find(o->rows, own);
}

static void require_same_after_echo(struct command_call *call)
{
    struct command_call again;
    struct result_pairs first = {0}, second = {0};
    struct err e = ERR_INIT;
    options_echo(&call->options, &first);
    command_call_init(&again, call->command, call->context);
    for (size_t i = 0; i < first.count; i++) {
        const struct option *row = row_of_echo(&call->options, first.pair[i].name);
        require(row != NULL);
        require(options_set(&again.options, row, first.pair[i].value, &e) == 0);
    }
    options_echo(&again.options, &second);
    require(first.count == second.count);
    for (size_t i = 0; i < first.count; i++)
        require(strcmp(first.pair[i].value, second.pair[i].value) == 0);
    pairs_free(&first);
    pairs_free(&second);
    command_call_fini(&again);
}

/* What --arm would say to each arm was said while the file was read. */
static void require_arms(struct command_call *call)
{
    const struct option *row = options_find(call->options.rows, "arm");
    const struct option_list *texts =
        row ? (const void *)((const char *)call->options.values + row->offset) : NULL;
    struct err e = ERR_INIT;
    for (size_t i = 0; texts && i < texts->count; i++)
        require(arm_options_check(texts->item[i], &e) == 0);
    struct arm_list *arms = texts ? arm_options_read(texts, &e) : NULL;
    free(arms); /* they may well not fit together */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tls_backends no_backends;
    static const struct err no_error = ERR_INIT;
    static const volatile sig_atomic_t no_stop;
    const struct command_context context = {
        .backends = &no_backends, .backends_error = &no_error, .stop = &no_stop};
    struct inifile file;
    struct scenario scenario;
    struct err e = ERR_INIT;
    if (inifile_parse((const char *)data, size, "fuzz.ini", &file, &e) != 0) {
        require_reason(&e);
        return 0;
    }
    if (scenario_build(&file, &context, &scenario, &e) == 0) {
        require(scenario.steps >= 1);
        for (size_t i = 0; i < scenario.steps; i++) {
            require(scenario.step[i].slug[0] != '.' && !strchr(scenario.step[i].slug, '/'));
            require_same_after_echo(&scenario.step[i].call);
            require_arms(&scenario.step[i].call);
        }
        scenario_free(&scenario);
    } else {
        require_reason(&e);
    }
    inifile_free(&file);
    return 0;
}
