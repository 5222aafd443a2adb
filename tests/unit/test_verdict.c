/* SPDX-License-Identifier: Apache-2.0 */
/* Does the word say no more than the figures do? */
#include "cmocka_all.h"
#include <math.h>
#include "run/verdict.h"

static struct verdict_input input(double value, double low, double high, double floor)
{
    return (struct verdict_input){
        .difference = {value, low, high},
        .noise_floor = floor,
        .is_valid = true,
        .elapsed_s = 10,
        .wide_low = NAN,
        .wide_high = NAN,
    };
}

static void the_word_follows_the_interval_and_the_floor(void **state)
{
    (void)state;
    static const struct {
        double value, low, high, floor;
        enum result_verdict word;
    } rows[] = {
        {100, 90, 110, 5, RESULT_VERDICT_SLOWER},
        {-100, -110, -90, 5, RESULT_VERDICT_FASTER},
        {100, 90, 110, NAN, RESULT_VERDICT_SLOWER},
        {100, 90, 110, 95, RESULT_VERDICT_INCONCLUSIVE}, /* beyond the floor, not clear */
        {100, 90, 110, 120, RESULT_VERDICT_SAME},        /* within it */
        {-100, -110, -90, 95, RESULT_VERDICT_INCONCLUSIVE},
        {1, -2, 4, NAN, RESULT_VERDICT_SAME},
        {1, -2, 4, 3, RESULT_VERDICT_SAME},
        {80, -200, 360, 20, RESULT_VERDICT_INCONCLUSIVE}, /* too short a run says nothing */
        {0, 0, 0, 0, RESULT_VERDICT_SAME},
        {1176, 1176, 1176, 0, RESULT_VERDICT_SLOWER}, /* bytes are exact */
        {80, NAN, NAN, 5, RESULT_VERDICT_INCONCLUSIVE},
        {5, 5.0, 9, 5, RESULT_VERDICT_SAME}, /* at the floor is not beyond it */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct verdict_input in =
            input(rows[i].value, rows[i].low, rows[i].high, rows[i].floor);
        if (verdict_of(&in) != rows[i].word)
            fail_msg("row %zu: %s, not %s", i, result_verdict_name(verdict_of(&in)),
                     result_verdict_name(rows[i].word));
        in.is_valid = false;
        assert_int_equal(verdict_of(&in), RESULT_VERDICT_WITHHELD);
    }
}

static void a_word_needs_the_wide_interval_too(void **state)
{
    (void)state;
    struct verdict_input in = input(10, 1, 19, 0.5);
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SLOWER);
    in.wide_low = -3;
    in.wide_high = 23;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_INCONCLUSIVE);
    in.is_control = true;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SAME);
    in.wide_low = 0.1;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SLOWER); /* a control has no floor */
}

static void an_interval_with_room_for_what_matters_settles_nothing(void **state)
{
    (void)state;
    struct verdict_input in = input(10, -30, 50, 60);
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SAME);
    in.relevant = 20;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_INCONCLUSIVE);
    assert_true(fabs(verdict_settle_s(&in) - 160) < 1e-9); /* 40 must become 10 */
    in.difference.low = -15;
    in.difference.high = 19;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SAME);
    in.is_control = true;
    in.difference.high = 1000;
    assert_int_equal(verdict_of(&in), RESULT_VERDICT_SAME);
}

static void the_floor_is_the_controls_far_end(void **state)
{
    (void)state;
    struct figure f = {1, -2, 4};
    assert_true(verdict_noise_floor(&f) == 4);
    f = (struct figure){-1, -4, 2};
    assert_true(verdict_noise_floor(&f) == 4);
    f = (struct figure){1, NAN, NAN};
    assert_true(isnan(verdict_noise_floor(&f)));
}

static void settling_takes_the_square_of_what_the_interval_must_shrink(void **state)
{
    (void)state;
    struct verdict_input in = input(10, -10, 30, 0); /* half 20, must be 10: 4 times */
    assert_true(fabs(verdict_settle_s(&in) - 40) < 1e-9);
    in = input(-10, -30, 10, NAN);
    assert_true(fabs(verdict_settle_s(&in) - 40) < 1e-9);
    in = input(10, 0, 20, 5); /* half 10, must be 5 */
    assert_true(fabs(verdict_settle_s(&in) - 40) < 1e-9);
    in = input(10, 5, 15, 20); /* within the floor: no length helps */
    assert_true(isnan(verdict_settle_s(&in)));
    in = input(0.001, -10, 10, NAN); /* a million times as long */
    assert_true(isnan(verdict_settle_s(&in)));
    in = input(10, NAN, NAN, 1);
    assert_true(isnan(verdict_settle_s(&in)));
    in = input(10, 1, 19, NAN);
    in.wide_low = -10;
    in.wide_high = 30; /* the wide one is the harder */
    assert_true(fabs(verdict_settle_s(&in) - 40) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_follows_the_interval_and_the_floor),
        cmocka_unit_test(a_word_needs_the_wide_interval_too),
        cmocka_unit_test(an_interval_with_room_for_what_matters_settles_nothing),
        cmocka_unit_test(the_floor_is_the_controls_far_end),
        cmocka_unit_test(settling_takes_the_square_of_what_the_interval_must_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
