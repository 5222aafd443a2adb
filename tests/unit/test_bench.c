/* SPDX-License-Identifier: Apache-2.0 */
/* Does the in-process benchmark measure what was really used, count what really happened,
 * and say so when it was not what the arm is for? */
#include "cmocka_all.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "base/clock.h"
#include "run/bench.h"
#include "tls/null.h"

static struct arm_list arms;
static struct tls_backend fake; /* the null backend with something else in it */
static const struct tls_backend *installed[2];
static struct tls_backends backends;
static volatile sig_atomic_t stop;

static int set_up(void **state)
{
    (void)state;
    fake = *tls_null_backend();
    fake.name = "fake";
    installed[0] = tls_null_backend();
    installed[1] = &fake;
    backends = (struct tls_backends){.count = 2, .backend = installed};
    memset(&arms, 0, sizeof arms);
    stop = 0;
    return 0;
}

static void add_arm(const char *text)
{
    struct err e = ERR_INIT;
    if (arm_parse(text, &arms.arm[arms.count++], &e) != 0)
        fail_msg("%s: %s", text, e.text);
}

static struct bench_options options(unsigned handshakes, unsigned repeats)
{
    struct bench_options o = {
        .arms = &arms,
        .backends = &backends,
        .handshakes = handshakes,
        .repeats = repeats,
        .seed = 42,
        .timeout_ns = UINT64_C(20000000000),
        .stop = &stop,
    };
    struct cpu_set allowed;
    cpu_allowed(&allowed);
    cpu_split(&allowed, &o.client_cores, &o.server_cores);
    return o;
}

static struct result *run(const struct bench_options *o)
{
    struct result *r = result_new(RESULT_KIND_CPU);
    struct err e = ERR_INIT;
    if (bench_run(o, r, &e) != 0)
        fail_msg("%s", e.text);
    return r;
}

static void must_fail(const struct bench_options *o, enum err_kind kind, const char *says)
{
    struct result *r = result_new(RESULT_KIND_CPU);
    struct err e = ERR_INIT;
    assert_int_equal(bench_run(o, r, &e), -1);
    result_free(r);
    assert_int_equal(e.kind, kind);
    if (strstr(e.text, says) == NULL)
        fail_msg("says \"%s\", not \"%s\"", e.text, says);
}

static const struct result_problem *find_problem(const struct result *r, const char *code)
{
    for (size_t i = 0; i < r->problems; i++)
        if (strcmp(r->problem[i].code, code) == 0)
            return &r->problem[i];
    return NULL;
}

static const struct result_comparison *find_comparison(const struct result *r, const char *arm,
                                                       const char *metric)
{
    for (size_t i = 0; i < r->comparisons; i++)
        if (strcmp(r->comparison[i].arm, arm) == 0 &&
            strcmp(r->comparison[i].metric, metric) == 0)
            return &r->comparison[i];
    fail_msg("no comparison of %s by %s", arm, metric);
    return NULL;
}

static void must_be_near(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= share * expected))
        fail_msg("%.3f is not within %.0f %% of %.3f", value, share * 100, expected);
}

/* The compulsory one: a cost that is known is measured within 2 %. */
static void a_known_cost_is_measured(void **state)
{
    (void)state;
    /* Long enough that the rest of the null backend, built with a sanitizer, is small. */
    add_arm("a: backend=null groups=X25519 null-client=3ms null-server=1500us");
    add_arm("b: backend=null groups=X25519 null-client=5ms null-server=1500us");
    struct bench_options o = options(20, 3);
    struct result *r = run(&o);
    must_be_near(r->arm[0].cpu.us[RESULT_CLIENT][RESULT_CPU_HANDSHAKE].value, 3000, 0.02);
    must_be_near(r->arm[0].cpu.us[RESULT_SERVER][RESULT_CPU_HANDSHAKE].value, 1500, 0.02);
    must_be_near(r->arm[1].cpu.us[RESULT_CLIENT][RESULT_CPU_HANDSHAKE].value, 5000, 0.02);
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const struct figure *us = r->arm[0].cpu.us[side];
        must_be_near(us[RESULT_CPU_TOTAL].value,
                     us[RESULT_CPU_HANDSHAKE].value + us[RESULT_CPU_SETUP].value +
                         us[RESULT_CPU_TEARDOWN].value,
                     0.02);
        assert_true(r->arm[0].cpu.min_us[side].value <= us[RESULT_CPU_TOTAL].value);
    }
    const struct result_comparison *c = find_comparison(r, "b", "cpu_us.client");
    must_be_near(c->difference.value, 2000, 0.02);
    assert_int_equal(c->verdict, RESULT_VERDICT_SLOWER);
    result_free(r);
}

