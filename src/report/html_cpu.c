/* SPDX-License-Identifier: Apache-2.0 */
/* CPU of each side, with the share of cryptography in it and every repeat as a dot. */
#include "report/html_charts.h"

#include <math.h>
#include <stdlib.h>
#include "report/figures.h"
#include "report/html_put.h"
#include "report/lookup.h"
#include "report/tables.h"
#include "stats/sample.h"

enum { ARM, GROUP, SIDE, CPU, LOW, HIGH, CHANGE, CRYPTO, SHARE };
static const struct sheet_title columns[] = {
    [ARM] = {"arm", SHEET_TEXT},
    [GROUP] = {"group", SHEET_TEXT},
    [SIDE] = {"side", SHEET_TEXT},
    [CPU] = {"cpu_us", SHEET_US},
    [LOW] = {"low_us", SHEET_US},
    [HIGH] = {"high_us", SHEET_US},
    [CHANGE] = {"change", SHEET_CHANGE},
    [CRYPTO] = {"cryptography_us", SHEET_US},
    [SHARE] = {"cryptography_share", SHEET_SHARE},
};

static double trial_us(const struct result_trial *t, unsigned side, enum result_kind kind)
{
    return kind == RESULT_KIND_CPU ? t->cpu_us[side][RESULT_CPU_TOTAL] : t->side_cpu_us[side];
}

/* Kind load has no figure for the arm: the median of its trials. */
static struct figure cpu_of(const struct result *r, const struct result_arm *arm, unsigned side)
{
    struct figure f = arm->cpu.us[side][RESULT_CPU_TOTAL];
    if (r->kind == RESULT_KIND_CPU)
        return f;
    double *values = mem_alloc_zeroed(arm->trials + 1, sizeof(*values));
    size_t n = 0;
    for (size_t i = 0; i < arm->trials; i++) {
        if (!isnan(arm->trial[i].side_cpu_us[side]))
            values[n++] = arm->trial[i].side_cpu_us[side];
    }
    if (n > 0)
        f.value = sample_median(values, n);
    free(values);
    return f;
}

static struct sheet *fill(const struct result *r)
{
    struct sheet *s = sheet_of(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < 2 * r->arms; i++) {
        const struct result_arm *arm = &r->arm[i / 2];
        const unsigned side = i % 2;
        const char *name = result_side_name((enum result_side)side);
        const struct result_comparison *c = lookup_metric(r, arm->name, "cpu_us", name, NULL);
        const struct figure us = cpu_of(r, arm, side);
        if (!figure_is_set(&us))
            continue;
        const size_t row = sheet_add_row(s);
        sheet_set_text(s, row, ARM, arm->name);
        sheet_set_text(s, row, GROUP, arm->negotiated.group);
        sheet_set_text(s, row, SIDE, name);
        sheet_set_number(s, row, CPU, us.value);
        sheet_set_number(s, row, LOW, us.low);
        sheet_set_number(s, row, HIGH, us.high);
        if (c != NULL)
            sheet_set_number(s, row, CHANGE, figures_change(c));
        sheet_set_number(s, row, CRYPTO, arm->cpu.primitives_us[side].value);
        sheet_set_number(s, row, SHARE, arm->cpu.primitives_share[side].value);
    }
    return s;
}

static double highest_of(const struct result *r, const struct sheet *s)
{
    double highest = 0;
    for (size_t row = 0; row < s->rows; row++)
        highest = fmax(fmax(highest, sheet_number(s, row, CPU)), sheet_number(s, row, HIGH));
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            for (unsigned side = 0; side < RESULT_SIDES; side++)
                highest = fmax(highest, trial_us(&r->arm[i].trial[k], side, r->kind));
        }
    }
    return highest;
}

static void add_bar(struct text *out, const struct sheet *s, size_t row,
                    const struct scale *scale)
{
    const double us = sheet_number(s, row, CPU), crypto = sheet_number(s, row, CRYPTO);
    const double end = scale_share(scale, us);
    struct text tip = {0};
    if (!isnan(crypto)) {
        const double inner = fmin(scale_share(scale, crypto), end);
        text_add(&tip, "cryptography ");
        figures_add_us(&tip, crypto);
        text_add(&tip, " us, ");
        figures_add_share(&tip, sheet_number(s, row, SHARE));
        html_add_mark(out, "bar", 0, inner, text_str(&tip));
        text_free(&tip);
        text_add(&tip, "library around it ");
        figures_add_us(&tip, us - crypto);
        text_add(&tip, " us");
        html_add_mark(out, "bar soft", inner, end, text_str(&tip));
    } else {
        figures_add_us(&tip, us);
        text_add(&tip, " us");
        html_add_mark(out, "bar", 0, end, text_str(&tip));
    }
    text_free(&tip);
}

