/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden_files.h - the results of tests/golden and what stands beside them.
 *
 * Shape: golden_result reads NAME.json; golden_compare holds a text against NAME.SUFFIX, or
 *   writes that file anew where GOLDEN_WRITE is in the environment.  Every failure ends the
 *   test.
 */
#ifndef UNIT_GOLDEN_FILES_H
#define UNIT_GOLDEN_FILES_H

#include "cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "report/files.h"
#include "report/json_read.h"

static inline void golden_path(struct text *path, const char *name, const char *suffix)
{
    text_addf(path, "%s/tests/golden/%s.%s", SOURCE_ROOT, name, suffix);
}

static inline struct result *golden_result(const char *name)
{
    struct err e = ERR_INIT;
    struct text path = {0};
    golden_path(&path, name, "json");
    struct result *r = json_read_file(text_str(&path), &e);
    if (r == NULL)
        fail_msg("%s", e.text);
    text_free(&path);
    return r;
}

static inline void golden_read(const char *path, struct text *out)
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
static inline void golden_check(const char *path, const char *got, const char *want)
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

static inline void golden_compare(const char *name, const char *suffix, const struct text *got)
{
    struct err e = ERR_INIT;
    struct text path = {0}, want = {0};
    golden_path(&path, name, suffix);
    if (getenv("GOLDEN_WRITE") != NULL && report_write_file(text_str(&path), got, &e) != 0)
        fail_msg("%s", e.text);
    golden_read(text_str(&path), &want);
    golden_check(text_str(&path), text_str(got), text_str(&want));
    text_free(&path);
    text_free(&want);
}

#endif