/* The samples' sum and what the threads used besides, against the process's own clock. */
static void the_books_balance(void **state)
{
    (void)state;
    /* Long enough for what a handshake takes besides not to count, with a sanitizer too. */
    add_arm("a: backend=null groups=X25519 null-client=4ms null-server=4ms");
    add_arm("control: backend=null groups=X25519 null-client=4ms null-server=4ms");
    struct bench_options o = options(40, 2);
    struct result *r = run(&o);
    must_be_near(r->reported_cpu_s + r->harness_cpu_s, r->process_cpu_s, 0.05);
    /* (20 watched + 3 repeats * (40 + 1 warm-up)) * 8 ms, twice */
    must_be_near(r->reported_cpu_s, 2 * (20 + 3 * 41) * 8e-3, 0.05);
    assert_true(r->harness_cpu_s > 0);
    result_free(r);
}

static void what_happened_is_counted(void **state)
{
    (void)state;
    add_arm("x: backend=null groups=X25519");
    add_arm("pq: backend=null groups=X25519MLKEM768");
    add_arm("hrr: backend=null groups=X25519MLKEM768:X25519 server-groups=X25519");
    add_arm("two: backend=null groups=*X25519MLKEM768:*X25519 server-groups=X25519");
    add_arm("control: backend=null groups=X25519");
    struct bench_options o = options(50, 4);
    struct result *r = run(&o);
    assert_int_equal(r->arms, 5);
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_arm *arm = &r->arm[i];
        assert_int_equal(arm->trials, 4);
        assert_int_equal(arm->negotiated.handshakes, 200);
        assert_string_equal(arm->negotiated.group, i == 1 ? "X25519MLKEM768" : "X25519");
        assert_string_equal(arm->negotiated.cipher, "TLS_AES_256_GCM_SHA384");
        assert_string_equal(arm->negotiated.tls, "1.3");
        assert_string_equal(arm->client_backend, "null-1");
        assert_int_equal(arm->negotiated.hrr, i == 2 ? 200 : 0);
        assert_true(arm->bytes.round_trips.mean == (i == 2 ? 2 : 1));
        assert_int_equal(arm->bytes.flights, i == 2 ? 5 : 3);
        assert_int_equal(arm->bytes.handshake[RESULT_CLIENT].count, 200);
        for (size_t k = 0; k < arm->trials; k++)
            assert_int_equal(arm->trial[k].tally.completed, 50);
    }
    /* FIPS 203 and draft-ietf-tls-ecdhe-mlkem: the shares' sizes, and nothing else, differ;
     * the hybrid alone drops no extension in this backend. */
    const struct result_bytes *x = &r->arm[0].bytes, *pq = &r->arm[1].bytes;
    assert_int_equal(pq->client_hello.max - x->client_hello.max, 1216 - 32);
    assert_int_equal(pq->handshake[RESULT_SERVER].max - x->handshake[RESULT_SERVER].max,
                     1120 - 32);
    assert_int_equal(x->tickets.count, 0);
    const struct result_comparison *c = find_comparison(r, "pq", "bytes.server");
    assert_true(c->difference.value == 1088 && c->difference.low == 1088);
    assert_int_equal(c->verdict, RESULT_VERDICT_MORE);
    assert_int_equal(find_comparison(r, "control", "bytes.client")->verdict,
                     RESULT_VERDICT_SAME);
    assert_null(find_problem(r, "unexpected-hrr"));
    assert_null(find_problem(r, "wrong-group"));
    assert_true(r->arm[2].bytes.messages > x->messages);
    result_free(r);
}

static void tickets_are_counted_apart(void **state)
{
    (void)state;
    add_arm("none: backend=null groups=X25519");
    add_arm("two: backend=null groups=X25519 tickets=2");
    struct bench_options o = options(20, 1);
    struct result *r = run(&o);
    assert_int_equal(r->arm[0].bytes.tickets.count, 0);
    assert_int_equal(r->arm[1].bytes.tickets.count, 20);
    assert_true(r->arm[1].bytes.handshake[RESULT_SERVER].mean ==
                r->arm[0].bytes.handshake[RESULT_SERVER].mean);
    result_free(r);
}

