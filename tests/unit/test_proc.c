/* SPDX-License-Identifier: Apache-2.0 */
/* Is what other processes cost read as the kernel writes it, whatever their names are? */
#include "fake_tree.h"
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/proc.h"

#define TICK_NS UINT64_C(10000000) /* 100 a second */

static const char stat_rest[] = " S 1 100 100 0 -1 4194560 1 2 3 4 70 30 11 4 20 0 3 0 5000 9 "
                                "9 18446744073709551615\n";

static void write_stat(const struct tree *t, int pid, const char *name)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s)%s", pid, name, stat_rest);
    tree_write(t, path, text);
}

static void a_stat_line_is_read_whatever_the_name(void **state)
{
    static const char *const names[] = {"nginx", "a b", "x) S 9 (y", ")", "((", "1 2 3"};
    struct tree t;
    (void)state;
    tree_make(&t);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct proc_stat s;
        write_stat(&t, 100, names[i]);
        assert_true(proc_read_stat(t.root, 100, &s));
        assert_string_equal(s.name, names[i]);
        assert_int_equal(s.parent, 1);
        assert_int_equal(s.state, 'S');
        assert_int_equal(s.cpu_ns, 100 * TICK_NS);
        assert_int_equal(s.reaped_ns, 15 * TICK_NS);
        assert_int_equal(s.threads, 3);
        assert_int_equal(s.started_ticks, 5000);
    }
    tree_remove(&t);
}

static void a_malformed_stat_line_is_absent(void **state)
{
    static const char *const texts[] = {
        "",
        "7",
        "7 (",
        "7 (x",
        "7 (x)",
        "7 (x) S",
        "7 (x) S 1 2 3",
        "7 )x( S 1 100 100 0 -1 4194560 1 2 3 4 70 30 11 4 20 0 3 0 5000",
        "7 (x) S 1 100 100 0 -1 4194560 1 2 3 4 70 x 11 4 20 0 3 0 5000",
    };
    struct proc_stat s;
    struct tree t;
    (void)state;
    tree_make(&t);
    assert_false(proc_read_stat(t.root, 7, &s));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        tree_write(&t, "/proc/7/stat", texts[i]);
        assert_false(proc_read_stat(t.root, 7, &s));
    }
    tree_remove(&t);
}

