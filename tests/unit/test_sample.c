/* SPDX-License-Identifier: Apache-2.0 */
/* Are the statistics those of scipy, and do the intervals hold what they promise? */
#include "cmocka_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "stats/beta.h"
#include "stats/sample.h"

#define MOST_VALUES 100
#define LINE_LIMIT 8192
#define STUDENT_ERROR 1e-8 /* scipy itself is off by 2e-9 at 2 degrees of freedom */

/* The sample that the lines of the vector file speak of. */
struct current {
    char name[32];
    size_t n;
    double x[MOST_VALUES];
    unsigned lines;
};

static void must_be_near(const char *line, double got, double expected, double error)
{
    if (!(fabs(got - expected) <= error * fabs(expected)))
        fail_msg("%s: got %.17g", line, got);
}

static void read_sample(struct current *c, const char *line)
{
    int at;
    assert_int_equal(sscanf(line, "sample %31s %zu%n", c->name, &c->n, &at), 2);
    assert_in_range(c->n, 1, MOST_VALUES);
    for (size_t i = 0; i < c->n; i++) {
        char *end;
        c->x[i] = strtod(line + at, &end);
        assert_ptr_not_equal(end, line + at);
        at = (int)(end - line);
    }
}

static bool check_function(const char *line)
{
    double a, b, c, expected;
    unsigned long long n, k;
    if (sscanf(line, "student %lf %llu %lf", &a, &n, &expected) == 3)
        must_be_near(line, sample_student_t(a, (unsigned)n), expected, STUDENT_ERROR);
    else if (sscanf(line, "beta %lf %lf %lf %lf", &a, &b, &c, &expected) == 4)
        must_be_near(line, beta_incomplete(a, b, c), expected, 1e-9);
    else if (sscanf(line, "binomial %llu %llu %lf", &k, &n, &expected) == 3)
        must_be_near(line, beta_binomial_half(k, n), expected, 1e-9);
    else if (sscanf(line, "rank %lf %llu %llu", &a, &n, &k) == 3)
        assert_true(sample_rank(a, n) == k);
    else
        return false;
    return true;
}

static void check_interval(const struct current *c, const char *line, double confidence,
                           double low, double high)
{
    double zero[MOST_VALUES] = {0};
    struct estimate e = sample_paired_difference(zero, c->x, c->n, confidence, 1);
    double width = fabs(low) + fabs(high);
    assert_true(e.has_interval);
    if (fabs(e.low - low) > STUDENT_ERROR * width ||
        fabs(e.high - high) > STUDENT_ERROR * width)
        fail_msg("%s: %s: %.17g %.17g", c->name, line, e.low, e.high);
    if (confidence != 0.95)
        return;
    struct estimate same = sample_median_interval(c->x, c->n, 2);
    assert_true(same.low == e.low && same.high == e.high && same.value == e.value);
}

static bool check_sample(struct current *c, const char *line)
{
    double a, b, d;
    if (sscanf(line, "mean %lf", &a) == 1)
        must_be_near(line, sample_mean(c->x, c->n), a, 1e-15);
    else if (sscanf(line, "deviation %lf", &a) == 1)
        must_be_near(line, sample_deviation(c->x, c->n), a, 1e-14);
    else if (sscanf(line, "median %lf", &a) == 1)
        must_be_near(line, sample_median(c->x, c->n), a, 1e-15);
    else if (sscanf(line, "quantile %lf %lf", &a, &b) == 2)
        assert_true(sample_quantile(c->x, c->n, a) == b);
    else if (sscanf(line, "interval %lf %lf %lf", &a, &b, &d) == 3)
        check_interval(c, line, a, b, d);
    else
        return false;
    return true;
}

static void the_vectors_of_scipy_are_met(void **state)
{
    static char line[LINE_LIMIT];
    struct current c = {.lines = 0};
    FILE *file = fopen(REFERENCE_DIR "/sample_vectors.txt", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        assert_non_null(strchr(line, '\n'));
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "sample ", 7) == 0)
            read_sample(&c, line);
        else if (!check_function(line) && !check_sample(&c, line))
            fail_msg("not understood: %s", line);
        c.lines++;
    }
    fclose(file);
    assert_true(c.lines > 700);
}

static void the_sample_is_not_modified(void **state)
{
    const double x[] = {3, 1, 2, 9, 7, 8, 5}, y[] = {3, 1, 2, 9, 7, 8, 5};
    (void)state;
    (void)sample_median(x, 7);
    (void)sample_quantile(x, 7, 0.5);
    (void)sample_median_interval(x, 7, 1);
    (void)sample_paired_difference(x, x, 7, 0.95, 1);
    assert_memory_equal(x, y, sizeof x);
}

static void few_values_have_no_interval(void **state)
{
    const double x[] = {4, 1, 9};
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        struct estimate e = sample_median_interval(x, n, 1);
        assert_int_equal(e.has_interval, n == 3);
        assert_true(e.value == (n == 1 ? 4 : n == 2 ? 2.5 : 4));
        assert_true(e.low <= e.value && e.value <= e.high);
        if (n < 3)
            assert_true(e.low == e.value && e.high == e.value);
    }
}

static void equal_values_have_an_interval_without_width(void **state)
{
    double x[40];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(x); i++)
        x[i] = 0.1;
    for (size_t n = 3; n <= COUNT_OF(x); n++) {
        struct estimate e = sample_median_interval(x, n, 1);
        assert_true(sample_mean(x, n) == 0.1);
        assert_true(e.has_interval && e.value == 0.1);
        assert_true(fabs(e.low - 0.1) < 1e-16 && fabs(e.high - 0.1) < 1e-16);
    }
}

