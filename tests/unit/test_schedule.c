/* SPDX-License-Identifier: Apache-2.0 */
/* Are arrivals due when rate and duration say, none missing and none extra? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <cmocka.h>
#include "run/schedule.h"

#define S UINT64_C(1000000000)

static struct schedule make(double rate, enum schedule_kind kind, uint64_t duration_ns)
{
    struct schedule s;
    struct err e = ERR_INIT;
    assert_int_equal(schedule_init(&s, rate, kind, 7, duration_ns, &e), 0);
    return s;
}

static void counts_are_rate_times_duration(void **state)
{
    (void)state;
    static const struct {
        double rate;
        uint64_t duration_ns, count;
    } cases[] = {
        {10, 10 * S, 100},     {0.5, 10 * S, 5},        {1.0 / 3.0, 9 * S, 3},
        {50, 4 * S, 200},      {1000, 20 * S, 20000},   {100, 4 * S, 400},
        {300, 60 * S, 18000},  {0.001, S, 1},           {7.3, 10 * S, 73},
        {1e-9, S, 1},          {12345.678, S, 12346},   {3, S / 3, 1},
        {2.0 / 3.0, 6 * S, 4}, {1e6, 10 * S, 10000000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct schedule s = make(cases[i].rate, SCHEDULE_CONSTANT, cases[i].duration_ns);
        assert_int_equal(s.count, cases[i].count);
    }
}

static void slow_rates_are_spaced_exactly(void **state)
{
    (void)state;
    struct schedule s = make(0.5, SCHEDULE_CONSTANT, 10 * S);
    struct schedule_cursor c;
    uint64_t index, due_ns;
    schedule_start(&c, &s, 0, 1);
    for (uint64_t i = 0; i < 5; i++) {
        assert_true(schedule_next(&c, &index, &due_ns));
        assert_int_equal(index, i);
        assert_int_equal(due_ns, 2 * i * S);
    }
    assert_false(schedule_next(&c, &index, &due_ns));
}

static void nothing_drifts_over_a_day(void **state)
{
    (void)state;
    struct schedule s = make(3, SCHEDULE_CONSTANT, 86400 * S);
    struct schedule_cursor c;
    uint64_t index, due_ns = 0;
    schedule_start(&c, &s, 0, 1);
    while (schedule_next(&c, &index, &due_ns))
        if (index % 3 == 0)
            assert_int_equal(due_ns, index / 3 * S);
    assert_int_equal(index, 3 * 86400 - 1);
}

/* Every arrival belongs to one worker, whatever their number. */
static void workers_share_one_schedule(void **state)
{
    (void)state;
    static const double rates[] = {0.5, 10, 333.3};
    static const unsigned workers[] = {1, 2, 3, 12, 400};
    for (unsigned k = 0; k < 2 * 3 * 5; k++) {
        struct schedule s =
            make(rates[k % 3], k % 2 ? SCHEDULE_POISSON : SCHEDULE_CONSTANT, 10 * S);
        struct schedule_cursor all, part[400];
        const unsigned n = workers[k % 5];
        uint64_t index, due_ns, i, part_index, part_due_ns, seen = 0;
        schedule_start(&all, &s, 0, 1);
        for (i = 0; i < n; i++)
            schedule_start(&part[i], &s, i, n);
        while (schedule_next(&all, &index, &due_ns)) {
            assert_true(schedule_next(&part[index % n], &part_index, &part_due_ns));
            assert_int_equal(part_index, index);
            assert_int_equal(part_due_ns, due_ns);
            seen++;
        }
        assert_int_equal(seen, s.count);
        for (i = 0; i < n; i++)
            assert_false(schedule_next(&part[i], &part_index, &part_due_ns));
    }
}

