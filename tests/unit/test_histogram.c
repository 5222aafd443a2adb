/* SPDX-License-Identifier: Apache-2.0 */
/* Does a histogram keep every value within its bucket, whatever is recorded and merged? */
#include "cmocka_all.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/rng.h"
#include "stats/histogram.h"

#define MS 1000000u
#define LARGEST ((uint64_t)INT64_MAX)

static struct histogram *of(size_t n, const uint64_t *values)
{
    struct histogram *h = histogram_new();
    for (size_t i = 0; i < n; i++)
        histogram_record(h, values[i]);
    return h;
}

/* Values whose logarithms are even over all magnitudes. */
static uint64_t draw_value(struct rng *rng)
{
    return rng_next(rng) >> (1 + rng_below(rng, 63));
}

static struct histogram *draw(uint64_t seed, size_t n)
{
    struct histogram *h = histogram_new();
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = draw_value(&rng);
        histogram_record_many(h, value, 1 + rng_below(&rng, 5));
    }
    return h;
}

static void must_be_same(const struct histogram *a, const struct histogram *b)
{
    assert_true(histogram_equal(a, b));
    assert_true(histogram_count(a) == histogram_count(b));
    if (histogram_count(a) == 0)
        return;
    assert_true(histogram_min(a) == histogram_min(b));
    assert_true(histogram_max(a) == histogram_max(b));
    assert_true(histogram_mean(a) == histogram_mean(b));
}

static void an_empty_histogram_has_no_bucket(void **state)
{
    struct histogram *h = histogram_new();
    size_t cursor = 0;
    uint64_t low, high, count;
    (void)state;
    assert_true(histogram_count(h) == 0);
    assert_false(histogram_next(h, &cursor, &low, &high, &count));
    assert_false(histogram_next(h, &cursor, &low, &high, &count));
    histogram_record_many(h, 5, 0);
    assert_true(histogram_count(h) == 0);
    histogram_free(h);
    histogram_free(NULL);
}

static void every_value_lies_in_a_narrow_bucket(void **state)
{
    struct rng rng;
    (void)state;
    rng_init(&rng, 1);
    for (int i = 0; i < 100000; i++) {
        static const uint64_t edges[] = {0,    1,    2046, 2047, 2048, 2049,        4095,
                                         4096, 4097, 4098, 8191, 8192, LARGEST - 1, LARGEST};
        uint64_t value = i < (int)COUNT_OF(edges) ? edges[i] : draw_value(&rng);
        struct histogram *h = of(1, &value);
        size_t cursor = 0;
        uint64_t low, high, count;
        assert_true(histogram_next(h, &cursor, &low, &high, &count));
        assert_true(low <= value && value <= high && count == 1);
        assert_true(high - low <= low / 1024);
        assert_true(high < 2048 ? low == high : true);
        assert_false(histogram_next(h, &cursor, &low, &high, &count));
        histogram_free(h);
    }
}

static void buckets_follow_each_other_without_gap(void **state)
{
    struct histogram *h = histogram_new();
    uint64_t low, high = 0, count, next = 0;
    size_t cursor = 0, buckets = 0;
    (void)state;
    while (next <= LARGEST) { /* the next value after the bucket of the last one */
        struct histogram *one = of(1, &next);
        size_t at = 0;
        assert_true(histogram_next(one, &at, &low, &high, &count));
        assert_true(low == next);
        histogram_record(h, low);
        histogram_free(one);
        next = high + 1;
        buckets++;
    }
    assert_true(high == LARGEST);
    assert_int_equal(buckets, 54 * 1024);
    next = 0;
    while (histogram_next(h, &cursor, &low, &high, &count)) {
        assert_true(low == next && count == 1);
        next = high + 1;
        buckets--;
    }
    assert_int_equal(buckets, 0);
    histogram_free(h);
}

