/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks go, and when does none? */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "run/left_out.h"

static struct result *run_of(unsigned blocks)
{
    struct result *r = result_new(RESULT_KIND_LOAD);
    static const char *const names[] = {"classical", "pq"};
    for (unsigned i = 0; i < 2; i++) {
        struct result_arm *arm = result_add_arm(r, names[i]);
        for (unsigned k = 0; k < blocks; k++) {
            struct result_trial *t = arm_add_trial(arm);
            t->tally.scheduled = t->tally.completed = 1000;
            t->client_busy = 0.2;
        }
    }
    return r;
}

static void blame(struct result *r, const char *code, const char *arm, unsigned trial)
{
    result_add_problem(r, RESULT_FAULT, code, arm, trial, "made up");
}

static unsigned count_left_out(const struct result *r)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->arms; i++)
        for (size_t k = 0; k < r->arm[i].trials; k++)
            n += r->arm[i].trial[k].is_left_out;
    return n;
}

static void expect(struct result *r, unsigned blocks, bool is_valid)
{
    struct err e = ERR_INIT;
    assert_int_equal(left_out_apply(r), blocks);
    assert_int_equal(count_left_out(r), 2 * blocks);
    assert_int_equal(r->is_valid, is_valid);
    if (result_check(r, &e) != 0)
        fail_msg("%s", e.text);
    result_free(r);
}

static void a_block_the_machine_spoiled_goes_whole(void **state)
{
    (void)state;
    static const char *const codes[] = {"speed-changed", "steal", "throttled",
                                        "client-saturated"};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct result *r = run_of(4);
        blame(r, codes[i], "pq", 3);
        assert_int_equal(left_out_apply(r), 1);
        assert_true(r->arm[0].trial[2].is_left_out && r->arm[1].trial[2].is_left_out);
        assert_false(r->arm[1].trial[2].is_valid);
        assert_int_equal(r->problem[0].severity, RESULT_LEFT_OUT);
        assert_true(r->is_valid);
        result_free(r);
    }
}

static void what_an_arm_may_have_caused_leaves_none_out(void **state)
{
    (void)state;
    static const char *const codes[] = {"server-saturated", "errors", "wrong-group",
                                        "unexpected-hrr"};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct result *r = run_of(8);
        blame(r, "steal", "classical", 2);
        blame(r, codes[i], "pq", 2);
        expect(r, 0, false);
    }
}

static void an_arm_with_a_run_of_its_own_may_have_caused_it(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        unsigned gone;
    } cases[] = {{"throttled", 0}, {"client-saturated", 0}, {"steal", 1}, {"speed-changed", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *r = run_of(8);
        for (unsigned k = 0; k < 16; k++)
            r->arm[k % 2].trial[k / 2].position = k + 1;
        blame(r, cases[i].code, "pq", 3);
        expect(r, cases[i].gone, cases[i].gone > 0);
    }
}

static void a_generator_that_had_no_time_is_no_excuse(void **state)
{
    (void)state;
    static const double busy[] = {0.7, NAN};
    for (size_t i = 0; i < 2; i++) {
        struct result *r = run_of(8);
        r->arm[1].trial[4].client_busy = busy[i];
        blame(r, "client-saturated", "pq", 5);
        expect(r, 0, false);
    }
    struct result *r = run_of(8);
    r->arm[1].trial[4].tally.completed = 900;
    r->arm[1].trial[4].tally.not_started = 100;
    blame(r, "client-saturated", "pq", 5);
    expect(r, 0, false);
}

static void one_in_four_may_go_and_three_must_stay(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks, spoiled, gone;
    } cases[] = {{3, 1, 0}, {4, 1, 1}, {4, 2, 0}, {7, 2, 0}, {8, 2, 2}, {8, 3, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *r = run_of(cases[i].blocks);
        for (unsigned k = 0; k < cases[i].spoiled; k++)
            blame(r, "speed-changed", k % 2 ? "pq" : "classical", 1 + k);
        expect(r, cases[i].gone, cases[i].gone > 0);
    }
}

static void other_faults_stand(void **state)
{
    (void)state;
    struct result *r = run_of(8);
    blame(r, "steal", "pq", 1);
    blame(r, "shared-cores", NULL, 0);
    assert_int_equal(left_out_apply(r), 1);
    assert_false(r->is_valid);
    assert_int_equal(r->problem[1].severity, RESULT_FAULT);
    result_free(r);

    r = run_of(8);
    blame(r, "steal", "pq", 1);
    blame(r, "errors", "pq", 2); /* its own block's verdicts are withheld */
    assert_int_equal(left_out_apply(r), 1);
    assert_false(r->is_valid);
    assert_false(r->arm[1].trial[1].is_left_out);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_the_machine_spoiled_goes_whole),
        cmocka_unit_test(what_an_arm_may_have_caused_leaves_none_out),
        cmocka_unit_test(an_arm_with_a_run_of_its_own_may_have_caused_it),
        cmocka_unit_test(a_generator_that_had_no_time_is_no_excuse),
        cmocka_unit_test(one_in_four_may_go_and_three_must_stay),
        cmocka_unit_test(other_faults_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
