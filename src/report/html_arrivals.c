/* SPDX-License-Identifier: Apache-2.0 */
/* When the slowest came and why they were slow, over the trials in which they did. */
#include "report/html_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/figures.h"
#include "report/html_put.h"
#include "report/html_svg.h"
#include "report/latency.h"
#include "report/lookup.h"

#define POINTS_MOST 2000u /* in all: bounds the page's size */
#define TRIALS_DRAWN 1000u
#define STEAL_NOTICED 0.001
#define X_TICKS 8u
/* What steal is hatched with. */
#define HATCH                                                             \
    "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" "               \
    "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 8L8-1M-1 1L1-1M6 8L8 " \
    "6\"/></pattern></defs>\n"

enum {
    ARM,
    TRIAL,
    AT,
    RESPONSE,
    TLS,
    TCP,
    LAG,
    DELAY,
    SERVER_DELAY,
    STEAL,
    RETRANSMITS,
    CAUSE
};
static const struct sheet_title columns[] = {
    [ARM] = {"arm", SHEET_TEXT},
    [TRIAL] = {"trial", SHEET_NUMBER},
    [AT] = {"at_s", SHEET_NUMBER},
    [RESPONSE] = {"response_us", SHEET_US},
    [TLS] = {"tls_us", SHEET_US},
    [TCP] = {"tcp_us", SHEET_US},
    [LAG] = {"start_lag_us", SHEET_US},
    [DELAY] = {"client_run_delay_us", SHEET_US},
    [SERVER_DELAY] = {"server_run_delay_us", SHEET_US},
    [STEAL] = {"steal_us", SHEET_US},
    [RETRANSMITS] = {"retransmits", SHEET_NUMBER},
    [CAUSE] = {"cause", SHEET_TEXT},
};

static const char *const causes[SVG_SHAPES] = {
    "client-preempted",
    "server-preempted",
    "client-queue",
    "server-queue",
    "retransmit",
    "hrr",
    "steal",
    "unexplained",
};

/* A cause that this version does not know is drawn as the last. */
static unsigned shape_of(const char *cause)
{
    for (unsigned i = 0; cause != NULL && i < SVG_SHAPES; i++) {
        if (strcmp(cause, causes[i]) == 0)
            return i;
    }
    return SVG_SHAPES - 1;
}

static double start_of(const struct result_trial *t)
{
    return isnan(t->started_s) ? 0 : t->started_s;
}

static void fill_row(struct sheet *s, const struct result_arm *arm,
                     const struct result_trial *trial, const struct result_slow *slow)
{
    const size_t row = sheet_add_row(s);
    sheet_set_text(s, row, ARM, arm->name);
    sheet_set_number(s, row, TRIAL, trial->index);
    sheet_set_number(s, row, AT, start_of(trial) + slow->at_s);
    sheet_set_number(s, row, RESPONSE, slow->phase_us[RESULT_PHASE_RESPONSE].value);
    sheet_set_number(s, row, TLS, slow->phase_us[RESULT_PHASE_TLS].value);
    sheet_set_number(s, row, TCP, slow->phase_us[RESULT_PHASE_TCP].value);
    sheet_set_number(s, row, LAG, slow->start_lag_us);
    sheet_set_number(s, row, DELAY, slow->run_delay_us);
    sheet_set_number(s, row, SERVER_DELAY, slow->server_run_delay_us);
    sheet_set_number(s, row, STEAL, slow->steal_us);
    sheet_set_number(s, row, RETRANSMITS, (double)slow->retransmits);
    sheet_set_text(s, row, CAUSE, slow->cause);
}

/* How many of a trial's slowest are drawn; they stand in a row each, arm by arm. */
static size_t drawn_of(const struct result_trial *t, size_t trials)
{
    const size_t each = POINTS_MOST / trials + 1;
    return t->slow < each ? t->slow : each;
}

static struct sheet *fill(const struct result *r)
{
    const size_t trials = lookup_count_trials(r);
    struct sheet *s = sheet_of(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_arm *arm = &r->arm[i];
        for (size_t k = 0; k < arm->trials; k++) {
            for (size_t j = 0; j < drawn_of(&arm->trial[k], trials); j++)
                fill_row(s, arm, &arm->trial[k], &arm->trial[k].slowest[j]);
        }
    }
    return s;
}