static void quantiles_are_nearest_rank(void **state)
{
    static const uint64_t eight[] = {1 * MS, 2 * MS, 3 * MS, 4 * MS,
                                     5 * MS, 6 * MS, 7 * MS, 8 * MS};
    static const uint64_t one[] = {682};
    static const struct {
        size_t n;
        const uint64_t *values;
        double q, expected;
    } cases[] = {
        {8, eight, 0, 1 * MS},    {8, eight, 0.125, 1 * MS}, {8, eight, 0.126, 2 * MS},
        {8, eight, 0.5, 4 * MS},  {8, eight, 0.51, 5 * MS},  {8, eight, 0.95, 8 * MS},
        {8, eight, 0.99, 8 * MS}, {8, eight, 1, 8 * MS},     {1, one, 0, 682},
        {1, one, 0.5, 682},       {1, one, 0.99, 682},       {1, one, 1, 682},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct histogram *h = of(cases[i].n, cases[i].values);
        double got = (double)histogram_quantile(h, cases[i].q);
        assert_true(got >= cases[i].expected && got <= cases[i].expected * 1.001);
        histogram_free(h);
    }
}

static void every_percentile_of_a_hundred_is_its_number(void **state)
{
    struct histogram *h = histogram_new();
    (void)state;
    for (uint64_t i = 1; i <= 100; i++)
        histogram_record(h, i);
    for (int p = 1; p <= 100; p++)
        assert_true(histogram_quantile(h, p / 100.0) == (uint64_t)p);
    assert_true(histogram_mean(h) == 50.5);
    histogram_free(h);
}

static void a_narrow_sample_keeps_its_median(void **state)
{
    struct histogram *h = histogram_new();
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        histogram_record(h, 501 * MS + i * 20202); /* 501 to 503 ms */
    double p50 = (double)histogram_quantile(h, 0.5) / MS;
    assert_true(p50 > 501.5 && p50 < 502.5);
    histogram_free(h);
}

static void quantiles_rise_between_the_extremes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct histogram *h = draw(seed, 1 + seed * 7);
        uint64_t last = histogram_min(h);
        for (int i = 0; i <= 1000; i++) {
            uint64_t value = histogram_quantile(h, i / 1000.0);
            assert_true(value >= last && value <= histogram_max(h));
            last = value;
        }
        assert_true(last == histogram_max(h));
        assert_true(histogram_mean(h) >= (double)histogram_min(h));
        assert_true(histogram_mean(h) <= (double)histogram_max(h));
        histogram_free(h);
    }
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
    enum { N = 5000 };
    static uint64_t values[N];
    struct rng rng;
    (void)state;
    rng_init(&rng, 9);
    for (size_t i = 0; i < N; i++)
        values[i] = (uint64_t)(300000 * exp(rng_unit(&rng) * 5));
    struct histogram *h = of(N, values);
    for (size_t i = 1; i < N; i++) /* insertion sort */
        for (size_t j = i; j > 0 && values[j - 1] > values[j]; j--) {
            uint64_t held = values[j];
            values[j] = values[j - 1];
            values[j - 1] = held;
        }
    for (int i = 1; i <= 1000; i++) {
        size_t rank = (size_t)((i * N + 999) / 1000);
        double exact = (double)values[rank - 1];
        double got = (double)histogram_quantile(h, i / 1000.0);
        assert_true(got >= exact && got < exact * (1 + 1.0 / 1024));
    }
    histogram_free(h);
}

static void the_extremes_and_the_mean_are_exact(void **state)
{
    static const uint64_t values[] = {123456789, 987654321, 555555555};
    struct histogram *h = of(3, values);
    (void)state;
    assert_true(histogram_min(h) == 123456789);
    assert_true(histogram_max(h) == 987654321);
    assert_true(histogram_mean(h) == 555555555.0);
    assert_true(histogram_quantile(h, 1) == 987654321);
    histogram_free(h);
}

