/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an agent's answers: refused, or within what the header says. */
#include <stdlib.h>
#include <string.h>
#include "fuzz_target.h"
#include "run/agent_message.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

/* What was taken is written and taken again. */
static void check_reading(const char *data, size_t size)
{
    struct agent_reading first, second;
    struct err e = ERR_INIT;
    struct text text = {0};
    if (agent_read_reading(data, size, &first, &e) != 0) {
        require(e.kind == ERR_FAILED);
        return;
    }
    agent_write_reading(&first, &text);
    require(agent_read_reading(text.data, text.length, &second, &e) == 0);
    require(first.at_ns == second.at_ns && first.steal_ns == second.steal_ns);
    text_free(&text);
}

static void check_series(const char *data, size_t size)
{
    static struct agent_row row[AGENT_SERIES_MAX];
    struct agent_series s = {.after_ns = 1, .row = row};
    struct err e = ERR_INIT;
    require(agent_read_series(data, size, &s, &e) == 0 || s.count == 0);
    require(s.count <= AGENT_SERIES_MAX);
    for (size_t i = 0; i < s.count; i++)
        require(row[i].at_ns > (i > 0 ? row[i - 1].at_ns : 1) && row[i].at_ns <= INT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_facts facts;
    struct err e = ERR_INIT;
    const char *text = (const char *)data;
    check_reading(text, size);
    check_series(text, size);
    if (agent_read_host(text, size, &facts, &e) == 0)
        require(strlen(facts.cpu_model) < sizeof facts.cpu_model);
    return 0;
}
