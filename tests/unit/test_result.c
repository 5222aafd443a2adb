/* SPDX-License-Identifier: Apache-2.0 */
/* Does a result keep what is put in, merge what belongs together, and see what cannot be? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>
#include "result/result.h"

static void a_new_result_is_valid_and_empty(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    for (unsigned kind = 0; kind < RESULT_KINDS; kind++) {
        struct result *r = result_new((enum result_kind)kind);
        assert_true(r->is_valid);
        assert_true(isnan(r->elapsed_s));
        assert_int_equal(result_check(r, &e), 0);
        result_free(r);
    }
    result_free(NULL);
}

static void what_is_not_measured_is_absent(void **state)
{
    (void)state;
    struct result *r = result_new(RESULT_KIND_LOAD);
    struct result_arm *arm = result_add_arm(r, "pq");
    struct result_trial *trial = arm_add_trial(arm);
    const struct result_slow *slow = trial_add_slow(trial);
    assert_false(figure_is_set(&arm->cpu.us[RESULT_SERVER][RESULT_CPU_TOTAL]));
    assert_false(figure_is_set(&arm->cpu.primitives_share[RESULT_CLIENT]));
    assert_true(isnan(trial->client_busy));
    assert_true(isnan(trial->cpu_us[RESULT_CLIENT][RESULT_CPU_SETUP]));
    assert_true(isnan(slow->phase_us[RESULT_PHASE_TLS].value));
    const struct result_comparison *c = result_add_comparison(r);
    assert_true(isnan(c->noise_floor));
    assert_false(figure_has_interval(&c->difference));
    result_free(r);
}

static void an_interval_needs_its_value(void **state)
{
    (void)state;
    const struct figure whole = {1, 0.5, 2}, bare = {1, NAN, NAN}, none = FIGURE_ABSENT;
    assert_true(figure_has_interval(&whole));
    assert_true(figure_is_set(&bare));
    assert_false(figure_has_interval(&bare));
    assert_false(figure_is_set(&none));
}

static void a_pair_given_twice_keeps_its_place(void **state)
{
    (void)state;
    struct result_pairs pairs = {0};
    pairs_add(&pairs, "groups", "X25519");
    pairs_add(&pairs, "cert", "ecdsa-p256");
    pairs_add(&pairs, "groups", "MLKEM768");
    assert_int_equal(pairs.count, 2);
    assert_string_equal(pairs.pair[0].value, "MLKEM768");
    assert_string_equal(pairs_find(&pairs, "cert"), "ecdsa-p256");
    assert_null(pairs_find(&pairs, "tls"));
    pairs_free(&pairs);
}

static void lists_grow_and_keep_what_they_hold(void **state)
{
    (void)state;
    char name[16];
    struct result *r = result_new(RESULT_KIND_CPU);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "arm%u", i);
        struct result_arm *arm = result_add_arm(r, name);
        for (unsigned k = 0; k <= i % 7; k++)
            assert_int_equal(arm_add_trial(arm)->index, k + 1);
    }
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "arm%u", i);
        const struct result_arm *arm = result_find_arm(r, name);
        assert_non_null(arm);
        assert_int_equal(arm->trials, i % 7 + 1);
        assert_null(arm_find_trial(arm, 8));
    }
    assert_null(result_find_arm(r, "arm100"));
    result_free(r);
}

static void a_fault_makes_the_trial_it_names_not_valid(void **state)
{
    (void)state;
    struct result *r = result_new(RESULT_KIND_LOAD);
    const char *const names[] = {"classical", "pq"};
    for (unsigned i = 0; i < 2; i++) {
        struct result_arm *arm = result_add_arm(r, names[i]);
        for (unsigned k = 0; k < 3; k++)
            arm_add_trial(arm);
    }
    result_add_problem(r, RESULT_NOTE, "loopback-hides-network", NULL, 0, "no delay");
    assert_true(r->is_valid);
    result_add_problem(r, RESULT_FAULT, "client-saturated", "pq", 2, "busy");
    assert_false(r->is_valid);
    assert_true(arm_find_trial(&r->arm[0], 2)->is_valid);
    assert_false(arm_find_trial(&r->arm[1], 2)->is_valid);
    assert_true(arm_find_trial(&r->arm[1], 1)->is_valid);
    result_add_problem(r, RESULT_FAULT, "steal", NULL, 3, "stolen");
    assert_false(arm_find_trial(&r->arm[0], 3)->is_valid);
    assert_false(arm_find_trial(&r->arm[1], 3)->is_valid);
    result_free(r);
}

static void groups_are_counted_without_case_and_largest_first(void **state)
{
    (void)state;
    struct result_negotiated n = {0}, other = {0};
    negotiated_add(&n, "X25519", 3);
    negotiated_add(&n, "X25519MLKEM768", 4);
    negotiated_add(&n, "x25519mlkem768", 1);
    negotiated_add(&n, NULL, 2);
    negotiated_add(&n, "secp256r1", 0);
    assert_int_equal(n.handshakes, 10);
    assert_int_equal(n.groups, 3);
    assert_string_equal(n.group, "X25519MLKEM768");
    assert_int_equal(n.group_count[0].count, 5);
    assert_string_equal(n.group_count[2].name, "none");
    negotiated_add(&other, "X25519", 9);
    other.hrr = 2;
    result_set_text(&other.cipher, "TLS_AES_256_GCM_SHA384");
    negotiated_merge(&n, &other);
    assert_string_equal(n.group, "X25519");
    assert_int_equal(n.group_count[0].count, 12);
    assert_int_equal(n.handshakes, 19);
    assert_int_equal(n.hrr, 2);
    assert_string_equal(n.cipher, "TLS_AES_256_GCM_SHA384");
    negotiated_free(&n);
    negotiated_free(&other);
}

static void ranges_keep_extremes_and_mean(void **state)
{
    (void)state;
    struct result_range a = {0}, b = {0}, empty = {0};
    range_add(&a, 70);
    range_add(&a, 72);
    range_add(&b, 71);
    range_add(&b, 69);
    range_merge(&a, &b);
    range_merge(&a, &empty);
    assert_int_equal(a.count, 4);
    assert_int_equal(a.min, 69);
    assert_int_equal(a.max, 72);
    assert_float_equal(a.mean, 70.5, 1e-9);
    range_merge(&empty, &a);
    assert_int_equal(empty.count, 4);
    /* A million equal values have exactly that mean. */
    struct result_range same = {0};
    for (unsigned i = 0; i < 1000000; i++)
        range_add(&same, 1473);
    assert_true(same.mean >= 1473 && same.mean <= 1473);
}

