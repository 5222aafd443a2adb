/* SPDX-License-Identifier: Apache-2.0 */
/* Is each reason to doubt a trial found, and no other? */
#include "cmocka_all.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "run/validity.h"

/* A sound trial of 1000 handshakes of 1 ms; each test spoils one thing. */
struct bed {
    struct result *result;
    struct result_trial *trial;
    struct result_negotiated seen;
    struct validity_trial v;
};

static void setup(struct bed *b)
{
    memset(b, 0, sizeof *b);
    b->result = result_new(RESULT_KIND_LOAD);
    b->trial = arm_add_trial(result_add_arm(b->result, "pq"));
    b->trial->tally.scheduled = b->trial->tally.completed = 1000;
    b->trial->latency_ns[RESULT_PHASE_TLS] = histogram_new();
    histogram_record_many(b->trial->latency_ns[RESULT_PHASE_TLS], 1000000, 1000);
    b->trial->start_lag_ns = histogram_new();
    histogram_record_many(b->trial->start_lag_ns, 20000, 1000);
    b->trial->server_busy = 0.3;
    b->trial->steal = b->trial->throttled = 0;
    b->trial->speed_before_ns = b->trial->speed_after_ns = 200000;
    negotiated_add(&b->seen, "X25519MLKEM768", 1000);
    b->v = (struct validity_trial){.arm = "pq",
                                   .trial = b->trial,
                                   .busiest_worker = 0.3,
                                   .max_in_flight = 100,
                                   .seen = &b->seen,
                                   .groups = "X25519MLKEM768"};
}

static void teardown(struct bed *b)
{
    negotiated_free(&b->seen);
    result_free(b->result);
}

static void check_codes(struct bed *b, const char *codes)
{
    char got[256] = "";
    validity_check_trial(&b->v, b->result);
    for (size_t i = 0; i < b->result->problems; i++) {
        const struct result_problem *p = &b->result->problem[i];
        assert_string_equal(p->arm, "pq");
        assert_int_equal(p->trial, 1);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 0 ? " " : "",
                 p->code);
    }
    assert_string_equal(got, codes);
    assert_int_equal(b->trial->is_valid, codes[0] == '\0');
    assert_int_equal(b->result->is_valid, codes[0] == '\0');
}

static void spoil_nothing(struct bed *b)
{
    (void)b;
}
static void spoil_worker(struct bed *b)
{
    b->v.busiest_worker = 0.81;
}
static void spoil_lag(struct bed *b)
{
    histogram_record_many(b->trial->start_lag_ns, 150000, 50);
}
static void long_lag_is_little_beside_long_handshakes(struct bed *b)
{
    histogram_record_many(b->trial->start_lag_ns, 150000, 50);
    histogram_reset(b->trial->latency_ns[RESULT_PHASE_TLS]);
    histogram_record_many(b->trial->latency_ns[RESULT_PHASE_TLS], 4000000, 1000);
}
static void spoil_started(struct bed *b)
{
    b->trial->tally.completed = 980;
    b->trial->tally.not_started = 20;
}
static void spoil_server(struct bed *b)
{
    b->trial->server_busy = 0.96;
}
static void spoil_both(struct bed *b)
{
    b->trial->server_busy = 0.99;
    b->v.busiest_worker = 0.99;
}
static void spoil_held_back(struct bed *b)
{
    b->v.held_back = 300;
    histogram_record_many(b->trial->start_lag_ns, 900000000, 300);
    b->trial->tally.completed = 700;
    b->trial->tally.not_started = 300;
}
static void spoil_errors(struct bed *b)
{
    b->trial->tally.completed = 998;
    b->trial->tally.failed = 1;
    b->trial->tally.timed_out = 1;
}
static void one_error_in_a_thousand_is_let_pass(struct bed *b)
{
    b->trial->tally.completed = 999;
    b->trial->tally.failed = 1;
}
static void spoil_group(struct bed *b)
{
    b->v.groups = "secp256r1:X25519";
}
static void spoil_mixed_groups(struct bed *b)
{
    b->v.groups = "X25519MLKEM768:X25519";
    negotiated_add(&b->seen, "x25519", 1);
}
static void names_do_not_depend_on_case(struct bed *b)
{
    b->v.groups = "x25519mlkem768";
}
static void unknown_lists_are_not_judged(struct bed *b)
{
    b->v.groups = "";
}
static void spoil_hrr(struct bed *b)
{
    b->seen.hrr = 3;
}
static void chosen_hrr_is_expected(struct bed *b)
{
    b->v.groups = "*X25519:X25519MLKEM768";
    b->seen.hrr = 1000;
}
static void spoil_resumption(struct bed *b)
{
    b->seen.resumed = 1;
}
static void wanted_resumption_is_expected(struct bed *b)
{
    b->seen.resumed = 900;
    b->v.expects_resumption = true;
}
static void spoil_tickets(struct bed *b)
{
    b->v.expects_resumption = true;
    b->seen.resume_asked = 900;
}
static void spoil_acceptance(struct bed *b)
{
    b->v.expects_resumption = true;
    b->seen.resume_asked = b->seen.resume_offered = 900;
    b->seen.resumed = 809;
}
static void a_few_full_handshakes_may_be_among_the_resumed(struct bed *b)
{
    spoil_acceptance(b);
    b->seen.resumed = 810;
}
static void spoil_early_data(struct bed *b)
{
    wanted_resumption_is_expected(b);
    b->v.expects_early = true;
    b->seen.resume_asked = b->seen.resume_offered = 900;
    b->seen.early_data_accepted = 809;
    b->seen.early_data_rejected = 91;
}
static void spoil_steal(struct bed *b)
{
    b->trial->steal = 0.02;
}
static void spoil_throttled(struct bed *b)
{
    b->trial->throttled = 0.001;
}
static void spoil_speed(struct bed *b)
{
    b->trial->speed_after_ns = 230000;
}
static void unknown_numbers_accuse_nobody(struct bed *b)
{
    b->trial->server_busy = b->trial->steal = b->trial->throttled = NAN;
    b->trial->speed_before_ns = b->trial->speed_after_ns = b->v.busiest_worker = NAN;
}

