/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_parts.h - the parts of a plan, in the order in which they are made.
 *
 * Layer: report, private to plan*.c.
 */
#ifndef REPORT_PLAN_PARTS_H
#define REPORT_PLAN_PARTS_H

#include "report/plan.h"

/* Sums of figures: ends with ends; no interval where one has none. */
struct figure plan_figure_of(double value); /* exact */
struct figure plan_figure_sum(struct figure a, struct figure b);
struct figure plan_figure_less(struct figure a, struct figure b); /* a - b */
/* k >= 0; 0 of anything is exactly 0. */
struct figure plan_figure_times(struct figure f, double k);

/* plan_arms.c: which arm stands for what; the costs' arms are set. */
int plan_find_arms(struct plan *p, struct err *e) __attribute__((warn_unused_result));
/* plan_costs.c: the costs of each sort, measured or derived. */
int plan_find_costs(struct plan *p, struct err *e) __attribute__((warn_unused_result));
/* Bytes of one flight, with a head for each segment. */
double plan_wire_bytes(double bytes);
/* plan_time.c */
void plan_find_times(struct plan *p);
/* plan_assumptions.c */
void plan_tell_assumptions(struct plan *p);

/* Of two values, one of each of the sorts that are there before, and HelloRetryRequests: what
 * a connection has on average.  more[]: after - before; retry: more than full, after. */
struct plan_weighed {
    struct figure before[PLAN_RETRY], more[PLAN_RETRY], retry;
};
struct plan_change plan_weigh(const struct plan_options *o, const struct plan_weighed *w);

#endif
