/* SPDX-License-Identifier: Apache-2.0 */
/* Does every timer fire once, in order and never early, and every descriptor get its turn? */
#include "cmocka_all.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/rng.h"
#include "net/loop.h"

#define MS 1000000u

/* Every test runs in each way of waiting. */
static const struct {
    const char *name;
    struct loop_options options;
} ways[] = {
    {"sleeping", {.spin = false}},
    {"sleeping without epoll_pwait2", {.without_pwait2 = true}},
    {"spinning", {.spin = true}},
    {"polling early", {.poll_early = true}},
};

struct bed {
    const struct loop_options *options;
    struct loop *loop;
};

static int set_up(void **state)
{
    struct bed *bed = *state;
    struct err e = ERR_INIT;
    bed->loop = loop_new(bed->options, &e);
    return bed->loop != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    loop_free(bed->loop);
    return 0;
}

static struct loop *loop_of(void **state)
{
    return ((struct bed *)*state)->loop;
}

static void run_until(struct loop *loop, uint64_t deadline_ns)
{
    while (clock_now_ns() < deadline_ns)
        assert_true(loop_run_once(loop, deadline_ns) >= 0);
}

/* ---- timers ---- */

struct fired {
    size_t count;
    struct {
        size_t number;
        uint64_t now_ns;
    } at[4096];
};

struct numbered {
    struct loop_timer timer;
    struct fired *fired;
    size_t number;
};

static void note(void *arg, uint64_t now_ns)
{
    struct numbered *n = arg;
    assert_false(loop_timer_is_set(&n->timer));
    assert_true(n->fired->count < COUNT_OF(n->fired->at));
    n->fired->at[n->fired->count].number = n->number;
    n->fired->at[n->fired->count++].now_ns = now_ns;
}

static void timers_init(struct numbered *timers, size_t count, struct fired *fired)
{
    memset(timers, 0, count * sizeof(*timers));
    fired->count = 0;
    for (size_t i = 0; i < count; i++) {
        timers[i].timer.fire = note;
        timers[i].timer.arg = &timers[i];
        timers[i].fired = fired;
        timers[i].number = i;
    }
}

static void timers_fire_in_order_and_never_early(void **state)
{
    static const unsigned delays_us[] = {3000, 1000, 2000, 1000, 0, 2050, 1000, 9000};
    static const size_t order[] = {4, 1, 3, 6, 2, 5, 0, 7}; /* equal ones as they were set */
    static struct fired fired;
    struct numbered timers[COUNT_OF(delays_us)];
    struct loop *loop = loop_of(state);
    timers_init(timers, COUNT_OF(timers), &fired);
    uint64_t start = clock_now_ns();
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        loop_timer_set(loop, &timers[i].timer, start + delays_us[i] * 1000u);
    assert_int_equal(loop_next_timer_ns(loop), start);
    run_until(loop, start + 10 * MS);
    assert_int_equal(fired.count, COUNT_OF(order));
    for (size_t i = 0; i < fired.count; i++) {
        assert_int_equal(fired.at[i].number, order[i]);
        assert_true(fired.at[i].now_ns >= start + delays_us[order[i]] * 1000u);
    }
    assert_int_equal(loop_next_timer_ns(loop), LOOP_NEVER);
}

/* Set, set anew and stopped at random; what remains must fire sorted. */
static void many_timers_keep_their_order(void **state)
{
    enum { TIMERS = 3000 };
    static struct fired fired;
    static struct numbered timers[TIMERS];
    struct rng rng;
    struct loop *loop = loop_of(state);
    rng_init(&rng, 1);
    size_t left = 0;
    timers_init(timers, TIMERS, &fired);
    for (size_t i = 0; i < 10 * TIMERS; i++) {
        struct loop_timer *timer = &timers[rng_below(&rng, TIMERS)].timer;
        if (rng_below(&rng, 3) == 0)
            loop_timer_stop(loop, timer);
        else
            loop_timer_set(loop, timer, 1 + rng_below(&rng, 500));
    }
    for (size_t i = 0; i < TIMERS; i++)
        left += loop_timer_is_set(&timers[i].timer);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), left);
    assert_int_equal(fired.count, left);
    for (size_t i = 1; i < left; i++)
        assert_true(timers[fired.at[i - 1].number].timer.at_ns <=
                    timers[fired.at[i].number].timer.at_ns);
}

