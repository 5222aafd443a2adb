/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beta.h - the regularised incomplete beta function, and binomial tails from it.
 *
 * Layer: stats, used by stats alone.
 * Source: continued fraction of the regularised incomplete beta function (Abramowitz &
 *   Stegun 26.5.8), evaluated by Lentz's method.
 * Threads: any.
 */
#ifndef STATS_BETA_H
#define STATS_BETA_H

#include <stddef.h>

/* I_x(a, b); x in [0, 1], a and b > 0.  Relative error below 1e-9 for a, b up to 1e6. */
double beta_incomplete(double x, double a, double b);

/* P(X < k) for X heads in n tosses of a fair coin; 1 <= k <= n. */
double beta_binomial_half(size_t k, size_t n);

#endif
