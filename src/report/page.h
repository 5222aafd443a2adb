/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a report as a sequence of headings, paragraphs and tables.
 *
 * Layer: report.
 * Shape: what is said and in which order stands once, in page.c; text and Markdown differ
 *   only in how they draw the pieces.
 * Threads: any.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/text.h"
#include "report/table.h"
#include "result/result.h"

/* How the pieces are drawn; arg is the drawer's own. */
struct page_drawer {
    void (*heading)(void *arg, const char *text);
    void (*paragraph)(void *arg, const char *text, enum table_tone tone);
    void (*table)(void *arg, const struct table *t);
    void *arg;
    unsigned columns; /* room for the width of tables; 0: any */
    bool is_detailed;
};

/* Any page: `what` is its own. */
typedef void page_draw_fn(const void *what, const struct page_drawer *drawer);
/* Drawn for a terminal / as Markdown. */
void page_add_text(page_draw_fn *draw, const void *what, struct text *out,
                   const struct report_options *options);
void page_add_markdown(page_draw_fn *draw, const void *what, struct text *out,
                       const struct report_options *options);

page_draw_fn page_draw; /* of a const struct result */

/* Its parts in their order, without the title: what makes it not valid; every table and
 * sentence; where the figures come from. */
void page_draw_faults(const struct result *r, const struct page_drawer *drawer);
void page_draw_figures(const struct result *r, const struct page_drawer *drawer);
void page_draw_sources(const struct result *r, const struct page_drawer *drawer);

/* The part that differs by kind (page_cpu.c, page_load.c, page_capacity.c). */
void page_draw_cpu(const struct result *r, const struct page_drawer *drawer);
void page_draw_load(const struct result *r, const struct page_drawer *drawer);
void page_draw_capacity(const struct result *r, const struct page_drawer *drawer);

/* Draws and frees; NULL: nothing.  heading NULL: none. */
void page_draw_table(const struct page_drawer *drawer, const char *heading, struct table *t);
/* Draws and empties; an empty text: nothing. */
void page_draw_paragraph(const struct page_drawer *drawer, struct text *text,
                         enum table_tone tone);

#endif
