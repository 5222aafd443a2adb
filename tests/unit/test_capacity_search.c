/* SPDX-License-Identifier: Apache-2.0 */
/* Does the search find a capacity that is known, and does its interval hold what it says?
 * The servers are made up: a sharp limit, a gradual one, one that hiccups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <cmocka.h>
#include "run/capacity_search.h"

#define PROBES 60u
#define SEARCHES 60u

/* P(held) = (1 - hiccups) / (1 + (rate / capacity)^(1 / slope)); slope 0: a step.  Above
 * client_per_s the generator ends. */
struct server {
    double capacity_per_s, slope, hiccups, client_per_s;
};

static enum capacity_outcome probe(const struct server *s, double rate_per_s, struct rng *rng)
{
    const double z = log(rate_per_s / s->capacity_per_s);
    const double holds = s->slope > 0 ? 1 / (1 + exp(z / s->slope)) : z <= 0;
    if (s->client_per_s > 0 && rate_per_s > s->client_per_s)
        return CAPACITY_CLIENT;
    return rng_unit(rng) < (1 - s->hiccups) * holds ? CAPACITY_HELD : CAPACITY_BROKE;
}

static const struct capacity_bounds wide = {1, 1e6, 0.02};

/* Until it ends, or PROBES probes. */
static enum capacity_state search(const struct server *server, double guess, uint64_t seed,
                                  struct capacity_search *s)
{
    struct rng rng;
    rng_init(&rng, seed);
    capacity_search_init(s, &wide, guess);
    while (s->count < PROBES && capacity_search_state(s) == CAPACITY_SEARCHING) {
        const double rate = capacity_search_next(s, &rng);
        capacity_search_add(s, rate, probe(server, rate, &rng));
    }
    return capacity_search_state(s);
}

static void a_sharp_limit_is_found_within_the_precision_from_any_guess(void **state)
{
    (void)state;
    static const double guesses[] = {10, 400, 1000, 1300, 20000};
    const struct server server = {.capacity_per_s = 1000};
    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
        struct capacity_search s;
        assert_int_equal(search(&server, guesses[i], 1 + i, &s), CAPACITY_SETTLED);
        assert_in_range((uintmax_t)capacity_fit_quantile(&s.fit, 0.5), 970, 1030);
        /* A bisection of the first bracket would take about as many. */
        assert_in_range(s.count, CAPACITY_PROBES_MIN, 30);
        assert_true(capacity_search_highest_held(&s) <= 1000);
        assert_true(capacity_search_lowest_broken(&s) >= 1000);
    }
}

/* Of many searches: in how many is the truth within the interval, and how far off is the
 * middle? */
static void coverage(const struct server *server, unsigned least, double most_off)
{
    unsigned inside = 0;
    double squares = 0;
    const unsigned searches = SEARCHES;
    for (unsigned i = 0; i < searches; i++) {
        struct capacity_search s;
        (void)search(server, 500 + 10 * i, 100 + i, &s);
        assert_true(capacity_search_has_answer(&s));
        const double low = capacity_fit_quantile(&s.fit, 0.025);
        const double high = capacity_fit_quantile(&s.fit, 0.975);
        const double off = capacity_fit_quantile(&s.fit, 0.5) / server->capacity_per_s - 1;
        inside += low <= server->capacity_per_s && server->capacity_per_s <= high;
        squares += off * off;
    }
    assert_in_range(inside, least, searches);
    assert_true(sqrt(squares / searches) < most_off);
}

/* 95 % of 60 are 57; with that share, fewer than 51 come once in a thousand times. */
static void the_interval_holds_the_truth_of_a_gradual_limit(void **state)
{
    (void)state;
    coverage(&(struct server){.capacity_per_s = 1000, .slope = 0.02}, 51, 0.03);
}

static void the_interval_holds_the_truth_of_a_server_that_hiccups(void **state)
{
    (void)state;
    coverage(&(struct server){.capacity_per_s = 1000, .slope = 0.01, .hiccups = 0.1}, 51, 0.04);
}

static void a_first_probe_broken_by_chance_does_not_hold_the_search_down(void **state)
{
    (void)state;
    const struct server server = {.capacity_per_s = 1000};
    struct capacity_search s;
    struct rng rng;
    rng_init(&rng, 3);
    capacity_search_init(&s, &wide, 600);
    capacity_search_add(&s, capacity_search_next(&s, &rng), CAPACITY_BROKE);
    while (s.count < PROBES && capacity_search_state(&s) == CAPACITY_SEARCHING) {
        const double rate = capacity_search_next(&s, &rng);
        capacity_search_add(&s, rate, probe(&server, rate, &rng));
    }
    assert_int_equal(capacity_search_state(&s), CAPACITY_SETTLED);
    assert_in_range((uintmax_t)capacity_fit_quantile(&s.fit, 0.5), 960, 1040);
}

static void a_generator_that_ends_first_gives_no_answer_but_a_bound_below_it(void **state)
{
    (void)state;
    static const double clients[] = {20, 300, 900, 990};
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        const struct server server = {.capacity_per_s = 1000, .client_per_s = clients[i]};
        struct capacity_search s;
        assert_int_equal(search(&server, 200, 7 + i, &s), CAPACITY_AT_CLIENT);
        assert_false(capacity_search_has_answer(&s));
        assert_true(capacity_search_highest_held(&s) <= clients[i]);
        assert_true(capacity_search_highest_held(&s) >= clients[i] / 3);
    }
}

static void a_generator_that_ends_above_the_capacity_does_no_harm(void **state)
{
    (void)state;
    const struct server server = {.capacity_per_s = 1000, .client_per_s = 1200};
    struct capacity_search s;
    assert_int_equal(search(&server, 700, 5, &s), CAPACITY_SETTLED);
    assert_in_range((uintmax_t)capacity_fit_quantile(&s.fit, 0.5), 970, 1030);
}

