/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/measured.h"
#include "base/clock.h"
#include "base/host.h"
#include "cli/build_info.h"
#include "cli/stop.h"

struct result *measured_begin(enum result_kind kind, const struct command_call *call)
{
    struct result *result = result_new(kind);
    char stamp[40];
    result_set_text(&result->started_at, clock_wall_stamp(stamp, sizeof stamp));
    for (size_t i = 0; i < call->context->words; i++)
        result_add_command_word(result, call->context->word[i]);
    options_echo(&call->options, &result->config);
    build_describe(&result->build);
    return result;
}

static void set_cores(char **member, const struct cpu_set *set)
{
    char text[4096];
    if (set && set->count > 0)
        result_set_text(member, cpu_format_list(set, text, sizeof text));
}

void measured_add_host(struct result *result, const char *role, const struct cpu_set *client,
                       const struct cpu_set *server)
{
    struct result_host *host = result_add_host(result, role);
    host_read_facts(&host->facts);
    set_cores(&host->client_cores, client);
    set_cores(&host->server_cores, server);
}

void measured_end(struct result *result, const struct command_context *context)
{
    char name[32];
    if (result->is_interrupted && *context->stop != 0)
        result_set_text(&result->interrupted_by,
                        stop_signal_name((int)*context->stop, name, sizeof name));
}