static void bytes_are_kept_by_message_and_flight(void **state)
{
    (void)state;
    struct result_bytes a = {0}, b = {0};
    bytes_add_message(&a, RESULT_CLIENT, 1, 0, 224);
    bytes_add_message(&a, RESULT_CLIENT, 1, 1, 300);
    bytes_add_message(&a, RESULT_SERVER, 2, 0, 90);
    bytes_add_flight(&a, 0, RESULT_CLIENT, 229);
    bytes_add_flight(&a, 1, RESULT_SERVER, 651);
    bytes_add_message(&b, RESULT_CLIENT, 1, 0, 226);
    bytes_add_flight(&b, 0, RESULT_CLIENT, 231);
    bytes_add_flight(&b, 2, RESULT_CLIENT, 74);
    bytes_merge(&a, &b);
    assert_int_equal(a.messages, 3);
    assert_int_equal(a.message[0].bytes.count, 2);
    assert_int_equal(a.message[0].bytes.max, 226);
    assert_int_equal(a.message[1].bytes.min, 300);
    assert_int_equal(a.flights, 3);
    assert_int_equal(a.flight[0].bytes.count, 2);
    assert_int_equal(a.flight[1].bytes.count, 1);
    assert_int_equal(a.flight[1].sender, RESULT_SERVER);
    assert_int_equal(a.flight[2].bytes.max, 74);
    bytes_free(&a);
    bytes_free(&b);
}

