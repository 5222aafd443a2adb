/* SPDX-License-Identifier: Apache-2.0 */
/* Is what is written strict JSON that says what the result says, and does the reader take
 * only what a result can be? */
#include "comma_locale.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/text.h"
#include "report/format.h"
#include "report/json_read.h"

/* cmocka's own compares as float. */
static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.17g, want %.17g", got, want);
}

static json_t *write_and_parse(const struct result *r)
{
    struct text out = {0};
    json_error_t fault;
    report_add_json(r, &out, NULL);
    json_t *root = json_loads(text_str(&out), JSON_REJECT_DUPLICATES, &fault);
    if (root == NULL)
        fail_msg("line %d: %s", fault.line, fault.text);
    text_free(&out);
    return root;
}

/* The value at a way like "arms.0.trials.0.tally"; NULL where there is none. */
static const json_t *at(const json_t *root, const char *way)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", way);
    for (char *step = strsep(&rest, "."); step != NULL && root != NULL;
         step = strsep(&rest, "."))
        root = json_is_array(root) ? json_array_get(root, strtoul(step, NULL, 10))
                                   : json_object_get(root, step);
    return root;
}

static struct result *read_back(const struct result *r)
{
    struct err e = ERR_INIT;
    struct text out = {0};
    report_add_json(r, &out, NULL);
    struct result *again = json_read_text(text_str(&out), out.length, &e);
    if (again == NULL)
        fail_msg("%s", e.text);
    text_free(&out);
    return again;
}

static struct result_trial *add_samples(struct result *r, const uint64_t *ns, size_t n)
{
    struct result_trial *t = arm_add_trial(result_add_arm(r, "pq"));
    t->latency_ns[RESULT_PHASE_TLS] = histogram_new();
    for (size_t i = 0; i < n; i++)
        histogram_record(t->latency_ns[RESULT_PHASE_TLS], ns[i]);
    t->tally = (struct result_tally){.scheduled = n, .completed = n};
    return t;
}

static void what_is_absent_is_not_in_the_file(void **state)
{
    (void)state;
    struct result *r = result_new(RESULT_KIND_LOAD);
    arm_add_trial(result_add_arm(r, "pq"));
    json_t *root = write_and_parse(r);
    static const char *const absent[] = {
        "elapsed_s",          "started_at",      "accounts",
        "arms.0.cpu_us",      "arms.0.bytes",    "arms.0.trials.0.latency_us",
        "arms.0.primitives",  "arms.0.summary",  "arms.0.trials.0.client_busy",
        "interrupted_by",     "build.sanitizer", "arms.0.negotiated.group",
        "arms.0.round_trips", "server"};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        assert_null(at(root, absent[i]));
    assert_string_equal(json_string_value(at(root, "schema")), "pqc-bench/1");
    assert_string_equal(json_string_value(at(root, "kind")), "load");
    assert_true(json_is_true(at(root, "validity.valid")));
    json_decref(root);
    result_free(r);
}

/* Field case: zero handshakes ok -> latencies absent, count 0. */
static void no_sample_gives_no_latency(void **state)
{
    (void)state;
    struct result *r = result_new(RESULT_KIND_LOAD);
    add_samples(r, NULL, 0);
    json_t *root = write_and_parse(r);
    assert_null(at(root, "arms.0.trials.0.latency_us"));
    assert_null(at(root, "arms.0.trials.0.histograms"));
    assert_null(at(root, "arms.0.summary"));
    assert_int_equal(json_integer_value(at(root, "arms.0.trials.0.tally.completed")), 0);
    json_decref(root);
    result_free(r);
}

static double latency(const json_t *root, const char *column)
{
    char way[96];
    snprintf(way, sizeof(way), "arms.0.trials.0.latency_us.tls.%s", column);
    return json_number_value(at(root, way));
}

static void one_sample_is_every_percentile(void **state)
{
    (void)state;
    const uint64_t ns[] = {682000};
    struct result *r = result_new(RESULT_KIND_LOAD);
    add_samples(r, ns, 1);
    json_t *root = write_and_parse(r);
    static const char *const columns[] = {"min", "mean", "p50",   "p75",    "p90",
                                          "p95", "p99",  "p99_9", "p99_99", "max"};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        assert_near(latency(root, columns[i]), 682, 1e-9);
    json_decref(root);
    result_free(r);
}

