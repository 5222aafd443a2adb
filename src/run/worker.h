/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - one thread of the load generator: starts what is due, drives what is open.
 *
 * Layer: run.
 * Shape: a worker keeps its arms (TLS contexts, sessions, shards) and its connections over
 *   all trials; a trial is one run of its thread.  Arrival i of the schedule belongs to
 *   worker i mod count.  A due arrival waits for one connection's step at most; a worker
 *   that is far behind starts a few only between two looks at what is open.
 * Units: CLOCK_MONOTONIC ns.
 * Threads: the owner fills in and reads between trials; the thread has it during one.
 */
#ifndef RUN_WORKER_H
#define RUN_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include "base/cpu.h"
#include "net/link.h"
#include "net/loop.h"
#include "run/conn.h"
#include "run/sampler.h"
#include "run/schedule.h"

/* What all workers do in one trial; read-only while it runs. */
struct worker_plan {
    const struct schedule *schedule; /* warm-up and measured part */
    uint64_t start_ns;               /* when the schedule begins */
    uint64_t warmup_ns, grace_ns, timeout_ns;
    unsigned max_in_flight; /* of one worker, >= 1 */
    bool is_interleaved;    /* arrivals take arms in turn, else all are of `arm` */
    unsigned arm, arms;
    uint64_t seed; /* of the turns' order */
};

struct worker_conn;

struct worker {
    unsigned index, count;
    struct cpu_set core; /* pinned to; count 0: not */
    struct conn_arm *arm;
    unsigned arms;
    struct conn_setting setting;
    bool is_spinning;
    struct loop *loop;
    struct loop_timer arrival, tick, timeout; /* of the next one, the sampler, the oldest */
    struct sampler sampler;
    uint64_t ticked_ns; /* its last tick */
    struct wire_buffers *buffers;

    /* one trial */
    const struct worker_plan *plan;
    const volatile sig_atomic_t *stop;
    atomic_bool *cancel; /* the trial is void: end at once */
    struct schedule_cursor cursor;
    uint64_t next_index, next_due_ns;
    bool has_next, is_held_back, may_start;
    unsigned starts_left; /* of this round */
    unsigned turn[256];
    uint64_t turn_round;
    struct conn open;  /* list head: in flight, oldest start first */
    struct conn *free; /* unused connections */
    struct worker_conn **chunk;
    size_t chunks;
    unsigned in_flight;

    /* what it cost: of the measured part; without polling, which is waiting */
    uint64_t cpu_ns, busy_ns, wall_ns;
    uint64_t polled_before_ns; /* by the threads of earlier trials */
    uint64_t measured_cpu_from_ns, measured_waited_from_ns, measured_wall_from_ns;
    atomic_uint_fast64_t done; /* connections over, for the progress line */
    pthread_t thread;
    struct err error;
};

/* How a worker waits for the next arrival. */
enum worker_wait {
    WORKER_SLEEPS,
    WORKER_POLLS_EARLY, /* sleeps, and polls the last moments: for a core of its own */
    WORKER_SPINS,
};

/* arm, arms, setting are filled in by the owner afterwards. */
int worker_init(struct worker *w, unsigned index, unsigned count, const struct cpu_set *core,
                enum worker_wait wait, struct err *e) __attribute__((warn_unused_result));
void worker_fini(struct worker *w);

/* Run one trial's part in a new thread / wait for it. */
int worker_begin(struct worker *w, const struct worker_plan *plan, struct err *e)
    __attribute__((warn_unused_result));
int worker_end(struct worker *w, struct err *e) __attribute__((warn_unused_result));
/* Stop or cancel was set: it looks at once.  From any thread, between begin and end. */
void worker_wake(struct worker *w);

#endif
