/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - order statistics and intervals of small samples of real numbers.
 *
 * Layer: stats (may include base only).
 * Shape: arrays of finite doubles; n >= 1 unless said.  Nothing is modified but scratch.
 * Source: nearest-rank quantile (Hyndman & Fan 1996, type 1); percentile bootstrap
 *   (Efron & Tibshirani 1993), resampling whole clusters; sign-test interval of a median
 *   (order statistics, binomial).
 * Threads: any.
 */
#ifndef STATS_SAMPLE_H
#define STATS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* value with an interval; has_interval false where n is too small for the confidence. */
struct estimate {
    double value, low, high;
    bool has_interval;
};

double sample_mean(const double *x, size_t n);
double sample_deviation(const double *x, size_t n); /* n-1; n >= 2 */
/* Median: the mean of the middle two for even n. x need not be sorted. */
double sample_median(const double *x, size_t n);
/* Nearest-rank over an unsorted array. */
double sample_quantile(const double *x, size_t n, double q);

/* Median with a 95 % interval by bootstrap of the n values (n >= 3 for an interval; below
 * 6 values a Student-t interval of the mean of values is used instead because a percentile
 * bootstrap of so few is far too narrow; the docs say so).  Deterministic for a seed. */
struct estimate sample_median_interval(const double *x, size_t n, uint64_t seed);

/* Paired comparison by block: statistic = median over blocks of b[i] - a[i], interval at
 * `confidence` as above.  n >= 1. */
struct estimate sample_paired_difference(const double *a, const double *b, size_t n,
                                         double confidence, uint64_t seed);

/* Student's t quantile, two-sided: P(|T| <= t) = confidence, df >= 1. Relative error below
 * 1e-6 for df <= 1e6. */
double sample_student_t(double confidence, unsigned df);

#endif
