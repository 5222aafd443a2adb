/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>
#include "report/across.h"
#include "report/figures.h"

#define RATIO_PREFIX "ratio."

static bool is_ratio(const struct across_row *row)
{
    return strncmp(row->metric, RATIO_PREFIX, strlen(RATIO_PREFIX)) == 0;
}

void across_add_arm_words(const struct across_row *row, struct text *out)
{
    if (row->arm == NULL) {
        text_add(out, "all arms");
        return;
    }
    text_add_harmless(out, row->arm);
    if (row->other != NULL) {
        text_add(out, " = ");
        text_add_harmless(out, row->other);
    }
}

static void set_harmless(struct table *t, size_t row, size_t column, const char *words)
{
    struct text cell = {0};
    if (words == NULL)
        text_add(&cell, "-");
    else
        text_add_harmless(&cell, words);
    table_take(t, row, column, &cell);
}

/* ---- what differs ---- */

static void set_fact(struct table *t, size_t i, const struct across *a,
                     const struct across_fact *fact)
{
    struct text what = {0};
    text_add_harmless(&what, fact->arm != NULL ? fact->arm : fact->subject);
    table_take(t, i, 0, &what);
    set_harmless(t, i, 1, fact->name);
    set_harmless(t, i, 2, fact->before);
    set_harmless(t, i, 3, fact->after);
    if (a->sides > 2 || fact->side == 0)
        set_harmless(t, i, 4, a->side[fact->side].name);
    if (fact->forbids) {
        table_set(t, i, 5, "needs --anyway");
        table_tone(t, i, 5, TABLE_BAD);
    }
}

struct table *across_fact_table(const struct across *a)
{
    if (a->facts == 0)
        return NULL;
    struct table *t = table_new(a->facts);
    (void)table_add_column(t, "what", TABLE_TEXT, 0);
    (void)table_add_column(t, "", TABLE_TEXT, 0);
    (void)table_add_column(t, "reference", TABLE_TEXT, 0);
    (void)table_add_column(t, "compared", TABLE_TEXT, 0);
    (void)table_add_column(t, "in", TABLE_TEXT, a->sides > 2 ? 0 : 1);
    (void)table_add_column(t, "", TABLE_DETAIL, 0);
    for (size_t i = 0; i < a->facts; i++)
        set_fact(t, i, a, &a->fact[i]);
    return t;
}

/* ---- changes ---- */

enum { METRIC, ARM, BEFORE, AFTER, MEASURED, CHANGE, INTERVAL, WORD, IN };

static const struct {
    const char *word;
    enum table_tone tone;
} words[RESULT_VERDICTS] = {
    [RESULT_VERDICT_SLOWER] = {"slower", TABLE_BAD},
    [RESULT_VERDICT_FASTER] = {"faster", TABLE_GOOD},
    [RESULT_VERDICT_MORE] = {"more", TABLE_BAD},
    [RESULT_VERDICT_FEWER] = {"less", TABLE_GOOD},
    [RESULT_VERDICT_SAME] = {"same", TABLE_DIM},
    [RESULT_VERDICT_INCONCLUSIVE] = {"?", TABLE_PLAIN},
    [RESULT_VERDICT_WITHHELD] = {"not valid", TABLE_BAD},
};

static void set_value(struct table *t, size_t i, size_t column, const struct across_row *row,
                      double value)
{
    struct text cell = {0};
    if (strcmp(row->unit, "bytes") == 0)
        figures_add_bytes(&cell, value);
    else
        figures_add_us(&cell, value);
    if (!isnan(value))
        table_take(t, i, column, &cell);
    text_free(&cell);
}

static void set_interval(struct table *t, size_t i, const struct across_row *row)
{
    struct text cell = {0};
    struct figure percent = row->change;
    percent.value *= 100;
    percent.low *= 100;
    percent.high *= 100;
    figures_add_signed_interval(&cell, &percent);
    table_take(t, i, INTERVAL, &cell);
}

static void set_change(struct table *t, size_t i, const struct across *a,
                       const struct across_row *row)
{
    struct text cell = {0};
    table_set(t, i, METRIC, row->metric);
    across_add_arm_words(row, &cell);
    table_take(t, i, ARM, &cell);
    if (a->sides > 2)
        set_harmless(t, i, IN, a->side[row->side].name);
    set_value(t, i, BEFORE, row, row->before.value);
    set_value(t, i, AFTER, row, row->after.value);
    if (!isnan(row->measured)) {
        figures_add_change(&cell, row->measured);
        table_take(t, i, MEASURED, &cell);
    }
    figures_add_change(&cell, row->change.value);
    table_take(t, i, CHANGE, &cell);
    set_interval(t, i, row);
    table_set(t, i, WORD, words[row->verdict].word);
    table_tone(t, i, WORD, words[row->verdict].tone);
}

static struct table *new_changes(const struct across *a, size_t rows)
{
    struct table *t = table_new(rows);
    (void)table_add_column(t, "metric", TABLE_TEXT, 0);
    (void)table_add_column(t, "arm", TABLE_TEXT, 0);
    (void)table_add_column(t, "reference", TABLE_FIGURE, 1);
    (void)table_add_column(t, "compared", TABLE_FIGURE, 1);
    (void)table_add_column(t, "as\nmeasured", TABLE_FIGURE, 2);
    (void)table_add_column(t, "change", TABLE_FIGURE, 0);
    (void)table_add_column(t, "% [95 %]", TABLE_NOTE, 0);
    (void)table_add_column(t, "", TABLE_TEXT, 0);
    if (a->sides > 2)
        (void)table_add_column(t, "in", TABLE_DETAIL, 0);
    return t;
}

static bool is_shown(const struct across_row *row, bool wants_ratio, bool is_detailed)
{
    return is_ratio(row) == wants_ratio && (row->is_main || is_detailed);
}

static struct table *table_of(const struct across *a, bool wants_ratio, bool is_detailed)
{
    size_t n = 0, i = 0;
    const char *metric = NULL;
    for (size_t k = 0; k < a->rows; k++)
        n += is_shown(&a->row[k], wants_ratio, is_detailed);
    if (n == 0)
        return NULL;
    struct table *t = new_changes(a, n);
    for (size_t k = 0; k < a->rows; k++) {
        const struct across_row *row = &a->row[k];
        if (!is_shown(row, wants_ratio, is_detailed))
            continue;
        if (metric != NULL && strcmp(metric, row->metric) != 0)
            table_start_block(t, i);
        metric = row->metric;
        set_change(t, i++, a, row);
    }
    return t;
}

struct table *across_change_table(const struct across *a, bool is_detailed)
{
    return table_of(a, false, is_detailed);
}

struct table *across_ratio_table(const struct across *a)
{
    return table_of(a, true, false);
}