static void few_samples_are_marked_and_never_nan(void **state)
{
    (void)state;
    const uint64_t ns[] = {1000000, 2000000, 3000000, 4000000,
                           5000000, 6000000, 7000000, 8000000};
    struct result *r = result_new(RESULT_KIND_LOAD);
    add_samples(r, ns, 8);
    json_t *root = write_and_parse(r);
    assert_near(latency(root, "p50"), 4000, 4);
    assert_near(latency(root, "p95"), 8000, 1e-9);
    assert_near(latency(root, "p99"), 8000, 1e-9);
    const json_t *marked = at(root, "arms.0.trials.0.latency_us.tls.marked");
    assert_int_equal(json_array_size(marked), 3);
    assert_string_equal(json_string_value(json_array_get(marked, 0)), "p99");
    assert_string_equal(json_string_value(json_array_get(marked, 1)), "p99_9");
    json_decref(root);
    result_free(r);
}

static void marks_end_where_there_are_samples_enough(void **state)
{
    (void)state;
    static const struct {
        uint64_t samples;
        size_t marks;
    } cases[] = {{999, 3}, {1000, 2}, {9999, 2}, {10000, 1}, {99999, 1}, {100000, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result *r = result_new(RESULT_KIND_LOAD);
        struct result_trial *t = add_samples(r, NULL, 0);
        histogram_record_many(t->latency_ns[RESULT_PHASE_TLS], 1000, cases[i].samples);
        t->tally.scheduled = t->tally.completed = cases[i].samples;
        json_t *root = write_and_parse(r);
        assert_int_equal(json_array_size(at(root, "arms.0.summary.latency_us.tls.marked")),
                         cases[i].marks);
        json_decref(root);
        result_free(r);
    }
}

static void a_summary_is_the_median_of_the_trials(void **state)
{
    (void)state;
    const uint64_t ns[] = {100, 900, 300};
    struct result *r = result_new(RESULT_KIND_LOAD);
    struct result_arm *arm = result_add_arm(r, "pq");
    for (size_t i = 0; i < 3; i++) {
        struct result_trial *t = arm_add_trial(arm);
        t->latency_ns[RESULT_PHASE_TLS] = histogram_new();
        histogram_record_many(t->latency_ns[RESULT_PHASE_TLS], ns[i], i + 1);
        t->tally = (struct result_tally){.scheduled = i + 1, .completed = i + 1};
    }
    arm_add_trial(arm); /* without samples: has no part in it */
    json_t *root = write_and_parse(r);
    assert_near(json_number_value(at(root, "arms.0.summary.latency_us.tls.p99")), 0.3, 1e-12);
    assert_int_equal(json_integer_value(at(root, "arms.0.summary.latency_us.tls.count")), 1);
    json_decref(root);
    result_free(r);
}

static void extremes_are_exact_after_reading(void **state)
{
    (void)state;
    const uint64_t ns[] = {1234567, 2345678, 9876543};
    struct result *r = result_new(RESULT_KIND_LOAD);
    add_samples(r, ns, 3);
    struct result *again = read_back(r);
    const struct histogram *h = again->arm[0].trial[0].latency_ns[RESULT_PHASE_TLS];
    assert_int_equal(histogram_count(h), 3);
    assert_int_equal(histogram_min(h), 1234567);
    assert_int_equal(histogram_max(h), 9876543);
    assert_true(histogram_equal(h, r->arm[0].trial[0].latency_ns[RESULT_PHASE_TLS]));
    result_free(again);
    result_free(r);
}

static void handshakes_that_were_told_apart_come_back_so(void **state)
{
    (void)state;
    const uint64_t ns[] = {900000, 500000, 510000, 400000};
    struct result *r = result_new(RESULT_KIND_LOAD);
    struct result_trial *t = add_samples(r, ns, 4);
    for (unsigned i = 0; i < 4; i++) {
        const unsigned which = i == 0  ? RESULT_HANDSHAKE_FULL
                               : i < 3 ? RESULT_HANDSHAKE_RESUMED
                                       : RESULT_HANDSHAKE_EARLY;
        struct histogram **h = &t->apart_ns[which][RESULT_PHASE_TLS];
        if (*h == NULL)
            *h = histogram_new();
        histogram_record(*h, ns[i]);
    }
    struct result_negotiated *n = &r->arm[0].negotiated;
    negotiated_add(n, "X25519", 4);
    n->resume_asked = 4;
    n->resume_offered = n->resumed = 3;
    n->early_data_accepted = 1;
    struct result *again = read_back(r);
    const struct result_negotiated *m = &again->arm[0].negotiated;
    assert_int_equal(m->resume_asked, 4);
    assert_int_equal(m->resume_offered, 3);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            const struct histogram *h = again->arm[0].trial[0].apart_ns[i][phase];
            if (phase != RESULT_PHASE_TLS)
                assert_null(h);
            else
                assert_true(histogram_equal(h, t->apart_ns[i][phase]));
        }
    result_free(again);
    result_free(r);
}

