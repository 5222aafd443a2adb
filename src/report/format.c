/* SPDX-License-Identifier: Apache-2.0 */
#include "report/format.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct report_format formats[REPORT_FORMATS] = {
    [REPORT_TEXT] = {"text", "txt", "result.txt", "tables and sentences for a terminal",
                     report_add_text},
    [REPORT_JSON] = {"json", "json", "result.json", "everything, schema " RESULT_SCHEMA,
                     report_add_json},
    [REPORT_CSV] = {"csv", "csv", "result.csv", "one row a figure (RFC 4180)", report_add_csv},
    [REPORT_MARKDOWN] = {"markdown", "md", "result.md", "tables for an issue or a post",
                         report_add_markdown},
    [REPORT_HTML] = {"html", "html", "report.html", "a page with charts, in one file",
                     report_add_html},
    [REPORT_HLOG] = {"hlog", "hlog", NULL, "histograms for the tools of HdrHistogram",
                     report_add_hlog},
};

const struct report_format *report_format_of(enum report_format_id id)
{
    assert((unsigned)id < REPORT_FORMATS);
    return &formats[id];
}

const struct report_format *report_find_format(const char *name)
{
    for (size_t i = 0; i < REPORT_FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

bool report_format_of_path(const char *path, enum report_format_id *id)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name == NULL ? path : name, '.');
    for (unsigned i = 0; dot != NULL && i < REPORT_FORMATS; i++) {
        if (strcmp(dot + 1, formats[i].extension) == 0) {
            *id = (enum report_format_id)i;
            return true;
        }
    }
    return false;
}

void report_require_whole(const struct result *r)
{
    struct err e = ERR_INIT;
    if (result_check(r, &e) == 0)
        return;
    fprintf(stderr, "pqc-bench: bug: a result that cannot be: %s\n", e.text);
    abort();
}
