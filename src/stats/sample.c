/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "stats/beta.h"
#include "stats/sample.h"

#define BISECTIONS 200 /* a double has fewer steps between 1 and any t */

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A sorted copy; the caller frees. */
static double *sort_copy(const double *x, size_t n)
{
    assert(n >= 1);
    double *sorted = mem_alloc_zeroed(n, sizeof *x);
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, compare_double);
    return sorted;
}

double sample_mean(const double *x, size_t n)
{
    assert(n >= 1);
    long double sum = 0;
    double low = x[0], high = x[0];
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    /* Rounding must not lift a mean out of its sample. */
    return fmin(high, fmax(low, (double)(sum / (long double)n)));
}

double sample_deviation(const double *x, size_t n)
{
    assert(n >= 2);
    long double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (long double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return (double)sqrtl(squares / (long double)(n - 1));
}

uint64_t sample_rank(double q, uint64_t n)
{
    assert(n >= 1 && q >= 0 && q <= 1);
    long double exact = (long double)q * (long double)n;
    long double nearest = roundl(exact);
    /* 0.07 is a little more than 7/100 in binary: rank 7 of 100, not 8. */
    long double rank = fabsl(exact - nearest) <= exact * 0x1p-51L ? nearest : ceill(exact);
    if (rank < 1)
        return 1;
    return rank >= (long double)n ? n : (uint64_t)rank;
}

static double median_of_sorted(const double *x, size_t n)
{
    double low = x[(n - 1) / 2], high = x[n / 2];
    return low == high ? low : low / 2 + high / 2;
}

double sample_median(const double *x, size_t n)
{
    double *sorted = sort_copy(x, n);
    double median = median_of_sorted(sorted, n);
    free(sorted);
    return median;
}

double sample_quantile(const double *x, size_t n, double q)
{
    double *sorted = sort_copy(x, n);
    double value = sorted[sample_rank(q, n) - 1];
    free(sorted);
    return value;
}

/* P(the median lies between the k-th smallest and the k-th largest of n). */
static double depth_confidence(size_t k, size_t n)
{
    return 1 - 2 * beta_binomial_half(k, n);
}

/* Interval of the median by order statistics, between the depths k and k + 1 of which one
 * gives more than the confidence and the other less; false where even k = 1 gives less. */
static bool set_order_interval(const double *sorted, size_t n, double confidence,
                               struct estimate *out)
{
    size_t low = 1, high = n / 2; /* depth_confidence falls with k */
    if (high < 1 || depth_confidence(1, n) < confidence)
        return false;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (depth_confidence(middle, n) >= confidence)
            low = middle;
        else
            high = middle - 1;
    }
    double k = (double)low, size = (double)n;
    double outer = depth_confidence(low, n), inner = depth_confidence(low + 1, n);
    double share = (outer - confidence) / (outer - inner);
    double weight = (size - k) * share / (k + (size - 2 * k) * share);
    weight = fmin(1, fmax(0, weight)); /* rounding */
    out->low = sorted[low - 1] + weight * (sorted[low] - sorted[low - 1]);
    out->high = sorted[n - low] - weight * (sorted[n - low] - sorted[n - low - 1]);
    return true;
}

/* Student's interval of the mean.  It holds the median too: that is at most a standard
 * deviation away, and the interval is wider wherever order statistics give too little. */
static void set_student_interval(const double *x, size_t n, double confidence,
                                 struct estimate *out)
{
    double mean = sample_mean(x, n);
    double half = sample_student_t(confidence, (unsigned)(n - 1)) * sample_deviation(x, n) /
                  sqrt((double)n);
    out->low = mean - half;
    out->high = mean + half;
}

static struct estimate median_estimate(const double *x, size_t n, double confidence)
{
    assert(confidence > 0 && confidence < 1);
    struct estimate out = {.has_interval = n >= SAMPLE_INTERVAL_MIN};
    double *sorted = sort_copy(x, n);
    out.value = out.low = out.high = median_of_sorted(sorted, n);
    if (out.has_interval && !set_order_interval(sorted, n, confidence, &out))
        set_student_interval(sorted, n, confidence, &out);
    free(sorted);
    return out;
}

struct estimate sample_median_interval(const double *x, size_t n, uint64_t seed)
{
    (void)seed;
    return median_estimate(x, n, 0.95);
}

struct estimate sample_paired_difference(const double *a, const double *b, size_t n,
                                         double confidence, uint64_t seed)
{
    (void)seed;
    assert(n >= 1);
    double *difference = mem_alloc_zeroed(n, sizeof *difference);
    for (size_t i = 0; i < n; i++)
        difference[i] = b[i] - a[i];
    struct estimate out = median_estimate(difference, n, confidence);
    free(difference);
    return out;
}

/* P(|T| > t), good in the far tail. */
static double two_tails(double t, double df)
{
    return beta_incomplete(df / (df + t * t), df / 2, 0.5);
}

double sample_student_t(double confidence, unsigned df)
{
    assert(confidence > 0 && confidence < 1 && df >= 1);
    double outside = 1 - confidence;
    double low = 0, high = 1;
    while (two_tails(high, df) > outside)
        high *= 2;
    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = low / 2 + high / 2;
        if (middle == low || middle == high)
            break;
        if (two_tails(middle, df) > outside)
            low = middle;
        else
            high = middle;
    }
    return high;
}
