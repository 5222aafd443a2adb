/* SPDX-License-Identifier: Apache-2.0 */
/* Does a wait end on time, however long it is and however late the kernel may be? */
#include "cmocka_all.h"
#include "net/wait.h"

/* How much later than asked the last part ends, when every sleep is late by its full
 * `per_mille`; *parts: how many there were. */
static uint64_t lateness_ns(uint64_t wait_ns, unsigned per_mille, unsigned *parts)
{
    uint64_t at_ns = 0;
    for (*parts = 0; at_ns < wait_ns; ++*parts) {
        const uint64_t part_ns = wait_part_ns(wait_ns - at_ns);
        assert_true(part_ns > 0 && part_ns <= wait_ns - at_ns);
        at_ns += part_ns + part_ns * per_mille / 1000;
    }
    return at_ns - wait_ns;
}

static void lateness_does_not_grow_with_the_wait(void **state)
{
    static const unsigned per_mille[] = {0, 1, 5};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(per_mille); i++)
        for (uint64_t wait_ns = 1000; wait_ns < 4000000000000u; wait_ns += wait_ns / 3) {
            unsigned parts;
            const uint64_t late_ns = lateness_ns(wait_ns, per_mille[i], &parts);
            assert_true(late_ns <= WAIT_LONG_NS / 1000 * per_mille[i]);
            assert_true(parts <= 8);
        }
}

static void a_sleep_on_time_is_never_early(void **state)
{
    unsigned parts;
    (void)state;
    assert_int_equal(lateness_ns(1000000000u, 0, &parts), 0);
    assert_int_equal(wait_part_ns(0), 0);
}

static void only_long_waits_are_cut(void **state)
{
    (void)state;
    assert_int_equal(wait_part_ns(1), 1);
    assert_int_equal(wait_part_ns(WAIT_LONG_NS), WAIT_LONG_NS);
    assert_true(wait_part_ns(WAIT_LONG_NS + 1) < WAIT_LONG_NS);
    assert_true(wait_part_ns(1000000000u) < 1000000000u * 995ull / 1000);
    assert_true(wait_part_ns(UINT64_MAX) < UINT64_MAX);
}

/* Fed with every lateness of 1..1000 times `unit_ns` in a scattered order, over and over. */
static uint64_t settle_ns(uint64_t unit_ns, unsigned *later)
{
    uint64_t early_ns = WAIT_EARLY_FIRST_NS;
    *later = 0;
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t late_ns = unit_ns * (1 + i * 7919u % 1000);
        if (i >= 50000)
            *later += late_ns > early_ns;
        early_ns = wait_early_ns(early_ns, late_ns);
        assert_true(early_ns <= WAIT_EARLY_MAX_NS);
    }
    return early_ns;
}

static void one_sleep_of_65_ends_later_than_expected(void **state)
{
    unsigned later;
    (void)state;
    for (uint64_t unit_ns = 20; unit_ns <= 160; unit_ns *= 2) {
        const uint64_t early_ns = settle_ns(unit_ns, &later);
        assert_in_range(later, 50000 / 65 * 9 / 10, 50000 / 65 * 11 / 10);
        assert_true(early_ns > unit_ns * 700 &&
                    early_ns <= unit_ns * 1000 + WAIT_EARLY_STEP_NS);
    }
    assert_int_equal(settle_ns(0, &later), 0); /* never late: never early */
    assert_int_equal(later, 0);
    assert_in_range(settle_ns(1000000, &later), WAIT_EARLY_MAX_NS - WAIT_EARLY_STEP_NS,
                    WAIT_EARLY_MAX_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lateness_does_not_grow_with_the_wait),
        cmocka_unit_test(a_sleep_on_time_is_never_early),
        cmocka_unit_test(only_long_waits_are_cut),
        cmocka_unit_test(one_sleep_of_65_ends_later_than_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
