/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_put.h - pieces of HTML: text that cannot become markup, tables, the frame of a chart.
 *
 * Layer: report, private to the HTML report.
 * Shape: what comes from a result goes through html_add_text, html_add_words or the JSON of
 *   html_add_data and through nothing else: '<', '>', '&' and both quotes are escaped,
 *   control characters shown as \xNN.  In the JSON '<', '>', '&', U+2028 and U+2029 are
 *   written as \uNNNN, so that no text can end the element it stands in.
 * Source: HTML, section 13.1.2 (text and attributes) and 4.12.1.3 (script's content).
 * Threads: any.
 */
#ifndef REPORT_HTML_PUT_H
#define REPORT_HTML_PUT_H

#include "base/text.h"
#include "report/sheet.h"
#include "report/table.h"
#include "result/result.h"

/* Text content or an attribute's value within double quotes. */
void html_add_text(struct text *out, const char *text);
/* The same of our own sentences: a number and its unit stay on one line, and " us" gets its
 * micro sign. */
void html_add_words(struct text *out, const char *text);
void html_add_table(struct text *out, const struct table *t);
/* The shown columns of the sheet as a table. */
void html_add_sheet(struct text *out, const struct sheet *s);
/* The sheet as {"name": , "columns": [{"name": , "unit": ...}], "data": [[...]]} in a script
 * element of type application/json. */
void html_add_data(struct text *out, const char *id, const struct sheet *s);

/* A chart: figure, title, what it shows; then the caller's picture; then the table behind. */
struct html_chart {
    const char *id, *title, *about; /* about may be NULL */
    bool is_live;                   /* the script draws it again, with curves to hover */
};
void html_open_chart(struct text *out, const struct html_chart *chart);
void html_close_chart(struct text *out, const struct html_chart *chart, const struct sheet *s);

/* Classes of the arm's colour: "c0" the first, "cx" a control, "c0 again" where the colours
 * are used up: dashed.  HTML_CLASS_SIZE bytes hold any. */
#define HTML_CLASS_SIZE 16
const char *html_arm_class(const struct result *r, size_t arm, char *buf, size_t size);
/* The legend of all arms. */
void html_add_arms(struct text *out, const struct result *r);
/* "pq against classical": the arm's heading in a chart of bars. */
void html_add_arm_label(struct text *out, const struct result *r, size_t arm);

#endif