static void huge_counts_do_not_overflow(void **state)
{
    struct histogram *h = histogram_new();
    (void)state;
    histogram_record_many(h, 1000, 1000000000);
    histogram_record_many(h, 3000, 1000000000);
    assert_true(histogram_mean(h) == 2000);
    assert_true(histogram_quantile(h, 0.5) == 1000);
    assert_true(histogram_quantile(h, 0.500001) == 3000);
    histogram_free(h);
    h = histogram_new();
    histogram_record_many(h, LARGEST, (uint64_t)1 << 62);
    histogram_record_many(h, 0, ((uint64_t)1 << 62) - 1);
    assert_true(histogram_count(h) == LARGEST);
    assert_true(fabs(histogram_mean(h) / 0x1p62 - 1) < 1e-15);
    assert_true(histogram_quantile(h, 0.4) == 0);
    assert_true(histogram_quantile(h, 0.6) == LARGEST);
    assert_true(histogram_min(h) == 0 && histogram_max(h) == LARGEST);
    histogram_free(h);
}

static void recording_many_is_recording_often(void **state)
{
    struct histogram *a = histogram_new(), *b = histogram_new();
    struct rng rng;
    (void)state;
    rng_init(&rng, 2);
    for (int i = 0; i < 1000; i++) {
        uint64_t value = draw_value(&rng), count = rng_below(&rng, 10);
        histogram_record_many(a, value, count);
        for (uint64_t j = 0; j < count; j++)
            histogram_record(b, value);
    }
    must_be_same(a, b);
    histogram_free(a);
    histogram_free(b);
}

static void merging_takes_any_order_and_grouping(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct histogram *a = draw(3 * seed, 200), *b = draw(3 * seed + 1, 3);
        struct histogram *c = seed % 4 ? draw(3 * seed + 2, 50) : histogram_new();
        struct histogram *left = histogram_new(), *right = histogram_new();
        struct histogram *bc = histogram_new();
        uint64_t total = histogram_count(a) + histogram_count(b) + histogram_count(c);
        histogram_merge(left, a); /* (a + b) + c */
        histogram_merge(left, b);
        histogram_merge(left, c);
        histogram_merge(bc, c); /* a + (b + c), each the other way round */
        histogram_merge(bc, b);
        histogram_merge(right, bc);
        histogram_merge(right, a);
        must_be_same(left, right);
        assert_true(histogram_count(left) == total);
        histogram_free(a);
        histogram_free(b);
        histogram_free(c);
        histogram_free(bc);
        histogram_free(left);
        histogram_free(right);
    }
}

static void merging_is_recording_all_in_one(void **state)
{
    struct histogram *all = histogram_new(), *merged = histogram_new();
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct histogram *part = draw(seed, 100);
        struct rng rng;
        rng_init(&rng, seed);
        for (int i = 0; i < 100; i++) {
            uint64_t value = draw_value(&rng);
            histogram_record_many(all, value, 1 + rng_below(&rng, 5));
        }
        histogram_merge(merged, part);
        histogram_free(part);
    }
    must_be_same(all, merged);
    histogram_free(all);
    histogram_free(merged);
}

static void an_empty_histogram_merges_as_nothing(void **state)
{
    struct histogram *a = draw(4, 10), *copy = draw(4, 10), *empty = histogram_new();
    (void)state;
    histogram_merge(a, empty);
    must_be_same(a, copy);
    histogram_merge(empty, a);
    must_be_same(empty, copy);
    histogram_free(a);
    histogram_free(copy);
    histogram_free(empty);
}

static void a_histogram_that_is_reset_is_new(void **state)
{
    struct histogram *h = draw(5, 100), *fresh = histogram_new();
    (void)state;
    histogram_reset(h);
    must_be_same(h, fresh);
    histogram_record(h, 77);
    histogram_record(fresh, 77);
    must_be_same(h, fresh);
    histogram_free(h);
    histogram_free(fresh);
}