/* What stands at the point: the response, or the handshake where that is all there is. */
static double height_of(const struct sheet *s, size_t row)
{
    const double response = sheet_number(s, row, RESPONSE);
    return isnan(response) ? sheet_number(s, row, TLS) : response;
}

static bool trial_row(const struct result_trial *t, struct latency_row *row)
{
    return latency_of_histogram(t->latency_ns[RESULT_PHASE_RESPONSE], row) ||
           latency_of_histogram(t->latency_ns[RESULT_PHASE_TLS], row);
}

static void stretch(struct svg *svg, const struct result *r, const struct sheet *s)
{
    double end = 0, low = INFINITY, high = 0;
    for (size_t row = 0; row < s->rows; row++) {
        end = fmax(end, sheet_number(s, row, AT));
        low = fmin(low, height_of(s, row));
        high = fmax(high, height_of(s, row));
    }
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const struct result_trial *t = &r->arm[i].trial[k];
            struct latency_row row;
            end = fmax(end, start_of(t) + t->elapsed_s);
            if (trial_row(t, &row))
                low = fmin(low, row.us[LATENCY_P50]);
        }
    }
    svg->x = scale_from_zero(end);
    svg->y = scale_around(isinf(low) || low <= 0 ? 1 : low / 1.2, high, true);
}

static void add_trial_tip(struct text *tip, const struct result_arm *arm,
                          const struct result_trial *t, const struct latency_row *row)
{
    text_add_harmless(tip, arm->name);
    text_addf(tip, ", trial %u", t->index);
    if (row != NULL) {
        text_add(tip, ": p50 ");
        svg_add_duration(tip, row->us[LATENCY_P50]);
        text_add(tip, ", p99 ");
        svg_add_duration(tip, row->us[LATENCY_P99]);
    }
    if (!isnan(t->steal)) {
        text_add(tip, ", steal ");
        figures_add_share(tip, t->steal);
    }
    if (!t->is_valid)
        text_add(tip, ", not valid");
}

/* No other arm's trial ran in the same time, as they do where arms take turns arrival by
 * arrival. */
static bool is_alone(const struct result *r, const struct result_arm *arm,
                     const struct result_trial *t)
{
    const double from = start_of(t), to = from + t->elapsed_s;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; &r->arm[i] != arm && k < r->arm[i].trials; k++) {
            const struct result_trial *other = &r->arm[i].trial[k];
            if (start_of(other) < to && start_of(other) + other->elapsed_s > from)
                return false;
        }
    }
    return true;
}

/* A trial: its ground in the arm's colour, steal over it, p50 and p99 as levels. */
static void add_trial(struct svg *svg, const struct result_arm *arm, const char *colour,
                      const struct result_trial *t, bool is_alone)
{
    struct latency_row row;
    struct text tip = {0}, class = {0};
    const double from = start_of(t), to = from + t->elapsed_s;
    const bool has_row = trial_row(t, &row);
    if (isnan(to))
        return;
    add_trial_tip(&tip, arm, t, has_row ? &row : NULL);
    text_addf(&class, "span %s", is_alone ? colour : "");
    svg_add_span(svg, text_str(&class), from, to, text_str(&tip));
    text_free(&class);
    if (t->steal >= STEAL_NOTICED) {
        text_addf(&class, "steal s%d", t->steal >= 0.05 ? 3 : t->steal >= 0.01 ? 2 : 1);
        svg_add_span(svg, text_str(&class), from, to, text_str(&tip));
        text_free(&class);
    }
    if (has_row) {
        text_addf(&class, "level %s", colour);
        svg_add_level(svg, text_str(&class), from, to, row.us[LATENCY_P50]);
        text_add(&class, " p99");
        svg_add_level(svg, text_str(&class), from, to, row.us[LATENCY_P99]);
        text_free(&class);
    }
    text_free(&tip);
}

