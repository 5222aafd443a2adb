/* SPDX-License-Identifier: Apache-2.0 */
/* Is a plan's arithmetic that of docs/PLAN.md, and does it keep what must always hold?  The
 * worked example itself is compared by tests/cli/test_plan.py. */
#include "golden_files.h"
#include <math.h>
#include "report/plan.h"

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-9))
        fail_msg("got %.12g, want %.12g", got, want);
}

static const struct plan_distance mix[] = {{20, 0.75, 0}, {200, 0.25, 0}};

/* Those of the worked example. */
static struct plan_options example(void)
{
    return (struct plan_options){.peak_per_s = 10000,
                                 .mean_share = 0.5,
                                 .resumed = 0.6,
                                 .hybrid_clients = 0.5,
                                 .hrr = 0.1,
                                 .utilisation = 0.5,
                                 .other_cpu_us = 100,
                                 .price_core_hour = 0.05,
                                 .price_gb = 0.02,
                                 .currency = "EUR",
                                 .distances = 2,
                                 .distance = mix};
}

static struct plan made(const struct result *r, const struct plan_options *o)
{
    struct plan p;
    struct err e = ERR_INIT;
    if (plan_make(r, o, &p, &e) != 0)
        fail_msg("%s", e.text);
    return p;
}

static void the_example_gives_the_texts_beside_it(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    const struct plan_options o = example();
    struct plan p = made(r, &o);
    const struct report_options look = {.columns = 100, .has_utf8 = true};
    struct text text = {0}, markdown = {0}, csv = {0};
    plan_add_text(&p, &text, &look);
    plan_add_markdown(&p, &markdown, &look);
    plan_add_csv(&p, &csv);
    golden_compare("plan-example", "txt", &text);
    golden_compare("plan-example", "md", &markdown);
    golden_compare("plan-example", "csv", &csv);
    text_free(&text);
    text_free(&markdown);
    text_free(&csv);
    plan_free(&p);
    result_free(r);
}

static void check_order(const struct plan_change *c)
{
    const struct figure *figures[] = {&c->before, &c->after, &c->change};
    for (size_t i = 0; i < 3; i++)
        assert_true(figures[i]->low <= figures[i]->value &&
                    figures[i]->value <= figures[i]->high);
    assert_near(c->before.value + c->change.value, c->after.value);
}

/* The settings are driven over their ranges; every figure keeps its order and its sum. */
static void intervals_hold_their_values_and_after_is_before_and_change(void **state)
{
    static const double shares[] = {0, 0.001, 0.3, 1};
    (void)state;
    struct result *r = golden_result("plan-example");
    for (unsigned i = 0; i < 64; i++) {
        struct plan_options o = example();
        o.resumed = shares[i % 4];
        o.hybrid_clients = shares[i / 4 % 4];
        o.hrr = shares[i / 16];
        struct plan p = made(r, &o);
        check_order(&p.cpu_us);
        check_order(&p.cores);
        check_order(&p.egress_gb);
        check_order(&p.ingress_gb);
        check_order(&p.price);
        check_order(&p.mean.ms);
        check_order(&p.time[1].ms);
        plan_free(&p);
    }
    result_free(r);
}

static void everything_grows_with_the_peak_and_in_proportion(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    struct plan_options o = example(), larger = example();
    larger.peak_per_s = 3 * o.peak_per_s;
    struct plan p = made(r, &o), q = made(r, &larger);
    assert_near(q.cores.before.value, 3 * p.cores.before.value);
    assert_near(q.cores.change.high, 3 * p.cores.change.high);
    assert_near(q.egress_gb.after.value, 3 * p.egress_gb.after.value);
    assert_near(q.price.after.low, 3 * p.price.after.low);
    assert_near(q.cpu_us.after.value, p.cpu_us.after.value);
    assert_near(q.mean.ms.after.value, p.mean.ms.after.value);
    plan_free(&p);
    plan_free(&q);
    larger = example();
    larger.utilisation = o.utilisation / 2;
    p = made(r, &o);
    q = made(r, &larger);
    assert_near(q.cores.after.value, 2 * p.cores.after.value);
    assert_near(q.egress_gb.after.value, p.egress_gb.after.value);
    plan_free(&p);
    plan_free(&q);
    result_free(r);
}

