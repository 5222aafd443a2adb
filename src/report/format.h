/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - the formats a result can be shown in, one row each.
 *
 * Layer: report (may include result stats base).  Sees only a const result; no terminal,
 *   no environment, no clock: what the output is for stands in struct report_options.
 * Shape: a formatter appends to a struct text and cannot fail; the result must hold
 *   result_check (else report_require_whole ends the process).
 * Adding one: a function, a row in format.c, a value in enum report_format_id.
 * Threads: any.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "result/result.h"

struct report_options {
    unsigned columns; /* width for text, 80 or more; smaller is taken as 80 */
    bool has_colour;  /* ANSI sequences (text only) */
    bool has_utf8;    /* else ASCII alone (text only; the rest is UTF-8) */
    bool is_detailed; /* parts, messages, trials of kind cpu (text, Markdown) */
};
#define REPORT_OPTIONS_DEFAULT                                                     \
    {                                                                              \
        .columns = 80, .has_colour = false, .has_utf8 = true, .is_detailed = false \
    }

enum report_format_id {
    REPORT_TEXT,
    REPORT_JSON,
    REPORT_CSV,
    REPORT_MARKDOWN,
    REPORT_HTML,
    REPORT_HLOG
};
#define REPORT_FORMATS 6u

struct report_format {
    const char *name;      /* "markdown": --format, command line */
    const char *extension; /* "md": of a file's name */
    const char *file;      /* "result.md": in a directory of results; NULL: not there */
    const char *help;      /* one line without full stop */
    void (*add)(const struct result *r, struct text *out, const struct report_options *options);
};

const struct report_format *report_format_of(enum report_format_id id);
const struct report_format *report_find_format(const char *name); /* NULL: none */
/* The format whose files end like this path; false: none. */
bool report_format_of_path(const char *path, enum report_format_id *id);

/* A bug in whoever made the result must not become a file: ends the process, naming the
 * identity that is broken, unless result_check holds. */
void report_require_whole(const struct result *r);

/* The formatters. */
void report_add_text(const struct result *r, struct text *out,
                     const struct report_options *options);
void report_add_json(const struct result *r, struct text *out,
                     const struct report_options *options);
void report_add_csv(const struct result *r, struct text *out,
                    const struct report_options *options);
void report_add_markdown(const struct result *r, struct text *out,
                         const struct report_options *options);
void report_add_html(const struct result *r, struct text *out,
                     const struct report_options *options);
void report_add_hlog(const struct result *r, struct text *out,
                     const struct report_options *options);

#endif