static void add_point(struct svg *svg, const struct sheet *s, size_t row, const char *colour)
{
    const char *cause = sheet_text(s, row, CAUSE);
    const struct svg_mark mark = {shape_of(cause), colour, sheet_number(s, row, AT),
                                  height_of(s, row)};
    struct text tip = {0};
    if (isnan(mark.x) || isnan(mark.y))
        return;
    svg_add_duration(&tip, mark.y);
    text_addf(&tip, " at %.4g s: %s; ", mark.x, cause == NULL ? "unexplained" : cause);
    text_addf(&tip, "%s, trial %.0f", sheet_text(s, row, ARM), sheet_number(s, row, TRIAL));
    svg_add_mark(svg, &mark, text_str(&tip));
    text_free(&tip);
}

static void add_points(struct svg *svg, const struct result *r, const struct sheet *s)
{
    const size_t trials = lookup_count_trials(r);
    char colour[HTML_CLASS_SIZE];
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++) {
        html_arm_class(r, i, colour, sizeof(colour));
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const size_t end = row + drawn_of(&r->arm[i].trial[k], trials);
            for (; row < end; row++)
                add_point(svg, s, row, colour);
        }
    }
}

static void add_x_axis(struct svg *svg)
{
    double ticks[SCALE_TICKS_MAX];
    const size_t n = scale_ticks(&svg->x, X_TICKS, ticks);
    for (size_t i = 0; i < n; i++) {
        char label[32];
        snprintf(label, sizeof(label), "%.6g s", ticks[i]);
        svg_add_x_tick(svg, ticks[i], label);
    }
    svg_add_x_title(svg, "time since the run began");
}

static bool has_steal(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            if (r->arm[i].trial[k].steal >= STEAL_NOTICED) /* NAN is not */
                return true;
        }
    }
    return false;
}

/* The arms' colours, then the shapes that stand in the picture. */
static void add_legend(struct text *out, const struct result *r, const struct sheet *s)
{
    bool is_there[SVG_SHAPES] = {false};
    html_add_arms(out, r);
    text_add(out, "<p class=\"legend\">");
    for (size_t row = 0; row < s->rows; row++)
        is_there[shape_of(sheet_text(s, row, CAUSE))] = true;
    for (unsigned i = 0; i < SVG_SHAPES; i++) {
        if (is_there[i])
            text_addf(out,
                      "<span><svg viewBox=\"-7 -7 14 14\" width=\"14\" height=\"14\" "
                      "aria-hidden=\"true\"><path class=\"p\" d=\"%s\"/></svg>%s</span> ",
                      svg_shape(i), causes[i]);
    }
    text_add(out, has_steal(r) ? "<span class=\"steal\"><i></i>steal in the trial</span>" : "");
    text_add(out, "</p>\n");
}

/* Very many trials would be narrower than a line. */
static void add_trials(struct svg *svg, const struct result *r)
{
    char colour[HTML_CLASS_SIZE];
    if (lookup_count_trials(r) > TRIALS_DRAWN)
        return;
    for (size_t i = 0; i < r->arms; i++) {
        html_arm_class(r, i, colour, sizeof(colour));
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const struct result_trial *t = &r->arm[i].trial[k];
            add_trial(svg, &r->arm[i], colour, t, is_alone(r, &r->arm[i], t));
        }
    }
}

static void draw(struct text *out, const struct result *r, const struct sheet *s)
{
    struct svg svg = {.out = out};
    stretch(&svg, r, s);
    svg_open(&svg, "the slowest arrivals over time; the table below has them");
    text_add(out, HATCH);
    add_x_axis(&svg);
    svg_add_y_ticks_us(&svg);
    add_trials(&svg, r);
    add_points(&svg, r, s);
    svg_close(&svg);
}

bool html_add_arrivals_chart(struct text *out, const struct result *r)
{
    static const struct html_chart chart = {
        .id = "arrivals",
        .title = "The slowest arrivals over time, and why they were slow",
        .about = "A mark is one of the slowest responses of a trial, by its due time: its "
                 "shape is the cause, its colour the arm. The ground is a trial with its p50 "
                 "and, dashed, its p99; hatched where the hypervisor took 0.1 % of the time or "
                 "more (steal)."};
    struct sheet *s = fill(r);
    const bool has_any = s->rows > 0;
    if (has_any) {
        html_open_chart(out, &chart);
        add_legend(out, r, s);
        draw(out, r, s);
        html_close_chart(out, &chart, s);
    }
    sheet_free(s);
    return has_any;
}
