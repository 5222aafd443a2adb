/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_charts.h - the charts of the HTML report.
 *
 * Layer: report, private to the HTML report.
 * Shape: each appends a whole figure (title, still picture, the table behind, the data), or
 *   nothing, with false, where the result has nothing for it.  Bars are laid out by the
 *   style sheet, so that they fit any width; curves and points are an inline SVG, which the
 *   script replaces by curves to hover.
 * Threads: any.
 */
#ifndef REPORT_HTML_CHARTS_H
#define REPORT_HTML_CHARTS_H

#include <stdbool.h>
#include "base/text.h"
#include "report/scale.h"
#include "report/sheet.h"
#include "result/result.h"

bool html_add_cpu_chart(struct text *out, const struct result *r);
bool html_add_bytes_chart(struct text *out, const struct result *r);
bool html_add_difference_chart(struct text *out, const struct result *r);
bool html_add_latency_chart(struct text *out, const struct result *r, enum result_phase phase);
bool html_add_arrivals_chart(struct text *out, const struct result *r);

/* A row of a chart of bars: begin, what lies in it, end.  Places are shares 0..1 of the
 * row's width. */
void html_open_bars(struct text *out);
void html_open_row(struct text *out, const char *label, const struct scale *scale);
/* kind: "bar", "bar soft", "whisker", "dot", "band", "mark"; tip is shown on hovering and may
 * be NULL. */
void html_add_mark(struct text *out, const char *kind, double from, double to, const char *tip);
void html_close_row(struct text *out, const struct text *value); /* words; may be empty */
void html_close_bars(struct text *out, const struct scale *scale, const char *unit);

#endif
