/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison of results: what differs, what is found, what it rests on. */
#include <math.h>
#include <string.h>
#include "report/across.h"
#include "report/figures.h"

static void add_name(struct text *out, const char *name)
{
    text_add_harmless(out, name);
}

static void add_runs(struct text *out, const struct across_side *side)
{
    add_name(out, side->name);
    if (side->runs > 1)
        text_addf(out, " (%zu results)", side->runs);
}

void across_add_title(const struct across *a, struct text *out)
{
    for (size_t i = 1; i < a->sides; i++) {
        text_add(out, i == 1 ? "" : i + 1 < a->sides ? ", " : " and ");
        add_runs(out, &a->side[i]);
    }
    text_add(out, " compared with ");
    add_runs(out, &a->side[0]);
}

static void draw_title(const struct across *a, const struct page_drawer *drawer)
{
    struct text title = {0};
    across_add_title(a, &title);
    drawer->heading(drawer->arg, text_str(&title));
    text_free(&title);
}

static void draw_facts(const struct across *a, const struct page_drawer *drawer)
{
    struct text line = {0};
    struct table *facts = across_fact_table(a);
    if (facts == NULL)
        text_add(&line, "The results record no difference in host, library, options, arms or "
                        "what was negotiated.");
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    page_draw_table(drawer, "What differs", facts);
    for (size_t i = 0; i < a->left; i++) {
        text_add(&line, i == 0 ? "Arms without a counterpart: " : ", ");
        add_name(&line, a->unmatched[i]);
    }
    text_add(&line, a->left > 0 ? "." : "");
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
}

static void draw_forced(const struct across *a, const struct page_drawer *drawer)
{
    struct text line = {0};
    if (across_forbidding(a) != NULL)
        text_add(&line, "Compared although it should not be (--anyway): the changes below are "
                        "also those of what differs.");
    page_draw_paragraph(drawer, &line, TABLE_BAD);
    for (size_t i = 0; i < a->sides; i++) {
        const struct across_side *side = &a->side[i];
        if (side->invalid == 0 && side->interrupted == 0)
            continue;
        add_name(&line, side->name);
        text_add(&line, side->interrupted > 0 ? " was interrupted" : "");
        text_add(&line, side->interrupted > 0 && side->invalid > 0 ? " and" : "");
        text_add(&line, side->invalid > 0 ? " is not valid" : "");
        text_add(&line, side->invalid > 0 && !a->is_forced
                            ? ": no word rests on what is not (--anyway)."
                            : ".");
        page_draw_paragraph(drawer, &line, TABLE_BAD);
    }
}

void across_draw_answers(const struct across *a, const struct page_drawer *drawer)
{
    struct text line = {0};
    for (size_t side = 1; side < a->sides; side++) {
        across_add_answer(a, side, &line);
        page_draw_paragraph(drawer, &line, TABLE_STRONG);
    }
    for (size_t i = 0; i < a->limits; i++) {
        const struct across_limit *limit = &a->limit[i];
        across_add_limit_words(a, limit, &line);
        page_draw_paragraph(drawer, &line,
                            limit->broken > 0 || limit->unjudged == limit->rows ? TABLE_BAD
                                                                                : TABLE_GOOD);
    }
}

static bool is_scaled(const struct across *a)
{
    for (size_t i = 0; i < a->rows; i++)
        if (a->row[i].is_scaled)
            return true;
    return false;
}

static void draw_speed(const struct across *a, const struct page_drawer *drawer)
{
    struct text line = {0};
    if (!is_scaled(a) || isnan(a->side[0].work_us))
        return;
    text_add(&line, "CPU times are compared in units of a fixed piece of work, timed beside "
                    "them; it took ");
    for (size_t i = 0; i < a->sides; i++) {
        text_add(&line, i == 0 ? "" : ", ");
        figures_add_us(&line, a->side[i].work_us);
        text_add(&line, " us in ");
        add_name(&line, a->side[i].name);
    }
    text_add(&line, ". \"As measured\" is without that.");
    page_draw_paragraph(drawer, &line, TABLE_DIM);
}

static void draw_basis(const struct across *a, const struct page_drawer *drawer)
{
    struct text line = {0};
    text_add(&line, "The intervals allow for what runs of one build differ by: ");
    figures_add_share(&line, a->run_deviation);
    text_add(&line, " (standard deviation), or what the repeats or the results of a side show, "
                    "if that is more. See METHOD.md, \"Comparing results\".");
    page_draw_paragraph(drawer, &line, TABLE_DIM);
}

void across_draw_facts(const struct across *a, const struct page_drawer *drawer)
{
    draw_facts(a, drawer);
    draw_forced(a, drawer);
}

void across_draw_tables(const struct across *a, const struct page_drawer *drawer)
{
    page_draw_table(drawer, "Changes", across_change_table(a, drawer->is_detailed));
    page_draw_table(drawer,
                    "Arms as a ratio of their baseline, which the host's speed is not in",
                    across_ratio_table(a));
}

void across_draw_basis(const struct across *a, const struct page_drawer *drawer)
{
    draw_speed(a, drawer);
    draw_basis(a, drawer);
}

static void draw(const void *what, const struct page_drawer *drawer)
{
    const struct across *a = what;
    draw_title(a, drawer);
    across_draw_facts(a, drawer);
    across_draw_tables(a, drawer);
    drawer->heading(drawer->arg, "In words");
    across_draw_answers(a, drawer);
    across_draw_basis(a, drawer);
}

static void draw_only_facts(const void *what, const struct page_drawer *drawer)
{
    draw_title(what, drawer);
    draw_facts(what, drawer);
}

void across_add_text(const struct across *a, struct text *out,
                     const struct report_options *options)
{
    page_add_text(draw, a, out, options);
}

void across_add_facts_text(const struct across *a, struct text *out,
                           const struct report_options *options)
{
    page_add_text(draw_only_facts, a, out, options);
}

void across_add_markdown(const struct across *a, struct text *out)
{
    const struct report_options options = REPORT_OPTIONS_DEFAULT;
    page_add_markdown(draw, a, out, &options);
}
