/* SPDX-License-Identifier: Apache-2.0 */
/* Does each handshake get the cause that was measured for it, and no other? */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "run/sampler.h"
#include "run/slowest.h"

#define MS 1e6

/* 40 ms where 1 ms is usual; nothing that explains it. */
static struct slow_facts plain(void)
{
    return (struct slow_facts){.response_ns = 40 * MS,
                               .typical_ns = 1 * MS,
                               .steal_ns = 0,
                               .client_away_ns = 0,
                               .server_away_ns = 0,
                               .client_busy_ns = 0.5 * MS,
                               .server_busy_ns = 0.5 * MS,
                               .typical_client_busy_ns = 0.3 * MS,
                               .typical_server_busy_ns = 0.3 * MS};
}

static void each_cause_is_told_by_its_measure(void **state)
{
    (void)state;
    struct slow_facts f = plain();
    assert_int_equal(slow_cause_of(&f), SLOW_UNEXPLAINED);
    f.steal_ns = 30 * MS;
    f.client_away_ns = 38 * MS; /* stolen time is also time away: the deeper cause counts */
    assert_int_equal(slow_cause_of(&f), SLOW_STEAL);
    f = plain();
    f.client_away_ns = 38 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_CLIENT_PREEMPTED);
    f.server_away_ns = 39 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_SERVER_PREEMPTED);
    f = plain();
    f.server_away_ns = 25 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_SERVER_PREEMPTED);
    f = plain();
    f.client_busy_ns = 35 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_CLIENT_QUEUE);
    f = plain();
    f.server_busy_ns = 35 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_SERVER_QUEUE);
    f.retransmits = 1;
    assert_int_equal(slow_cause_of(&f), SLOW_RETRANSMIT);
    f = plain();
    f.is_hrr = true;
    assert_int_equal(slow_cause_of(&f), SLOW_HRR);
    f.is_hrr_usual = true;
    assert_int_equal(slow_cause_of(&f), SLOW_UNEXPLAINED);
}

static void less_than_half_of_the_excess_is_no_cause(void **state)
{
    (void)state;
    struct slow_facts f = plain();
    f.client_away_ns = 19 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_UNEXPLAINED);
    f.client_away_ns = 20 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_CLIENT_PREEMPTED);
}

static void the_unknown_explains_nothing(void **state)
{
    (void)state;
    struct slow_facts f = plain();
    f.steal_ns = f.client_away_ns = f.server_away_ns = f.server_busy_ns = NAN;
    f.typical_client_busy_ns = f.typical_server_busy_ns = NAN;
    assert_int_equal(slow_cause_of(&f), SLOW_UNEXPLAINED);
    f.server_away_ns = 30 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_SERVER_PREEMPTED);
}

static void what_is_not_slow_has_no_cause(void **state)
{
    (void)state;
    struct slow_facts f = plain();
    f.response_ns = 1 * MS;
    f.client_away_ns = 1 * MS;
    assert_int_equal(slow_cause_of(&f), SLOW_UNEXPLAINED);
}

static void every_cause_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOW_CAUSES; i++) {
        assert_true(strlen(slow_cause_name((enum slow_cause)i)) > 2);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(slow_cause_name((enum slow_cause)i),
                                    slow_cause_name((enum slow_cause)k));
    }
}

/* ---- the samples that the causes rest on ---- */

static void a_late_tick_is_time_away_unless_it_was_used(void **state)
{
    (void)state;
    assert_int_equal(sample_away_ns(100, 90, 0, 10), 0);
    assert_int_equal(sample_away_ns(100, 105, 0, 10), 0);     /* any wake-up may be late */
    assert_int_equal(sample_away_ns(100, 3100, 0, 10), 3000); /* stopped */
    assert_int_equal(sample_away_ns(100, 3100, 2995, 10), 0); /* busy with other things */
    assert_int_equal(sample_away_ns(100, 3100, 1000, 10), 2000);
}

static void windows_subtract_the_samples_around_them(void **state)
{
    (void)state;
    const struct sample samples[] = {
        {.at_ns = 1000, .cpu_ns = 100, .run_delay_ns = 5, .away_ns = 7, .steal_ns = 0},
        {.at_ns = 2000, .cpu_ns = 300, .run_delay_ns = 5, .away_ns = 7, .steal_ns = 50},
        {.at_ns = 3000,
         .cpu_ns = 400,
         .run_delay_ns = 805,
         .away_ns = 807,
         .steal_ns = 50,
         .involuntary = 2},
    };
    struct sample_window w;
    sample_window_of(samples, 3, 1000, 3000, &w);
    assert_true(fabs(w.cpu_ns - 300) < 1e-9 && fabs(w.run_delay_ns - 800) < 1e-9);
    assert_true(fabs(w.away_ns - 800) < 1e-9 && fabs(w.steal_ns - 50) < 1e-9);
    assert_int_equal(w.involuntary, 2);
    sample_window_of(samples, 3, 2200, 2500, &w); /* bursts at most fill the window */
    assert_true(fabs(w.away_ns - 300) < 1e-9);
    assert_true(fabs(w.cpu_ns - 30) < 1e-9); /* CPU by proportion */
    assert_true(fabs(w.steal_ns) < 1e-9);
}

static void uncovered_windows_are_unknown(void **state)
{
    (void)state;
    const struct sample samples[] = {{.at_ns = 1000}, {.at_ns = 2000, .steal_ns = UINT64_MAX}};
    struct sample_window w;
    sample_window_of(samples, 2, 500, 1500, &w);
    assert_true(isnan(w.cpu_ns));
    sample_window_of(samples, 2, 1500, 2500, &w);
    assert_true(isnan(w.away_ns));
    sample_window_of(samples, 0, 1500, 2500, &w);
    assert_true(isnan(w.away_ns));
    sample_window_of(samples, 2, 1000, 2000, &w);
    assert_true(!isnan(w.away_ns));
    assert_true(isnan(w.steal_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_is_told_by_its_measure),
        cmocka_unit_test(less_than_half_of_the_excess_is_no_cause),
        cmocka_unit_test(the_unknown_explains_nothing),
        cmocka_unit_test(what_is_not_slow_has_no_cause),
        cmocka_unit_test(every_cause_has_a_name),
        cmocka_unit_test(a_late_tick_is_time_away_unless_it_was_used),
        cmocka_unit_test(windows_subtract_the_samples_around_them),
        cmocka_unit_test(uncovered_windows_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
