/* SPDX-License-Identifier: Apache-2.0 */
/* Do the hand-made results of tests/golden give exactly the texts that stand beside them?
 * GOLDEN_WRITE=1 in the environment writes those texts anew: read the difference. */
#include "golden_files.h"
#include "report/format.h"

static const char *const names[] = {
    "cpu",      "cpu-interrupted", "cpu-failed",   "cpu-hostile",  "load",
    "load-few", "load-link",       "load-refused", "load-resumed", "capacity"};

/* The forms of each result that are kept. */
static const struct {
    const char *suffix;
    enum report_format_id format;
    struct report_options options;
} forms[] = {
    {"txt", REPORT_TEXT, {.columns = 80, .has_utf8 = true}},
    {"wide.txt", REPORT_TEXT, {.columns = 150, .has_utf8 = true, .is_detailed = true}},
    {"ascii.txt", REPORT_TEXT, {.columns = 100}},
    {"md", REPORT_MARKDOWN, {.is_detailed = true}},
    {"csv", REPORT_CSV, {.columns = 0}},
};

static void check_form(const struct result *r, const char *name, size_t form)
{
    struct text got = {0};
    report_format_of(forms[form].format)->add(r, &got, &forms[form].options);
    golden_compare(name, forms[form].suffix, &got);
    text_free(&got);
}

static void each_result_gives_the_texts_beside_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *r = golden_result(names[i]);
        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
            check_form(r, names[i], k);
        result_free(r);
    }
}

static void each_result_is_the_same_after_writing_and_reading(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct err e = ERR_INIT;
        struct text first = {0}, second = {0};
        struct result *r = golden_result(names[i]);
        report_add_json(r, &first, NULL);
        struct result *again = json_read_text(text_str(&first), first.length, &e);
        if (again == NULL)
            fail_msg("%s: %s", names[i], e.text);
        report_add_json(again, &second, NULL);
        golden_check(names[i], text_str(&second), text_str(&first));
        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
            check_form(again, names[i], k);
        text_free(&first);
        text_free(&second);
        result_free(again);
        result_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_result_gives_the_texts_beside_it),
        cmocka_unit_test(each_result_is_the_same_after_writing_and_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