static void one_repeat_gives_figures_without_interval(void **state)
{
    (void)state;
    add_arm("a: backend=null groups=X25519");
    add_arm("b: backend=null groups=X448");
    struct bench_options o = options(1, 1);
    struct result *r = run(&o);
    assert_true(figure_is_set(&r->arm[0].cpu.us[RESULT_CLIENT][RESULT_CPU_TOTAL]));
    assert_false(figure_has_interval(&r->arm[0].cpu.us[RESULT_CLIENT][RESULT_CPU_TOTAL]));
    assert_int_equal(find_comparison(r, "b", "cpu_us.client")->verdict,
                     RESULT_VERDICT_INCONCLUSIVE);
    result_free(r);
}

static void what_cannot_be_is_refused_before_the_run(void **state)
{
    (void)state;
    struct bench_options o = options(10, 1);
    must_fail(&o, ERR_USAGE, "no arm");
    add_arm("a: backend=null groups=X25519 payload=100");
    must_fail(&o, ERR_USAGE, "arm a: payload=100: handshakes in one process have no response");
    arms.count = 0;
    add_arm("a: backend=null groups=X25519 resume=1");
    must_fail(&o, ERR_UNSUPPORTED, "arm a: resume: not supported by null-1");
}

static void an_arm_that_never_completes_ends_the_run_with_its_reason(void **state)
{
    (void)state;
    add_arm("good: backend=null groups=X25519");
    add_arm("bad: backend=null groups=X25519MLKEM768 server-groups=X448");
    struct bench_options o = options(10, 1);
    must_fail(&o, ERR_FAILED,
              "arm bad: none of 20 handshakes completed: the server sent alert 40 "
              "(handshake_failure): no group in common: client offers X25519MLKEM768, server "
              "has X448");
}

/* ---- a backend that breaks ---- */

static atomic_uint calls;

static enum tls_status never_answers(struct tls_conn *conn)
{
    (void)conn;
    return TLS_STATUS_WANT_READ;
}

static void a_server_that_never_answers_times_out(void **state)
{
    (void)state;
    fake.handshake = never_answers;
    add_arm("slow: backend=null server-backend=fake groups=X25519");
    struct bench_options o = options(10, 1);
    o.timeout_ns = 20000000;
    uint64_t before_ns = clock_now_ns();
    must_fail(&o, ERR_FAILED, "arm slow: none of 3 handshakes completed: no answer in time");
    assert_true(clock_now_ns() - before_ns < UINT64_C(5000000000));
}

static enum tls_status now_and_then_fails(struct tls_conn *conn)
{
    if (atomic_fetch_add(&calls, 1) % 50 == 49)
        return TLS_STATUS_FAILED;
    return tls_null_backend()->handshake(conn);
}

static void some_failure(const struct tls_conn *conn, struct tls_failure *out)
{
    (void)conn;
    *out = (struct tls_failure){.cause = TLS_CAUSE_PROTOCOL, .detail = "a bad\x1b[2J byte"};
}

static void failures_are_data(void **state)
{
    (void)state;
    fake.handshake = now_and_then_fails;
    fake.failure = some_failure;
    add_arm("bad: backend=fake server-backend=null groups=X25519");
    add_arm("good: backend=null groups=X25519");
    struct bench_options o = options(100, 2);
    struct result *r = run(&o);
    const struct result_trial *t = &r->arm[0].trial[0];
    assert_true(t->tally.failed >= 3 && t->tally.failed <= 5); /* two calls a handshake */
    assert_int_equal(t->tally.completed + t->tally.failed, 100);
    assert_int_equal(t->failures, 1);
    assert_string_equal(t->failure[0].phase, "tls");
    assert_string_equal(t->failure[0].cause, "protocol");
    assert_null(strchr(t->failure[0].detail, '\x1b'));
    assert_int_equal(r->arm[1].trial[0].tally.completed, 100);
    assert_non_null(find_problem(r, "errors"));
    assert_string_equal(find_problem(r, "errors")->arm, "bad");
    assert_false(r->is_valid);
    assert_int_equal(find_comparison(r, "good", "cpu_us.client")->verdict,
                     RESULT_VERDICT_WITHHELD);
    result_free(r);
}

static bool is_doomed; /* of the client's thread */

