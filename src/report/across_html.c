/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison of results: the answer, what differs, every change as a point with
 * its interval on one axis, and the tables. */
#include <math.h>
#include <string.h>
#include "report/across.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/html_charts.h"
#include "report/html_put.h"

enum { IN, ARM, METRIC, BEFORE, AFTER, MEASURED, CHANGE, LOW, HIGH, FLOOR, VERDICT };
static const struct sheet_title columns[] = {
    [IN] = {"in", SHEET_TEXT},
    [ARM] = {"arm", SHEET_TEXT},
    [METRIC] = {"metric", SHEET_TEXT},
    [BEFORE] = {"reference", SHEET_NUMBER},
    [AFTER] = {"compared", SHEET_NUMBER},
    [MEASURED] = {"as_measured", SHEET_CHANGE},
    [CHANGE] = {"change", SHEET_CHANGE},
    [LOW] = {"low", SHEET_CHANGE},
    [HIGH] = {"high", SHEET_CHANGE},
    [FLOOR] = {"noise_floor", SHEET_SHARE},
    [VERDICT] = {"verdict", SHEET_TEXT},
};

/* Bytes change by another scale, and are exact. */
static bool is_drawn(const struct across_row *row)
{
    return row->is_main && strcmp(row->unit, "bytes") != 0 && !isnan(row->change.value);
}

static struct sheet *fill(const struct across *a)
{
    struct sheet *s = sheet_of(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < a->rows; i++) {
        const struct across_row *r = &a->row[i];
        if (!is_drawn(r))
            continue;
        const size_t at = sheet_add_row(s);
        sheet_set_text(s, at, IN, a->side[r->side].name);
        sheet_set_text(s, at, ARM, r->arm != NULL ? r->arm : "all arms");
        sheet_set_text(s, at, METRIC, r->metric);
        sheet_set_number(s, at, BEFORE, r->before.value);
        sheet_set_number(s, at, AFTER, r->after.value);
        sheet_set_number(s, at, MEASURED, r->measured);
        sheet_set_number(s, at, CHANGE, r->change.value);
        sheet_set_number(s, at, LOW, r->change.low);
        sheet_set_number(s, at, HIGH, r->change.high);
        sheet_set_number(s, at, FLOOR, r->noise_floor);
        sheet_set_text(s, at, VERDICT, result_verdict_name(r->verdict));
    }
    return s;
}

static struct scale scale_of(const struct across *a)
{
    double low = -0.05, high = 0.05;
    for (size_t i = 0; i < a->rows; i++) {
        if (!is_drawn(&a->row[i]))
            continue;
        low = fmin(low, fmin(a->row[i].change.value, a->row[i].change.low));
        high = fmax(high, fmax(a->row[i].change.value, a->row[i].change.high));
    }
    return scale_around(100 * low, 100 * high, false);
}

static void add_marks(struct text *out, const struct across_row *r, const struct scale *scale)
{
    static const char *const kinds[RESULT_VERDICTS] = {
        [RESULT_VERDICT_SLOWER] = "point slower",
        [RESULT_VERDICT_FASTER] = "point faster",
        [RESULT_VERDICT_MORE] = "point slower",
        [RESULT_VERDICT_FEWER] = "point faster",
        [RESULT_VERDICT_SAME] = "point",
        [RESULT_VERDICT_INCONCLUSIVE] = "point hollow",
        [RESULT_VERDICT_WITHHELD] = "point hollow",
    };
    struct text tip = {0};
    const double at = scale_share(scale, 100 * r->change.value);
    if (!isnan(r->noise_floor)) {
        text_addf(&tip, "noise floor: %.1f %%", 100 * r->noise_floor);
        html_add_mark(out, "band", scale_share(scale, -100 * r->noise_floor),
                      scale_share(scale, 100 * r->noise_floor), text_str(&tip));
        text_free(&tip);
    }
    figures_add_change(&tip, r->change.value);
    if (figure_has_interval(&r->change)) {
        text_addf(&tip, ", 95 %% interval %+.1f to %+.1f %%", 100 * r->change.low,
                  100 * r->change.high);
        html_add_mark(out, "whisker", scale_share(scale, 100 * r->change.low),
                      scale_share(scale, 100 * r->change.high), text_str(&tip));
    }
    html_add_mark(out, kinds[r->verdict], at, at, text_str(&tip));
    text_free(&tip);
}

static void add_row(struct text *out, const struct across *a, const struct across_row *r,
                    const struct scale *scale)
{
    struct text label = {0}, value = {0};
    across_add_arm_words(r, &label);
    if (a->sides > 2) {
        text_add(&label, " in ");
        text_add_harmless(&label, a->side[r->side].name);
    }
    html_open_row(out, text_str(&label), scale);
    add_marks(out, r, scale);
    figures_add_change(&value, r->change.value);
    text_addf(&value, "  %s",
              r->verdict == RESULT_VERDICT_SAME ? "within noise"
                                                : result_verdict_name(r->verdict));
    html_close_row(out, &value);
    text_free(&label);
    text_free(&value);
}

static void add_group(struct text *out, const struct across *a, const char *metric,
                      const struct scale *scale)
{
    text_add(out, "<div class=\"group\">\n<div class=\"arm\">");
    html_add_text(out, metric);
    text_add(out, "</div>\n");
    for (size_t i = 0; i < a->rows; i++)
        if (is_drawn(&a->row[i]) && strcmp(a->row[i].metric, metric) == 0)
            add_row(out, a, &a->row[i], scale);
    text_add(out, "</div>\n");
}

static bool is_first_of_metric(const struct across *a, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_drawn(&a->row[i]) && strcmp(a->row[i].metric, a->row[row].metric) == 0)
            return false;
    return is_drawn(&a->row[row]);
}

static void add_chart(struct text *out, const struct across *a)
{
    static const struct html_chart chart = {
        .id = "changes",
        .title = "Change against the reference",
        .about =
            "In percent of the reference, with its 95 % interval, which allows for what two "
            "runs of one build differ by. The band is what the control's own shift shows. "
            "A hollow point is inconclusive, or rests on a result that is not valid."};
    struct sheet *s = fill(a);
    if (s->rows > 0) {
        const struct scale scale = scale_of(a);
        html_open_chart(out, &chart);
        html_open_bars(out);
        for (size_t i = 0; i < a->rows; i++)
            if (is_first_of_metric(a, i))
                add_group(out, a, a->row[i].metric, &scale);
        html_close_bars(out, &scale, "%");
        html_close_chart(out, &chart, s);
    }
    sheet_free(s);
}

void across_add_html(const struct across *a, struct text *out)
{
    struct text title = {0};
    const struct page_drawer drawer = html_drawer(out);
    across_add_title(a, &title);
    html_open_page(out, text_str(&title));
    text_add(out, "<header>\n<h1>");
    html_add_words(out, text_str(&title));
    text_add(out, "</h1>\n");
    text_free(&title);
    across_draw_answers(a, &drawer);
    text_add(out, "</header>\n<main>\n");
    across_draw_facts(a, &drawer);
    add_chart(out, a);
    text_add(out, "<details class=\"all\" open><summary>All figures</summary>\n");
    across_draw_tables(a, &drawer);
    text_add(out, "</details>\n</main>\n<footer>\n");
    across_draw_basis(a, &drawer);
    text_add(out, "</footer>\n");
    html_close_page(out);
}
