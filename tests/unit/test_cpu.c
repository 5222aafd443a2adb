/* SPDX-License-Identifier: Apache-2.0 */
/* Are cores listed, split, pinned and accounted for as the header says? */
#include "cmocka_all.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "base/clock.h"
#include "base/cpu_internal.h"

#define MS 1000000u

static struct cpu_set set_of(size_t count, const unsigned short *cores)
{
    struct cpu_set set = {.count = count};
    memcpy(set.core, cores, count * sizeof *cores);
    return set;
}

static void core_lists_are_read_and_written(void **state)
{
    static const unsigned short cores[] = {0, 1, 2, 3, 8, 10, 11, 300};
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"0", "0"},
        {"0-3", "0-3"},
        {"0-3,8", "0-3,8"},
        {"8,0", "0,8"},
        {"0,0,0", "0"},
        {"1-2,2-3", "1-3"},
        {"10-11,300", "10-11,300"},
        {"3,2,1,0", "0-3"},
        {"0-0", "0"},
        {"007", NULL},
        {"010", "10"},
    };
    struct cpu_set allowed = set_of(COUNT_OF(cores), cores);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cpu_set set;
        struct err e = ERR_INIT;
        char shown[64];
        int status = cpu_parse_list_within(cases[i].text, &allowed, &set, &e);
        assert_int_equal(status, cases[i].shown ? 0 : -1);
        if (cases[i].shown)
            assert_string_equal(cpu_format_list(&set, shown, sizeof shown), cases[i].shown);
    }
}

static void bad_core_lists_are_refused(void **state)
{
    static const unsigned short cores[] = {0, 1, 2, 3, 8};
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "'' is not a list of cores; give numbers and ranges, like 0-3,8"},
        {"x", NULL},
        {"0,", NULL},
        {",0", NULL},
        {"0-", NULL},
        {"-1", NULL},
        {"3-0", NULL},
        {"0 1", NULL},
        {"0,,1", NULL},
        {" 0", NULL},
        {"0-1-2", NULL},
        {"+1", NULL},
        {"0x1", NULL},
        {"1.5", NULL},
        {"99999999999999999999", NULL},
        {"4", "'4': core 4 is not one that may be used here (0-3,8)"},
        {"0-999999", "'0-999999': core 4 is not one that may be used here (0-3,8)"},
        {"0-8", "'0-8': core 4 is not one that may be used here (0-3,8)"},
    };
    struct cpu_set allowed = set_of(COUNT_OF(cores), cores);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cpu_set set = {.count = 77};
        struct err e = ERR_INIT;
        if (cpu_parse_list_within(cases[i].text, &allowed, &set, &e) != -1)
            fail_msg("took '%s'", cases[i].text);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_int_equal(set.count, 77);
        if (cases[i].says)
            assert_string_equal(e.text, cases[i].says);
    }
}

static void a_core_list_is_cut_to_its_buffer(void **state)
{
    static const unsigned short cores[] = {0, 2, 4, 6, 8};
    struct cpu_set set = set_of(COUNT_OF(cores), cores);
    struct cpu_set none = {.count = 0};
    char small[4];
    (void)state;
    assert_string_equal(cpu_format_list(&set, small, sizeof small), "0,2");
    assert_string_equal(cpu_format_list(&none, small, sizeof small), "");
}

