/* SPDX-License-Identifier: Apache-2.0 */
/* What each arm differs by from its baseline, with the interval and the noise floor, as shares
 * of the baseline, so that times of any size stand on one axis. */
#include "report/html_charts.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/html_put.h"
#include "report/lookup.h"

enum { ARM, BASELINE, METRIC, BEFORE, AFTER, DIFFERENCE, LOW, HIGH, CHANGE, FLOOR, VERDICT };
static const struct sheet_title columns[] = {
    [ARM] = {"arm", SHEET_TEXT},         [BASELINE] = {"baseline", SHEET_TEXT},
    [METRIC] = {"metric", SHEET_TEXT},   [BEFORE] = {"baseline_value", SHEET_US},
    [AFTER] = {"value", SHEET_US},       [DIFFERENCE] = {"difference", SHEET_SIGNED_US},
    [LOW] = {"low", SHEET_SIGNED_US},    [HIGH] = {"high", SHEET_SIGNED_US},
    [CHANGE] = {"change", SHEET_CHANGE}, [FLOOR] = {"noise_floor", SHEET_US},
    [VERDICT] = {"verdict", SHEET_TEXT},
};

/* Those that a person asks for first; the table has all. */
static const struct {
    const char *metric, *words;
} drawn[] = {
    {"cpu_us.client", "client CPU"},
    {"cpu_us.server", "server CPU"},
    {"latency_us.tls.p50", "handshake p50"},
    {"latency_us.tls.p95", "handshake p95"},
    {"latency_us.tls.p99", "handshake p99"},
    {"latency_us.tls.p99_9", "handshake p99.9"},
    {"latency_us.response.p50", "response p50"},
    {"latency_us.response.p99", "response p99"},
};
#define DRAWN (sizeof(drawn) / sizeof(drawn[0]))

static struct sheet *fill(const struct result *r)
{
    struct sheet *s = sheet_of(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < r->comparisons; i++) {
        const struct result_comparison *c = &r->comparison[i];
        const size_t row = sheet_add_row(s);
        sheet_set_text(s, row, ARM, c->arm);
        sheet_set_text(s, row, BASELINE, c->baseline);
        sheet_set_text(s, row, METRIC, c->metric);
        sheet_set_number(s, row, BEFORE, c->baseline_value);
        sheet_set_number(s, row, AFTER, c->value.value);
        sheet_set_number(s, row, DIFFERENCE, c->difference.value);
        sheet_set_number(s, row, LOW, c->difference.low);
        sheet_set_number(s, row, HIGH, c->difference.high);
        sheet_set_number(s, row, CHANGE, figures_change(c));
        sheet_set_number(s, row, FLOOR, c->noise_floor);
        sheet_set_text(s, row, VERDICT, result_verdict_name(c->verdict));
    }
    return s;
}

/* Something of it can be drawn. */
static bool has_change(const struct result_comparison *c)
{
    return c != NULL && !isnan(figures_change(c));
}

static bool has_any_change(const struct result *r)
{
    for (size_t i = 0; i < r->arms * DRAWN; i++) {
        if (has_change(lookup_comparison(r, r->arm[i / DRAWN].name, drawn[i % DRAWN].metric)))
            return true;
    }
    return false;
}

static struct scale scale_of(const struct result *r)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < r->arms * DRAWN; i++) {
        const struct result_comparison *c =
            lookup_comparison(r, r->arm[i / DRAWN].name, drawn[i % DRAWN].metric);
        if (!has_change(c))
            continue;
        low = fmin(low, fmin(figures_change(c), c->difference.low / c->baseline_value));
        high = fmax(high, fmax(figures_change(c), c->difference.high / c->baseline_value));
    }
    return scale_around(fmin(100 * low, -1), fmax(100 * high, 1), false);
}

static double place(const struct scale *scale, const struct result_comparison *c, double us)
{
    return scale_share(scale, 100 * us / c->baseline_value);
}

static void add_marks(struct text *out, const struct result_comparison *c,
                      const struct scale *scale)
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
    if (!isnan(c->noise_floor)) {
        text_add(&tip, "noise floor: ");
        figures_add_us(&tip, c->noise_floor);
        text_add(&tip, " us");
        html_add_mark(out, "band", place(scale, c, -c->noise_floor),
                      place(scale, c, c->noise_floor), text_str(&tip));
        text_free(&tip);
    }
    figures_add_signed_us(&tip, c->difference.value);
    text_add(&tip, " us");
    if (figure_has_interval(&c->difference)) {
        text_addf(&tip, ", %.3g %% interval ", c->confidence * 100);
        figures_add_signed_interval(&tip, &c->difference);
        text_add(&tip, " us");
        html_add_mark(out, "whisker", place(scale, c, c->difference.low),
                      place(scale, c, c->difference.high), text_str(&tip));
    }
    const double at = place(scale, c, c->difference.value);
    html_add_mark(out, kinds[c->verdict], at, at, text_str(&tip));
    text_free(&tip);
}

static void add_row(struct text *out, const struct result_comparison *c, const char *words,
                    const struct scale *scale)
{
    struct text value = {0};
    html_open_row(out, words, scale);
    add_marks(out, c, scale);
    figures_add_change(&value, figures_change(c));
    text_addf(&value, "  %s",
              c->verdict == RESULT_VERDICT_SAME ? "within noise"
                                                : result_verdict_name(c->verdict));
    html_close_row(out, &value);
    text_free(&value);
}

static void add_arm(struct text *out, const struct result *r, size_t arm,
                    const struct scale *scale)
{
    char class[HTML_CLASS_SIZE];
    bool has_label = false;
    for (size_t i = 0; i < DRAWN; i++) {
        const struct result_comparison *c =
            lookup_comparison(r, r->arm[arm].name, drawn[i].metric);
        if (!has_change(c))
            continue;
        if (!has_label) {
            text_addf(out, "<div class=\"group %s\">\n",
                      html_arm_class(r, arm, class, sizeof(class)));
            html_add_arm_label(out, r, arm);
            has_label = true;
        }
        add_row(out, c, drawn[i].words, scale);
    }
    if (has_label)
        text_add(out, "</div>\n");
}

bool html_add_difference_chart(struct text *out, const struct result *r)
{
    static const struct html_chart chart = {
        .id = "differences",
        .title = "Difference to the baseline",
        .about = "In percent of the baseline: the difference, paired by block, with its 95 % "
                 "interval. The band is the noise floor, what two equal arms differed by in "
                 "this run: nothing inside it is a difference. A hollow point is inconclusive, "
                 "or rests on a trial that is not valid."};
    if (!has_any_change(r))
        return false;
    struct sheet *s = fill(r);
    const struct scale scale = scale_of(r);
    html_open_chart(out, &chart);
    html_open_bars(out);
    for (size_t i = 0; i < r->arms; i++)
        add_arm(out, r, i, &scale);
    html_close_bars(out, &scale, "%");
    html_close_chart(out, &chart, s);
    sheet_free(s);
    return true;
}
