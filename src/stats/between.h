/* SPDX-License-Identifier: Apache-2.0 */
/*
 * between.h - the difference between two sides of which each is one run or several.
 *
 * Layer: stats (may include base only).
 * Units: the caller's; for shares the logarithms of the values.
 * Model: a run's value is its side's, plus what this run has and another run of the same would
 *   not (deviation), plus what its own repeats show (error).  Repeats of one run say nothing
 *   about the former; it is told by an expectation, worth `freedom` degrees of freedom, and by
 *   the runs of a side among themselves where there are several.  The two are pooled
 *   (moderated t, Smyth 2004); where the runs differ by more than was expected, they alone
 *   count.
 * Source: Smyth 2004 (Stat. Appl. Genet. Mol. Biol. 3, 1, 3.2), Student's interval.
 * Threads: any.
 */
#ifndef STATS_BETWEEN_H
#define STATS_BETWEEN_H

#include <stddef.h>
#include "stats/sample.h"

struct between_run {
    double value;
    double error; /* standard error of value by the run's own repeats, >= 0 */
};
struct between_side {
    size_t runs; /* >= 1 */
    const struct between_run *run;
};
struct between_expected {
    double deviation; /* of a run's value from its side's, standard deviation, >= 0 */
    unsigned freedom; /* >= 1 */
};

/* b - a with its interval at `confidence` in (0, 1). */
struct estimate between_difference(const struct between_side *a, const struct between_side *b,
                                   const struct between_expected *expected, double confidence);

/* Value and error of one run: the median of its repeats, n >= 1, and the standard error that
 * repeats of a normal distribution would give it, from their deviation; with n < 3 the error
 * is NAN. */
struct between_run between_of_repeats(const double *x, size_t n);

#endif
