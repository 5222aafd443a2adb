/* SPDX-License-Identifier: Apache-2.0 */
/* Do the clocks run, sleep and spin as their header says? */
#include "cmocka_all.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "base/clock.h"

#define MS 1000000u

static void the_monotonic_clock_never_goes_back(void **state)
{
    uint64_t last = clock_now_ns();
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void spinning_costs_the_cpu_time_that_was_asked_for(void **state)
{
    uint64_t process = clock_process_cpu_ns(); /* the wider of the two windows */
    uint64_t thread = clock_thread_cpu_ns();
    (void)state;
    clock_spin_cpu_ns(20 * MS);
    uint64_t spent = clock_thread_cpu_ns() - thread;
    assert_in_range(spent, 20 * MS, 40 * MS);
    assert_true(clock_process_cpu_ns() - process >= spent);
}

static void sleeping_costs_wall_time_and_little_cpu(void **state)
{
    uint64_t start = clock_now_ns();
    uint64_t cpu = clock_thread_cpu_ns();
    (void)state;
    assert_int_equal(clock_sleep_until_ns(start + 30 * MS), 0);
    assert_true(clock_now_ns() >= start + 30 * MS);
    assert_true(clock_thread_cpu_ns() - cpu < 10 * MS);
}

static void a_deadline_that_has_passed_is_not_waited_for(void **state)
{
    uint64_t start = clock_now_ns();
    (void)state;
    assert_int_equal(clock_sleep_until_ns(start - 1), 0);
    assert_int_equal(clock_sleep_until_ns(0), 0);
    clock_spin_until_ns(start - 1);
    assert_true(clock_now_ns() - start < 1000 * MS);
}

static void spinning_until_a_deadline_never_ends_early(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        uint64_t deadline = clock_now_ns() + 20000;
        clock_spin_until_ns(deadline);
        assert_true(clock_now_ns() >= deadline);
    }
}

static void ignore_signal(int number)
{
    (void)number;
}

static void a_signal_ends_the_sleep_early(void **state)
{
    struct sigaction action, before;
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    uint64_t start = clock_now_ns();
    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = ignore_signal;
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(clock_sleep_until_ns(start + 10000 * (uint64_t)MS), -1);
    assert_true(clock_now_ns() - start < 5000 * (uint64_t)MS);
    sigaction(SIGALRM, &before, NULL);
}

static void the_wall_stamp_is_rfc_3339_in_utc(void **state)
{
    char stamp[32], small[5];
    (void)state;
    assert_ptr_equal(clock_wall_stamp(stamp, sizeof stamp), stamp);
    assert_int_equal(strlen(stamp), 20);
    for (size_t i = 0; i < 20; i++)
        if ("dddd-dd-ddTdd:dd:ddZ"[i] == 'd')
            assert_in_range(stamp[i], '0', '9');
        else
            assert_int_equal(stamp[i], "dddd-dd-ddTdd:dd:ddZ"[i]);
    clock_wall_stamp(small, sizeof small);
    assert_true(strlen(small) < sizeof small);
}

static void the_clocks_cost_and_step_are_plausible(void **state)
{
    (void)state;
    assert_true(clock_now_cost_ns(1001) < 100000);
    assert_in_range(clock_thread_cpu_cost_ns(1001), 1, 100000);
    assert_true(clock_now_cost_ns(1) < 100 * MS);
    assert_in_range(clock_resolution_seen_ns(1000), 1, 20 * MS);
    assert_in_range(clock_resolution_seen_ns(2), 1, 100 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(spinning_costs_the_cpu_time_that_was_asked_for),
        cmocka_unit_test(sleeping_costs_wall_time_and_little_cpu),
        cmocka_unit_test(a_deadline_that_has_passed_is_not_waited_for),
        cmocka_unit_test(spinning_until_a_deadline_never_ends_early),
        cmocka_unit_test(a_signal_ends_the_sleep_early),
        cmocka_unit_test(the_wall_stamp_is_rfc_3339_in_utc),
        cmocka_unit_test(the_clocks_cost_and_step_are_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