static void assert_nothing_changed(const struct plan_change *c)
{
    assert_near(c->change.value, 0);
    assert_near(c->change.low, 0);
    assert_near(c->change.high, 0);
    assert_near(c->after.low, c->before.low);
    assert_near(c->after.value, c->before.value);
}

static void without_hybrid_clients_after_is_before(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    struct plan_options o = example();
    o.hybrid_clients = 0;
    struct plan p = made(r, &o);
    assert_nothing_changed(&p.cores);
    assert_nothing_changed(&p.egress_gb);
    assert_nothing_changed(&p.ingress_gb);
    assert_nothing_changed(&p.price);
    assert_nothing_changed(&p.mean.ms);
    assert_true(isnan(p.mean.retry_ms)); /* nobody meets one */
    assert_true(p.cores.before.low < p.cores.before.high);
    plan_free(&p);
    result_free(r);
}

/* Of cpu.json: 248.1 +- 2 us less 19.75 +- 0.1 of signing; 651 bytes less 380 of Certificate
 * and 79 of CertificateVerify; a retry's 99 bytes, and a ClientHello of 229. */
static void what_no_arm_measured_is_derived(void **state)
{
    (void)state;
    struct result *r = golden_result("cpu");
    struct plan_options o = example();
    struct plan p = made(r, &o);
    const struct plan_cost *c = &p.cost[PLAN_BEFORE][PLAN_RESUMED];
    const struct plan_cost *retry = &p.cost[PLAN_AFTER][PLAN_RETRY];
    assert_null(c->arm);
    assert_near(c->cpu_us[RESULT_SERVER].value, 248.1 - 19.75);
    assert_near(c->cpu_us[RESULT_SERVER].low, 246.1 - 19.85);
    assert_near(c->cpu_us[RESULT_SERVER].high, 250.1 - 19.65);
    assert_near(c->bytes[RESULT_SERVER], 651 - 380 - 79);
    assert_near(p.cost[PLAN_AFTER][PLAN_RESUMED].more_cpu_us[RESULT_SERVER].value, 104.5);
    assert_null(retry->arm);
    assert_near(retry->more_cpu_us[RESULT_SERVER].value, 0);
    assert_near(retry->bytes[RESULT_SERVER], 1739 + 99);
    assert_near(retry->bytes[RESULT_CLIENT], 1473 + 229);
    assert_int_equal(retry->flights.count, 4);
    plan_free(&p);
    result_free(r);
}

/* Trials are paired: 320, 320.8, 321.6 and 448, 448.8, 449.6 us differ by exactly 128. */
static void a_loaded_server_s_difference_is_that_of_its_trials(void **state)
{
    (void)state;
    struct result *r = golden_result("load");
    struct plan_options o = example();
    o.resumed = o.hrr = 0;
    o.hybrid_clients = 1;
    struct plan p = made(r, &o);
    assert_near(p.cost[PLAN_BEFORE][PLAN_FULL].cpu_us[RESULT_SERVER].value, 320.8);
    assert_near(p.cpu_us.change.value, 128);
    assert_near(p.cpu_us.change.low, 128);
    assert_near(p.cpu_us.before.value, 420.8);
    plan_free(&p);
    r->arm[0].trial[0].is_valid = false;
    p = made(r, &o);
    assert_near(p.cost[PLAN_BEFORE][PLAN_FULL].cpu_us[RESULT_SERVER].value, 321.2);
    plan_free(&p);
    result_free(r);
}

static void a_figure_without_an_interval_gives_none(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    struct plan_options o = example();
    struct figure *us = &r->arm[0].cpu.us[RESULT_SERVER][RESULT_CPU_TOTAL];
    us->low = us->high = NAN;
    struct plan p = made(r, &o);
    assert_near(p.cores.before.value, 5.4);
    assert_true(isnan(p.cores.before.low) && isnan(p.cores.after.high));
    assert_near(p.cores.change.low, 0.929);
    assert_near(p.egress_gb.before.low, 8304.48);
    plan_free(&p);
    result_free(r);
}