/* Field case: LC_ALL=de_DE.UTF-8 -> dots. */
static void a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (!comma_locale_use())
        skip();
    setlocale(LC_ALL, "C");
    struct result *r = result_new(RESULT_KIND_CPU);
    struct text plain = {0}, comma = {0};
    r->elapsed_s = 61.25;
    result_add_arm(r, "pq")->cpu.us[RESULT_CLIENT][RESULT_CPU_TOTAL].value = 405.25;
    for (unsigned format = 0; format < REPORT_FORMATS; format++) {
        const struct report_options options = REPORT_OPTIONS_DEFAULT;
        const struct report_format *f = report_format_of((enum report_format_id)format);
        f->add(r, &plain, &options);
        assert_true(comma_locale_use());
        f->add(r, &comma, &options);
        struct err e = ERR_INIT;
        struct text file = {0};
        report_add_json(r, &file, NULL);
        struct result *again = json_read_text(text_str(&file), file.length, &e);
        setlocale(LC_ALL, "C");
        assert_string_equal(text_str(&plain), text_str(&comma));
        assert_non_null(again);
        assert_near(again->elapsed_s, 61.25, 0);
        result_free(again);
        text_free(&plain);
        text_free(&comma);
        text_free(&file);
    }
    result_free(r);
}

static void any_bytes_in_names_give_valid_json(void **state)
{
    (void)state;
    static const char *const names[] = {"caf\xe9",          "\xff\xfe",     "a\"b\\c\n\t\x01",
                                        "b\xc3\xbc\x63her", "\xed\xa0\x80", "</script>"};
    struct result *r = result_new(RESULT_KIND_CPU);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result_arm *arm = result_add_arm(r, names[i]);
        pairs_add(&arm->spec, names[i], names[i]);
        negotiated_add(&arm->negotiated, names[i], 1);
    }
    json_t *root = write_and_parse(r);
    assert_string_equal(json_string_value(at(root, "arms.0.name")), "caf\\xe9");
    assert_string_equal(json_string_value(at(root, "arms.2.name")), names[2]);
    assert_string_equal(json_string_value(at(root, "arms.3.name")), names[3]);
    struct result *again = read_back(r);
    assert_string_equal(again->arm[5].name, "</script>");
    result_free(again);
    json_decref(root);
    result_free(r);
}

static void every_figure_survives_the_way_through_a_file(void **state)
{
    (void)state;
    const double values[] = {0, 0.1, 1.0 / 3, 352.123, 1e-9, 123456789.123456, 5e300, 5e-324};
    struct result *r = result_new(RESULT_KIND_CPU);
    struct text first = {0}, second = {0};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct result_trial *t = arm_add_trial(i == 0 ? result_add_arm(r, "a") : &r->arm[0]);
        t->cpu_us[RESULT_CLIENT][RESULT_CPU_TOTAL] = values[i];
    }
    struct result *again = read_back(r);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        assert_near(again->arm[0].trial[i].cpu_us[RESULT_CLIENT][RESULT_CPU_TOTAL], values[i],
                    values[i] * 1e-14);
    report_add_json(r, &first, NULL);
    report_add_json(again, &second, NULL);
    assert_string_equal(text_str(&first), text_str(&second));
    /* As short as it was given. */
    assert_non_null(strstr(text_str(&first), "\"total\": 352.123\n"));
    text_free(&first);
    text_free(&second);
    result_free(again);
    result_free(r);
}

