/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - order statistics and intervals of small samples of real numbers.
 *
 * Layer: stats (may include base only).
 * Shape: arrays of finite doubles; n >= 1 unless said.  Nothing is modified but scratch.
 * Source: nearest-rank quantile (Hyndman & Fan 1996, type 1); sign-test interval of a
 *   median from order statistics, interpolated (Hettmansperger & Sheather 1986); Student's
 *   interval of a mean.
 * Threads: any.
 */
#ifndef STATS_SAMPLE_H
#define STATS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_INTERVAL_MIN 3 /* fewer values have no interval */

/* value with an interval; where has_interval is false (n is too small) low = high = value. */
struct estimate {
    double value, low, high;
    bool has_interval;
};

double sample_mean(const double *x, size_t n);
double sample_deviation(const double *x, size_t n); /* n-1; n >= 2 */
/* Median: the mean of the middle two for even n. x need not be sorted. */
double sample_median(const double *x, size_t n);
/* Nearest-rank over an unsorted array, q in [0, 1]; see sample_rank. */
double sample_quantile(const double *x, size_t n, double q);

/* Rank 1..n of the nearest-rank quantile, max(1, ceil(q * n)), q in [0, 1], n >= 1.  A q that
 * stands for a decimal fraction is taken as that: 0.07 of 100 is rank 7. */
uint64_t sample_rank(double q, uint64_t n);

/* Median with a 95 % interval (n >= 3 for an interval).  From 6 values on it is the interval
 * between order statistics, interpolated to the confidence asked for: no assumption on the
 * distribution, and it covers within about 1 % of that even for 6 skewed values, where a
 * percentile bootstrap of the median covers 87 to 94 %.  Fewer values cannot give 95 % that
 * way: then it is Student's interval of the mean, which then is wide enough to hold the median.
 * Nothing is drawn at random: the seed is not used. */
struct estimate sample_median_interval(const double *x, size_t n, uint64_t seed);

/* Paired comparison by block: the median over blocks of b[i] - a[i], interval at
 * `confidence` (in (0, 1)) as above; the order statistics serve from the n on with
 * 1 - 2^(1-n) >= confidence (6 at 95 %, 8 at 99 %, 11 at 99.9 %).  n >= 1. */
struct estimate sample_paired_difference(const double *a, const double *b, size_t n,
                                         double confidence, uint64_t seed);

/* Student's t quantile, two-sided: P(|T| <= t) = confidence, df >= 1. Relative error below
 * 1e-6 for df <= 1e6. */
double sample_student_t(double confidence, unsigned df);

#endif
