/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include "stats/beta.h"

#define FRACTION_STEPS 20000 /* about 5 sqrt(max(a, b)) are needed */
#define FRACTION_ERROR 1e-15
#define TINY 1e-300

static double away_from_zero(double x)
{
    return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction behind x^a (1 - x)^b / (a B(a, b)); quick for x < (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
    double value = d;
    for (int m = 1; m <= FRACTION_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= d * c;
        if (fabs(d * c - 1) < FRACTION_ERROR)
            break;
    }
    return value;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign); /* lgamma itself writes a global */
}

double beta_incomplete(double x, double a, double b)
{
    assert(x >= 0 && x <= 1 && a > 0 && b > 0);
    if (x == 0 || x == 1)
        return x;
    double front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double beta_binomial_half(size_t k, size_t n)
{
    assert(k >= 1 && k <= n);
    return beta_incomplete(0.5, (double)(n - k + 1), (double)k);
}