static void reserving_changes_nothing_that_is_seen(void **state)
{
    struct histogram *h = draw(6, 100), *copy = draw(6, 100), *empty = histogram_new();
    (void)state;
    histogram_reserve(h, LARGEST);
    histogram_reserve(empty, 0);
    must_be_same(h, copy);
    assert_true(histogram_count(empty) == 0);
    histogram_free(h);
    histogram_free(copy);
    histogram_free(empty);
}

static void different_counts_are_not_equal(void **state)
{
    static const uint64_t x[] = {5, 6}, y[] = {5, 7}, z[] = {5, 6, 6};
    struct histogram *a = of(2, x), *b = of(2, y), *c = of(3, z);
    (void)state;
    assert_true(histogram_equal(a, a));
    assert_false(histogram_equal(a, b));
    assert_false(histogram_equal(a, c));
    histogram_free(a);
    histogram_free(b);
    histogram_free(c);
}

/* Whether doing it ends the process by an assertion. */
static bool does_abort(void (*action)(struct histogram *), struct histogram *h)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr))
            action(h);
        _exit(0);
    }
    assert_true(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void record_beyond_the_largest(struct histogram *h)
{
    histogram_record(h, LARGEST + 1);
}

static void record_too_often(struct histogram *h)
{
    histogram_record_many(h, 1, LARGEST);
}

static void ask_for_the_median(struct histogram *h)
{
    (void)histogram_quantile(h, 0.5);
}

static void ask_for_a_percentage(struct histogram *h)
{
    (void)histogram_quantile(h, 50);
}

static void a_broken_precondition_ends_the_process(void **state)
{
    struct histogram *h = draw(1, 3), *empty = histogram_new();
    (void)state;
    assert_true(does_abort(record_beyond_the_largest, h));
    assert_true(does_abort(record_too_often, h));
    assert_true(does_abort(ask_for_a_percentage, h));
    assert_true(does_abort(ask_for_the_median, empty));
    assert_false(does_abort(ask_for_the_median, h));
    histogram_free(h);
    histogram_free(empty);
}

static void extremes_are_put_back_within_their_buckets_only(void **state)
{
    static const uint64_t values[] = {1000001, 5000003, 9000005};
    struct histogram *h = of(3, values), *empty = histogram_new();
    (void)state;
    assert_false(histogram_set_extremes(empty, 1, 2));
    assert_false(histogram_set_extremes(h, 999000, 9000005));
    assert_false(histogram_set_extremes(h, 1000001, 9010000));
    assert_false(histogram_set_extremes(h, 1000001, UINT64_MAX));
    assert_true(histogram_min(h) == 1000001 && histogram_max(h) == 9000005);
    assert_true(histogram_set_extremes(h, 1000100, 9000000));
    assert_true(histogram_min(h) == 1000100 && histogram_max(h) == 9000000);
    assert_true(histogram_quantile(h, 1) == 9000000);
    histogram_free(h);
    histogram_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_no_bucket),
        cmocka_unit_test(every_value_lies_in_a_narrow_bucket),
        cmocka_unit_test(buckets_follow_each_other_without_gap),
        cmocka_unit_test(quantiles_are_nearest_rank),
        cmocka_unit_test(every_percentile_of_a_hundred_is_its_number),
        cmocka_unit_test(a_narrow_sample_keeps_its_median),
        cmocka_unit_test(quantiles_rise_between_the_extremes),
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
        cmocka_unit_test(the_extremes_and_the_mean_are_exact),
        cmocka_unit_test(huge_counts_do_not_overflow),
        cmocka_unit_test(recording_many_is_recording_often),
        cmocka_unit_test(merging_takes_any_order_and_grouping),
        cmocka_unit_test(merging_is_recording_all_in_one),
        cmocka_unit_test(an_empty_histogram_merges_as_nothing),
        cmocka_unit_test(a_histogram_that_is_reset_is_new),
        cmocka_unit_test(reserving_changes_nothing_that_is_seen),
        cmocka_unit_test(different_counts_are_not_equal),
        cmocka_unit_test(a_broken_precondition_ends_the_process),
        cmocka_unit_test(extremes_are_put_back_within_their_buckets_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
