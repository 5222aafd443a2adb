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
#define TICK_CLEAR_NS 300000u /* no bookkeeping so shortly before an arrival */
#define TICK_BEHIND_NS 50000u
#define TICK_LATEST_NS (SAMPLER_INTERVAL_NS + SAMPLER_INTERVAL_NS / 2)

/* A connection as the loop sees it; `conn` first: the lists hold pointers to it. */
struct worker_conn {
    struct conn conn;
    struct loop_watch watch;
    struct loop_timer again; /* its step was cut */
    struct worker *worker;
};

static void arrive(void *arg, uint64_t now_ns);
static void tick(void *arg, uint64_t now_ns);
static void time_out(void *arg, uint64_t now_ns);
static void drive(void *arg, uint32_t events);
static void go_on(void *arg, uint64_t now_ns);

int worker_init(struct worker *w, unsigned index, unsigned count, const struct cpu_set *core,
                enum worker_wait wait, struct err *e)
{
    const struct loop_options options = {.spin = wait == WORKER_SPINS,
                                         .poll_early = wait == WORKER_POLLS_EARLY};
    memset(w, 0, sizeof(*w));
    w->index = index;
    w->count = count;
    w->core = *core;
    w->open.next = w->open.previous = &w->open;
    w->buffers = mem_alloc_zeroed(1, sizeof(*w->buffers));
    w->setting.buffers = w->buffers;
    w->arrival = (struct loop_timer){.fire = arrive, .arg = w, .is_prompt = true};
    w->tick = (struct loop_timer){.fire = tick, .arg = w};
    w->timeout = (struct loop_timer){.fire = time_out, .arg = w};
    sampler_init(&w->sampler, core);
    w->is_spinning = options.spin;
    w->loop = loop_new(&options, e);
    return w->loop != NULL ? 0 : -1;
}

void worker_fini(struct worker *w)
{
    for (size_t i = 0; i < w->chunks; i++)
        free(w->chunk[i]);
    free(w->chunk);
    free(w->buffers);
    sampler_fini(&w->sampler);
    loop_free(w->loop);
}

/* ---- connections: taken from chunks, never given back to the allocator ---- */

static struct worker_conn *worker_conn_of(struct conn *c)
{
    return (struct worker_conn *)(void *)c;
}

static struct conn *take_conn(struct worker *w)
{
    if (w->free == NULL) {
        struct worker_conn *chunk = mem_alloc_zeroed(CHUNK, sizeof(*chunk));
        w->chunk = mem_resize(w->chunk, w->chunks + 1, sizeof(*w->chunk));
        w->chunk[w->chunks++] = chunk;
        for (unsigned i = 0; i < CHUNK; i++) {
            chunk[i].watch = (struct loop_watch){.ready = drive, .arg = &chunk[i]};
            chunk[i].again = (struct loop_timer){.fire = go_on, .arg = &chunk[i]};
            chunk[i].worker = w;
            chunk[i].conn.next = w->free;
            w->free = &chunk[i].conn;
        }
    }
    struct conn *c = w->free;
    w->free = c->next;
    return c;
}

static void list_open(struct worker *w, struct conn *c)
{
    c->next = &w->open;
    c->previous = w->open.previous;
    c->previous->next = c;
    w->open.previous = c;
    w->in_flight++;
    if (!loop_timer_is_set(&w->timeout))
        loop_timer_set(w->loop, &w->timeout, c->start_ns + w->plan->timeout_ns);
}

static void release(struct worker *w, struct conn *c)
{
    c->next = w->free;
    w->free = c;
    atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
}

static void set_arrival(struct worker *w);

/* Its descriptor is closed already. */
static void unlist_open(struct worker *w, struct conn *c)
{
    loop_forget(w->loop, &worker_conn_of(c)->watch);
    loop_timer_stop(w->loop, &worker_conn_of(c)->again);
    c->previous->next = c->next;
    c->next->previous = c->previous;
    w->in_flight--;
    release(w, c);
    if (w->is_held_back)
        set_arrival(w);
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
    if (step == CONN_WAITS &&
        loop_add(w->loop, &worker_conn_of(c)->watch, c->wire.socket.fd, LOOP_EDGES) != 0)
        step = conn_fail_local(c, errno);
    if (step == CONN_WAITS)
        list_open(w, c);
    else
        release(w, c);
}

/* The clock is read for each: what came before one of them is its lag. */
static void start_due(struct worker *w)
{
    uint64_t now_ns;
    while (w->starts_left > 0 && w->next_due_ns <= (now_ns = clock_now_ns())) {
        if (w->in_flight >= w->plan->max_in_flight) {
            w->is_held_back = true;
            return;
        }
        start_one(w, now_ns);
        advance(w);
        w->starts_left--;
    }
}

/* Where nothing may be started now, the next round or the end of a connection sets it. */
static void set_arrival(struct worker *w)
{
    const bool may_start = w->may_start && w->has_next && w->starts_left > 0 &&
                           w->in_flight < w->plan->max_in_flight;
    if (may_start && !loop_timer_is_set(&w->arrival))
        loop_timer_set(w->loop, &w->arrival, w->next_due_ns);
}

