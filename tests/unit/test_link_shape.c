/* SPDX-License-Identifier: Apache-2.0 */
/* Does each packet arrive when it must, and are as many lost as were asked for? */
#include "cmocka_all.h"
#include <math.h>
#include "net/link_shape.h"

#define MS 1000000u
#define S 1000000000u

static struct link_way_spec way_of(const char *text)
{
    struct link_spec spec;
    struct err e = ERR_INIT;
    if (link_spec_parse(text, &spec, &e) != 0)
        fail_msg("%s", e.text);
    return spec.way[LINK_UP];
}

static void a_delay_is_added_to_the_nanosecond(void **state)
{
    (void)state;
    const struct link_way_spec way = way_of("delay=25ms");
    struct link_shape s;
    uint64_t due;
    link_shape_init(&s, &way, 1);
    assert_int_equal(link_shape_enter(&s, 1500, 7, &due), LINK_PASSED);
    assert_int_equal(due, 25 * MS + 7);
    link_shape_fini(&s);
}

/* 1250 bytes at 10 Mbit/s take 1 ms of line each. */
static void the_line_sends_one_after_the_other(void **state)
{
    (void)state;
    const struct link_way_spec way = way_of("delay=5ms,rate=10mbit");
    struct link_shape s;
    uint64_t due;
    link_shape_init(&s, &way, 1);
    for (unsigned i = 1; i <= 5; i++) {
        assert_int_equal(link_shape_enter(&s, 1250, 0, &due), LINK_PASSED);
        assert_int_equal(due, (5 + i) * MS);
    }
    /* Idle again at 5 ms: a later one waits for nobody. */
    assert_int_equal(link_shape_enter(&s, 125, 9 * MS, &due), LINK_PASSED);
    assert_int_equal(due, (9 + 5) * MS + MS / 10);
    link_shape_fini(&s);
}

/* One on the line and three that wait; the fifth is dropped, until one has left. */
static void a_full_queue_drops_what_comes(void **state)
{
    (void)state;
    const struct link_way_spec way = way_of("rate=10mbit,queue=3");
    struct link_shape s;
    uint64_t due;
    link_shape_init(&s, &way, 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(link_shape_enter(&s, 1250, 0, &due), LINK_PASSED);
    assert_int_equal(link_shape_enter(&s, 1250, 0, &due), LINK_QUEUE_FULL);
    assert_int_equal(link_shape_enter(&s, 1250, MS - 1, &due), LINK_QUEUE_FULL);
    assert_int_equal(link_shape_enter(&s, 1250, MS, &due), LINK_PASSED);
    assert_int_equal(due, 5 * MS);
    link_shape_fini(&s);
}

static void what_is_too_large_vanishes(void **state)
{
    (void)state;
    const struct link_way_spec way = way_of("delay=1ms,largest=1400");
    struct link_shape s;
    uint64_t due;
    link_shape_init(&s, &way, 1);
    assert_int_equal(link_shape_enter(&s, 1400, 0, &due), LINK_PASSED);
    assert_int_equal(link_shape_enter(&s, 1401, 0, &due), LINK_TOO_LARGE);
    link_shape_fini(&s);
}

static void jitter_stays_in_its_range_and_lets_nothing_overtake(void **state)
{
    (void)state;
    const struct link_way_spec way = way_of("delay=10ms,jitter=4ms");
    struct link_shape s;
    uint64_t due, last = 0, least = UINT64_MAX, most = 0;
    link_shape_init(&s, &way, 3);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(link_shape_enter(&s, 100, i * S, &due), LINK_PASSED);
        least = due - i * S < least ? due - i * S : least;
        most = due - i * S > most ? due - i * S : most;
    }
    assert_in_range(least, 6 * MS, 6 * MS + MS / 100);
    assert_in_range(most, 14 * MS - MS / 100, 14 * MS);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(link_shape_enter(&s, 100, 20000 * (uint64_t)S + i * 1000, &due),
                         LINK_PASSED);
        assert_true(due >= last);
        last = due;
    }
    link_shape_fini(&s);
}

struct losses {
    double lost, runs;
};

static struct losses lose(const char *text, uint64_t seed, unsigned packets)
{
    const struct link_way_spec way = way_of(text);
    struct link_shape s;
    struct losses l = {0, 0};
    uint64_t due;
    bool was_lost = false;
    link_shape_init(&s, &way, seed);
    for (unsigned i = 0; i < packets; i++) {
        const bool is_lost = link_shape_enter(&s, 100, i, &due) == LINK_LOST;
        l.lost += is_lost;
        l.runs += is_lost && !was_lost;
        was_lost = is_lost;
    }
    link_shape_fini(&s);
    return l;
}

static void losses_are_as_many_as_asked(void **state)
{
    (void)state;
    const double n = 200000, p = 0.05, sigma = sqrt(n * p * (1 - p));
    const struct losses l = lose("loss=5%", 1, 200000);
    assert_true(fabs(l.lost - n * p) < 4 * sigma);
    /* Independent: a loss is as long as chance makes it, 1 / (1 - p). */
    assert_true(fabs(l.lost / l.runs - 1 / (1 - p)) < 0.03);
}

/* The variance of the count is larger by about (1 + r) / (1 - r), r the correlation of
 * neighbours: 1 - leave - enter. */
static void bursts_are_as_long_as_asked_at_the_same_loss(void **state)
{
    (void)state;
    const double n = 400000, p = 0.05, burst = 6, r = 1 - 1 / burst - p / (burst * (1 - p));
    const double sigma = sqrt(n * p * (1 - p) * (1 + r) / (1 - r));
    const struct losses l = lose("loss=5%,burst=6", 2, 400000);
    assert_true(fabs(l.lost - n * p) < 4 * sigma);
    /* Lengths are geometric: their deviation is about their mean. */
    assert_true(fabs(l.lost / l.runs - burst) < 4 * burst / sqrt(l.runs));
}

static void a_seed_gives_the_same_losses_again(void **state)
{
    (void)state;
    const struct losses a = lose("loss=30%", 5, 10000), b = lose("loss=30%", 5, 10000),
                        c = lose("loss=30%", 6, 10000);
    assert_true(fabs(a.runs - b.runs) < 0.5 && fabs(a.lost - b.lost) < 0.5);
    assert_true(fabs(a.runs - c.runs) > 0.5 || fabs(a.lost - c.lost) > 0.5);
}

static void without_loss_nothing_is_lost(void **state)
{
    (void)state;
    assert_true(lose("loss=0", 1, 10000).lost < 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_is_added_to_the_nanosecond),
        cmocka_unit_test(the_line_sends_one_after_the_other),
        cmocka_unit_test(a_full_queue_drops_what_comes),
        cmocka_unit_test(what_is_too_large_vanishes),
        cmocka_unit_test(jitter_stays_in_its_range_and_lets_nothing_overtake),
        cmocka_unit_test(losses_are_as_many_as_asked),
        cmocka_unit_test(bursts_are_as_long_as_asked_at_the_same_loss),
        cmocka_unit_test(a_seed_gives_the_same_losses_again),
        cmocka_unit_test(without_loss_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