static void rates_stay_within_their_bounds_and_the_bounds_are_named(void **state)
{
    (void)state;
    static const struct {
        double least, most;
        enum capacity_state state;
    } cases[] = {{1, 500, CAPACITY_AT_MAX}, {2000, 1e6, CAPACITY_BELOW_MIN}};
    const struct server server = {.capacity_per_s = 1000};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct capacity_bounds bounds = {cases[i].least, cases[i].most, 0.02};
        struct capacity_search s;
        struct rng rng;
        rng_init(&rng, 1);
        capacity_search_init(&s, &bounds, 300);
        while (s.count < PROBES && capacity_search_state(&s) == CAPACITY_SEARCHING) {
            const double rate = capacity_search_next(&s, &rng);
            assert_true(rate >= bounds.least_per_s && rate <= bounds.most_per_s);
            capacity_search_add(&s, rate, probe(&server, rate, &rng));
        }
        assert_int_equal(capacity_search_state(&s), cases[i].state);
        assert_true(s.count < 10);
        assert_false(capacity_search_has_answer(&s));
    }
}

static void void_probes_end_a_search_that_has_no_hope(void **state)
{
    (void)state;
    struct capacity_search s;
    struct rng rng;
    rng_init(&rng, 1);
    capacity_search_init(&s, &wide, 100);
    while (capacity_search_state(&s) == CAPACITY_SEARCHING && s.count < PROBES)
        capacity_search_add(&s, capacity_search_next(&s, &rng), CAPACITY_VOID);
    assert_int_equal(capacity_search_state(&s), CAPACITY_NOT_MEASURED);
    assert_true(s.count < PROBES);
}

static void a_probe_made_void_later_counts_no_more(void **state)
{
    (void)state;
    static const double rates[] = {500, 600, 700, 800, 1200, 1300, 1400, 1500};
    struct capacity_search s, with;
    capacity_search_init(&s, &wide, 100);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        capacity_search_add(&s, rates[i], rates[i] < 1000 ? CAPACITY_HELD : CAPACITY_BROKE);
    with = s;
    capacity_search_add(&with, 1100, CAPACITY_BROKE);
    assert_true(capacity_fit_quantile(&with.fit, 0.975) < capacity_fit_quantile(&s.fit, 0.975));
    capacity_search_void(&with, with.count - 1);
    assert_true(
        fabs(capacity_fit_quantile(&with.fit, 0.975) / capacity_fit_quantile(&s.fit, 0.975) -
             1) < 1e-9);
}

/* Answers with nothing between them: any place of the gap is as good as another, so the
 * quantiles are those of the gap, as far as the curve is sharp. */
static void separated_answers_leave_the_gap_between_them(void **state)
{
    (void)state;
    struct capacity_answer a[20];
    struct capacity_fit fit;
    for (size_t i = 0; i < 10; i++) {
        a[i] = (struct capacity_answer){1000, true};
        a[10 + i] = (struct capacity_answer){1100, false};
    }
    assert_true(capacity_fit_make(a, 20, &fit));
    assert_true(fabs(capacity_fit_quantile(&fit, 0.5) / sqrt(1000 * 1100) - 1) < 0.005);
    assert_true(capacity_fit_quantile(&fit, 0.25) > 1010);
    assert_true(capacity_fit_quantile(&fit, 0.75) < 1090);
    assert_false(capacity_fit_make(a, 10, &fit));
    assert_false(capacity_fit_make(a + 10, 10, &fit));
}

static void a_ratio_is_that_of_the_middles_and_wider_than_either(void **state)
{
    (void)state;
    struct capacity_search one, half;
    struct capacity_ratio ratio;
    const struct server first = {.capacity_per_s = 1000}, second = {.capacity_per_s = 500};
    (void)search(&first, 800, 1, &one);
    (void)search(&second, 800, 2, &half);
    capacity_ratio_init(&ratio, &one.fit, &half.fit);
    const double low = capacity_ratio_quantile(&ratio, 0.025);
    const double high = capacity_ratio_quantile(&ratio, 0.975);
    assert_true(fabs(capacity_ratio_quantile(&ratio, 0.5) - 0.5) < 0.02);
    assert_true(low < 0.5 && high > 0.5);
    const double widest =
        fmax(capacity_fit_quantile(&one.fit, 0.975) / capacity_fit_quantile(&one.fit, 0.025),
             capacity_fit_quantile(&half.fit, 0.975) / capacity_fit_quantile(&half.fit, 0.025));
    assert_true(high / low > widest);
    capacity_ratio_fini(&ratio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sharp_limit_is_found_within_the_precision_from_any_guess),
        cmocka_unit_test(the_interval_holds_the_truth_of_a_gradual_limit),
        cmocka_unit_test(the_interval_holds_the_truth_of_a_server_that_hiccups),
        cmocka_unit_test(a_first_probe_broken_by_chance_does_not_hold_the_search_down),
        cmocka_unit_test(a_generator_that_ends_first_gives_no_answer_but_a_bound_below_it),
        cmocka_unit_test(a_generator_that_ends_above_the_capacity_does_no_harm),
        cmocka_unit_test(rates_stay_within_their_bounds_and_the_bounds_are_named),
        cmocka_unit_test(void_probes_end_a_search_that_has_no_hope),
        cmocka_unit_test(a_probe_made_void_later_counts_no_more),
        cmocka_unit_test(separated_answers_leave_the_gap_between_them),
        cmocka_unit_test(a_ratio_is_that_of_the_middles_and_wider_than_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