static void arrive(void *arg, uint64_t now_ns)
{
    struct worker *w = arg;
    (void)now_ns;
    start_due(w);
    set_arrival(w);
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

static void step(struct worker_conn *c, bool has_ended, bool has_error)
{
    struct loop *loop = c->worker->loop;
    if (conn_step(&c->conn, has_ended, has_error) == CONN_OVER)
        unlist_open(c->worker, &c->conn);
    else if (c->conn.wire.is_cut)
        loop_timer_set(loop, &c->again, loop_now_ns(loop));
}

static void drive(void *arg, uint32_t events)
{
    const bool has_error = (events & (EPOLLERR | EPOLLHUP)) != 0;
    step(arg, (events & EPOLLRDHUP) != 0 || has_error, has_error);
}

static void go_on(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    step(arg, true, false);
}

/* One timer for all: the oldest times out first, and when it ends otherwise the timer finds
 * nothing to do once. */
static void time_out(void *arg, uint64_t now_ns)
{
    struct worker *w = arg;
    struct conn *c;
    while ((c = w->open.next) != &w->open && c->start_ns + w->plan->timeout_ns <= now_ns) {
        conn_time_out(c, now_ns);
        unlist_open(w, c);
    }
    if (c != &w->open)
        loop_timer_set(w->loop, &w->timeout, c->start_ns + w->plan->timeout_ns);
}

/* Of this trial's thread.  Polling is waiting. */
static uint64_t own_cpu_ns(const struct worker *w)
{
    return clock_thread_cpu_ns() - (loop_polled_cpu_ns(w->loop) - w->polled_before_ns);
}

/* It may wait until the arrival that is due soon has been started, and its neighbours too;
 * not for ever. */
static void tick(void *arg, uint64_t now_ns)
{
    struct worker *w = arg;
    if (w->may_start && w->next_due_ns < now_ns + TICK_CLEAR_NS &&
        now_ns < w->ticked_ns + TICK_LATEST_NS) {
        sampler_put_off(&w->sampler, w->next_due_ns + TICK_BEHIND_NS);
    } else {
        sampler_tick(&w->sampler, now_ns, own_cpu_ns(w));
        w->ticked_ns = now_ns;
    }
    loop_timer_set(w->loop, &w->tick, w->sampler.next_tick_ns);
}

/* ---- one trial ---- */

static void mark_measured(struct worker *w, uint64_t now_ns)
{
    w->measured_cpu_from_ns = own_cpu_ns(w);
    w->measured_waited_from_ns = loop_waited_ns(w->loop);
    w->measured_wall_from_ns = now_ns;
}

static void close_account(struct worker *w, uint64_t now_ns)
{
    w->cpu_ns = own_cpu_ns(w) - w->measured_cpu_from_ns;
    w->wall_ns = now_ns - w->measured_wall_from_ns;
    /* Polling is not work: what is not spent waiting is. */
    w->busy_ns = w->wall_ns - (loop_waited_ns(w->loop) - w->measured_waited_from_ns);
    if (!w->is_spinning && w->cpu_ns < w->busy_ns)
        w->busy_ns = w->cpu_ns;
}

static bool is_cancelled(const struct worker *w)
{
    return (w->stop != NULL && *w->stop != 0) ||
           (w->cancel != NULL && atomic_load_explicit(w->cancel, memory_order_relaxed));
}

/* Until the schedule's end or, once nothing may be started any more, until all is over.  At
 * most a few are started in a round: a worker that is far behind would otherwise only begin
 * and never finish anything. */
static void run_until(struct worker *w, uint64_t end_ns)
{
    while (clock_now_ns() < end_ns && !is_cancelled(w) && w->error.kind == ERR_NONE) {
        if (!w->may_start && w->open.next == &w->open)
            break;
        w->starts_left = STARTS_AT_ONCE;
        set_arrival(w);
        if (loop_run_once(w->loop, end_ns) < 0)
            err_set_errno(&w->error, "worker: epoll");
    }
}

static void run_schedule(struct worker *w)
{
    const struct worker_plan *plan = w->plan;
    const uint64_t end_ns = plan->start_ns + plan->schedule->duration_ns;
    w->may_start = true;
    run_until(w, plan->start_ns);
    run_until(w, plan->start_ns + plan->warmup_ns);
    mark_measured(w, clock_now_ns());
    run_until(w, end_ns);
    /* Due before the end, late by a moment only: they are started. */
    w->starts_left = STARTS_AT_ONCE;
    if (!is_cancelled(w))
        start_due(w);
    close_account(w, clock_now_ns());
    w->may_start = false;
    loop_timer_stop(w->loop, &w->arrival);
    count_not_started(w);
    run_until(w, end_ns + plan->grace_ns);
}

static void run_trial(struct worker *w)
{
    const struct worker_plan *plan = w->plan;
    schedule_start(&w->cursor, plan->schedule, w->index, w->count);
    advance(w);
    w->polled_before_ns = loop_polled_cpu_ns(w->loop);
    w->ticked_ns = clock_now_ns();
    sampler_begin(&w->sampler, w->ticked_ns, own_cpu_ns(w));
    loop_timer_set(w->loop, &w->tick, w->sampler.next_tick_ns);
    run_schedule(w);
    const uint64_t now_ns = clock_now_ns();
    while (w->open.next != &w->open) {
        struct conn *c = w->open.next;
        conn_abandon(c, now_ns);
        unlist_open(w, c);
    }
    loop_timer_stop(w->loop, &w->tick);
    loop_timer_stop(w->loop, &w->timeout);
    sampler_tick(&w->sampler, now_ns, own_cpu_ns(w));
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    prctl(PR_SET_NAME, "client");
    if (w->core.count > 0 && cpu_pin_thread_to_set(&w->core, &w->error) != 0)
        return NULL;
    if (w->setting.link == NULL || link_enter(w->setting.link, LINK_CLIENT, &w->error) == 0)
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

void worker_wake(struct worker *w)
{
    loop_wake(w->loop);
}
