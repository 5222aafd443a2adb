/* SPDX-License-Identifier: Apache-2.0 */
/* Are limits read as they were meant, and held against the right rows? */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "run/across.h"

static void a_limit_is_arm_metric_and_number(void **state)
{
    (void)state;
    static const struct {
        const char *text, *arm, *metric;
        bool is_above, is_share;
        double limit;
    } rows[] = {
        {"cpu_us.server > +5%", "", "cpu_us.server", true, true, 0.05},
        {"cpu_us.server>5%", "", "cpu_us.server", true, true, 0.05},
        {" pq:latency_us.tls.p99_9  >  2.5 % ", "pq", "latency_us.tls.p99_9", true, true,
         0.025},
        {"a+b-c_1.x:bytes.client < -10", "a+b-c_1.x", "bytes.client", false, false, -10},
        {"cpu_us.client < - 0.5%", "", "cpu_us.client", false, true, -0.005},
        {"cpu_us.client > 0", "", "cpu_us.client", true, false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct across_bound bound;
        struct err e = ERR_INIT;
        assert_int_equal(across_bound_parse(rows[i].text, &bound, &e), 0);
        assert_string_equal(bound.arm, rows[i].arm);
        assert_string_equal(bound.metric, rows[i].metric);
        assert_true(bound.is_above == rows[i].is_above && bound.is_share == rows[i].is_share);
        assert_true(fabs(bound.limit - rows[i].limit) < 1e-12);
    }
}

static void what_is_no_limit_is_refused_with_what_is_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",       ">",         "> 5%",    "x",       "x >",     "x > %",     "x = 5",
        "x >= 5", "x > 5 us",  "x > 5%%", "x > +-5", "x > 1e3", "x > 5,",    ":x > 5",
        "a: > 5", "a:b:x > 5", "a b > 5", "x > nan", "x > .",   "x\n\n > 5", "\x1b[31m > 5"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct across_bound bound;
        struct err e = ERR_INIT;
        assert_int_equal(across_bound_parse(texts[i], &bound, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.text, "cpu_us.server > +5%"));
    }
    char longest[400];
    struct across_bound bound;
    memset(longest, 'x', sizeof longest);
    memcpy(longest + sizeof longest - 5, " > 5", 5);
    assert_int_equal(across_bound_parse(longest, &bound, NULL), -1);
}

static void add_row(struct across *a, const char *arm, double low, double high)
{
    struct across_row *row = across_add_row(a);
    row->side = 1;
    result_set_text(&row->arm, arm);
    result_set_text(&row->metric, "cpu_us.server");
    result_set_text(&row->unit, "us");
    row->change = (struct figure){(low + high) / 2, low, high};
    row->before.value = arm != NULL ? 200 : (double)NAN;
    row->verdict = RESULT_VERDICT_SAME;
}

static void a_limit_is_held_against_the_nearer_end_of_the_interval(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t rows, broken, unjudged;
    } rows[] = {
        {"cpu_us.server > +5%", 4, 2, 1},   {"cpu_us.server > +6%", 4, 1, 1},
        {"cpu_us.server > +9%", 4, 0, 1},   {"pq:cpu_us.server > +5%", 1, 1, 0},
        {"a:cpu_us.server > -3%", 1, 1, 0}, {"a:cpu_us.server < +2%", 1, 1, 0},
        {"a:cpu_us.server < +1%", 1, 0, 0}, {"pq:cpu_us.server > 15", 1, 1, 0},
        {"pq:cpu_us.server > 17", 1, 0, 0}, {"cpu_us.server > 13", 3, 1, 1},
    };
    struct across *a = across_new();
    across_add_side(a, "before");
    across_add_side(a, "after");
    add_row(a, NULL, 0.06, 0.09);
    add_row(a, "a", -0.02, 0.01);
    add_row(a, "pq", 0.08, 0.12);
    add_row(a, "few", NAN, NAN);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err e = ERR_INIT;
        assert_int_equal(across_hold(a, rows[i].text, &e), 0);
        const struct across_limit *limit = &a->limit[a->limits - 1];
        assert_int_equal(limit->rows, rows[i].rows);
        assert_int_equal(limit->broken, rows[i].broken);
        assert_int_equal(limit->unjudged, rows[i].unjudged);
    }
    assert_int_equal(a->limit[0].worst, 2); /* pq is farthest beyond */
    a->row[2].verdict = RESULT_VERDICT_WITHHELD;
    assert_int_equal(across_hold(a, "pq:cpu_us.server > +5%", NULL), 0);
    assert_int_equal(a->limit[a->limits - 1].broken, 0);
    assert_int_equal(a->limit[a->limits - 1].unjudged, 1);
    across_free(a);
}

static void what_is_in_no_row_is_named(void **state)
{
    (void)state;
    struct across *a = across_new();
    struct err e = ERR_INIT;
    add_row(a, "pq", 0, 0);
    assert_int_equal(across_hold(a, "cpu_us.client > 5%", &e), -1);
    assert_non_null(strstr(e.text, "they have cpu_us.server"));
    assert_int_equal(across_hold(a, "rsa:cpu_us.server > 5%", &e), -1);
    assert_non_null(strstr(e.text, "no arm rsa"));
    across_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_arm_metric_and_number),
        cmocka_unit_test(what_is_no_limit_is_refused_with_what_is_accepted),
        cmocka_unit_test(a_limit_is_held_against_the_nearer_end_of_the_interval),
        cmocka_unit_test(what_is_in_no_row_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