static void a_stopped_timer_does_not_fire(void **state)
{
    static struct fired fired;
    struct numbered timers[2];
    struct loop *loop = loop_of(state);
    timers_init(timers, 2, &fired);
    uint64_t start = clock_now_ns();
    loop_timer_stop(loop, &timers[0].timer); /* is not set: nothing */
    loop_timer_set(loop, &timers[0].timer, start);
    loop_timer_set(loop, &timers[1].timer, start);
    loop_timer_stop(loop, &timers[0].timer);
    assert_int_equal(loop_run_once(loop, start), 1);
    assert_int_equal(fired.count, 1);
    assert_int_equal(fired.at[0].number, 1);
    loop_timer_set(loop, &timers[0].timer, LOOP_NEVER - 1);
    assert_true(loop_timer_is_set(&timers[0].timer));
    assert_int_equal(loop_run_once(loop, 0), 0);
    /* freed while one is set */
}

struct again {
    struct loop_timer timer;
    struct loop *loop;
    unsigned fired;
};

static void set_again(void *arg, uint64_t now_ns)
{
    struct again *a = arg;
    a->fired++;
    loop_timer_set(a->loop, &a->timer, now_ns - MS);
}

static void a_timer_set_in_its_callback_waits_for_the_next_round(void **state)
{
    struct loop *loop = loop_of(state);
    struct again a = {.timer = {.fire = set_again, .arg = &a}, .loop = loop};
    loop_timer_set(loop, &a.timer, 0);
    for (unsigned round = 1; round < 5; round++) {
        assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
        assert_int_equal(a.fired, round);
    }
}

static void a_wait_lasts_until_its_deadline(void **state)
{
    struct loop *loop = loop_of(state);
    uint64_t waited = loop_waited_ns(loop);
    uint64_t deadline = clock_now_ns() + 20 * MS;
    assert_int_equal(loop_run_once(loop, deadline), 0);
    assert_true(clock_now_ns() >= deadline);
    assert_true(loop_waited_ns(loop) >= waited + 19 * MS);
    assert_int_equal(loop_run_once(loop, 0), 0); /* looks only */
}

/* The kernel may let a wait of 100 ms be late by 100 us; ours is not, at the best of some
 * tries. */
/* The CPU time of polling is told apart: of a thread that does nothing else, most; and none
 * without a timer that must be prompt. */
static void polling_is_told_apart(void **state)
{
    static struct fired fired;
    struct bed *bed = *state;
    struct loop *loop = bed->loop;
    struct numbered timer;
    timers_init(&timer, 1, &fired);
    for (int is_prompt = 0; is_prompt <= 1; is_prompt++) {
        const bool polls = is_prompt && bed->options->poll_early;
        const uint64_t cpu_ns = clock_thread_cpu_ns(), polled_ns = loop_polled_cpu_ns(loop);
        timer.timer.is_prompt = is_prompt;
        for (unsigned i = 0; i < 20 || (polls && loop_polled_cpu_ns(loop) == polled_ns); i++) {
            const uint64_t at_ns = clock_now_ns() + 2 * MS;
            fired.count = 0;
            loop_timer_set(loop, &timer.timer, at_ns);
            while (fired.count == 0)
                assert_true(loop_run_once(loop, LOOP_NEVER) >= 0);
            assert_true(fired.at[0].now_ns >= at_ns);
        }
        const uint64_t polled_more_ns = loop_polled_cpu_ns(loop) - polled_ns;
        assert_int_equal(polled_more_ns > 0, polls);
        assert_true(polled_more_ns <= clock_thread_cpu_ns() - cpu_ns);
    }
}

static void a_long_wait_is_not_late_by_a_share_of_it(void **state)
{
    struct loop *loop = loop_of(state);
    uint64_t late = UINT64_MAX;
    for (int try = 0; try < 10 && late >= MS / 12; try++) {
        uint64_t deadline = clock_now_ns() + 100 * MS;
        assert_int_equal(loop_run_once(loop, deadline), 0);
        uint64_t now = clock_now_ns();
        late = now - deadline < late ? now - deadline : late;
    }
    assert_true(late < MS / 12);
}

/* ---- descriptors ---- */

struct end_of_pair {
    struct loop_watch watch;
    struct loop *loop;
    struct end_of_pair *other;
    unsigned calls;
    uint32_t events;
};

static void count_ready(void *arg, uint32_t events)
{
    struct end_of_pair *end = arg;
    end->calls++;
    end->events = events;
}

static void pair_open(struct end_of_pair *ends, struct loop *loop,
                      void (*ready)(void *, uint32_t))
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    for (int i = 0; i < 2; i++) {
        ends[i] = (struct end_of_pair){.watch = {.ready = ready, .arg = &ends[i], .fd = fds[i]},
                                       .loop = loop,
                                       .other = &ends[1 - i]};
    }
}

