/* SPDX-License-Identifier: Apache-2.0 */
/* Are the random numbers the published ones, and without bias? */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "base/rng.h"

static void the_sequence_is_the_published_one(void **state)
{
    static const uint64_t expected[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
        16172922978634559625u,
        8476171486693032832u,
        10595114339597558777u,
        2904607092377533576u,
    };
    struct rng rng = {.state = {1, 2, 3, 4}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_true(rng_next(&rng) == expected[i]);
}

static void the_state_is_seeded_by_splitmix64(void **state)
{
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u};
    struct rng rng;
    (void)state;
    rng_init(&rng, 1234567);
    assert_memory_equal(rng.state, expected, sizeof expected);
    rng_init(&rng, 42);
    assert_true(rng_next(&rng) == 1546998764402558742u);
    assert_true(rng_next(&rng) == 6990951692964543102u);
}

static void the_same_seed_gives_the_same_numbers_and_another_does_not(void **state)
{
    struct rng a, b, c;
    (void)state;
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&c, 8);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = rng_next(&a);
        assert_true(value == rng_next(&b));
        same += value == rng_next(&c);
    }
    assert_int_equal(same, 0);
}

static void bounded_numbers_stay_in_bounds_without_bias(void **state)
{
    static const uint64_t limits[] = {1, 2, 3, 7, 10, 100};
    (void)state;
    for (size_t l = 0; l < COUNT_OF(limits); l++) {
        struct rng rng;
        unsigned seen[100] = {0};
        const unsigned draws = 200000;
        rng_init(&rng, 11 + l);
        for (unsigned i = 0; i < draws; i++) {
            uint64_t value = rng_below(&rng, limits[l]);
            assert_true(value < limits[l]);
            seen[value]++;
        }
        double expected = (double)draws / (double)limits[l];
        for (uint64_t i = 0; i < limits[l]; i++)
            assert_true(fabs(seen[i] - expected) <= 6 * sqrt(expected));
    }
}

/* 3 * 2^62: without rejection the lower two thirds would come twice as often. */
static void a_limit_near_the_word_size_has_no_bias_either(void **state)
{
    struct rng rng;
    const uint64_t limit = (uint64_t)3 << 62;
    unsigned thirds[3] = {0};
    (void)state;
    rng_init(&rng, 5);
    for (int i = 0; i < 90000; i++)
        thirds[rng_below(&rng, limit) >> 62]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(thirds[i], 29000, 31000);
    unsigned even = 0;
    for (int i = 0; i < 90000; i++)
        even += rng_below(&rng, limit) % 3 == 0;
    assert_in_range(even, 29000, 31000);
    for (int i = 0; i < 100; i++)
        (void)rng_below(&rng, UINT64_MAX);
}

static void unit_numbers_lie_in_the_half_open_interval(void **state)
{
    struct rng rng;
    double sum = 0;
    (void)state;
    rng_init(&rng, 3);
    for (int i = 0; i < 100000; i++) {
        double u = rng_unit(&rng);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
}

static void exponential_numbers_are_above_zero_with_mean_one(void **state)
{
    struct rng rng;
    double sum = 0;
    int above_one = 0;
    (void)state;
    rng_init(&rng, 4);
    for (int i = 0; i < 200000; i++) {
        double x = rng_exponential(&rng);
        assert_true(x > 0 && x < 40);
        sum += x;
        above_one += x > 1;
    }
    assert_true(fabs(sum / 200000 - 1) < 0.012);
    assert_true(fabs(above_one / 200000.0 - exp(-1)) < 0.006);
}

/* All-zero and all-one outputs are the ends of the range. */
static void exponential_numbers_are_finite_at_the_ends(void **state)
{
    struct rng all_zero = {.state = {0, 0, 0, 0}};
    (void)state;
    double most = rng_exponential(&all_zero);
    assert_true(isfinite(most) && most > 36 && most < 37);
    /* state[1] whose output is 2^64 - 1: the scrambler run backwards. */
    uint64_t word = UINT64_MAX * 0x8e38e38e38e38e39u; /* / 9 */
    word = (word >> 7) | (word << 57);
    word *= 0xcccccccccccccccdu; /* / 5 */
    struct rng all_one = {.state = {1, word, 3, 4}};
    struct rng copy = all_one;
    assert_true(rng_next(&copy) == UINT64_MAX);
    assert_true(rng_exponential(&all_one) > 0);
    all_one.state[1] = word;
    assert_true(rng_unit(&all_one) < 1);
}

static void shuffling_keeps_the_items_and_favours_no_order(void **state)
{
    struct rng rng;
    unsigned orders[27] = {0};
    size_t one[] = {7};
    (void)state;
    rng_init(&rng, 6);
    for (int i = 0; i < 60000; i++) {
        size_t items[] = {0, 1, 2};
        rng_shuffle(&rng, items, 3);
        assert_int_equal((1u << items[0]) | (1u << items[1]) | (1u << items[2]), 7);
        orders[items[0] * 9 + items[1] * 3 + items[2]]++;
    }
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        assert_true(orders[i] == 0 || (orders[i] > 9500 && orders[i] < 10500));
    rng_shuffle(&rng, one, 1);
    rng_shuffle(&rng, one, 0);
    assert_int_equal(one[0], 7);
}

static void a_fresh_seed_is_exact_in_a_double_and_new_every_time(void **state)
{
    uint64_t last = rng_fresh_seed();
    (void)state;
    for (int i = 0; i < 100; i++) {
        uint64_t seed = rng_fresh_seed();
        assert_true(seed < (uint64_t)1 << 53);
        assert_true((uint64_t)(double)seed == seed);
        assert_true(seed != last);
        last = seed;
    }
}

static void derived_seeds_are_all_different(void **state)
{
    uint64_t seen[2000];
    size_t n = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (uint64_t index = 0; index < 100; index++)
            seen[n++] = rng_derive_seed(seed, index);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    assert_true(rng_derive_seed(1, 2) == rng_derive_seed(1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sequence_is_the_published_one),
        cmocka_unit_test(the_state_is_seeded_by_splitmix64),
        cmocka_unit_test(the_same_seed_gives_the_same_numbers_and_another_does_not),
        cmocka_unit_test(bounded_numbers_stay_in_bounds_without_bias),
        cmocka_unit_test(a_limit_near_the_word_size_has_no_bias_either),
        cmocka_unit_test(unit_numbers_lie_in_the_half_open_interval),
        cmocka_unit_test(exponential_numbers_are_above_zero_with_mean_one),
        cmocka_unit_test(exponential_numbers_are_finite_at_the_ends),
        cmocka_unit_test(shuffling_keeps_the_items_and_favours_no_order),
        cmocka_unit_test(a_fresh_seed_is_exact_in_a_double_and_new_every_time),
        cmocka_unit_test(derived_seeds_are_all_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