static void medians_near_the_largest_double_are_finite(void **state)
{
    const double x[] = {1.7e308, 1.6e308, 1.5e308, 1.4e308}, least[] = {5e-324, 5e-324};
    (void)state;
    assert_true(fabs(sample_median(x, 4) / 1.55e308 - 1) < 1e-15);
    assert_true(fabs(sample_mean(x, 4) / 1.55e308 - 1) < 1e-15);
    assert_true(sample_median(least, 2) == 5e-324);
}

static void the_interval_holds_the_median_and_grows_with_the_confidence(void **state)
{
    struct rng rng;
    (void)state;
    rng_init(&rng, 5);
    for (int round = 0; round < 300; round++) {
        static const double confidences[] = {0.05, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999};
        double a[60], b[60];
        size_t n = 3 + (size_t)rng_below(&rng, 58);
        double narrower_low = INFINITY, narrower_high = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            a[i] = rng_exponential(&rng) * 100;
            b[i] = rng_exponential(&rng) * 120;
        }
        for (size_t c = 0; c < COUNT_OF(confidences); c++) {
            struct estimate e = sample_paired_difference(a, b, n, confidences[c], 1);
            assert_true(e.low <= e.value && e.value <= e.high);
            /* Where Student's method takes over the step may go either way. */
            bool is_order = 1 - ldexp(1, 1 - (int)n) >= confidences[c];
            if (is_order)
                assert_true(e.low <= narrower_low && e.high >= narrower_high);
            narrower_low = e.low;
            narrower_high = e.high;
        }
    }
}

static void a_pair_is_compared_within_its_block(void **state)
{
    /* Blocks differ by far more than the arms. */
    const double a[] = {100, 900, 300, 5000, 200, 40, 7000};
    const double b[] = {110, 912, 309, 5011, 210, 49, 7010};
    (void)state;
    struct estimate e = sample_paired_difference(a, b, 7, 0.95, 1);
    assert_true(e.value == 10 && e.has_interval && e.low > 8 && e.high < 13);
    struct estimate back = sample_paired_difference(b, a, 7, 0.95, 1);
    assert_true(back.value == -e.value && back.low == -e.high && back.high == -e.low);
}

static double draw_skewed(struct rng *rng)
{
    double x = rng_exponential(rng);
    return x * x; /* median ln(2)^2 */
}

/* Of many samples about 95 in 100 have an interval that holds the true median. */
static void ninety_five_of_a_hundred_intervals_hold_the_median(void **state)
{
    static const struct {
        size_t n;
        double least, most;
    } cases[] = {
        {6, 0.93, 0.975},  {7, 0.93, 0.975},  {8, 0.93, 0.97},     {10, 0.93, 0.97},
        {15, 0.935, 0.97}, {30, 0.935, 0.97}, {100, 0.935, 0.965},
    };
    const double median = log(2) * log(2);
    struct rng rng;
    (void)state;
    rng_init(&rng, 6);
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        enum { ROUNDS = 4000 };
        unsigned held = 0;
        for (unsigned round = 0; round < ROUNDS; round++) {
            double x[100];
            for (size_t i = 0; i < cases[c].n; i++)
                x[i] = draw_skewed(&rng);
            struct estimate e = sample_median_interval(x, cases[c].n, 1);
            held += e.low <= median && median <= e.high;
        }
        double share = (double)held / (double)ROUNDS;
        if (share < cases[c].least || share > cases[c].most)
            fail_msg("n = %zu: %g of the intervals hold the median", cases[c].n, share);
    }
}

static void a_long_sample_has_a_narrow_interval(void **state)
{
    enum { N = 20000 };
    double *x = malloc(N * sizeof *x);
    struct rng rng;
    (void)state;
    assert_non_null(x);
    rng_init(&rng, 8);
    for (size_t i = 0; i < N; i++)
        x[i] = rng_unit(&rng);
    struct estimate e = sample_median_interval(x, N, 1);
    assert_true(e.has_interval && e.low > 0.48 && e.high < 0.52);
    double width = e.high - e.low, expected = 1.96 / sqrt(N);
    assert_true(width > 0.9 * expected && width < 1.1 * expected);
    free(x);
}

static void ranks_of_huge_counts_stay_in_range(void **state)
{
    (void)state;
    assert_true(sample_rank(0, UINT64_MAX) == 1);
    assert_true(sample_rank(1, UINT64_MAX) == UINT64_MAX);
    assert_true(sample_rank(0.5, (uint64_t)1 << 62) == (uint64_t)1 << 61);
    assert_true(sample_rank(1e-300, 5) == 1);
    assert_true(sample_rank(1 - 0x1p-53, 5) == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_scipy_are_met),
        cmocka_unit_test(the_sample_is_not_modified),
        cmocka_unit_test(few_values_have_no_interval),
        cmocka_unit_test(equal_values_have_an_interval_without_width),
        cmocka_unit_test(medians_near_the_largest_double_are_finite),
        cmocka_unit_test(the_interval_holds_the_median_and_grows_with_the_confidence),
        cmocka_unit_test(a_pair_is_compared_within_its_block),
        cmocka_unit_test(ninety_five_of_a_hundred_intervals_hold_the_median),
        cmocka_unit_test(a_long_sample_has_a_narrow_interval),
        cmocka_unit_test(ranks_of_huge_counts_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