static void other_versions_have_no_model_and_no_time(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    struct plan_options o = example();
    for (size_t i = 0; i < r->arms; i++)
        result_set_text(&r->arm[i].negotiated.tls, "1.2");
    struct plan p = made(r, &o);
    assert_true(isnan(p.mean.ms.before.value) && isnan(p.time[0].ms.after.value));
    assert_near(p.cores.before.value, 5.4);
    plan_free(&p);
    o.price_core_hour = o.price_gb = NAN;
    p = made(r, &o);
    assert_true(isnan(p.price.before.value));
    plan_free(&p);
    result_free(r);
}

static void wrong_arms_are_refused_by_name(void **state)
{
    static const struct {
        const char *before, *after, *resumed_before, *resumed_after, *retry, *words;
    } cases[] = {
        {"x", NULL, NULL, NULL, NULL, "--before: 'x' is no arm"},
        {"resumed", NULL, NULL, NULL, NULL, "--before: an arm with full handshakes alone"},
        {NULL, "classical", NULL, NULL, NULL, "--after: the same arm as before"},
        {NULL, "resumed.hybrid", NULL, NULL, NULL, "--after: an arm with full handshakes"},
        {NULL, NULL, "resumed", NULL, NULL, "--resumed-before: give --resumed-after as well"},
        {NULL, NULL, "hybrid", "resumed.hybrid", NULL, "--resumed-before: an arm with resumed"},
        {NULL, NULL, NULL, NULL, "hybrid", "--retry: an arm with a HelloRetryRequest in every"},
        {NULL, NULL, NULL, NULL, "y", "--retry: 'y' is no arm"},
    };
    (void)state;
    struct result *r = golden_result("plan-example");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan_options o = example();
        struct plan p;
        struct err e = ERR_INIT;
        o.before = cases[i].before;
        o.after = cases[i].after;
        o.resumed_before = cases[i].resumed_before;
        o.resumed_after = cases[i].resumed_after;
        o.retry = cases[i].retry;
        assert_int_equal(plan_make(r, &o, &p, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, cases[i].words) == NULL)
            fail_msg("%s, not: %s", e.text, cases[i].words);
    }
    result_free(r);
}

static void a_result_without_the_server_s_cpu_is_refused(void **state)
{
    (void)state;
    struct result *r = golden_result("load");
    struct plan_options o = example();
    struct plan p;
    struct err e = ERR_INIT;
    for (size_t i = 0; i < r->arm[1].trials; i++)
        r->arm[1].trial[i].side_cpu_us[RESULT_SERVER] = NAN;
    assert_int_equal(plan_make(r, &o, &p, &e), -1);
    assert_int_equal(e.kind, ERR_FAILED);
    assert_non_null(strstr(e.text, "no CPU time of the server for arm 'pq'"));
    result_free(r);
}

static void figures_that_sums_would_make_infinite_are_refused(void **state)
{
    (void)state;
    struct result *r = golden_result("plan-example");
    struct plan_options o = example();
    struct plan p;
    struct err e = ERR_INIT;
    r->comparison[1].difference.high = 1e300;
    assert_int_equal(plan_make(r, &o, &p, &e), -1);
    assert_int_equal(e.kind, ERR_FAILED);
    assert_non_null(strstr(e.text, "CPU times of more than"));
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_gives_the_texts_beside_it),
        cmocka_unit_test(intervals_hold_their_values_and_after_is_before_and_change),
        cmocka_unit_test(everything_grows_with_the_peak_and_in_proportion),
        cmocka_unit_test(without_hybrid_clients_after_is_before),
        cmocka_unit_test(what_no_arm_measured_is_derived),
        cmocka_unit_test(a_loaded_server_s_difference_is_that_of_its_trials),
        cmocka_unit_test(a_figure_without_an_interval_gives_none),
        cmocka_unit_test(other_versions_have_no_model_and_no_time),
        cmocka_unit_test(wrong_arms_are_refused_by_name),
        cmocka_unit_test(a_result_without_the_server_s_cpu_is_refused),
        cmocka_unit_test(figures_that_sums_would_make_infinite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
