/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_fit.h - where does "held" become "broken"?  A threshold out of noisy answers.
 *
 * Layer: run; includes base only.  Pure: no clock, no randomness, no measuring.
 * Model: a probe at rate r holds with probability
 *     miss + (1 - miss - lapse) / (1 + exp((ln r - ln C) / s)),
 *   C the capacity, s how gradual the change is, lapse the share of probes that a disturbance
 *   breaks at any rate.  The posterior of (C, s, lapse) is summed on a grid: C flat in ln C,
 *   s flat in ln s, a few lapses; it needs no iteration and is proper where the answers are
 *   perfectly separated, where a likelihood has no maximum.
 * Source: docs/METHOD.md, "Capacity"; Kontsevich & Tyler 1999 (the psi method), Watson 2017.
 * Units: rates per second, > 0.
 * Threads: any.
 */
#ifndef RUN_CAPACITY_FIT_H
#define RUN_CAPACITY_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct capacity_answer {
    double rate_per_s;
    bool has_held;
};

#define CAPACITY_FIT_POINTS 160u

/* The capacity's distribution, ln C on an even grid. */
struct capacity_fit {
    double first, step;                 /* of the grid, in ln(rate) */
    double weight[CAPACITY_FIT_POINTS]; /* sum 1 */
};

/* Of at least one answer of each kind; false without: then *out is not touched. */
bool capacity_fit_make(const struct capacity_answer *answer, size_t count,
                       struct capacity_fit *out);

/* The rate below which the capacity lies with probability q, 0 < q < 1; linear within a
 * cell. */
double capacity_fit_quantile(const struct capacity_fit *fit, double q);

/* The ratio arm / baseline of two capacities, taken as independent. */
struct capacity_ratio {
    size_t count;
    double *value; /* ascending, equally likely */
};
void capacity_ratio_init(struct capacity_ratio *r, const struct capacity_fit *baseline,
                         const struct capacity_fit *arm);
double capacity_ratio_quantile(const struct capacity_ratio *r, double q);
void capacity_ratio_fini(struct capacity_ratio *r);

#endif