static void pair_close(struct end_of_pair *ends)
{
    close(ends[0].watch.fd);
    close(ends[1].watch.fd);
}

static void an_edge_is_told_once(void **state)
{
    struct loop *loop = loop_of(state);
    struct end_of_pair ends[2];
    pair_open(ends, loop, count_ready);
    assert_int_equal(loop_add(loop, &ends[0].watch, ends[0].watch.fd, LOOP_EDGES), 0);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_int_equal(ends[0].events, EPOLLOUT);
    assert_int_equal(loop_run_once(loop, 0), 0);
    assert_int_equal(write(ends[1].watch.fd, "x", 1), 1);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_true(ends[0].events & EPOLLIN);
    assert_int_equal(loop_run_once(loop, 0), 0); /* not read, not told again */
    close(ends[1].watch.fd);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_true(ends[0].events & EPOLLHUP);
    close(ends[0].watch.fd);
}

static void a_level_is_told_until_it_is_served_or_changed(void **state)
{
    struct loop *loop = loop_of(state);
    struct end_of_pair ends[2];
    pair_open(ends, loop, count_ready);
    assert_int_equal(loop_add(loop, &ends[0].watch, ends[0].watch.fd, EPOLLIN), 0);
    assert_int_equal(write(ends[1].watch.fd, "x", 1), 1);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_int_equal(loop_modify(loop, &ends[0].watch, EPOLLRDHUP), 0);
    assert_int_equal(loop_run_once(loop, 0), 0);
    assert_int_equal(loop_modify(loop, &ends[0].watch, EPOLLOUT), 0);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    loop_remove(loop, &ends[0].watch);
    assert_int_equal(loop_run_once(loop, 0), 0);
    pair_close(ends);
}

static void a_bad_descriptor_is_refused_by_errno(void **state)
{
    struct loop *loop = loop_of(state);
    struct loop_watch watch = {.ready = count_ready};
    assert_int_equal(loop_add(loop, &watch, -1, EPOLLIN), -1);
    assert_int_equal(errno, EBADF);
}

/* Whoever is called first removes the other, whose event is in the same batch. */
static void remove_other(void *arg, uint32_t events)
{
    struct end_of_pair *end = arg;
    (void)events;
    end->calls++;
    loop_forget(end->loop, &end->other->watch);
    close(end->other->watch.fd);
    memset(&end->other->watch, 0xee, sizeof(end->other->watch));
}

static void a_watch_that_is_gone_gets_no_callback(void **state)
{
    struct loop *loop = loop_of(state);
    struct end_of_pair ends[2];
    pair_open(ends, loop, remove_other);
    assert_int_equal(loop_add(loop, &ends[0].watch, ends[0].watch.fd, LOOP_EDGES), 0);
    assert_int_equal(loop_add(loop, &ends[1].watch, ends[1].watch.fd, LOOP_EDGES), 0);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_int_equal(ends[0].calls + ends[1].calls, 1);
    close(ends[ends[0].calls == 1 ? 0 : 1].watch.fd);
}

static void burn(void *arg, uint32_t events)
{
    struct end_of_pair *end = arg;
    (void)events;
    end->calls++;
    clock_spin_until_ns(clock_now_ns() + 3 * MS);
}

/* A timer that falls due during the first of two callbacks fires before the second. */
static void due_timers_go_before_the_next_descriptor(void **state)
{
    static struct fired fired;
    struct loop *loop = loop_of(state);
    struct numbered timer;
    struct end_of_pair ends[2];
    pair_open(ends, loop, burn);
    timers_init(&timer, 1, &fired);
    assert_int_equal(loop_add(loop, &ends[0].watch, ends[0].watch.fd, LOOP_EDGES), 0);
    assert_int_equal(loop_add(loop, &ends[1].watch, ends[1].watch.fd, LOOP_EDGES), 0);
    uint64_t start = clock_now_ns();
    loop_timer_set(loop, &timer.timer, start + MS);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 3);
    uint64_t ended = clock_now_ns();
    assert_int_equal(fired.count, 1);
    assert_true(fired.at[0].now_ns + 3 * MS <= ended);
    pair_close(ends);
}

/* It gets its turn before each descriptor that is ready, not once in a batch; and it holds up
 * neither them nor a timer that is due as well. */
