/* SPDX-License-Identifier: Apache-2.0 */
/* Do the hand-made results of tests/golden give exactly the texts that stand beside them?
 * GOLDEN_WRITE=1 in the environment writes those texts anew: read the difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/text.h"
#include "report/files.h"
#include "report/format.h"
#include "report/json_read.h"

static const char *const names[] = {
    "cpu",      "cpu-interrupted", "cpu-failed",   "cpu-hostile", "load",
    "load-few", "load-link",       "load-refused", "load-resumed"};

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

static void path_of(struct text *path, const char *name, const char *suffix)
{
    text_addf(path, "%s/tests/golden/%s.%s", SOURCE_ROOT, name, suffix);
}

static void read_file(const char *path, struct text *out)
{
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s is missing", path);
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        text_add_bytes(out, piece, n);
    fclose(file);
}

/* The first line that differs, for a message that says more than "not equal". */
static void compare(const char *path, const char *got, const char *want)
{
    unsigned line = 1;
    size_t start = 0;
    for (size_t i = 0; got[i] == want[i]; i++) {
        if (got[i] == '\0')
            return;
        if (got[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    fail_msg("%s:%u:\n got: %.*s\nwant: %.*s", path, line, (int)strcspn(got + start, "\n"),
             got + start, (int)strcspn(want + start, "\n"), want + start);
}

static struct result *read_result(const char *name)
{
    struct err e = ERR_INIT;
    struct text path = {0};
    path_of(&path, name, "json");
    struct result *r = json_read_file(text_str(&path), &e);
    if (r == NULL)
        fail_msg("%s", e.text);
    text_free(&path);
    return r;
}

static void check_form(const struct result *r, const char *name, size_t form)
{
    struct err e = ERR_INIT;
    struct text path = {0}, got = {0}, want = {0};
    path_of(&path, name, forms[form].suffix);
    report_format_of(forms[form].format)->add(r, &got, &forms[form].options);
    if (getenv("GOLDEN_WRITE") != NULL) {
        if (report_write_file(text_str(&path), &got, &e) != 0)
            fail_msg("%s", e.text);
    }
    read_file(text_str(&path), &want);
    compare(text_str(&path), text_str(&got), text_str(&want));
    text_free(&path);
    text_free(&got);
    text_free(&want);
}

static void each_result_gives_the_texts_beside_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *r = read_result(names[i]);
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
        struct result *r = read_result(names[i]);
        report_add_json(r, &first, NULL);
        struct result *again = json_read_text(text_str(&first), first.length, &e);
        if (again == NULL)
            fail_msg("%s: %s", names[i], e.text);
        report_add_json(again, &second, NULL);
        compare(names[i], text_str(&second), text_str(&first));
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
