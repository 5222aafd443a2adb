/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/host.h"
#include "base/proc.h"
#include "run/agent_http.h"
#include "run/agent_message.h"
#include "run/sampler.h"

#define AWAY_SLACK_NS 300000u
#define STEAL_EVERY_TICKS 10u
#define LOOPBACK "127.0.0.1"

struct agent {
    struct agent_options options;
    struct address bound;
    struct host_facts host;
    struct agent_watch watch;
    struct agent_http http;
    struct loop *loop;
    struct loop_timer tick;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    struct agent_row *ring;
    size_t count; /* rows ever */
    uint64_t ticks, next_scan_ns, last_steal_ns, own_delay_ns;
};

/* ---- sampling ---- */

static const struct agent_row *last_row(const struct agent *a)
{
    return a->count > 0 ? &a->ring[(a->count - 1) % AGENT_RING] : NULL;
}

static void scan_sometimes(struct agent *a, uint64_t now_ns)
{
    if (now_ns < a->next_scan_ns)
        return;
    const uint64_t from_ns = clock_thread_cpu_ns();
    agent_watch_scan(&a->watch);
    const uint64_t cost_ns = clock_thread_cpu_ns() - from_ns;
    const uint64_t rest_ns = (uint64_t)((double)cost_ns / AGENT_COST_SHARE);
    a->next_scan_ns = now_ns + (rest_ns > AGENT_SCAN_NS ? rest_ns : AGENT_SCAN_NS);
}

static uint64_t read_steal(struct agent *a)
{
    struct cpu_losses losses;
    if (a->ticks++ % STEAL_EVERY_TICKS == 0) {
        cpu_read_losses(&a->options.cores, &losses);
        a->last_steal_ns = losses.has_steal ? losses.steal_ns : AGENT_UNKNOWN;
    }
    return a->last_steal_ns;
}

/* For how long nothing ran that should have: all were held by a signal; or, where we watch
 * ourselves, this thread was late although it had not to wait for a core. */
static uint64_t stopped_ns(struct agent *a, const struct agent_row *last, uint64_t now_ns)
{
    struct cpu_thread_record own;
    cpu_read_thread(&own);
    const uint64_t before_ns = a->own_delay_ns;
    a->own_delay_ns = own.has_run_delay ? own.run_delay_ns : 0;
    if (a->watch.totals.is_stopped)
        return now_ns - last->at_ns;
    if (a->options.target.pid > 0 || a->options.target.name != NULL)
        return 0;
    const uint64_t used_ns =
        a->watch.totals.cpu_ns - last->cpu_ns + (a->own_delay_ns - before_ns);
    return sample_away_ns(a->tick.at_ns, now_ns, used_ns, AWAY_SLACK_NS);
}

static void add_row(struct agent *a, uint64_t now_ns)
{
    const struct agent_totals *t = &a->watch.totals;
    const struct agent_row *last = last_row(a);
    struct agent_row *ring = a->ring;
    assert(ring != NULL);
    struct agent_row row = {
        .at_ns = now_ns,
        .cpu_ns = t->cpu_ns,
        .run_delay_ns = t->has_thread_times ? t->run_delay_ns : AGENT_UNKNOWN,
        .thread_cpu_ns = t->thread_cpu_ns,
        .thread_delay_ns = t->has_thread_times ? t->thread_delay_ns : AGENT_UNKNOWN,
        .steal_ns = read_steal(a),
        .active_threads = t->active_threads,
    };
    if (last != NULL) {
        uint64_t away_ns = stopped_ns(a, last, now_ns), waited_ns = 0;
        if (row.thread_delay_ns != AGENT_UNKNOWN && last->thread_delay_ns != AGENT_UNKNOWN)
            waited_ns = row.thread_delay_ns - last->thread_delay_ns;
        row.away_ns = last->away_ns + (waited_ns > away_ns ? waited_ns : away_ns);
    }
    ring[a->count++ % AGENT_RING] = row;
}

static void sample(struct agent *a, uint64_t now_ns)
{
    agent_watch_tick(&a->watch, now_ns);
    if (last_row(a) == NULL || now_ns > last_row(a)->at_ns)
        add_row(a, now_ns);
}

static void tick(void *arg, uint64_t now_ns)
{
    struct agent *a = arg;
    const uint64_t from_ns = clock_thread_cpu_ns();
    sample(a, now_ns);
    const uint64_t cost_ns = clock_thread_cpu_ns() - from_ns;
    const uint64_t rest_ns = (uint64_t)((double)cost_ns / AGENT_COST_SHARE);
    scan_sometimes(a, now_ns);
    loop_timer_set(a->loop, &a->tick,
                   now_ns + (rest_ns > AGENT_INTERVAL_NS ? rest_ns : AGENT_INTERVAL_NS));
}

/* ---- answers ---- */

static void write_label(const struct agent *a, char *out, size_t size)
{
    const struct agent_target *t = &a->options.target;
    if (t->name != NULL)
        snprintf(out, size, "%s", t->name);
    else if (t->pid > 0)
        snprintf(out, size, "pid %d", (int)t->pid);
    else
        snprintf(out, size, "self");
}