static void failures_of_one_kind_are_one_with_the_first_text(void **state)
{
    (void)state;
    char phase[] = "tls", alert[] = "alert", eof[] = "eof", first[] = "bad \x1b[31m",
         more[] = "x";
    struct result *r = result_new(RESULT_KIND_LOAD);
    struct result_trial *t = arm_add_trial(result_add_arm(r, "pq"));
    trial_add_failure(
        t, &(struct result_failure){
               .phase = phase, .cause = alert, .code = 40, .detail = first, .count = 2});
    trial_add_failure(
        t, &(struct result_failure){
               .phase = phase, .cause = alert, .code = 40, .detail = more, .count = 3});
    trial_add_failure(
        t, &(struct result_failure){.phase = phase, .cause = alert, .code = 80, .count = 1});
    trial_add_failure(
        t, &(struct result_failure){
               .phase = phase, .cause = alert, .code = 40, .is_local = true, .count = 1});
    trial_add_failure(t, &(struct result_failure){.phase = phase, .cause = eof, .count = 1});
    assert_int_equal(t->failures, 4);
    assert_int_equal(t->failure[0].count, 5);
    assert_string_equal(t->failure[0].detail, "bad \\x1b[31m");
    result_free(r);
}

static void a_tally_adds_up_or_does_not_hold(void **state)
{
    (void)state;
    struct result_tally sum = {0};
    const struct result_tally a = {10, 5, 1, 1, 2, 1};
    assert_true(tally_holds(&a));
    assert_true(tally_holds(&sum));
    assert_false(tally_holds(&(struct result_tally){.scheduled = 9, .completed = 10}));
    assert_false(tally_holds(&(struct result_tally){.scheduled = 10, .completed = 9}));
    /* 2^64 + 0 = 0: an overflow is no agreement. */
    assert_false(tally_holds(
        &(struct result_tally){.scheduled = 0, .completed = UINT64_MAX, .failed = 1}));
    tally_add(&sum, &a);
    tally_add(&sum, &a);
    assert_int_equal(sum.scheduled, 20);
    assert_true(tally_holds(&sum));
}

static void messages_have_the_names_of_the_standard(void **state)
{
    (void)state;
    char buf[32];
    assert_string_equal(result_message_name(1, buf, sizeof(buf)), "ClientHello");
    assert_string_equal(result_message_name(6, buf, sizeof(buf)), "HelloRetryRequest");
    assert_string_equal(result_message_name(77, buf, sizeof(buf)), "type 77");
}

/* A result that holds, for the table of breakages below. */
static struct result *make_whole(void)
{
    struct result *r = result_new(RESULT_KIND_LOAD);
    const char *const names[] = {"classical", "pq"};
    for (unsigned i = 0; i < 2; i++) {
        struct result_arm *arm = result_add_arm(r, names[i]);
        struct result_trial *t = arm_add_trial(arm);
        t->tally = (struct result_tally){.scheduled = 3, .completed = 2, .failed = 1};
        t->latency_ns[RESULT_PHASE_TLS] = histogram_new();
        histogram_record_many(t->latency_ns[RESULT_PHASE_TLS], 1000, 2);
        char phase[] = "tls", cause[] = "eof";
        trial_add_failure(t,
                          &(struct result_failure){.phase = phase, .cause = cause, .count = 1});
        result_set_text(&trial_add_slow(t)->cause, "unexplained");
        negotiated_add(&arm->negotiated, "X25519", 2);
        range_add(&arm->bytes.handshake[RESULT_CLIENT], 297);
        bytes_add_message(&arm->bytes, RESULT_CLIENT, 1, 0, 224);
        bytes_add_flight(&arm->bytes, 0, RESULT_CLIENT, 229);
        struct result_primitive *p = arm_add_primitive(arm);
        result_set_text(&p->operation, "keygen");
        result_set_text(&p->subject, "X25519");
        pairs_add(&arm->spec, "groups", "X25519");
    }
    struct result_comparison *c = result_add_comparison(r);
    result_set_text(&c->baseline, "classical");
    result_set_text(&c->arm, "pq");
    result_set_text(&c->metric, "latency_us.tls.p99");
    c->difference = (struct figure){-1, -2, 1};
    result_add_host(r, "both");
    result_add_backend(r, "openssl", "3.5.7", NULL);
    result_add_backend(r, "openssl", "3.5.7", NULL);
    result_add_problem(r, RESULT_NOTE, "clock", "pq", 1, "slow");
    return r;
}

