/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>
#include "report/across.h"
#include "report/figures.h"

static void add_percent(struct text *out, double share)
{
    text_addf(out, "%+.1f", 100 * share);
}

static void add_interval(struct text *out, const struct figure *change)
{
    text_add(out, " (95 % interval ");
    add_percent(out, change->low);
    text_add(out, " to ");
    add_percent(out, change->high);
    text_add(out, " %)");
}

static void add_row(const struct across_row *row, struct text *out)
{
    text_addf(out, "%s of ", row->metric);
    across_add_arm_words(row, out);
    text_add(out, " is ");
    figures_add_change(out, row->change.value);
    add_interval(out, &row->change);
}

static bool has_word(const struct across_row *row, size_t side)
{
    return row->side == side && row->is_main && row->verdict <= RESULT_VERDICT_FEWER;
}

static size_t count(const struct across *a, size_t side, enum result_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < a->rows; i++)
        n += a->row[i].side == side && a->row[i].is_main && a->row[i].verdict == verdict;
    return n;
}

/* A change of all arms says what the same change of each would say again. */
static bool is_said(const struct across *a, const struct across_row *row)
{
    for (size_t i = 0; row->arm != NULL && i < a->rows; i++) {
        const struct across_row *all = &a->row[i];
        if (all->arm == NULL && all->side == row->side && has_word(all, all->side) &&
            all->verdict == row->verdict && strcmp(all->metric, row->metric) == 0)
            return true;
    }
    return false;
}

static void add_rest(const struct across *a, size_t side, struct text *out)
{
    const size_t open = count(a, side, RESULT_VERDICT_INCONCLUSIVE);
    const size_t withheld = count(a, side, RESULT_VERDICT_WITHHELD);
    if (open > 0)
        text_addf(
            out,
            " %zu figures leave room for more than 5 %% or are not clear of noise (\"?\"): "
            "more results a side settle them.",
            open);
    if (withheld > 0)
        text_addf(out, " %zu figures rest on what is not valid.", withheld);
}

/* Every figure that gets a word has got one. */
static bool is_whole(const struct across *a, size_t side)
{
    return count(a, side, RESULT_VERDICT_INCONCLUSIVE) == 0 &&
           count(a, side, RESULT_VERDICT_WITHHELD) == 0;
}

void across_add_answer(const struct across *a, size_t side, struct text *out)
{
    size_t said = 0;
    text_add_harmless(out, a->side[side].name);
    text_add(out, ": ");
    for (size_t i = 0; i < a->rows; i++) {
        const struct across_row *row = &a->row[i];
        if (!has_word(row, side) || is_said(a, row))
            continue;
        text_add(out, said++ > 0 ? "; " : "");
        add_row(row, out);
    }
    if (said == 0)
        text_add(out, count(a, side, RESULT_VERDICT_SAME) == 0 ? "nothing can be said"
                      : is_whole(a, side)                      ? "no difference beyond noise"
                                                               : "no difference is shown");
    text_add(out, ".");
    add_rest(a, side, out);
}

void across_add_limit_words(const struct across *a, const struct across_limit *limit,
                            struct text *out)
{
    text_add(out, limit->broken > 0                ? "Broken: "
                  : limit->unjudged == limit->rows ? "Not judged: "
                                                   : "Holds: ");
    text_add_harmless(out, limit->text);
    if (limit->broken > 0) {
        text_add(out, " in ");
        text_add_harmless(out, a->side[a->row[limit->worst].side].name);
        text_add(out, ": ");
        add_row(&a->row[limit->worst], out);
    } else if (limit->unjudged > 0) {
        text_addf(out, " (%zu of %zu figures have no interval or are not valid)",
                  limit->unjudged, limit->rows);
    }
    text_add(out, ".");
}