static struct tls_conn *dooms_two_of_three(struct tls_context *context,
                                           const struct tls_connect *c)
{
    is_doomed = atomic_fetch_add(&calls, 1) % 3 != 0;
    return tls_null_backend()->conn_new(context, c);
}

static enum tls_status fails_if_doomed(struct tls_conn *conn)
{
    return is_doomed ? TLS_STATUS_FAILED : tls_null_backend()->handshake(conn);
}

/* Failing is quick: among the samples it would make a bad arm a fast one. */
static void what_failed_is_no_sample(void **state)
{
    (void)state;
    fake.conn_new = dooms_two_of_three;
    fake.handshake = fails_if_doomed;
    fake.failure = some_failure;
    add_arm("a: backend=fake server-backend=null groups=X25519 null-client=1ms");
    struct bench_options o = options(60, 1);
    struct result *r = run(&o);
    assert_int_equal(r->arm[0].trial[0].tally.completed, 20);
    must_be_near(r->arm[0].cpu.us[RESULT_CLIENT][RESULT_CPU_HANDSHAKE].value, 1000, 0.10);
    result_free(r);
}

static atomic_uint contexts;

static struct tls_context *counts_contexts(const struct tls_config *config, struct err *e)
{
    atomic_fetch_add(&contexts, 1);
    return tls_null_backend()->context_new(config, e);
}

/* Else the place that two equal contexts happen to have would pass for a difference. */
static void contexts_are_made_anew_in_every_round(void **state)
{
    (void)state;
    fake.context_new = counts_contexts;
    contexts = 0;
    add_arm("a: backend=fake groups=X25519");
    struct bench_options o = options(120, 2);
    result_free(run(&o));
    assert_int_equal(contexts, 2 * (1 + 3 * 3)); /* two sides; watched, and 3 rounds a repeat */
}

static struct tls_conn *slow_to_begin(struct tls_context *context, const struct tls_connect *c)
{
    clock_spin_cpu_ns(1000000);
    return tls_null_backend()->conn_new(context, c);
}

static void slow_to_end(struct tls_conn *conn)
{
    clock_spin_cpu_ns(2000000);
    tls_null_backend()->conn_free(conn);
}

static void the_parts_are_told_apart_and_add_up(void **state)
{
    (void)state;
    fake.conn_new = slow_to_begin;
    fake.conn_free = slow_to_end;
    add_arm("a: backend=fake groups=X25519 null-client=3ms null-server=4ms");
    struct bench_options o = options(10, 1);
    struct result *r = run(&o);
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const struct figure *us = r->arm[0].cpu.us[side];
        double handshake = side == RESULT_CLIENT ? 3000 : 4000;
        must_be_near(us[RESULT_CPU_SETUP].value, 1000, 0.10);
        must_be_near(us[RESULT_CPU_HANDSHAKE].value, handshake, 0.10);
        must_be_near(us[RESULT_CPU_TEARDOWN].value, 2000, 0.10);
        must_be_near(us[RESULT_CPU_TOTAL].value, handshake + 3000, 0.10);
    }
    result_free(r);
}

static struct tls_info told;

static void tells_a_story(const struct tls_conn *conn, struct tls_info *out)
{
    tls_null_backend()->info(conn, out);
    if (told.group != NULL)
        out->group = told.group;
    out->is_hrr = out->is_hrr || told.is_hrr;
    out->is_resumed = out->is_resumed || told.is_resumed;
}

static void an_arm_is_not_labelled_by_what_was_asked_for(void **state)
{
    (void)state;
    static const struct {
        struct tls_info told;
        const char *code, *says;
    } rows[] = {
        {{.group = "X448"}, "wrong-group", "X448"},
        {{.is_hrr = true}, "unexpected-hrr", "HelloRetryRequest"},
        {{.is_resumed = true}, "unexpected-resumption", "unasked"},
    };
    fake.info = tells_a_story;
    add_arm("a: backend=fake groups=X25519");
    struct bench_options o = options(10, 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        told = rows[i].told;
        struct result *r = run(&o);
        const struct result_problem *p = find_problem(r, rows[i].code);
        assert_non_null(p);
        assert_int_equal(p->severity, RESULT_FAULT);
        assert_string_equal(p->arm, "a");
        assert_non_null(strstr(p->message, rows[i].says));
        for (size_t k = 0; k < COUNT_OF(rows); k++)
            assert_true((find_problem(r, rows[k].code) != NULL) == (k == i));
        result_free(r);
    }
}