static void add_trials(struct text *out, const struct result *r, const struct result_arm *arm,
                       unsigned side, const struct scale *scale)
{
    for (size_t i = 0; i < arm->trials; i++) {
        const double us = trial_us(&arm->trial[i], side, r->kind);
        struct text tip = {0};
        if (isnan(us))
            continue;
        text_addf(&tip, "%s %u: ", r->kind == RESULT_KIND_CPU ? "repeat" : "trial",
                  arm->trial[i].index);
        figures_add_us(&tip, us);
        text_add(&tip, " us");
        const double at = scale_share(scale, us);
        html_add_mark(out, "dot", at, at, text_str(&tip));
        text_free(&tip);
    }
}

/* What lies in a row of the sheet that belongs to this side of this arm. */
struct side_row {
    const struct result *r;
    const struct result_arm *arm;
    unsigned side;
    const struct sheet *s;
    size_t row;
};

static void add_row(struct text *out, const struct side_row *at, const struct scale *scale)
{
    struct text value = {0};
    const struct figure f = {sheet_number(at->s, at->row, CPU),
                             sheet_number(at->s, at->row, LOW),
                             sheet_number(at->s, at->row, HIGH)};
    html_open_row(out, result_side_name((enum result_side)at->side), scale);
    add_bar(out, at->s, at->row, scale);
    if (figure_has_interval(&f)) {
        text_add(&value, "95 % interval ");
        figures_add_interval(&value, &f);
        text_add(&value, " us");
        html_add_mark(out, "whisker", scale_share(scale, f.low), scale_share(scale, f.high),
                      text_str(&value));
        text_free(&value);
    }
    add_trials(out, at->r, at->arm, at->side, scale);
    figures_add_us(&value, f.value);
    text_add(&value, " us");
    const struct result_comparison *c = lookup_metric(
        at->r, at->arm->name, "cpu_us", result_side_name((enum result_side)at->side), NULL);
    if (c != NULL) {
        text_add(&value, "  ");
        tables_add_change(&value, c);
    }
    html_close_row(out, &value);
    text_free(&value);
}

static void add_bars(struct text *out, const struct result *r, const struct sheet *s)
{
    const struct scale scale = scale_from_zero(highest_of(r, s));
    char class[HTML_CLASS_SIZE];
    size_t row = 0;
    html_open_bars(out);
    for (size_t i = 0; i < r->arms; i++) {
        text_addf(out, "<div class=\"group %s\">\n",
                  html_arm_class(r, i, class, sizeof(class)));
        html_add_arm_label(out, r, i);
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            const struct figure us = cpu_of(r, &r->arm[i], side);
            if (figure_is_set(&us))
                add_row(out, &(struct side_row){r, &r->arm[i], side, s, row++}, &scale);
        }
        text_add(out, "</div>\n");
    }
    html_close_bars(out, &scale, "\xc2\xb5s of CPU");
}

static bool has_cryptography(const struct sheet *s)
{
    for (size_t row = 0; row < s->rows; row++) {
        if (!isnan(sheet_number(s, row, CRYPTO)))
            return true;
    }
    return false;
}

bool html_add_cpu_chart(struct text *out, const struct result *r)
{
    struct sheet *s = fill(r);
    const bool has_any = s->rows > 0, has_crypto = has_cryptography(s);
    const struct html_chart chart = {
        .id = "cpu",
        .title = "CPU time of a handshake, each side",
        .about =
            r->kind == RESULT_KIND_CPU
                ? "Median of the repeats with its 95 % interval; a dot is one repeat. Same: "
                  "not beyond noise; ?: inconclusive."
                : "Median of the trials; a dot is one trial. All CPU of the process in "
                  "the trial by the handshakes completed in it: sockets and kernel too."};
    if (has_any) {
        html_open_chart(out, &chart);
        if (has_crypto)
            text_add(out, "<p class=\"legend\"><span><i></i>cryptography alone</span> "
                          "<span class=\"soft\"><i></i>the library around it</span></p>\n");
        add_bars(out, r, s);
        html_close_chart(out, &chart, s);
    }
    sheet_free(s);
    return has_any;
}