#define HEAD "{\"schema\": \"pqc-bench/1\", \"kind\": \"load\", \"validity\": {\"valid\": true}"
#define TRIAL(fields)                                                  \
    HEAD ", \"arms\": [{\"name\": \"a\", \"trials\": [{\"index\": 1, " \
         "\"valid\": true" fields "}]}]}"
#define TALLY ", \"tally\": {\"scheduled\": 1, \"completed\": 1}"

static void what_is_no_result_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "line 1: not JSON: "},
        {"{", "line 1: not JSON: "},
        {"[]", "not an object"},
        {"{\"a\": NaN}", "line 1: not JSON: "},
        {"{\"a\": 1, \"a\": 2}", "line 1: not JSON: duplicate object key"},
        {"{}", "not a result of schema pqc-bench/1"},
        {"{\"schema\": \"pqc-bench/2\"}", "not a result of schema pqc-bench/1"},
        {"{\"schema\": \"pqc-bench/1\"}", "kind: missing"},
        {"{\"schema\": \"pqc-bench/1\", \"kind\": \"x\"}", "kind: none of the known names"},
        {"{\"schema\": \"pqc-bench/1\", \"kind\": \"cpu\"}",
         "validity.valid: does not agree with the problems"},
        {HEAD ", \"arms\": 1}", "arms: not a list"},
        {HEAD ", \"arms\": [1]}", "arms[0]: not an object"},
        {HEAD ", \"arms\": [{}]}", "arms[0].name: empty"},
        {HEAD ", \"elapsed_s\": -1}", "elapsed_s: below 0"},
        {HEAD ", \"elapsed_s\": \"1\"}", "elapsed_s: not a number"},
        {HEAD ", \"elapsed_s\": 1e999}", "line 1: not JSON: real number overflow"},
        {HEAD ", \"seed\": 1.5}", "seed: not a whole number from 0"},
        {HEAD ", \"seed\": 9007199254740992}", "seed: not below 2^53"},
        {HEAD ", \"command\": [1]}", "command: not a list of texts"},
        {HEAD ", \"config\": {\"rate\": 3}}", "config.rate: not a text"},
        {HEAD ", \"config\": {\"\\u001b[2J\": 3}}", "config.\\x1b[2J: not a text"},
        {HEAD ", \"hosts\": [{\"role\": \"both\", \"cores\": -1}]}",
         "hosts[0].cores: not a whole number from 0"},
        {HEAD ", \"hosts\": [{\"role\": \"both\", \"cores\": 4294967296}]}",
         "hosts[0].cores: too large"},
        {HEAD ", \"hosts\": [{\"role\": \"both\", \"turbo\": \"a text that is too long\"}]}",
         "hosts[0].turbo: too long"},
        {HEAD ", \"arms\": [{\"name\": \"a\", \"negotiated\": {\"counts\": {\"b\": "
              "9223372036854775807, \"c\": 9223372036854775807, \"d\": 2}}}]}",
         "arms[0].negotiated.counts: the sum is too large"},
        {TRIAL(", \"tally\": {\"scheduled\": 2, \"completed\": 1}"),
         "arms[0].trials[0].tally: the parts do not add up to scheduled"},
        {TRIAL(TALLY ", \"histograms\": {\"tls\": \"AAAA\"}"),
         "arms[0].trials[0].histograms.tls: not a histogram in HdrHistogram's V2 compressed "
         "form: it begins differently"},
        {TRIAL(TALLY ", \"slowest\": [{}]"), "arms[0].trials[0].slowest[0].cause: empty"},
        {TRIAL(TALLY ", \"failures\": [{\"count\": 1}]"),
         "arms[0].trials[0].failures[0]: no phase, no cause or a wrong count"},
        {HEAD ", \"comparisons\": [{\"verdict\": \"?\"}]}",
         "comparisons[0].verdict: none of the known names"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err e = ERR_INIT;
        const size_t length = strlen(cases[i].text);
        assert_null(json_read_text(cases[i].text, length, &e));
        if (strncmp(e.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s\n got: %s\nwant: %s", cases[i].text, e.text, cases[i].error);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_null(strpbrk(e.text, "\n\x1b"));
    }
}

static void lists_without_end_are_refused(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct text text = {0};
    text_add(&text, HEAD ", \"arms\": [");
    for (unsigned i = 0; i <= JSON_READ_MAX_ITEMS; i++)
        text_addf(&text, "%s{\"name\": \"%u\"}", i == 0 ? "" : ",", i);
    text_add(&text, "]}");
    assert_null(json_read_text(text_str(&text), text.length, &e));
    assert_string_equal(e.text, "arms: too many items");
    text_free(&text);
    /* Deep nesting ends in an error, not in the stack. */
    for (unsigned i = 0; i < 1000000; i++)
        text_add(&text, "[");
    assert_null(json_read_text(text_str(&text), text.length, &e));
    text_free(&text);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    assert_null(json_read_file("/nonexistent/result.json", &e));
    assert_string_equal(e.text, "/nonexistent/result.json: No such file or directory");
    assert_int_equal(e.kind, ERR_SYSTEM);
}

static json_t *load_golden(const char *name)
{
    json_error_t fault;
    struct text path = {0};
    text_addf(&path, "%s/tests/golden/%s.json", SOURCE_ROOT, name);
    json_t *root = json_load_file(text_str(&path), 0, &fault);
    if (root == NULL)
        fail_msg("%s: %s", text_str(&path), fault.text);
    text_free(&path);
    return root;
}

/* Either refused with a reason, or a result that can be shown in every format. */
static void check_either(const json_t *root)
{
    struct err e = ERR_INIT;
    const struct report_options options = REPORT_OPTIONS_DEFAULT;
    char *text = json_dumps(root, JSON_COMPACT);
    struct result *r = json_read_text(text, strlen(text), &e);
    free(text);
    if (r == NULL) {
        assert_true(e.kind == ERR_USAGE && e.text[0] != '\0');
        return;
    }
    for (unsigned format = 0; format < REPORT_FORMATS; format++) {
        struct text out = {0};
        report_format_of((enum report_format_id)format)->add(r, &out, &options);
        assert_true(out.length > 0);
        text_free(&out);
    }
    result_free(r);
}

/* Every value below `node` is replaced once by each of a few that do not belong there. */
static unsigned replace_each(json_t *root, json_t *node)
{
    static const char *const wrong[] = {"null", "-1", "0",   "1e300", "\"x\"",
                                        "[]",   "{}", "[1]", "true",  "9223372036854775807"};
    unsigned replaced = 0;
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(node, next, key, value)
    {
        json_incref(value);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            json_object_set_new(node, key, json_loads(wrong[i], JSON_DECODE_ANY, NULL));
            check_either(root);
            replaced++;
        }
        json_object_set_new(node, key, value);
        replaced += replace_each(root, value);
    }
    /* The first two items of a list stand for the rest. */
    for (size_t i = 0; i < json_array_size(node) && i < 2; i++)
        replaced += replace_each(root, json_array_get(node, i));
    return replaced;
}

static void no_value_in_the_wrong_place_gets_through_or_crashes(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu-interrupted", "cpu-failed", "load-few"};
    unsigned replaced = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *root = load_golden(names[i]);
        replaced += replace_each(root, root);
        json_decref(root);
    }
    assert_true(replaced > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_not_in_the_file),
        cmocka_unit_test(no_sample_gives_no_latency),
        cmocka_unit_test(one_sample_is_every_percentile),
        cmocka_unit_test(few_samples_are_marked_and_never_nan),
        cmocka_unit_test(marks_end_where_there_are_samples_enough),
        cmocka_unit_test(a_summary_is_the_median_of_the_trials),
        cmocka_unit_test(extremes_are_exact_after_reading),
        cmocka_unit_test(handshakes_that_were_told_apart_come_back_so),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
        cmocka_unit_test(any_bytes_in_names_give_valid_json),
        cmocka_unit_test(every_figure_survives_the_way_through_a_file),
        cmocka_unit_test(what_is_no_result_is_refused_with_its_place),
        cmocka_unit_test(lists_without_end_are_refused),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(no_value_in_the_wrong_place_gets_through_or_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
