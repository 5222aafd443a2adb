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
 * Cost: a tick is about 5 us (two reads of /proc, one of /proc/stat every tenth tick);
 *   with SAMPLER_INTERVAL_NS that is 0.05 % of a core.
 * Threads: tick from the owner; copy from any other, under a lock that is taken once a tick.
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
    uint64_t next_tick_ns; /* when the coming tick is due */
    uint64_t ticks, last_steal_ns;
    size_t count; /* samples ever; ring index is count % SAMPLER_RING */
    struct sample *ring;
};

/* cores: whose steal is read.  The first sample is taken by the first tick. */
void sampler_init(struct sampler *s, const struct cpu_set *cores);
void sampler_fini(struct sampler *s);
/* Forget all: a new thread begins, whose totals begin at 0. */
void sampler_reset(struct sampler *s);

/* From the worker, at s->next_tick_ns or as soon after as it runs; sets the next one. */
void sampler_tick(struct sampler *s, uint64_t now_ns);

/* The newest samples, oldest first, of those at or after `since_ns`; the caller frees. */
struct sample *sampler_copy(struct sampler *s, uint64_t since_ns, size_t *count);

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