static void break_elapsed(struct result *r)
{
    r->elapsed_s = INFINITY;
}
static void break_seed(struct result *r)
{
    r->seed = UINT64_C(1) << 53;
}
static void break_validity(struct result *r)
{
    r->is_valid = false;
}
static void break_role(struct result *r)
{
    result_set_text(&r->host[0].role, "");
}
static void break_name(struct result *r)
{
    result_set_text(&r->arm[1].name, "classical");
}
static void break_empty_name(struct result *r)
{
    result_set_text(&r->arm[0].name, "");
}
static void break_tally(struct result *r)
{
    r->arm[1].trial[0].tally.unfinished = 1;
}
static void break_samples(struct result *r)
{
    histogram_record(r->arm[0].trial[0].latency_ns[RESULT_PHASE_TLS], 1);
}
static struct histogram *apart(struct result *r, enum result_handshake handshake)
{
    struct histogram **h = &r->arm[0].trial[0].apart_ns[handshake][RESULT_PHASE_TLS];
    if (*h == NULL)
        *h = histogram_new();
    return *h;
}
static void break_split(struct result *r)
{
    histogram_record_many(apart(r, RESULT_HANDSHAKE_FULL), 1000, 1);
    histogram_record_many(apart(r, RESULT_HANDSHAKE_EARLY), 1000, 2);
}
static void break_split_too_small(struct result *r)
{
    histogram_record_many(apart(r, RESULT_HANDSHAKE_RESUMED), 1000, 1);
}
static void break_asked(struct result *r)
{
    r->arm[0].negotiated.resume_asked = 3;
}
static void break_offered(struct result *r)
{
    r->arm[0].negotiated.resume_asked = 1;
    r->arm[0].negotiated.resume_offered = 2;
}
static void break_failures(struct result *r)
{
    r->arm[0].trial[0].failure[0].count = 2;
}
static void break_index(struct result *r)
{
    r->arm[0].trial[0].index = 0;
}
static void break_busy(struct result *r)
{
    r->arm[0].trial[0].client_busy = -0.5;
}
static void break_cpu(struct result *r)
{
    r->arm[0].cpu.us[RESULT_SERVER][RESULT_CPU_SETUP] = (struct figure){2, 3, 1};
}
static void break_half(struct result *r)
{
    r->arm[0].cpu.instructions[RESULT_CLIENT] = (struct figure){2, 1, NAN};
}
static void break_groups(struct result *r)
{
    r->arm[0].negotiated.handshakes = 3;
}
static void break_hrr(struct result *r)
{
    r->arm[0].negotiated.hrr = 3;
}
static void break_range(struct result *r)
{
    r->arm[0].bytes.handshake[RESULT_CLIENT].mean = 298;
}
static void break_message(struct result *r)
{
    r->arm[0].bytes.message[0].type = 256;
}
static void break_primitive(struct result *r)
{
    result_set_text(&r->arm[0].primitive[0].operation, NULL);
}
static void break_slow(struct result *r)
{
    result_set_text(&r->arm[0].trial[0].slowest[0].cause, NULL);
}
static void break_baseline(struct result *r)
{
    result_set_text(&r->comparison[0].baseline, "nobody");
}
static void break_confidence(struct result *r)
{
    r->comparison[0].confidence = 1;
}
static void break_problem(struct result *r)
{
    result_set_text(&r->problem[0].arm, "nobody");
}

