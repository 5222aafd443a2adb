/* SPDX-License-Identifier: Apache-2.0 */
#include "run/worker.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/clock.h"
#include "base/text.h"

#define CHUNK 64u
#define STARTS_AT_ONCE 8u
#define NEVER UINT64_MAX
#define WATCHED ((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLRDHUP) | (uint32_t)EPOLLET)

int worker_init(struct worker *w, unsigned index, unsigned count, const struct cpu_set *core,
                bool is_spinning, struct err *e)
{
    memset(w, 0, sizeof(*w));
    w->index = index;
    w->count = count;
    w->core = *core;
    w->open.next = w->open.previous = &w->open;
    w->buffers = mem_alloc_zeroed(1, sizeof(*w->buffers));
    w->setting.buffers = w->buffers;
    sampler_init(&w->sampler, core);
    return poller_init(&w->poller, is_spinning, e);
}

void worker_fini(struct worker *w)
{
    for (size_t i = 0; i < w->chunks; i++)
        free(w->chunk[i]);
    free(w->chunk);
    free(w->buffers);
    sampler_fini(&w->sampler);
    poller_fini(&w->poller);
}

/* ---- connections: taken from chunks, never given back to the allocator ---- */

static struct conn *take_conn(struct worker *w)
{
    if (w->free == NULL) {
        struct conn *chunk = mem_alloc_zeroed(CHUNK, sizeof(*chunk));
        w->chunk = mem_resize(w->chunk, w->chunks + 1, sizeof(*w->chunk));
        w->chunk[w->chunks++] = chunk;
        for (unsigned i = 0; i < CHUNK; i++) {
            chunk[i].next = w->free;
            w->free = &chunk[i];
        }
    }
    struct conn *c = w->free;
    w->free = c->next;
    return c;
}

static void link_open(struct worker *w, struct conn *c)
{
    c->next = &w->open;
    c->previous = w->open.previous;
    c->previous->next = c;
    w->open.previous = c;
    w->in_flight++;
}

static void release(struct worker *w, struct conn *c)
{
    c->next = w->free;
    w->free = c;
    atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
}

static void unlink_open(struct worker *w, struct conn *c)
{
    c->previous->next = c->next;
    c->next->previous = c->previous;
    w->in_flight--;
    release(w, c);
}

/* ---- arrivals ---- */

/* Which arm's turn it is: in each round every arm once, in random order. */
static unsigned arm_of(struct worker *w, uint64_t index)
{
    const struct worker_plan *plan = w->plan;
    if (!plan->is_interleaved)
        return plan->arm;
    const uint64_t round = index / plan->arms;
    if (round + 1 != w->turn_round) {
        size_t order[256];
        struct rng rng;
        rng_init(&rng, rng_derive_seed(plan->seed, round));
        for (unsigned i = 0; i < plan->arms; i++)
            order[i] = i;
        rng_shuffle(&rng, order, plan->arms);
        for (unsigned i = 0; i < plan->arms; i++)
            w->turn[i] = (unsigned)order[i];
        w->turn_round = round + 1;
    }
    return w->turn[index % plan->arms];
}

static void advance(struct worker *w)
{
    uint64_t due_ns = 0;
    w->has_next = schedule_next(&w->cursor, &w->next_index, &due_ns);
    w->next_due_ns = w->has_next ? w->plan->start_ns + due_ns : NEVER;
    w->is_held_back = false;
}

static void start_one(struct worker *w, uint64_t now_ns)
{
    const unsigned arm_index = arm_of(w, w->next_index);
    struct conn_arm *arm = &w->arm[arm_index];
    struct conn *c = take_conn(w);
    c->arm_index = arm_index;
    if (w->is_held_back && w->next_due_ns >= w->setting.measured_from_ns)
        arm->shard.held_back++;
    enum conn_step step = conn_start(c, &w->setting, arm, w->next_due_ns, now_ns);
    if (step == CONN_WAITS && poller_add(&w->poller, c->wire.socket.fd, WATCHED, c) != 0)
        step = conn_fail_local(c, errno);
    if (step == CONN_WAITS)
        link_open(w, c);
    else
        release(w, c);
}

/* At most a few at a time: a worker that is far behind would otherwise only begin and never
 * finish anything. */
static void start_due(struct worker *w, uint64_t *now_ns)
{
    for (unsigned i = 0; i < STARTS_AT_ONCE && w->next_due_ns <= *now_ns; i++) {
        if (w->in_flight >= w->plan->max_in_flight) {
            w->is_held_back = true;
            return;
        }
        start_one(w, *now_ns);
        advance(w);
        *now_ns = clock_now_ns();
    }
}

/* What is still to come when the time is over. */
static void count_not_started(struct worker *w)
{
    for (; w->has_next; advance(w)) {
        if (w->next_due_ns < w->setting.measured_from_ns)
            continue;
        struct shard *s = &w->arm[arm_of(w, w->next_index)].shard;
        s->tally.scheduled++;
        s->tally.not_started++;
    }
}

/* ---- events ---- */

