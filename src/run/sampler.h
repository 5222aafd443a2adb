/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - what took time from a worker thread, written down every few milliseconds.
 *
 * Layer: run (base only).
 * Units: ns of CLOCK_MONOTONIC; totals since the worker began, so that two samples are
 *   subtracted.
 * Shape: a ring of the newest samples.  The worker itself ticks at a fixed interval; a tick
 *   that comes late by more than the worker's own CPU time explains means that it was away
 *   (preempted or stopped).  Precision of a window is one interval at each end.
 * Cost: a tick is about 2 us (a read of an open file, two every tenth tick); with
 *   SAMPLER_INTERVAL_NS that is 0.02 % of a core.
 * Threads: begin, tick and put_off from the owner; keep and copy from any other, under a lock
 *   that is taken once a tick.
 */
#ifndef RUN_SAMPLER_H
#define RUN_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpu.h"

#define SAMPLER_INTERVAL_NS 10000000u
#define SAMPLER_RING 131072u /* a power of two; 21 min, then the oldest are overwritten */

struct sample {
    uint64_t at_ns;
    uint64_t cpu_ns;       /* of the thread */
    uint64_t run_delay_ns; /* waited for a core; UINT64_MAX: unknown here */
    uint64_t away_ns;      /* late without own CPU to show for it, run delay included */
    uint64_t steal_ns;     /* of the worker's cores; UINT64_MAX: unknown */
    uint64_t involuntary;  /* context switches */
};

struct sampler {
    pthread_mutex_t lock;
    struct cpu_set cores;
    struct cpu_watch watch;
    uint64_t keep_ns;      /* see sampler_keep */
    struct sample kept;    /* at_ns 0: none */
    uint64_t next_tick_ns; /* when the coming tick is due */
    uint64_t ticks, last_steal_ns;
    size_t count; /* samples ever; ring index is count % SAMPLER_RING */
    struct sample *ring;
};

/* cores: whose steal is read. */
void sampler_init(struct sampler *s, const struct cpu_set *cores);
void sampler_fini(struct sampler *s);
/* From a new thread, whose totals begin at 0: forget all and take the first sample. */
void sampler_begin(struct sampler *s, uint64_t now_ns, uint64_t cpu_ns);

/* From the worker, at s->next_tick_ns or as soon after as it runs; sets the next one.
 * cpu_ns: of the thread, without what went into polling. */
void sampler_tick(struct sampler *s, uint64_t now_ns, uint64_t cpu_ns);
/* The worker has better to do now: the next tick is due then, and not late before. */
void sampler_put_off(struct sampler *s, uint64_t until_ns);

/* Keep the last sample at or before from_ns, which is still to come, whatever the ring
 * forgets: totals from then on are known however long it takes. */
void sampler_keep(struct sampler *s, uint64_t from_ns);

/* The newest samples, oldest first, of those at or after `since_ns`; the caller frees.
 * kept: the one of sampler_keep, at_ns 0 where there is none; or NULL. */
struct sample *sampler_copy(struct sampler *s, uint64_t since_ns, size_t *count,
                            struct sample *kept);

/* Running or waiting to run between two samples, as a share of that time, 0..1.  NAN if
 * there is no time between them, or one is NULL or at 0. */
double sample_busy_share(const struct sample *from, const struct sample *to);

/* The change from the last sample at or before from_ns to the first at or after to_ns, each
 * figure at most to_ns - from_ns; CPU time in proportion to the window.  NAN where unknown or
 * the window is not covered. */
struct sample_window {
    double cpu_ns, run_delay_ns, away_ns, steal_ns;
    uint64_t involuntary;
};
void sample_window_of(const struct sample *samples, size_t count, uint64_t from_ns,
                      uint64_t to_ns, struct sample_window *out);

/* How long the thread was away between two ticks: later than due by more than the CPU time
 * it used meanwhile.  `slack_ns` is what any wake-up may be late. */
uint64_t sample_away_ns(uint64_t due_ns, uint64_t now_ns, uint64_t cpu_used_ns,
                        uint64_t slack_ns);

#endif
