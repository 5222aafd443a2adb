/* SPDX-License-Identifier: Apache-2.0 */
/* Latency by percentile: one curve an arm, the median of its trials at each percentile, over
 * an axis on which each nine has the same room; the trials behind it. */
#include "report/html_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "report/html_put.h"
#include "report/html_svg.h"
#include "report/lookup.h"
#include "stats/sample.h"

#define NS_PER_US 1000.0
#define POINTS_PER_NINE 20.0
#define POINTS_IN_ALL 20000.0 /* of all curves of a phase: bounds the page's size */
#define TRIALS_DRAWN 1000u
#define SAMPLES_BEHIND 10.0 /* fewer: a percentile is shaded as uncertain */

enum { ONE_IN, PERCENTILE, FIRST_CURVE };

/* Trials of the phase, and how far the curves go. */
struct extent {
    size_t curves;
    uint64_t least, most; /* samples of a trial */
    bool has_trials;      /* not too many to be curves of their own */
};

static struct extent extent_of(const struct result *r, enum result_phase phase)
{
    struct extent x = {0, UINT64_MAX, 0, true};
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const struct histogram *h = r->arm[i].trial[k].latency_ns[phase];
            const uint64_t count = h == NULL ? 0 : histogram_count(h);
            if (count == 0)
                continue;
            x.curves++;
            x.least = count < x.least ? count : x.least;
            x.most = count > x.most ? count : x.most;
        }
    }
    x.has_trials = x.curves <= TRIALS_DRAWN;
    return x;
}

static void add_curve_column(struct sheet *s, const struct result *r, size_t arm,
                             unsigned trial)
{
    struct text name = {0};
    text_add_harmless(&name, r->arm[arm].name);
    if (trial > 0)
        text_addf(&name, " trial %u", trial);
    const size_t place = sheet_add_column(s, text_str(&name), SHEET_US);
    struct sheet_column *c = &s->column[place];
    c->arm = (int)arm;
    c->trial = trial;
    c->is_shown = trial == 0;
    text_free(&name);
}

/* The percentile with one digit behind its nines: 99.91, not 99.9087. */
static double percentile_of(double nines)
{
    const double unit = pow(10, floor(nines));
    return round(100 * (1 - pow(10, -nines)) * unit) / unit;
}

/* The trials' values at one place, NAN where a trial has too few samples to have it; the
 * median where every trial has one. */
static void fill_arm(struct sheet *s, size_t row, size_t median, const struct result_arm *arm,
                     enum result_phase phase)
{
    const double one_in = sheet_number(s, row, ONE_IN);
    double *values = mem_alloc_zeroed(arm->trials + 1, sizeof(*values));
    const bool has_trials = median + 1 < s->columns && s->column[median + 1].trial > 0;
    size_t n = 0, wanted = 0;
    for (size_t k = 0; k < arm->trials; k++) {
        const struct histogram *h = arm->trial[k].latency_ns[phase];
        if (h == NULL || histogram_count(h) == 0)
            continue;
        wanted++;
        if (one_in > (double)histogram_count(h) * 1.0001)
            continue;
        values[n] = (double)histogram_quantile(h, 1 - 1 / one_in) / NS_PER_US;
        if (has_trials)
            sheet_set_number(s, row, median + 1 + k, values[n]);
        n++;
    }
    if (n > 0 && n == wanted)
        sheet_set_number(s, row, median, sample_median(values, n));
    free(values);
}

static void fill_row(struct sheet *s, const struct result *r, enum result_phase phase,
                     double nines)
{
    const size_t row = sheet_add_row(s);
    sheet_set_number(s, row, ONE_IN, pow(10, nines));
    sheet_set_number(s, row, PERCENTILE, percentile_of(nines));
    for (size_t c = FIRST_CURVE; c < s->columns; c++) {
        if (s->column[c].trial == 0)
            fill_arm(s, row, c, &r->arm[s->column[c].arm], phase);
    }
}

static struct sheet *fill(const struct result *r, enum result_phase phase,
                          const struct extent *x)
{
    struct sheet *s = sheet_new();
    const double end = log10((double)x->most);
    const double affordable = floor(POINTS_IN_ALL / (double)(x->curves + r->arms) / (end + 1));
    const double each = fmax(fmin(POINTS_PER_NINE, affordable), 2);
    sheet_add_column(s, "one in", SHEET_NUMBER);
    sheet_add_column(s, "percentile", SHEET_NUMBER);
    s->column[ONE_IN].is_shown = false;
    for (size_t i = 0; i < r->arms; i++) {
        add_curve_column(s, r, i, 0);
        for (size_t k = 0; x->has_trials && k < r->arm[i].trials; k++)
            add_curve_column(s, r, i, r->arm[i].trial[k].index);
    }
    for (unsigned k = 0; k / each < end; k++)
        fill_row(s, r, phase, k / each);
    fill_row(s, r, phase, end);
    return s;
}

