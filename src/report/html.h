/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - the page within the HTML report.
 *
 * Layer: report, private to the HTML report and its tests.
 * Shape: one document, which asks nothing of any other place and says so in its policy.
 * Threads: any.
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "base/text.h"
#include "report/page.h"
#include "result/result.h"

/* What stands in <body> but the script: the part that depends on the result. */
void html_add_body(struct text *out, const struct result *r);

/* A page from its first byte to <body>, with the style; title as html_add_words takes it. */
void html_open_page(struct text *out, const char *title);
void html_close_page(struct text *out); /* the script, and the end */
/* The pieces of page.h as HTML, appended to out. */
struct page_drawer html_drawer(struct text *out);

#endif
