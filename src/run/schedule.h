/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - when each arrival of an open-loop run is due, fixed before the run.
 *
 * Layer: run; includes base only.  No I/O, no clock, no allocation.
 * Units: nanoseconds after the schedule's beginning; rates are real numbers per second.
 * Shape: constant: arrival i is due at i / rate, computed from i each time, so that no
 *   error adds up; rounded to the nearest ns.  Poisson: independent exponential gaps of
 *   mean 1 / rate, the first gap before the first arrival.  The schedule holds every
 *   arrival due before its duration; at a constant rate arrival 0 is due at 0.
 * Split: cursor (first, step) visits arrivals first, first + step, ...: `step` workers with
 *   first = 0 .. step-1 together make exactly the one schedule, at any rate.
 * Threads: a schedule is read-only once made; a cursor belongs to one thread.
 */
#ifndef RUN_SCHEDULE_H
#define RUN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/rng.h"

enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_POISSON };
const char *schedule_kind_name(enum schedule_kind kind); /* "constant", "poisson" */

struct schedule {
    double rate_per_s;
    enum schedule_kind kind;
    uint64_t seed; /* of the Poisson process */
    uint64_t duration_ns;
    uint64_t count; /* arrivals in all */
};

/* More than this many arrivals, or a rate above 1e9/s, is refused. */
#define SCHEDULE_COUNT_MAX 1000000000u

/* ERR_USAGE where the rate is not finite and > 0, the duration 0, or the count above
 * SCHEDULE_COUNT_MAX. A schedule may be empty of arrivals (Poisson).  Cost: Poisson counts
 * by running through the process once, about 10 ns an arrival. */
int schedule_init(struct schedule *out, double rate_per_s, enum schedule_kind kind,
                  uint64_t seed, uint64_t duration_ns, struct err *e)
    __attribute__((warn_unused_result));

/* Arrivals due in [from_ns, to_ns), of all. */
uint64_t schedule_count_between(const struct schedule *s, uint64_t from_ns, uint64_t to_ns);

struct schedule_cursor {
    const struct schedule *schedule;
    uint64_t next_index; /* the one that schedule_next looks at next */
    uint64_t step;
    struct rng rng;
    uint64_t drawn;    /* gaps drawn so far */
    long double at_ns; /* Poisson: due time of arrival drawn - 1 */
};

/* Precondition: step >= 1, first < step. */
void schedule_start(struct schedule_cursor *c, const struct schedule *s, uint64_t first,
                    uint64_t step);
/* The next arrival of the cursor, or false at its end. */
bool schedule_next(struct schedule_cursor *c, uint64_t *index, uint64_t *due_ns);

#endif
