/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent beside an external target tells about a trial. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "run/load_parts.h"

#define FETCH_EVERY_NS UINT64_C(300000000000) /* before the agent's ring has turned round */
#define ROW(member) offsetof(struct agent_row, member)

/* ---- the agent itself ---- */

int load_agent_find(struct load *l, struct err *e)
{
    struct agent_reading reading;
    struct agent_clock clock;
    struct host_facts facts;
    if (l->options->agent == NULL)
        return 0;
    if (agent_client_find(l->options->agent, &l->agent, e) != 0 ||
        agent_client_read_host(&l->agent, &facts, e) != 0 ||
        agent_client_read(&l->agent, &reading, &clock, e) != 0)
        return err_add_context(e, "--agent");
    if (!reading.is_present)
        return err_set(e, ERR_FAILED, "--agent: %.80s: what it watches (%s) is not running",
                       l->options->agent, reading.label);
    l->has_agent = true;
    struct result_host *host = result_add_host(l->result, "server");
    host->facts = facts;
    host->clock_offset_ns = (double)clock.offset_ns;
    host->clock_error_ns = (double)clock.error_ns;
    return 0;
}

int load_agent_adopt(struct load *l, struct err *e)
{
    if (agent_client_find(l->child.agent, &l->agent, e) != 0)
        return err_add_context(e, "%s: its agent", l->child.name);
    l->has_agent = true;
    return 0;
}

static void lose(struct load_window *w, const char *code, const char *why)
{
    w->has_agent = false;
    if (w->agent_problem != NULL)
        return;
    w->agent_problem = code;
    snprintf(w->agent_message, sizeof(w->agent_message), "%.200s", why);
}

static void read_agent(struct load *l, struct load_window *w, struct agent_reading *out,
                       struct agent_clock *clock)
{
    struct err why = ERR_INIT;
    char gone[AGENT_LABEL_BYTES + 40];
    if (agent_client_read(&l->agent, out, clock, &why) != 0) {
        lose(w, "agent-lost", why.text);
    } else if (!out->is_present) {
        if (l->has_child)
            snprintf(gone, sizeof(gone), "%s has ended", l->child.name);
        else
            snprintf(gone, sizeof(gone), "what the agent watches (%s) is gone", out->label);
        lose(w, "agent-process-gone", gone);
    }
}

/* The rows that are new, behind those there are, in the agent's time. */
static void fetch(struct load *l, struct load_window *w)
{
    struct agent_row *more = NULL;
    struct err why = ERR_INIT;
    size_t n = 0;
    const uint64_t since_ns = w->agent_rows > 0 ? w->agent_row[w->agent_rows - 1].at_ns
                                                : w->agent_before.at_ns - 2 * AGENT_INTERVAL_NS;
    if (agent_client_read_series(&l->agent, since_ns, &more, &n, &why) == 0) {
        w->agent_row = mem_resize(w->agent_row, w->agent_rows + n + 1, sizeof(*more));
        memcpy(w->agent_row + w->agent_rows, more, n * sizeof(*more));
        w->agent_rows += n;
    } else {
        lose(w, "agent-lost", why.text);
    }
    free(more);
    w->agent_fetched_ns = clock_now_ns();
}

void load_agent_before(struct load *l, struct load_window *w)
{
    w->has_agent = l->has_agent;
    w->agent_fetched_ns = clock_now_ns();
    if (w->has_agent)
        read_agent(l, w, &w->agent_before, &w->agent_clock_before);
}

void load_agent_watch(struct load *l, struct load_window *w)
{
    if (w->has_agent && clock_now_ns() - w->agent_fetched_ns > FETCH_EVERY_NS)
        fetch(l, w);
}

/* Busiest thread and longest wait, as if they were one worker's. */
static void make_samples(struct load_window *w)
{
    w->server_workers = 1;
    w->server_sample_count[0] = w->agent_rows;
    w->server_samples[0] = mem_alloc_zeroed(w->agent_rows + 1, sizeof(struct sample));
    for (size_t i = 0; i < w->agent_rows; i++) {
        struct agent_row *row = &w->agent_row[i];
        row->at_ns =
            agent_clock_ours(&w->agent_clock_before, &w->agent_clock_after, row->at_ns);
        w->server_samples[0][i] = (struct sample){.at_ns = row->at_ns,
                                                  .cpu_ns = row->thread_cpu_ns,
                                                  .run_delay_ns = row->thread_delay_ns,
                                                  .away_ns = row->away_ns,
                                                  .steal_ns = row->steal_ns};
    }
}

void load_agent_after(struct load *l, struct load_window *w)
{
    if (w->has_agent)
        read_agent(l, w, &w->agent_after, &w->agent_clock_after);
    if (w->has_agent && (w->agent_after.at_ns <= w->agent_before.at_ns ||
                         w->agent_after.cpu_ns < w->agent_before.cpu_ns))
        lose(w, "agent-lost", "the agent, or its host, was started anew");
    if (w->has_agent)
        fetch(l, w);
    if (w->has_agent)
        make_samples(w);
}

