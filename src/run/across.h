/* SPDX-License-Identifier: Apache-2.0 */
/*
 * across.h - comparing results with each other: of other days, versions, machines.
 *
 * Layer: run.  Pure: results in, struct across out; nothing is measured.
 * Units: changes as shares of the reference.
 * Method: docs/METHOD.md, "Comparing results".  A repeat's CPU time is taken in units of the
 *   fixed piece of work that was timed beside it, where both sides have that; a run's value is
 *   the median of its repeats, and what runs of one build differ by beyond that is an
 *   expectation, corrected by the runs of a side among themselves (stats/between.h).
 * Threads: any.
 */
#ifndef RUN_ACROSS_H
#define RUN_ACROSS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "result/across.h"
#include "result/result.h"

/* What runs of one build on one host differ by beyond their repeats, as it was seen by
 * bench/compare-truth; a standard deviation, as a share. */
#define ACROSS_RUN_DEVIATION 0.01

/* One side: runs of the same; file[k] is where run[k] came from. */
struct across_input {
    const char *name;
    size_t runs;
    const struct result *const *run;
    const char *const *file;
};
/* An arm of the reference and its name in the other sides. */
struct across_pair {
    const char *arm, *other;
};
struct across_options {
    size_t sides; /* 2 to ACROSS_SIDES_MAX; the first is the reference */
    const struct across_input *side;
    size_t pairs;
    const struct across_pair *pair;
    bool is_forced;       /* compare what a fact forbids, and results that are not valid */
    double run_deviation; /* > 0 */
};

/* Who is compared and how their circumstances differ.  The caller frees the outcome.  NULL: a
 * kind that differs (ERR_FAILED), a pair that names an unknown arm (ERR_USAGE), no arm in
 * common (ERR_FAILED). */
struct across *across_look(const struct across_options *options, struct err *e)
    __attribute__((warn_unused_result));

/* Add the rows.  The sides are those of across_look. */
void across_measure(const struct across_options *options, struct across *a);

/* "[ARM:]METRIC > LIMIT" or "<"; LIMIT is a number with or without sign and '%'. */
struct across_bound {
    char arm[64], metric[64]; /* arm "": every one */
    bool is_above;
    bool is_share; /* else in the metric's unit */
    double limit;
};
/* ERR_USAGE names what is wrong and what is accepted. */
int across_bound_parse(const char *text, struct across_bound *out, struct err *e)
    __attribute__((warn_unused_result));
/* Hold it against the rows, which must be there.  ERR_USAGE where the metric or the arm is in
 * none of them. */
int across_hold(struct across *a, const char *text, struct err *e)
    __attribute__((warn_unused_result));

#endif
