/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>
#include "report/figures.h"
#include "report/latency.h"
#include "report/lookup.h"

/* What the published layout shows, in its order. */
static const enum result_phase shown_phases[] = {RESULT_PHASE_TLS, RESULT_PHASE_TTFB,
                                                 RESULT_PHASE_RESPONSE, RESULT_PHASE_TCP};
static const enum latency_column shown_columns[] = {LATENCY_MIN, LATENCY_MEAN, LATENCY_P50,
                                                    LATENCY_P95, LATENCY_P99,  LATENCY_P99_9,
                                                    LATENCY_MAX};
#define SHOWN_PHASES (sizeof(shown_phases) / sizeof(shown_phases[0]))
#define SHOWN_COLUMNS (sizeof(shown_columns) / sizeof(shown_columns[0]))

enum {
    COLUMN_PHASE,
    COLUMN_METRIC,
    COLUMN_BASE, /* an arm alone stands here */
    COLUMN_BASE_MARK,
    COLUMN_ARM,
    COLUMN_ARM_MARK,
    COLUMN_DIFFERENCE,
    COLUMN_INTERVAL,
    COLUMN_CHANGE,
    COLUMN_VERDICT,
};

/* One phase of one arm and, if it has one, of its baseline. */
struct phase_rows {
    const struct result *r;
    const struct result_arm *arm;
    enum result_phase phase;
    struct latency_row row, base;
    bool is_alone, has_base;
};

void tables_set_verdict(struct table *t, size_t row, size_t column, enum result_verdict verdict)
{
    table_set(t, row, column,
              verdict == RESULT_VERDICT_SAME ? "no difference" : result_verdict_name(verdict));
    if (verdict == RESULT_VERDICT_SLOWER)
        table_tone(t, row, column, TABLE_BAD);
    if (verdict == RESULT_VERDICT_FASTER)
        table_tone(t, row, column, TABLE_GOOD);
}

static void set_difference(struct table *t, size_t at, const struct phase_rows *p,
                           enum latency_column which)
{
    const struct result_comparison *c =
        lookup_metric(p->r, p->arm->name, "latency_us", result_phase_name(p->phase),
                      latency_column_key(which));
    struct text cell = {0};
    figures_add_signed_us(&cell, c == NULL ? p->row.us[which] - p->base.us[which]
                                           : c->difference.value);
    table_take(t, at, COLUMN_DIFFERENCE, &cell);
    if (c == NULL)
        return;
    figures_add_signed_interval(&cell, &c->difference);
    table_take(t, at, COLUMN_INTERVAL, &cell);
    figures_add_change(&cell, figures_change(c));
    table_take(t, at, COLUMN_CHANGE, &cell);
    tables_set_verdict(t, at, COLUMN_VERDICT, c->verdict);
}

static void fill_phase(struct table *t, size_t first, const struct phase_rows *p)
{
    table_set(t, first, COLUMN_PHASE, result_phase_name(p->phase));
    table_tone(t, first, COLUMN_PHASE, TABLE_STRONG);
    if (first > 0)
        table_start_block(t, first);
    for (size_t i = 0; i < SHOWN_COLUMNS; i++) {
        const size_t at = first + i;
        table_set(t, at, COLUMN_METRIC, latency_column_title(shown_columns[i]));
        tables_set_latency(t, at, p->is_alone ? COLUMN_BASE : COLUMN_ARM, &p->row,
                           shown_columns[i]);
        if (!p->has_base)
            continue;
        tables_set_latency(t, at, COLUMN_BASE, &p->base, shown_columns[i]);
        set_difference(t, at, p, shown_columns[i]);
    }
}

static void add_name_column(struct table *t, const char *name)
{
    struct text title = {0};
    text_add_harmless(&title, name);
    table_add_column(t, text_str(&title), TABLE_FIGURE, 0);
    table_add_column(t, "", TABLE_NOTE, 0);
    text_free(&title);
}

static void add_latency_columns(struct table *t, const struct result_arm *arm,
                                const struct result_arm *baseline)
{
    table_add_column(t, "us", TABLE_TEXT, 0);
    table_add_column(t, "", TABLE_TEXT, 0);
    if (baseline != NULL)
        add_name_column(t, baseline->name);
    add_name_column(t, arm->name);
    if (baseline == NULL)
        return;
    table_add_column(t, "difference", TABLE_FIGURE, 0);
    table_add_column(t, "[95 %]", TABLE_NOTE, 1);
    table_add_column(t, "change", TABLE_FIGURE, 2);
    table_add_column(t, "verdict", TABLE_TEXT, 0);
}

struct table *tables_latency(const struct result *r, const struct result_arm *arm)
{
    struct phase_rows found[SHOWN_PHASES];
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    size_t n = 0;
    for (size_t i = 0; i < SHOWN_PHASES; i++) {
        struct phase_rows *p = &found[n];
        p->r = r;
        p->arm = arm;
        p->phase = shown_phases[i];
        if (!latency_of_arm(arm, p->phase, &p->row))
            continue;
        p->is_alone = baseline == NULL;
        p->has_base = baseline != NULL && latency_of_arm(baseline, p->phase, &p->base);
        n++;
    }
    if (n == 0)
        return NULL;
    struct table *t = table_new(n * SHOWN_COLUMNS);
    add_latency_columns(t, arm, baseline);
    for (size_t i = 0; i < n; i++)
        fill_phase(t, i * SHOWN_COLUMNS, &found[i]);
    return t;
}