static void no_burst_hides_in_a_second(void **state)
{
    (void)state;
    struct schedule s = make(50, SCHEDULE_CONSTANT, 4 * S);
    struct schedule_cursor c;
    uint64_t index, due_ns, last_ns = 0;
    schedule_start(&c, &s, 0, 1);
    for (uint64_t i = 0; schedule_next(&c, &index, &due_ns); i++) {
        if (i > 0)
            assert_int_equal(due_ns - last_ns, S / 50);
        last_ns = due_ns;
    }
}

static void poisson_gaps_have_the_mean_and_spread_of_an_exponential(void **state)
{
    (void)state;
    struct schedule s = make(1000, SCHEDULE_POISSON, 100 * S);
    struct schedule_cursor c;
    uint64_t index, due_ns, last_ns = 0, above_mean = 0;
    double sum = 0, squares = 0;
    schedule_start(&c, &s, 0, 1);
    while (schedule_next(&c, &index, &due_ns)) {
        const double gap = (double)(due_ns - last_ns) / 1e6;
        assert_true(due_ns >= last_ns && due_ns < s.duration_ns);
        sum += gap;
        squares += gap * gap;
        above_mean += gap > 1;
        last_ns = due_ns;
    }
    const double n = (double)s.count, mean = sum / n;
    assert_true(fabs(n - 1e5) < 4 * sqrt(1e5)); /* 4 sigma, fixed seed */
    assert_true(fabs(mean - 1) < 0.02);
    assert_true(fabs(sqrt(squares / n - mean * mean) - 1) < 0.02);
    assert_true(fabs((double)above_mean / n - exp(-1)) < 0.01);
}

static void the_same_seed_gives_the_same_process(void **state)
{
    (void)state;
    struct schedule a = make(100, SCHEDULE_POISSON, 10 * S), b = a, other = a;
    struct schedule_cursor ca, cb, co;
    uint64_t i, da, db, d, differ = 0;
    other.seed = 8;
    other.count = schedule_count_between(&other, 0, 10 * S);
    schedule_start(&ca, &a, 0, 1);
    schedule_start(&cb, &b, 0, 1);
    schedule_start(&co, &other, 0, 1);
    while (schedule_next(&ca, &i, &da) && schedule_next(&cb, &i, &db)) {
        assert_int_equal(da, db);
        differ += schedule_next(&co, &i, &d) && d != da;
    }
    assert_true(differ > 900);
}

static void a_part_of_the_time_has_its_part_of_the_arrivals(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct schedule s = make(33.3, (enum schedule_kind)kind, 30 * S);
        const uint64_t a = schedule_count_between(&s, 0, 7 * S),
                       b = schedule_count_between(&s, 7 * S, 30 * S);
        assert_int_equal(a + b, s.count);
        assert_int_equal(schedule_count_between(&s, 30 * S, 60 * S), 0);
        assert_int_equal(schedule_count_between(&s, 5, 5), 0);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const double rates[] = {0, -1, NAN, INFINITY, 2e9};
    struct schedule s;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct err e = ERR_INIT;
        assert_int_equal(schedule_init(&s, rates[i], SCHEDULE_CONSTANT, 1, S, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
    }
    struct err e = ERR_INIT;
    assert_int_equal(schedule_init(&s, 1, SCHEDULE_CONSTANT, 1, 0, &e), -1);
    assert_int_equal(schedule_init(&s, 1e6, SCHEDULE_CONSTANT, 1, 1001 * S, &e), -1);
    assert_int_equal(schedule_init(&s, 1e6, SCHEDULE_POISSON, 1, 1001 * S, &e), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_rate_times_duration),
        cmocka_unit_test(slow_rates_are_spaced_exactly),
        cmocka_unit_test(nothing_drifts_over_a_day),
        cmocka_unit_test(workers_share_one_schedule),
        cmocka_unit_test(no_burst_hides_in_a_second),
        cmocka_unit_test(poisson_gaps_have_the_mean_and_spread_of_an_exponential),
        cmocka_unit_test(the_same_seed_gives_the_same_process),
        cmocka_unit_test(a_part_of_the_time_has_its_part_of_the_arrivals),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