/* ---- being stopped ---- */

static double stop_at; /* share of the run */
static unsigned reports;

static void stop_in_time(void *arg, const char *step, double done, double left_s)
{
    (void)arg;
    (void)left_s;
    reports++;
    assert_true(strlen(step) > 0);
    assert_true(done >= 0 && done <= 1);
    if (done >= stop_at)
        stop = SIGINT;
}

static void a_stop_keeps_the_repeats_that_are_finished(void **state)
{
    (void)state;
    add_arm("a: backend=null groups=X25519 null-client=500us null-server=500us");
    struct bench_options o = options(200, 9);
    o.progress.report = stop_in_time;
    stop_at = 0.35;
    struct result *r = run(&o);
    assert_true(r->is_interrupted);
    assert_string_equal(r->interrupted_by, "SIGINT");
    assert_true(r->arm[0].trials >= 1 && r->arm[0].trials < 9);
    assert_int_equal(r->arm[0].negotiated.handshakes, 200 * r->arm[0].trials);
    assert_true(reports >= 2);
    result_free(r);
}

static void a_stop_before_the_first_repeat_leaves_nothing(void **state)
{
    (void)state;
    add_arm("a: backend=null groups=X25519");
    struct bench_options o = options(200, 9);
    stop = SIGTERM;
    must_fail(&o, ERR_FAILED, "ended by SIGTERM before the first repeat was finished");
}

static void the_order_is_random_and_the_seeds(void **state)
{
    (void)state;
    enum { REPEATS = 8 };
    unsigned position[3][REPEATS], first = 0;
    add_arm("a: backend=null groups=X25519");
    add_arm("b: backend=null groups=X25519");
    for (unsigned k = 0; k < 3; k++) {
        struct bench_options o = options(2, REPEATS);
        o.seed = k < 2 ? 42 : 43;
        struct result *r = run(&o);
        for (unsigned i = 0; i < REPEATS; i++) {
            position[k][i] = r->arm[0].trial[i].position;
            assert_int_equal(position[k][i] + r->arm[1].trial[i].position, 4 * i + 3);
        }
        assert_int_equal(r->seed, o.seed);
        result_free(r);
    }
    assert_memory_equal(position[0], position[1], sizeof position[0]);
    assert_memory_not_equal(position[0], position[2], sizeof position[0]);
    for (unsigned i = 0; i < REPEATS; i++)
        first += position[0][i] == 2 * i + 1;
    assert_true(first > 0 && first < REPEATS);
}

static void one_core_for_both_sides_is_said(void **state)
{
    (void)state;
    add_arm("a: backend=null groups=X25519");
    struct bench_options o = options(10, 1);
    o.server_cores = o.client_cores;
    struct result *r = run(&o);
    assert_non_null(find_problem(r, "shared-cores"));
    assert_int_equal(find_problem(r, "shared-cores")->severity, RESULT_NOTE);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_known_cost_is_measured, set_up),
        cmocka_unit_test_setup(the_books_balance, set_up),
        cmocka_unit_test_setup(what_happened_is_counted, set_up),
        cmocka_unit_test_setup(tickets_are_counted_apart, set_up),
        cmocka_unit_test_setup(one_repeat_gives_figures_without_interval, set_up),
        cmocka_unit_test_setup(what_cannot_be_is_refused_before_the_run, set_up),
        cmocka_unit_test_setup(an_arm_that_never_completes_ends_the_run_with_its_reason,
                               set_up),
        cmocka_unit_test_setup(a_server_that_never_answers_times_out, set_up),
        cmocka_unit_test_setup(failures_are_data, set_up),
        cmocka_unit_test_setup(what_failed_is_no_sample, set_up),
        cmocka_unit_test_setup(contexts_are_made_anew_in_every_round, set_up),
        cmocka_unit_test_setup(the_parts_are_told_apart_and_add_up, set_up),
        cmocka_unit_test_setup(an_arm_is_not_labelled_by_what_was_asked_for, set_up),
        cmocka_unit_test_setup(a_stop_keeps_the_repeats_that_are_finished, set_up),
        cmocka_unit_test_setup(a_stop_before_the_first_repeat_leaves_nothing, set_up),
        cmocka_unit_test_setup(the_order_is_random_and_the_seeds, set_up),
        cmocka_unit_test_setup(one_core_for_both_sides_is_said, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
