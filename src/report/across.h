/* SPDX-License-Identifier: Apache-2.0 */
/*
 * across.h - results compared with each other, as text, Markdown, HTML, JSON and CSV.
 *
 * Layer: report.
 * Shape: appends to a text and cannot fail; names and facts, which come from files, are made
 *   harmless.  JSON: schema "pqc-bench-compare/1", docs/COMPARE.md has its fields.  CSV: one
 *   row a figure, RFC 4180.
 * Threads: any.
 */
#ifndef REPORT_ACROSS_H
#define REPORT_ACROSS_H

#include "report/format.h"
#include "report/page.h"
#include "result/across.h"

void across_add_text(const struct across *a, struct text *out,
                     const struct report_options *options);
void across_add_markdown(const struct across *a, struct text *out);
void across_add_html(const struct across *a, struct text *out);
void across_add_json(const struct across *a, struct text *out);
void across_add_csv(const struct across *a, struct text *out);

/* Only what differs, for a comparison that is refused. */
void across_add_facts_text(const struct across *a, struct text *out,
                           const struct report_options *options);

/* The parts of the page.  Between its title and what it rests on: facts, then figures. */
void across_add_title(const struct across *a, struct text *out);
void across_draw_facts(const struct across *a, const struct page_drawer *drawer);
void across_draw_answers(const struct across *a, const struct page_drawer *drawer);
void across_draw_tables(const struct across *a, const struct page_drawer *drawer);
void across_draw_basis(const struct across *a, const struct page_drawer *drawer);
struct table *across_fact_table(const struct across *a); /* NULL: nothing differs */
struct table *across_change_table(const struct across *a, bool is_detailed); /* NULL: no row */
struct table *across_ratio_table(const struct across *a);                    /* NULL: no row */
/* "after: all arms take the server 4.9 % more ..."; one sentence a side. */
void across_add_answer(const struct across *a, size_t side, struct text *out);
/* "broken: pq:cpu_us.server > +5%: ..." */
void across_add_limit_words(const struct across *a, const struct across_limit *limit,
                            struct text *out);
/* "all arms", or the arm's names, harmless. */
void across_add_arm_words(const struct across_row *row, struct text *out);

#endif