static void names_are_compared_as_the_kernel_cuts_them(void **state)
{
    static const struct {
        const char *kernel, *wanted;
        bool is_same;
    } cases[] = {
        {"nginx", "nginx", true},
        {"nginx", "ngin", false},
        {"nginx", "nginx-debug", false},
        {"fifteen_letters", "fifteen_letters", true},
        {"fifteen_letters", "fifteen_letters_and_more", true},
        {"fifteen_letter", "fifteen_letter_and_more", false},
        {"", "", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct proc_stat s = {.pid = 1};
        snprintf(s.name, sizeof s.name, "%s", cases[i].kernel);
        assert_int_equal(proc_is_named(&s, cases[i].wanted), cases[i].is_same);
    }
}

static void only_numbers_are_processes(void **state)
{
    pid_t pid[8];
    struct tree t;
    (void)state;
    tree_make(&t);
    assert_int_equal(proc_list_processes(t.root, pid, 8), 0);
    tree_write(&t, "/proc/12/stat", "");
    tree_write(&t, "/proc/self/stat", "");
    tree_write(&t, "/proc/12x/stat", "");
    tree_write(&t, "/proc/99999999999999999999/stat", "");
    tree_write(&t, "/proc/12/task/13/stat", "");
    assert_int_equal(proc_list_processes(t.root, pid, 8), 1);
    assert_int_equal(pid[0], 12);
    assert_int_equal(proc_list_threads(t.root, 12, pid, 8), 1);
    assert_int_equal(pid[0], 13);
    assert_int_equal(proc_list_threads(t.root, 13, pid, 8), 0);
    tree_remove(&t);
}

static void threads_add_up_and_ticks_stand_in_for_them(void **state)
{
    struct tree t;
    uint64_t ns = 0;
    struct proc_thread thread;
    (void)state;
    tree_make(&t);
    assert_false(proc_read_cpu(t.root, 100, &ns));
    write_stat(&t, 100, "x");
    assert_true(proc_read_cpu(t.root, 100, &ns));
    assert_int_equal(ns, 100 * TICK_NS);
    tree_write(&t, "/proc/100/task/100/schedstat", "0 0 0\n"); /* the kernel keeps none */
    assert_true(proc_read_cpu(t.root, 100, &ns));
    assert_int_equal(ns, 100 * TICK_NS);
    assert_false(proc_read_thread(t.root, 100, 100, &thread));
    tree_write(&t, "/proc/100/task/100/schedstat", "1234567 89 4\n");
    tree_write(&t, "/proc/100/task/101/schedstat", "7654321 11 9\n");
    assert_true(proc_read_cpu(t.root, 100, &ns));
    assert_int_equal(ns, 1234567 + 7654321);
    assert_true(proc_read_thread(t.root, 100, 101, &thread));
    assert_int_equal(thread.cpu_ns, 7654321);
    assert_int_equal(thread.run_delay_ns, 11);
    tree_remove(&t);
}

static void switches_and_listen_queues_are_read(void **state)
{
    struct tree t;
    uint64_t a = 7, b = 7;
    (void)state;
    tree_make(&t);
    assert_false(proc_read_switches(t.root, 5, 5, &a, &b));
    tree_write(&t, "/proc/5/task/5/status",
               "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n");
    assert_true(proc_read_switches(t.root, 5, 5, &a, &b));
    assert_int_equal(a, 12);
    assert_int_equal(b, 3);
    assert_false(proc_read_listen(t.root, 5, &a, &b));
    tree_write(&t, "/proc/5/net/netstat",
               "TcpExt: SyncookiesSent ListenOverflowsX ListenOverflows ListenDrops\n"
               "TcpExt: 1 2 30 4\nIpExt: ListenDrops\nIpExt: 9\n");
    assert_true(proc_read_listen(t.root, 5, &a, &b));
    assert_int_equal(a, 30);
    assert_int_equal(b, 4);
    tree_write(&t, "/proc/5/net/netstat", "TcpExt: A ListenOverflows\nTcpExt: 1\n");
    assert_false(proc_read_listen(t.root, 5, &a, &b));
    tree_write(&t, "/proc/5/net/netstat", "TcpExt: ListenOverflows");
    assert_false(proc_read_listen(t.root, 5, &a, &b));
    tree_remove(&t);
}

/* The child's CPU time as seen from outside, against what it says itself. */
static void another_process_is_seen_to_the_microsecond(void **state)
{
    int tell[2], hold[2];
    uint64_t own = 0, seen = 0;
    (void)state;
    assert_int_equal(pipe(tell), 0);
    assert_int_equal(pipe(hold), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(hold[1]);
        clock_spin_cpu_ns(7300000); /* no whole number of ticks */
        own = clock_process_cpu_ns();
        (void)!write(tell[1], &own, sizeof own);
        (void)!read(hold[0], &byte, 1);
        _exit(0);
    }
    close(hold[0]);
    assert_int_equal(read(tell[0], &own, sizeof own), sizeof own);
    assert_true(proc_read_cpu("", pid, &seen));
    close(hold[1]);
    waitpid(pid, NULL, 0);
    assert_true(seen >= own);
    assert_true(seen - own < 500000);
    assert_false(proc_read_cpu("", pid, &seen));
    close(tell[0]);
    close(tell[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stat_line_is_read_whatever_the_name),
        cmocka_unit_test(a_malformed_stat_line_is_absent),
        cmocka_unit_test(names_are_compared_as_the_kernel_cuts_them),
        cmocka_unit_test(only_numbers_are_processes),
        cmocka_unit_test(threads_add_up_and_ticks_stand_in_for_them),
        cmocka_unit_test(switches_and_listen_queues_are_read),
        cmocka_unit_test(another_process_is_seen_to_the_microsecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
