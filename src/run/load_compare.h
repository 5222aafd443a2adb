/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_compare.h - latency differences between arms, with intervals, floor and verdict.
 *
 * Layer: run.  Pure: trials in the result in, comparisons out.
 * Units: us in the result.
 * Method: a metric of an arm is the median of its trials' values.  The difference is taken
 *   within each block (trial k of both arms, so that what both saw cancels) and is the mean
 *   of the middle half of the blocks' differences: one bad trial does not move it.  It need
 *   not be the difference of the two medians.  The ratio is 1 + difference / baseline.  The
 *   interval is a bootstrap in two stages: whole blocks, then, in each, the sample itself.  The
 * resampled order statistic is drawn from its exact distribution (rank r of n has the law of
 * the empirical quantile function at a Beta(r, n + 1 - r) variate); the resampled mean from its
 * normal limit. Resampling both counts the sample's own scatter twice, and resampling a few
 * blocks makes an interval too narrow; so its ends are the wider of: both stages as they are,
 * and blocks alone with the ends moved away from the value by t(n-1) / z * sqrt(n / (n-1)),
 * which for equal scatter is Student's interval.  Fewer than LOAD_COMPARE_BLOCKS_MIN blocks, or
 * too few samples for the quantile, give no interval. Source: Efron & Tibshirani 1993, ch. 8
 * and 13; Davison & Hinkley 1997, 3.8 (hierarchical data); David & Nagaraja 2003, 2.2 (order
 * statistics).
 */
#ifndef RUN_LOAD_COMPARE_H
#define RUN_LOAD_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "result/result.h"
#include "run/arm.h"

#define LOAD_COMPARE_BLOCKS_MIN 3u
#define LOAD_COMPARE_ROUNDS 2000u
#define LOAD_COMPARE_P99_SAMPLES 1000u
#define LOAD_COMPARE_P999_SAMPLES 10000u
#define LOAD_COMPARE_APART_SAMPLES 20u /* of one sort in a trial */

enum load_statistic { LOAD_MIN, LOAD_MEAN, LOAD_P50, LOAD_P95, LOAD_P99, LOAD_P999 };
#define LOAD_STATISTICS 6u
const char *load_statistic_name(enum load_statistic s); /* "min" ... "p99_9" */

/* Of one histogram that is not empty, in its unit. */
double load_statistic_of(const struct histogram *h, enum load_statistic s);

struct load_difference {
    double baseline_value, value; /* medians over the blocks */
    struct figure difference, ratio;
    double wide_low, wide_high; /* at VERDICT_CONFIDENCE; NAN without an interval */
};
/* a[k] and b[k]: block k of baseline and arm, none NULL or empty; count >= 1. */
struct load_blocks {
    const struct histogram *const *a, *const *b;
    size_t count;
    double scale; /* values are multiplied by it */
};
/* Deterministic for a seed. */
void load_difference_of(const struct load_blocks *from, enum load_statistic s, uint64_t seed,
                        struct load_difference *out);

/* Compare every arm with its baseline: tcp, tls, ttfb, response by all statistics, as
 * "latency_us.tls.p99".  Trials pair by index; a pair of which one lacks the phase is left
 * out.  Where one of the two mixes full, resumed and early-data handshakes, tls and response
 * of each sort that both have are compared as well, like with like:
 * "by_handshake.resumed.latency_us.tls.p99".  Verdicts rest on trials that are valid;
 * elapsed_s is the run's. */
void load_compare(const struct arm_list *arms, uint64_t seed, double elapsed_s,
                  struct result *result);

#endif