/* ---- figures ---- */

/* A total as it was at a time of ours, on the line between the two rows around it; NAN where
 * there are none, or it is not known. */
static double total_at(const struct load_window *w, size_t member, double at_ns)
{
    size_t i = 0;
    while (i < w->agent_rows && (double)w->agent_row[i].at_ns <= at_ns)
        i++;
    if (i == 0 || i == w->agent_rows)
        return NAN;
    const char *a = (const char *)&w->agent_row[i - 1], *b = (const char *)&w->agent_row[i];
    const uint64_t from = *(const uint64_t *)(const void *)(a + member);
    const uint64_t to = *(const uint64_t *)(const void *)(b + member);
    const double span_ns = (double)(w->agent_row[i].at_ns - w->agent_row[i - 1].at_ns);
    if (from == AGENT_UNKNOWN || to == AGENT_UNKNOWN || to < from || !(span_ns > 0))
        return NAN;
    const double part = (at_ns - (double)w->agent_row[i - 1].at_ns) / span_ns;
    return (double)from + part * (double)(to - from);
}

static double change(const struct load_window *w, size_t member, double from_ns, double to_ns)
{
    const double d = total_at(w, member, to_ns) - total_at(w, member, from_ns);
    return d >= 0 ? d : NAN;
}

/* Running or waiting for a core, as a share of what the threads that work could; as the
 * embedded server's workers. */
static double busy_share(const struct load_window *w)
{
    const double from_ns = (double)w->measured_ns, to_ns = (double)w->end_ns;
    const double cpu_ns = change(w, ROW(cpu_ns), from_ns, to_ns);
    const double delay_ns = change(w, ROW(run_delay_ns), from_ns, to_ns);
    double active = 0, rows = 0;
    for (size_t i = 0; i < w->agent_rows; i++)
        if (w->agent_row[i].at_ns > w->measured_ns && w->agent_row[i].at_ns <= w->end_ns) {
            active += (double)w->agent_row[i].active_threads;
            rows++;
        }
    if (isnan(cpu_ns)) /* fmin would take it for 1 */
        return NAN;
    const double workers = rows > 0 ? fmax(1, active / rows) : 1;
    return fmin(1, (cpu_ns + (isnan(delay_ns) ? 0 : delay_ns)) / ((to_ns - from_ns) * workers));
}

void load_agent_fill_machine(const struct load_window *w, struct result_trial *t)
{
    if (w->has_agent)
        t->server_busy = busy_share(w);
}

bool load_agent_steal(const struct load_window *w, double *share, double *cores)
{
    const struct agent_reading *a = &w->agent_before, *b = &w->agent_after;
    if (!w->has_agent || a->steal_ns == AGENT_UNKNOWN || b->steal_ns == AGENT_UNKNOWN ||
        b->steal_ns < a->steal_ns || b->cores == AGENT_UNKNOWN || b->cores == 0)
        return false;
    *cores = (double)b->cores;
    *share = (double)(b->steal_ns - a->steal_ns) / ((double)(b->at_ns - a->at_ns) * *cores);
    return true;
}

/* Of the measured part, to the end of its last handshake. */
void load_agent_fill_cpu(const struct load_window *w, struct result_trial *t)
{
    if (!w->has_agent || t->tally.completed == 0)
        return;
    const double from_ns = (double)w->measured_ns, to_ns = from_ns + t->elapsed_s * 1e9;
    t->side_cpu_us[RESULT_SERVER] =
        change(w, ROW(cpu_ns), from_ns, to_ns) / 1e3 / (double)t->tally.completed;
}

void load_agent_add_problems(struct load *l, const struct load_window *w, const char *arm,
                             unsigned trial)
{
    const struct agent_reading *a = &w->agent_before, *b = &w->agent_after;
    char message[160];
    if (w->agent_problem != NULL)
        result_add_problem(l->result, RESULT_NOTE, w->agent_problem, arm, trial,
                           w->agent_message);
    if (!w->has_agent || a->listen_overflows == AGENT_UNKNOWN ||
        b->listen_overflows == AGENT_UNKNOWN || b->listen_overflows <= a->listen_overflows)
        return;
    snprintf(message, sizeof(message),
             "the server's accept queue was full %" PRIu64 " times; such connections wait a "
             "second or more",
             b->listen_overflows - a->listen_overflows);
    result_add_problem(l->result, RESULT_NOTE, "listen-overflow", arm, trial, message);
}

void load_agent_window_fini(struct load_window *w)
{
    free(w->agent_row);
    w->agent_row = NULL;
    w->agent_rows = 0;
}