static void read_machine(const struct agent *a, struct agent_reading *r)
{
    struct cpu_losses losses;
    cpu_read_losses(&a->options.cores, &losses);
    r->cores = a->options.cores.count;
    r->busy_ns = losses.has_busy ? losses.busy_ns : AGENT_UNKNOWN;
    r->softirq_ns = losses.has_busy ? losses.softirq_ns : AGENT_UNKNOWN;
    r->steal_ns = losses.has_steal ? losses.steal_ns : AGENT_UNKNOWN;
    if (!proc_read_listen("", agent_watch_any(&a->watch), &r->listen_overflows,
                          &r->listen_drops))
        r->listen_overflows = r->listen_drops = AGENT_UNKNOWN;
}

static void write_sample(struct agent *a, struct text *body)
{
    struct agent_reading r = {.at_ns = clock_now_ns()};
    const struct agent_totals *t = &a->watch.totals;
    sample(a, r.at_ns);
    write_label(a, r.label, sizeof(r.label));
    r.is_present = t->processes > 0;
    r.processes = t->processes;
    r.threads = t->threads;
    r.cpu_ns = t->cpu_ns;
    r.run_delay_ns = t->has_thread_times ? t->run_delay_ns : AGENT_UNKNOWN;
    agent_watch_switches(&a->watch, &r.voluntary, &r.involuntary);
    read_machine(a, &r);
    agent_write_reading(&r, body);
}

/* Rows after `since_ns`, at most AGENT_SERIES_MAX: the client asks again from the last. */
static void write_series(const struct agent *a, uint64_t since_ns, struct text *body)
{
    size_t low = a->count > AGENT_RING ? a->count - AGENT_RING : 0, high = a->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (a->ring[middle % AGENT_RING].at_ns <= since_ns)
            low = middle + 1;
        else
            high = middle;
    }
    const size_t left = a->count - low, n = left < AGENT_SERIES_MAX ? left : AGENT_SERIES_MAX;
    struct agent_row *row = mem_alloc_zeroed(n + 1, sizeof(*row));
    for (size_t i = 0; i < n; i++)
        row[i] = a->ring[(low + i) % AGENT_RING];
    agent_write_series(row, n, n == left, body);
    free(row);
}

static bool answer(void *arg, const char *path, struct text *body)
{
    static const char series[] = "/v1/series?since=";
    struct agent *a = arg;
    uint64_t since_ns = 0;
    if (strcmp(path, "/v1/sample") == 0) {
        write_sample(a, body);
    } else if (strcmp(path, "/v1/host") == 0) {
        agent_write_host(&a->host, body);
    } else if (strcmp(path, "/v1/series") == 0) {
        write_series(a, 0, body);
    } else if (strncmp(path, series, strlen(series)) == 0) {
        const char *number = path + strlen(series);
        const char *end = *number == ' ' ? NULL : file_scan_u64(number, &since_ns);
        if (end == NULL || *end != '\0')
            return false;
        write_series(a, since_ns, body);
    } else {
        return false;
    }
    return true;
}

/* ---- its life ---- */

static void *agent_main(void *arg)
{
    struct agent *a = arg;
    prctl(PR_SET_NAME, "agent");
    a->watch.target.own_tid = gettid();
    agent_watch_scan(&a->watch);
    tick(a, clock_now_ns());
    while (!atomic_load(&a->is_stopping))
        if (loop_run_once(a->loop, LOOP_NEVER) < 0)
            break;
    return NULL;
}

int agent_parse_address(const char *text, struct address *out, struct err *e)
{
    struct address_name name;
    size_t count;
    if (address_parse(text, ADDRESS_LISTEN, 0, &name, e) != 0)
        return -1;
    if (name.host[0] == '\0') {
        snprintf(name.host, sizeof(name.host), LOOPBACK);
        name.is_literal = true;
    }
    return address_resolve(&name, out, 1, &count, e);
}

static int begin(struct agent *a, struct err *e)
{
    const struct socket_listen_options listen = {.backlog = 0};
    if (agent_watch_init(&a->watch, "", &a->options.target, e) != 0)
        return -1;
    if ((a->loop = loop_new(NULL, e)) == NULL)
        return -1;
    const int listener = a->options.listener > 0
                             ? a->options.listener
                             : socket_listen(&a->options.at, &listen, &a->bound, e);
    if (listener < 0 || agent_http_init(&a->http, a->loop, listener, answer, a, e) != 0)
        return -1;
    a->tick = (struct loop_timer){.fire = tick, .arg = a};
    a->ring = mem_alloc_zeroed(AGENT_RING, sizeof(*a->ring));
    const int error = pthread_create(&a->thread, NULL, agent_main, a);
    a->has_thread = error == 0;
    errno = error;
    return error == 0 ? 0 : err_set_errno(e, "agent thread");
}

struct agent *agent_start(const struct agent_options *options, struct err *e)
{
    struct agent *a = mem_alloc_zeroed(1, sizeof(*a));
    a->options = *options;
    if (a->options.cores.count == 0)
        cpu_allowed(&a->options.cores);
    host_read_facts(&a->host);
    if (begin(a, e) == 0)
        return a;
    agent_stop(a);
    return NULL;
}

const struct address *agent_address(const struct agent *a)
{
    return &a->bound;
}

void agent_stop(struct agent *a)
{
    if (a == NULL)
        return;
    if (a->has_thread) {
        atomic_store(&a->is_stopping, true);
        loop_wake(a->loop);
        pthread_join(a->thread, NULL);
    }
    agent_http_fini(&a->http);
    if (a->loop != NULL)
        loop_free(a->loop);
    agent_watch_fini(&a->watch);
    free(a->ring);
    free(a);
}
