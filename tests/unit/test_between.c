/* SPDX-License-Identifier: Apache-2.0 */
/* Is the interval between sides of several runs as wide as their scatter asks for? */
#include "cmocka_all.h"
#include <math.h>
#include "base/rng.h"
#include "stats/between.h"

/* Student's t, two-sided 95 %, from tables. */
#define T_4 2.776445105
#define T_8 2.306004135
#define T_20 2.085963447
#define MANY 1000000u

static void values_of_repeats(void **state)
{
    (void)state;
    const double three[] = {3, 1, 2}, two[] = {1, 3};
    struct between_run run = between_of_repeats(three, 3);
    assert_true(run.value == 2);
    assert_true(fabs(run.error - sqrt(M_PI / 2) / sqrt(3)) < 1e-12);
    run = between_of_repeats(two, 2);
    assert_true(run.value == 2 && isnan(run.error));
}

static void the_interval_is_that_of_the_larger_scatter(void **state)
{
    (void)state;
    static const struct {
        size_t runs;
        double a[3], b[3], error, deviation;
        unsigned freedom;
        double value, half;
    } rows[] = {
        /* one run a side: the expectation alone, and what the repeats show */
        {1, {10}, {12}, 0, 1, 20, 2, T_20 * M_SQRT2},
        {1, {10}, {12}, 3, 4, 20, 2, T_20 * 5 * M_SQRT2},
        {1, {10}, {7}, 0, 0, 20, -3, 0},
        /* runs that agree better than expected: (4 * 1 + 4 * 0) / 8, 8 degrees */
        {3, {0, 0, 0}, {1, 1, 1}, 0, 1, 4, 1, T_8 * 0.577350269},
        /* runs that differ by more: they alone, (18 + 18) / 4, 4 degrees */
        {3, {-3, 0, 3}, {-3, 0, 3}, 0, 1, 4, 0, T_4 * 2.449489743},
        {3, {-3, 0, 3}, {-3, 0, 3}, 0, 1, MANY, 0, T_4 * 2.449489743},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct between_run a[3], b[3];
        for (size_t k = 0; k < rows[i].runs; k++) {
            a[k] = (struct between_run){rows[i].a[k], rows[i].error};
            b[k] = (struct between_run){rows[i].b[k], rows[i].error};
        }
        const struct between_side before = {rows[i].runs, a}, after = {rows[i].runs, b};
        const struct between_expected expected = {rows[i].deviation, rows[i].freedom};
        const struct estimate e = between_difference(&before, &after, &expected, 0.95);
        assert_true(e.has_interval && fabs(e.value - rows[i].value) < 1e-12);
        assert_true(fabs(e.value - e.low - rows[i].half) < 1e-6);
        assert_true(fabs(e.high - e.value - rows[i].half) < 1e-6);
    }
}

static double draw_normal(struct rng *rng)
{
    return sqrt(2 * rng_exponential(rng)) * cos(2 * M_PI * rng_unit(rng));
}

/* Runs that scatter as expected, by half of it, and by twice as much. */
static void equal_sides_are_covered_whatever_the_scatter(void **state)
{
    (void)state;
    static const double scatters[] = {1, 0.5, 2};
    struct rng rng;
    rng_init(&rng, 7);
    for (size_t s = 0; s < COUNT_OF(scatters); s++) {
        unsigned covered = 0;
        for (unsigned n = 0; n < 4000; n++) {
            struct between_run a[3], b[3];
            for (size_t k = 0; k < 3; k++) {
                a[k] = (struct between_run){scatters[s] * draw_normal(&rng), 0};
                b[k] = (struct between_run){scatters[s] * draw_normal(&rng), 0};
            }
            const struct between_side before = {3, a}, after = {3, b};
            const struct between_expected expected = {1, 20};
            const struct estimate e = between_difference(&before, &after, &expected, 0.95);
            covered += e.low <= 0 && e.high >= 0;
        }
        /* 95 % of 4000 has a standard error of 0.34 % */
        assert_true(covered >= 4000 * 0.935);
        assert_true(s != 0 || covered <= 4000 * 0.985);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_repeats),
        cmocka_unit_test(the_interval_is_that_of_the_larger_scatter),
        cmocka_unit_test(equal_sides_are_covered_whatever_the_scatter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
