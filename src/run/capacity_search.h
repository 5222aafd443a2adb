/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_search.h - one arm's search for its capacity: which rate to probe next, when to
 * stop, and what is then known.
 *
 * Layer: run; includes base only.  Pure: outcomes in, rates out.
 * Method: docs/METHOD.md, "Capacity".  Up or down by a factor until one probe held and one
 *   broke; then at random places, drawn from what is known of the capacity (Thompson sampling).
 * Units: rates per second.
 * Threads: one owner.
 */
#ifndef RUN_CAPACITY_SEARCH_H
#define RUN_CAPACITY_SEARCH_H

#include "base/rng.h"
#include "run/capacity_fit.h"

#define CAPACITY_PROBES_MAX 512u /* of one arm */
#define CAPACITY_PROBES_MIN 8u   /* valid ones before an interval is believed */

enum capacity_outcome {
    CAPACITY_HELD,
    CAPACITY_BROKE,
    CAPACITY_CLIENT, /* void: the generator could not keep up */
    CAPACITY_VOID,   /* void for another reason */
};

enum capacity_state {
    CAPACITY_SEARCHING,
    CAPACITY_SETTLED,      /* the interval is as narrow as was asked for */
    CAPACITY_AT_CLIENT,    /* the generator ends first */
    CAPACITY_AT_MAX,       /* holds at the highest rate allowed */
    CAPACITY_BELOW_MIN,    /* does not hold at the lowest */
    CAPACITY_NOT_MEASURED, /* one void probe after the other */
};

struct capacity_bounds {
    double least_per_s, most_per_s; /* rates that may be probed; 0 < least <= most */
    double precision;               /* half the interval, as a share of the capacity */
};

struct capacity_search {
    struct capacity_bounds bounds;
    double next_per_s; /* the first probe, where nothing is known */
    size_t count;
    double rate_per_s[CAPACITY_PROBES_MAX];
    enum capacity_outcome outcome[CAPACITY_PROBES_MAX];
    bool has_fit;
    struct capacity_fit fit;
};

/* guess_per_s: where to begin, moved into the bounds. */
void capacity_search_init(struct capacity_search *s, const struct capacity_bounds *bounds,
                          double guess_per_s);
/* Precondition: searching or settled, and fewer than CAPACITY_PROBES_MAX probes. */
double capacity_search_next(struct capacity_search *s, struct rng *rng);
void capacity_search_add(struct capacity_search *s, double rate_per_s,
                         enum capacity_outcome outcome);
/* A probe that turned out not to be valid after all. */
void capacity_search_void(struct capacity_search *s, size_t probe);
enum capacity_state capacity_search_state(const struct capacity_search *s);
/* Enough valid probes, and some that broke above the fit's middle, some that held below. */
bool capacity_search_has_answer(const struct capacity_search *s);

/* The highest rate of a probe that held, and the lowest of one that broke; NAN: none. */
double capacity_search_highest_held(const struct capacity_search *s);
double capacity_search_lowest_broken(const struct capacity_search *s);

#endif