static void client_and_server_share_no_core_where_two_exist(void **state)
{
    static const struct {
        const char *what;
        size_t count;
        unsigned short core[8], leader[8];
        bool is_disjoint;
        const char *server, *client;
    } cases[] = {
        {"one core", 1, {5}, {5}, false, "5", "5"},
        {"two cores", 2, {0, 1}, {0, 1}, true, "0", "1"},
        {"two threads of one core", 2, {0, 1}, {0, 0}, true, "0", "1"},
        {"three cores", 3, {0, 1, 2}, {0, 1, 2}, true, "0", "1-2"},
        {"four cores", 4, {0, 1, 2, 3}, {0, 1, 2, 3}, true, "0-1", "2-3"},
        {"siblings next to each other", 4, {0, 1, 2, 3}, {0, 0, 2, 2}, true, "0-1", "2-3"},
        {"siblings half apart", 4, {0, 1, 2, 3}, {0, 1, 0, 1}, true, "0,2", "1,3"},
        {"siblings half apart, 8",
         8,
         {0, 1, 2, 3, 4, 5, 6, 7},
         {0, 1, 2, 3, 0, 1, 2, 3},
         true,
         "0-1,4-5",
         "2-3,6-7"},
        {"a sibling that is not allowed", 3, {1, 2, 3}, {1, 0, 1}, true, "1,3", "2"},
        {"four threads of one core", 4, {4, 5, 6, 7}, {4, 4, 4, 4}, true, "4-5", "6-7"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cpu_set allowed = set_of(cases[i].count, cases[i].core);
        struct cpu_set client, server;
        char shown[64];
        bool is_disjoint = cpu_split_by_leader(&allowed, cases[i].leader, &client, &server);
        assert_int_equal(is_disjoint, cases[i].is_disjoint);
        assert_string_equal(cpu_format_list(&server, shown, sizeof shown), cases[i].server);
        assert_string_equal(cpu_format_list(&client, shown, sizeof shown), cases[i].client);
    }
}

static void this_machines_cores_are_split_whole(void **state)
{
    struct cpu_set allowed, client, server;
    (void)state;
    cpu_allowed(&allowed);
    assert_true(allowed.count >= 1);
    for (size_t i = 1; i < allowed.count; i++)
        assert_true(allowed.core[i] > allowed.core[i - 1]);
    bool is_disjoint = cpu_split(&allowed, &client, &server);
    assert_int_equal(is_disjoint, allowed.count > 1);
    if (is_disjoint)
        assert_int_equal(client.count + server.count, allowed.count);
    assert_true(cpu_share_physical_core(&allowed, &client));
}

static void *pin_and_report(void *argument)
{
    static struct err e;
    unsigned core = *(unsigned *)argument;
    if (cpu_pin_thread(core, &e) != 0)
        return e.text;
    struct cpu_set now;
    cpu_allowed(&now);
    return now.count == 1 && now.core[0] == core && sched_getcpu() == (int)core
               ? NULL
               : "not on the core";
}

static void a_thread_is_pinned_and_the_others_are_not(void **state)
{
    struct cpu_set before, after;
    void *problem;
    pthread_t thread;
    (void)state;
    cpu_allowed(&before);
    unsigned core = before.core[before.count - 1];
    assert_int_equal(pthread_create(&thread, NULL, pin_and_report, &core), 0);
    pthread_join(thread, &problem);
    if (problem)
        fail_msg("%s", (char *)problem);
    cpu_allowed(&after);
    assert_int_equal(after.count, before.count);
    struct err e = ERR_INIT;
    assert_int_equal(cpu_pin_thread_to_set(&before, &e), 0);
}

static void pinning_to_a_core_that_is_not_there_says_so(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(cpu_pin_thread(8000, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_int_equal(strncmp(e.text, "pinning to cores 8000: ", 23), 0);
    assert_int_equal(cpu_pin_thread(4000000000u, &e), -1);
    struct cpu_set none = {.count = 0};
    assert_int_equal(cpu_pin_thread_to_set(&none, &e), -1);
}

static const char stat_text[] = "cpu  100 10 50 1000 5 6 7 8 9 1\n"
                                "cpu0 60 5 30 500 5 2 3 4 9 0\n"
                                "cpu1 40 5 20 500 0 4 4 4 0 1\n"
                                "cpu10 1000 0 0 0 0 0 0 1000 0 0\n"
                                "intr 12345 1 2 3\n"
                                "cpu2 9 9 9 9 9 9 9 9 9 9\n";

static void losses_are_those_of_the_set(void **state)
{
    static const struct {
        size_t count;
        unsigned short core[3];
        uint64_t busy, softirq, steal; /* ticks; count 0: all cores */
    } cases[] = {
        {1, {0}, 100, 3, 4},      {1, {1}, 73, 4, 4},      {2, {0, 1}, 173, 7, 8},
        {1, {10}, 1000, 0, 1000}, {0, {0}, 1173, 7, 1008},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cpu_losses got = {0};
        struct cpu_set set = set_of(cases[i].count, cases[i].core);
        cpu_parse_stat(stat_text, cases[i].count ? &set : NULL, 100, &got);
        assert_true(got.has_busy && got.has_steal && !got.has_throttled);
        assert_true(got.busy_ns == cases[i].busy * 10 * MS);
        assert_true(got.softirq_ns == cases[i].softirq * 10 * MS);
        assert_true(got.steal_ns == cases[i].steal * 10 * MS);
    }
}

static void what_the_kernel_does_not_tell_is_absent(void **state)
{
    static const char *const texts[] = {"",     "\n",       "garbage", "cpu",
                                        "cpu0", "cpu0 1 2", "cpux 1"};
    static const unsigned short seven[] = {7};
    struct cpu_set set = set_of(1, seven);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct cpu_losses got = {0};
        cpu_parse_stat(texts[i], NULL, 100, &got);
        assert_false(got.has_busy || got.has_steal);
    }
    struct cpu_losses got = {0};
    cpu_parse_stat(stat_text, &set, 100, &got); /* a core that is offline */
    assert_false(got.has_busy || got.has_steal);
    cpu_parse_stat("cpu0 60 5 30 500 5 2 3\n", NULL, 100, &got); /* before steal existed */
    assert_true(got.has_busy && !got.has_steal);
    assert_true(got.busy_ns == 1000 * MS);
}

static void a_busy_core_shows_in_its_losses(void **state)
{
    struct cpu_losses before, after;
    (void)state;
    cpu_read_losses(NULL, &before);
    clock_spin_cpu_ns(100 * MS);
    cpu_read_losses(NULL, &after);
    if (!before.has_busy)
        skip();
    assert_true(after.busy_ns - before.busy_ns >= 80 * MS);
    assert_true(after.steal_ns >= before.steal_ns);
}

static void run_delay_is_the_second_field(void **state)
{
    static const struct {
        const char *text;
        bool is_kept;
        uint64_t delay;
    } cases[] = {
        {"1000 250 3\n", true, 250}, {"1000 0 1\n", true, 0},
        {"0 0 0\n", false, 77},      {"", false, 77},
        {"12 13\n", false, 77},      {"x y z\n", false, 77},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t delay = 77;
        assert_int_equal(cpu_parse_run_delay(cases[i].text, &delay), cases[i].is_kept);
        assert_true(delay == cases[i].delay);
    }
}

static void a_thread_that_sleeps_switches_voluntarily(void **state)
{
    struct cpu_thread_record before, after;
    (void)state;
    cpu_read_thread(&before);
    for (int i = 0; i < 5; i++)
        clock_sleep_until_ns(clock_now_ns() + MS);
    cpu_read_thread(&after);
    assert_true(after.voluntary >= before.voluntary + 5);
    assert_true(after.involuntary >= before.involuntary);
    assert_int_equal(after.has_run_delay, before.has_run_delay);
    assert_true(after.run_delay_ns >= before.run_delay_ns);
}

/* What stays open tells the same as what is opened anew. */
static void a_watch_agrees_with_a_single_look(void **state)
{
    struct cpu_watch watch;
    struct cpu_thread_record before, now, after;
    struct cpu_losses earlier, later;
    uint64_t steal_ns = 0;
    (void)state;
    cpu_watch_open(&watch);
    for (int i = 0; i < 3; i++) {
        cpu_read_thread(&before);
        cpu_watch_thread(&watch, &now);
        clock_sleep_until_ns(clock_now_ns() + MS);
        cpu_read_thread(&after);
        assert_int_equal(now.has_run_delay, before.has_run_delay);
        assert_in_range(now.run_delay_ns, before.run_delay_ns, after.run_delay_ns);
        assert_in_range(now.voluntary, before.voluntary, after.voluntary - 1);
        cpu_read_losses(NULL, &earlier);
        assert_int_equal(cpu_watch_steal(&watch, NULL, &steal_ns), earlier.has_steal);
        cpu_read_losses(NULL, &later);
        assert_in_range(steal_ns, earlier.steal_ns, later.steal_ns);
    }
    cpu_watch_close(&watch);
    cpu_watch_thread(&watch, &now);
    assert_false(now.has_run_delay || cpu_watch_steal(&watch, NULL, &steal_ns));
}

static void counters_count_or_say_that_they_cannot(void **state)
{
    struct cpu_counters counters;
    struct cpu_counts before, after;
    (void)state;
    if (!cpu_counters_open(&counters)) {
        cpu_counters_close(&counters);
        skip();
    }
    clock_spin_cpu_ns(MS);
    assert_true(cpu_counters_read(&counters, &before));
    cpu_speed_probe_ns(1);
    assert_true(cpu_counters_read(&counters, &after));
    assert_true(after.instructions - before.instructions > 100000);
    assert_true(after.cycles > before.cycles);
    cpu_counters_close(&counters);
}

static void the_speed_probe_repeats(void **state)
{
    (void)state;
    cpu_speed_probe_ns(20);
    uint64_t first = cpu_speed_probe_ns(50);
    uint64_t second = cpu_speed_probe_ns(50);
    uint64_t single = cpu_speed_probe_ns(1);
    assert_in_range(first, 20000, 5 * MS); /* the compiler left the work in */
    assert_true(second > first / 3 && second < first * 3);
    assert_true(single > first / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_lists_are_read_and_written),
        cmocka_unit_test(bad_core_lists_are_refused),
        cmocka_unit_test(a_core_list_is_cut_to_its_buffer),
        cmocka_unit_test(client_and_server_share_no_core_where_two_exist),
        cmocka_unit_test(this_machines_cores_are_split_whole),
        cmocka_unit_test(a_thread_is_pinned_and_the_others_are_not),
        cmocka_unit_test(pinning_to_a_core_that_is_not_there_says_so),
        cmocka_unit_test(losses_are_those_of_the_set),
        cmocka_unit_test(what_the_kernel_does_not_tell_is_absent),
        cmocka_unit_test(a_busy_core_shows_in_its_losses),
        cmocka_unit_test(run_delay_is_the_second_field),
        cmocka_unit_test(a_thread_that_sleeps_switches_voluntarily),
        cmocka_unit_test(a_watch_agrees_with_a_single_look),
        cmocka_unit_test(counters_count_or_say_that_they_cannot),
        cmocka_unit_test(the_speed_probe_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