static void every_broken_identity_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        void (*breaks)(struct result *r);
        const char *error;
    } cases[] = {
        {break_elapsed, "elapsed_s: not finite"},
        {break_seed, "seed: not below 2^53"},
        {break_validity, "validity.valid: does not agree with the problems"},
        {break_role, "hosts[0].role: empty"},
        {break_name, "arms[1].name: stands twice"},
        {break_empty_name, "arms[0].name: empty"},
        {break_tally, "arms[1].trials[0].tally: the parts do not add up to scheduled"},
        {break_split,
         "arms[0].trials[0].by_handshake.tls: more samples than of all handshakes"},
        {break_split_too_small, "arms[0].trials[0].by_handshake.tls: the samples do not add up "
                                "to those of all handshakes"},
        {break_asked, "arms[0].negotiated.resume_asked: more than handshakes"},
        {break_offered, "arms[0].negotiated.resume_offered: more than resume_asked"},
        {break_samples, "arms[0].trials[0].histograms.tls: more samples than completed"},
        {break_failures, "arms[0].trials[0].failures: more than failed and timed_out, or none"},
        {break_index, "arms[0].trials[0].index: not ascending from 1"},
        {break_busy, "arms[0].trials[0].client_busy: below 0"},
        {break_cpu, "arms[0].cpu_us.server.setup: low is above high"},
        {break_half, "arms[0].cpu_us.client.instructions: half an interval"},
        {break_groups, "arms[0].negotiated.counts: do not add up to handshakes"},
        {break_hrr, "arms[0].negotiated.hrr: more than handshakes"},
        {break_range, "arms[0].bytes.client: mean is not between min and max"},
        {break_message, "arms[0].bytes.messages[0].type: above 255"},
        {break_primitive, "arms[0].primitives[0].operation: empty"},
        {break_slow, "arms[0].trials[0].slowest[0].cause: empty"},
        {break_baseline, "comparisons[0].baseline: no such arm"},
        {break_confidence, "comparisons[0].confidence: not between 0 and 0.999999"},
        {break_problem, "validity.problems[0].arm: no such arm"},
    };
    struct err e = ERR_INIT;
    struct result *r = make_whole();
    assert_int_equal(result_check(r, &e), 0);
    assert_int_equal(r->build.backends, 1);
    result_free(r);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        r = make_whole();
        cases[i].breaks(r);
        assert_int_equal(result_check(r, &e), -1);
        assert_string_equal(e.text, cases[i].error);
        assert_int_equal(e.kind, ERR_FAILED);
        result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_result_is_valid_and_empty),
        cmocka_unit_test(what_is_not_measured_is_absent),
        cmocka_unit_test(an_interval_needs_its_value),
        cmocka_unit_test(a_pair_given_twice_keeps_its_place),
        cmocka_unit_test(lists_grow_and_keep_what_they_hold),
        cmocka_unit_test(a_fault_makes_the_trial_it_names_not_valid),
        cmocka_unit_test(groups_are_counted_without_case_and_largest_first),
        cmocka_unit_test(ranges_keep_extremes_and_mean),
        cmocka_unit_test(bytes_are_kept_by_message_and_flight),
        cmocka_unit_test(failures_of_one_kind_are_one_with_the_first_text),
        cmocka_unit_test(a_tally_adds_up_or_does_not_hold),
        cmocka_unit_test(messages_have_the_names_of_the_standard),
        cmocka_unit_test(every_broken_identity_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