static void a_timer_set_in_its_callback_waits_for_one_descriptor_at_most(void **state)
{
    static struct fired fired;
    struct loop *loop = loop_of(state);
    struct again a = {.timer = {.fire = set_again, .arg = &a}, .loop = loop};
    struct numbered other;
    struct end_of_pair ends[2];
    pair_open(ends, loop, count_ready);
    timers_init(&other, 1, &fired);
    assert_int_equal(loop_add(loop, &ends[0].watch, ends[0].watch.fd, LOOP_EDGES), 0);
    assert_int_equal(loop_add(loop, &ends[1].watch, ends[1].watch.fd, LOOP_EDGES), 0);
    loop_timer_set(loop, &a.timer, 0);
    loop_timer_set(loop, &other.timer, 1);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 6);
    assert_int_equal(a.fired, 3);
    assert_int_equal(fired.count, 1);
    assert_int_equal(ends[0].calls + ends[1].calls, 2);
    pair_close(ends);
}

static void a_descriptor_above_1024_works(void **state)
{
    struct rlimit limit;
    struct loop *loop = loop_of(state);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < 3000)
        skip();
    if (limit.rlim_cur < 3000)
        limit.rlim_cur = 3000;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    struct end_of_pair ends[2];
    pair_open(ends, loop, count_ready);
    int high = fcntl(ends[0].watch.fd, F_DUPFD_CLOEXEC, 2500);
    assert_true(high >= 2500);
    close(ends[0].watch.fd);
    assert_int_equal(loop_add(loop, &ends[0].watch, high, LOOP_EDGES), 0);
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    assert_int_equal(ends[0].calls, 1);
    pair_close(ends);
}

/* ---- being interrupted ---- */

static void *wake_later(void *arg)
{
    clock_sleep_until_ns(clock_now_ns() + 10 * MS);
    loop_wake(arg);
    return NULL;
}

static void another_thread_wakes_the_loop(void **state)
{
    struct loop *loop = loop_of(state);
    pthread_t thread;
    uint64_t start = clock_now_ns(), deadline = start + 30000ull * MS;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, wake_later, loop), 0);
        assert_int_equal(loop_run_once(loop, deadline), 0);
        pthread_join(thread, NULL);
    }
    assert_true(clock_now_ns() >= start + 30 * MS);
    loop_wake(loop); /* before the wait: not lost */
    loop_wake(loop);
    assert_int_equal(loop_run_once(loop, deadline), 0);
    assert_true(clock_now_ns() < deadline);
    assert_int_equal(loop_run_once(loop, 0), 0);
}

static void on_signal(int number)
{
    (void)number;
}

/* While it spins, the deadline must end it. */
static void a_signal_ends_the_wait(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval in_10_ms = {.it_value = {.tv_usec = 10000}};
    const struct bed *bed = *state;
    uint64_t start = clock_now_ns(), limit = start + 30000ull * MS;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &in_10_ms, NULL), 0);
    assert_int_equal(loop_run_once(bed->loop, bed->options->spin ? start + 20 * MS : limit), 0);
    assert_true(clock_now_ns() >= start + 9 * MS);
    assert_true(clock_now_ns() < limit);
}

#define IN_A_BED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    struct CMUnitTest tests[] = {
        IN_A_BED(timers_fire_in_order_and_never_early),
        IN_A_BED(many_timers_keep_their_order),
        IN_A_BED(a_stopped_timer_does_not_fire),
        IN_A_BED(a_timer_set_in_its_callback_waits_for_the_next_round),
        IN_A_BED(a_wait_lasts_until_its_deadline),
        IN_A_BED(polling_is_told_apart),
        IN_A_BED(a_long_wait_is_not_late_by_a_share_of_it),
        IN_A_BED(an_edge_is_told_once),
        IN_A_BED(a_level_is_told_until_it_is_served_or_changed),
        IN_A_BED(a_bad_descriptor_is_refused_by_errno),
        IN_A_BED(a_watch_that_is_gone_gets_no_callback),
        IN_A_BED(due_timers_go_before_the_next_descriptor),
        IN_A_BED(a_timer_set_in_its_callback_waits_for_one_descriptor_at_most),
        IN_A_BED(a_descriptor_above_1024_works),
        IN_A_BED(another_thread_wakes_the_loop),
        IN_A_BED(a_signal_ends_the_wait),
    };
    int failed = 0;
    for (size_t way = 0; way < COUNT_OF(ways); way++) {
        struct bed bed = {.options = &ways[way].options};
        for (size_t i = 0; i < COUNT_OF(tests); i++)
            tests[i].initial_state = &bed;
        failed += cmocka_run_group_tests_name(ways[way].name, tests, NULL, NULL);
    }
    return failed;
}