static void each_fault_gives_its_code(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct bed *b);
        const char *codes;
    } cases[] = {
        {spoil_nothing, ""},
        {spoil_worker, "client-saturated"},
        {spoil_lag, "client-saturated"},
        {long_lag_is_little_beside_long_handshakes, ""},
        {spoil_started, "client-saturated"},
        {spoil_server, "server-saturated"},
        {spoil_both, "server-saturated client-saturated"},
        {spoil_held_back, "server-saturated"},
        {spoil_errors, "errors"},
        {one_error_in_a_thousand_is_let_pass, ""},
        {spoil_group, "wrong-group"},
        {spoil_mixed_groups, "wrong-group"},
        {names_do_not_depend_on_case, ""},
        {unknown_lists_are_not_judged, ""},
        {spoil_hrr, "unexpected-hrr"},
        {chosen_hrr_is_expected, ""},
        {spoil_resumption, "unexpected-resumption"},
        {wanted_resumption_is_expected, ""},
        {spoil_tickets, "not-resumed"},
        {spoil_acceptance, "not-resumed"},
        {a_few_full_handshakes_may_be_among_the_resumed, ""},
        {spoil_early_data, "no-early-data"},
        {spoil_steal, "steal"},
        {spoil_throttled, "throttled"},
        {spoil_speed, "speed-changed"},
        {unknown_numbers_accuse_nobody, ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bed b;
        setup(&b);
        cases[i].spoil(&b);
        check_codes(&b, cases[i].codes);
        teardown(&b);
    }
}

static const char *only_code(const struct result *r)
{
    assert_int_equal(r->problems, 1);
    return r->problem[0].code;
}

static void the_run_as_a_whole_is_judged(void **state)
{
    (void)state;
    struct host_facts host;
    memset(&host, 0, sizeof host);
    strcpy(host.clocksource, "tsc");
    host.clock_cost_ns = 25;
    host.clock_resolution_ns = 1;
    for (unsigned i = 0; i < 6; i++) {
        struct bed b;
        struct validity_run v = {.host = &host};
        struct host_facts odd = host;
        setup(&b);
        v.shares_cores = i == 1;
        v.is_over_loopback = i == 2;
        if (i >= 3)
            v.host = &odd;
        strcpy(odd.clocksource, i == 3 ? "hpet" : "tsc");
        odd.clock_cost_ns = i == 4 ? 1500 : 25;
        odd.clock_resolution_ns = i == 5 ? 4000000 : 1;
        validity_check_run(&v, b.result);
        if (i == 0)
            assert_int_equal(b.result->problems, 0);
        else
            assert_string_equal(only_code(b.result), i == 1   ? "shared-cores"
                                                     : i == 2 ? "loopback-hides-network"
                                                              : "clock");
        assert_int_equal(b.result->is_valid, i == 0 || i == 2);
        teardown(&b);
    }
}

static void a_trial_of_another_speed_is_not_compared(void **state)
{
    (void)state;
    struct bed b;
    const struct validity_run v = {.host = NULL};
    setup(&b);
    for (unsigned i = 0; i < 4; i++) {
        struct result_trial *t = arm_add_trial(&b.result->arm[0]);
        t->speed_before_ns = t->speed_after_ns = i == 2 ? 260000 : 201000;
    }
    validity_check_run(&v, b.result);
    assert_string_equal(only_code(b.result), "speed-changed");
    assert_int_equal(b.result->problem[0].trial, 4);
    assert_false(b.result->arm[0].trial[3].is_valid);
    assert_true(b.result->arm[0].trial[2].is_valid);
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_gives_its_code),
        cmocka_unit_test(the_run_as_a_whole_is_judged),
        cmocka_unit_test(a_trial_of_another_speed_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
