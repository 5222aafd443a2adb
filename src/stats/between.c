/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/between.h"

#include <assert.h>
#include <math.h>

/* Of a median against a mean, for a normal distribution and many values: sqrt(pi / 2). */
#define MEDIAN_ERROR 1.2533141373155003

struct between_run between_of_repeats(const double *x, size_t n)
{
    assert(n >= 1);
    struct between_run run = {.value = sample_median(x, n), .error = NAN};
    if (n >= SAMPLE_INTERVAL_MIN)
        run.error = MEDIAN_ERROR * sample_deviation(x, n) / sqrt((double)n);
    return run;
}

static double mean_of(const struct between_side *side)
{
    double sum = 0;
    for (size_t i = 0; i < side->runs; i++)
        sum += side->run[i].value;
    return sum / (double)side->runs;
}

static double squares_about(const struct between_side *side, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < side->runs; i++)
        sum += (side->run[i].value - mean) * (side->run[i].value - mean);
    return sum;
}

static double error_squares(const struct between_side *side)
{
    double sum = 0;
    for (size_t i = 0; i < side->runs; i++)
        sum += side->run[i].error * side->run[i].error;
    return sum;
}

struct estimate between_difference(const struct between_side *a, const struct between_side *b,
                                   const struct between_expected *expected, double confidence)
{
    assert(a->runs >= 1 && b->runs >= 1 && expected->freedom >= 1);
    const double mean_a = mean_of(a), mean_b = mean_of(b);
    const double runs = (double)(a->runs + b->runs), prior = expected->freedom;
    const unsigned free_runs = (unsigned)(a->runs + b->runs - 2);
    const double own = (error_squares(a) + error_squares(b)) / runs;
    double variance = expected->deviation * expected->deviation + own;
    unsigned freedom = expected->freedom;
    if (free_runs > 0) {
        const double seen = (squares_about(a, mean_a) + squares_about(b, mean_b)) / free_runs;
        if (seen > variance) {
            variance = seen;
            freedom = free_runs;
        } else {
            variance = (prior * variance + free_runs * seen) / (prior + free_runs);
            freedom += free_runs;
        }
    }
    const double share = 1 / (double)a->runs + 1 / (double)b->runs;
    const double half = sample_student_t(confidence, freedom) * sqrt(variance * share);
    const double value = mean_b - mean_a;
    return (struct estimate){value, value - half, value + half, true};
}
