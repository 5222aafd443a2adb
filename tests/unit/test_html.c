/* SPDX-License-Identifier: Apache-2.0 */
/* Is text of a result inert in the page, are the figures in it those of the result, and is the
 * page that of the golden files?  GOLDEN_WRITE=1 writes those anew: read the difference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "golden_files.h"
#include "report/format.h"
#include "report/html.h"
#include "report/html_put.h"
#include "report/scale.h"
#include "report/sheet.h"

static void text_of_a_result_is_escaped_in_content_and_attributes(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a<b>c", "a&lt;b&gt;c"},   {"\"x\" onload='y'", "&quot;x&quot; onload=&#39;y&#39;"},
        {"&lt;", "&amp;lt;"},       {"\x1b[31m", "\\x1b[31m"},
        {"b\xc3\xbc", "b\xc3\xbc"}, {"\xff", "\\xff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = {0};
        html_add_text(&out, cases[i].in);
        assert_string_equal(text_str(&out), cases[i].out);
        text_free(&out);
    }
}

static void a_number_keeps_its_unit_on_its_line(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"+129 us (+47 %)", "+129\xc2\xa0\xc2\xb5s (+47\xc2\xa0%)"},
        {"5 users of us", "5 users of us"},
        {"us 3 us", "us 3\xc2\xa0\xc2\xb5s"},
        {"<1 us>", "&lt;1\xc2\xa0\xc2\xb5s&gt;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = {0};
        html_add_words(&out, cases[i].in);
        assert_string_equal(text_str(&out), cases[i].out);
        text_free(&out);
    }
}

/* The JSON within the script element of html_add_data. */
static char *inner(const struct text *out)
{
    const char *start = strchr(text_str(out), '>');
    const char *end = strstr(text_str(out), "</script>");
    assert_non_null(start);
    assert_non_null(end);
    struct text found = {0};
    text_add_bytes(&found, start + 1, (size_t)(end - start - 1));
    return text_take(&found);
}

static void data_in_the_page_cannot_end_its_element_and_reads_back(void **state)
{
    static const char *const hostile[] = {"</script><img src=x>", "<!--<script>", "a&b", "\"\\",
                                          "b\xc3\xbc"};
    const size_t n = sizeof(hostile) / sizeof(hostile[0]);
    struct sheet *s = sheet_new();
    struct text out = {0};
    (void)state;
    sheet_add_column(s, "<name>\xe2\x80\xa8\xe2\x80\xa9", SHEET_TEXT);
    sheet_add_column(s, "us", SHEET_US);
    for (size_t i = 0; i < n; i++) {
        const size_t row = sheet_add_row(s);
        sheet_set_text(s, row, 0, hostile[i]);
        sheet_set_number(s, row, 1, i == 0 ? NAN : 276.4125 * (double)i);
    }
    html_add_data(&out, "x", s);
    char *json = inner(&out);
    assert_null(strpbrk(json, "<>&"));
    assert_non_null(strstr(json, "\\u2028\\u2029"));
    assert_null(strstr(json, "\xe2\x80"));
    json_t *read = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(read);
    const json_t *data = json_object_get(read, "data");
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(json_string_value(json_array_get(json_array_get(data, 0), i)),
                            hostile[i]);
        const json_t *us = json_array_get(json_array_get(data, 1), i);
        if (i == 0)
            assert_true(json_is_null(us));
        else
            assert_true(fabs(json_number_value(us) - 276.4125 * (double)i) < 1e-6);
    }
    json_decref(read);
    free(json);
    text_free(&out);
    sheet_free(s);
}

static void ticks_are_round_and_within_the_scale(void **state)
{
    static const struct {
        struct scale scale;
        double first;
        size_t count;
    } cases[] = {
        {{0, 1000, false}, 0, 6},    {{0, 0.03, false}, 0, 4},  {{-7, 12, false}, -5, 4},
        {{390, 2600, true}, 400, 5}, {{90, 2e6, true}, 100, 5}, {{500, 510, false}, 500, 6},
        {{390, 1300, true}, 400, 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double ticks[SCALE_TICKS_MAX];
        const size_t n = scale_ticks(&cases[i].scale, 6, ticks);
        assert_int_equal(n, cases[i].count);
        assert_true(fabs(ticks[0] - cases[i].first) < 1e-9);
        for (size_t k = 1; k < n; k++)
            assert_true(ticks[k] > ticks[k - 1] && ticks[k] <= cases[i].scale.high);
    }
}

static void the_format_of_a_file_is_told_by_its_end(void **state)
{
    enum report_format_id id = REPORT_TEXT;
    (void)state;
    assert_true(report_format_of_path("a.b/report.html", &id));
    assert_int_equal(id, REPORT_HTML);
    assert_true(report_format_of_path("x.hlog", &id));
    assert_int_equal(id, REPORT_HLOG);
    assert_false(report_format_of_path("a.html/report", &id));
    assert_false(report_format_of_path("html", &id));
}

/* The page without style and script, which are files of their own. */
static void the_page_is_that_of_the_golden_file(void **state)
{
    static const char *const names[] = {"cpu", "load-few", "load-refused"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *r = golden_result(names[i]);
        struct text body = {0};
        html_add_body(&body, r);
        golden_compare(names[i], "body.html", &body);
        text_free(&body);
        result_free(r);
    }
}

static void the_log_is_that_of_the_golden_file(void **state)
{
    struct result *r = golden_result("load-few");
    struct text log = {0};
    (void)state;
    report_add_hlog(r, &log, NULL);
    golden_compare("load-few", "hlog", &log);
    text_free(&log);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_a_result_is_escaped_in_content_and_attributes),
        cmocka_unit_test(a_number_keeps_its_unit_on_its_line),
        cmocka_unit_test(data_in_the_page_cannot_end_its_element_and_reads_back),
        cmocka_unit_test(ticks_are_round_and_within_the_scale),
        cmocka_unit_test(the_format_of_a_file_is_told_by_its_end),
        cmocka_unit_test(the_page_is_that_of_the_golden_file),
        cmocka_unit_test(the_log_is_that_of_the_golden_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