static void drive(struct worker *w, const struct epoll_event *event)
{
    struct conn *c = event->data.ptr;
    const bool has_error = (event->events & (EPOLLERR | EPOLLHUP)) != 0;
    const bool has_ended = (event->events & EPOLLRDHUP) != 0 || has_error;
    if (c->state == CONN_STATE_IDLE) /* ended earlier in this batch */
        return;
    if (conn_step(c, has_ended, has_error) == CONN_OVER)
        unlink_open(w, c);
}

static void time_out(struct worker *w, uint64_t now_ns)
{
    struct conn *c;
    while ((c = w->open.next) != &w->open && c->start_ns + w->plan->timeout_ns <= now_ns) {
        conn_time_out(c, now_ns);
        unlink_open(w, c);
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_deadline(const struct worker *w, uint64_t end_ns)
{
    uint64_t at_ns = earlier(end_ns, w->sampler.next_tick_ns);
    if (w->in_flight < w->plan->max_in_flight)
        at_ns = earlier(at_ns, w->next_due_ns);
    if (w->open.next != &w->open)
        at_ns = earlier(at_ns, w->open.next->start_ns + w->plan->timeout_ns);
    return at_ns;
}

/* ---- one trial ---- */

static void mark_measured(struct worker *w, uint64_t now_ns)
{
    w->measured_cpu_from_ns = clock_thread_cpu_ns();
    w->measured_waited_from_ns = w->poller.waited_ns;
    w->measured_wall_from_ns = now_ns;
}

static void close_account(struct worker *w, uint64_t now_ns)
{
    w->cpu_ns = clock_thread_cpu_ns() - w->measured_cpu_from_ns;
    w->wall_ns = now_ns - w->measured_wall_from_ns;
    /* Polling is not work: what is not spent waiting is. */
    w->busy_ns = w->wall_ns - (w->poller.waited_ns - w->measured_waited_from_ns);
    if (!w->poller.is_spinning && w->cpu_ns < w->busy_ns)
        w->busy_ns = w->cpu_ns;
}

static bool is_cancelled(const struct worker *w)
{
    return (w->stop != NULL && *w->stop != 0) ||
           (w->cancel != NULL && atomic_load_explicit(w->cancel, memory_order_relaxed));
}

/* Until the schedule's end or, once nothing may be started any more, until all is over. */
static uint64_t run_until(struct worker *w, uint64_t end_ns, bool may_start)
{
    uint64_t now_ns = clock_now_ns();
    while (now_ns < end_ns && !is_cancelled(w)) {
        if (!may_start && w->open.next == &w->open)
            break;
        const int n = poller_wait(&w->poller, next_deadline(w, end_ns), &now_ns);
        if (may_start)
            start_due(w, &now_ns);
        for (int i = 0; i < n; i++)
            drive(w, &w->poller.event[i]);
        if (n > 0)
            now_ns = clock_now_ns();
        time_out(w, now_ns);
        if (now_ns >= w->sampler.next_tick_ns)
            sampler_tick(&w->sampler, now_ns);
    }
    return now_ns;
}

static void run_trial(struct worker *w)
{
    const struct worker_plan *plan = w->plan;
    const uint64_t end_ns = plan->start_ns + plan->schedule->duration_ns;
    schedule_start(&w->cursor, plan->schedule, w->index, w->count);
    advance(w);
    sampler_reset(&w->sampler);
    sampler_tick(&w->sampler, clock_now_ns()); /* so that the first window is covered */
    w->sampler.next_tick_ns = plan->start_ns;
    clock_sleep_until_ns(plan->start_ns);
    run_until(w, plan->start_ns + plan->warmup_ns, true);
    mark_measured(w, clock_now_ns());
    uint64_t now_ns = run_until(w, end_ns, true);
    /* Due before the end, late by a moment only: they are started. */
    if (!is_cancelled(w))
        start_due(w, &now_ns);
    close_account(w, now_ns);
    count_not_started(w);
    now_ns = run_until(w, end_ns + plan->grace_ns, false);
    while (w->open.next != &w->open) {
        struct conn *c = w->open.next;
        conn_abandon(c, now_ns);
        unlink_open(w, c);
    }
    sampler_tick(&w->sampler, clock_now_ns());
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    prctl(PR_SET_TIMERSLACK, 1UL);
    prctl(PR_SET_NAME, "client");
    if (w->core.count > 0 && cpu_pin_thread_to_set(&w->core, &w->error) != 0)
        return NULL;
    run_trial(w);
    return NULL;
}

int worker_begin(struct worker *w, const struct worker_plan *plan, struct err *e)
{
    assert(plan->arms <= 256 && plan->max_in_flight >= 1);
    w->plan = plan;
    w->turn_round = 0;
    w->cpu_ns = w->busy_ns = w->wall_ns = 0;
    w->error = (struct err)ERR_INIT;
    w->setting.measured_from_ns = plan->start_ns + plan->warmup_ns;
    for (unsigned i = 0; i < w->arms; i++)
        shard_reset(&w->arm[i].shard);
    const int error = pthread_create(&w->thread, NULL, worker_main, w);
    if (error != 0) {
        errno = error;
        return err_set_errno(e, "worker thread");
    }
    return 0;
}

int worker_end(struct worker *w, struct err *e)
{
    pthread_join(w->thread, NULL);
    if (w->error.kind == ERR_NONE)
        return 0;
    if (e != NULL)
        *e = w->error;
    return -1;
}