static struct scale y_scale(const struct sheet *s)
{
    double low = INFINITY, high = 0;
    for (size_t c = FIRST_CURVE; c < s->columns; c++) {
        for (size_t row = 0; row < s->rows; row++) {
            const double us = sheet_number(s, row, c);
            if (us > 0) /* NAN is not */
                low = fmin(low, us);
            high = fmax(high, us);
        }
    }
    return scale_around(isinf(low) ? 1 : low, high, true);
}

static void add_x_axis(struct svg *svg, const struct extent *x)
{
    static const char *const labels[] = {"0 %",     "90 %",     "99 %",      "99.9 %",
                                         "99.99 %", "99.999 %", "99.9999 %", "99.99999 %"};
    struct text tip = {0};
    const double sure = log10(fmax((double)x->least / SAMPLES_BEHIND, 1));
    text_addf(&tip, "fewer than %.0f samples of a trial lie beyond", SAMPLES_BEHIND);
    svg_add_span(svg, "unsure", sure, svg->x.high, text_str(&tip));
    text_free(&tip);
    svg_add_x_tick(svg, log10(2), "50 %");
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        if ((double)i <= svg->x.high)
            svg_add_x_tick(svg, (double)i, labels[i]);
    }
    svg_add_x_title(svg, "percentile, on a scale of log 1/(1-p)");
}

static void add_curves(struct svg *svg, const struct result *r, const struct sheet *s,
                       bool are_trials)
{
    for (size_t c = FIRST_CURVE; c < s->columns; c++) {
        const struct sheet_column *column = &s->column[c];
        char arm[HTML_CLASS_SIZE], class[HTML_CLASS_SIZE + 8];
        if ((column->trial > 0) != are_trials)
            continue;
        html_arm_class(r, (size_t)column->arm, arm, sizeof(arm));
        snprintf(class, sizeof(class), "%s %s", are_trials ? "trial" : "curve", arm);
        svg_open_path(svg, class);
        for (size_t row = 0; row < s->rows; row++) {
            if (!isnan(column->number[row]))
                svg_add_to_path(svg, log10(sheet_number(s, row, ONE_IN)), column->number[row]);
        }
        svg_close_path(svg);
    }
}

static void draw(struct text *out, const struct result *r, const struct sheet *s,
                 const struct extent *x)
{
    struct svg svg = {.out = out, .y = y_scale(s)};
    svg.x = (struct scale){.low = 0, .high = fmax(log10((double)x->most), 1)};
    svg_open(&svg, "latency by percentile, a curve for each arm; the table below has its "
                   "figures");
    add_x_axis(&svg, x);
    svg_add_y_ticks_us(&svg);
    add_curves(&svg, r, s, true);
    add_curves(&svg, r, s, false);
    svg_close(&svg);
}

static const char *title_of(enum result_phase phase)
{
    static const char *const titles[RESULT_PHASES] = {
        [RESULT_PHASE_TCP] = "TCP connect by percentile",
        [RESULT_PHASE_TLS] = "TLS handshake latency by percentile",
        [RESULT_PHASE_TTFB] = "Request to first byte by percentile",
        [RESULT_PHASE_TTLB] = "Request to last byte by percentile",
        [RESULT_PHASE_RESPONSE] = "Response by percentile, from the due time",
    };
    return titles[phase];
}

bool html_add_latency_chart(struct text *out, const struct result *r, enum result_phase phase)
{
    const struct extent x = extent_of(r, phase);
    char id[32];
    if (x.curves == 0)
        return false;
    snprintf(id, sizeof(id), "latency-%s", result_phase_name(phase));
    const struct html_chart chart = {
        .id = id,
        .title = title_of(phase),
        .about = "A thick curve is the median of an arm's trials, the thin ones behind it are "
                 "the trials. In the shaded part fewer than 10 samples of a trial lie beyond: "
                 "read it as an example, not as a figure.",
        .is_live = true,
    };
    struct sheet *s = fill(r, phase, &x);
    html_open_chart(out, &chart);
    html_add_arms(out, r);
    draw(out, r, s, &x);
    html_close_chart(out, &chart, s);
    sheet_free(s);
    return true;
}
