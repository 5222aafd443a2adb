/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a table of short texts and bars, drawn for a terminal or as Markdown.
 *
 * Layer: report.
 * Units: widths in columns of a terminal, one per code point.
 * Shape: cells are harmless UTF-8 (text_add_harmless) without newline; an unset cell is
 *   empty.  For a terminal, optional columns are left out, the last ranked first, until the
 *   table fits; bars then share the room that is left.  Cells of text are cut to a quarter
 *   of the width ("~" where cut); figures never.  Markdown has every column but bars.
 * Threads: one owner.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "report/format.h"

#define TABLE_COLUMNS_MAX 40u

enum table_kind {
    TABLE_TEXT,   /* left-aligned, may be cut */
    TABLE_DETAIL, /* left-aligned, last, never cut */
    TABLE_FIGURE, /* right-aligned */
    TABLE_NOTE,   /* left-aligned, belongs to the column before it: one blank between */
    TABLE_BAR,
};
enum table_tone { TABLE_PLAIN, TABLE_STRONG, TABLE_GOOD, TABLE_BAD, TABLE_DIM };

struct table;

struct table *table_new(size_t rows);
void table_free(struct table *t);
/* Returns the column's number.  title is copied and must be harmless (cut like a text where
 * it is long); a newline in it starts its second line.  rank 0: always
 * shown, even where the table becomes too wide; 1..: left out from the highest on. */
size_t table_add_column(struct table *t, const char *title, enum table_kind kind,
                        unsigned rank);
/* Replaces the cell; the text is copied / taken over and left empty. */
void table_set(struct table *t, size_t row, size_t column, const char *text);
void table_take(struct table *t, size_t row, size_t column, struct text *text);
void table_tone(struct table *t, size_t row, size_t column, enum table_tone tone);
void table_set_bar(struct table *t, size_t row, size_t column, double share); /* 0..1 */
/* A blank line before this row. */
void table_start_block(struct table *t, size_t row);

/* Columns it needs with every column but bars of rank > 0 in it, bars at their least. */
size_t table_width(const struct table *t);

void table_add_text(const struct table *t, struct text *out,
                    const struct report_options *options);
void table_add_markdown(const struct table *t, struct text *out);

/* Paint: the ANSI sequence for a tone, "" where there is none; the end is table_no_tone. */
const char *table_tone_start(enum table_tone tone, const struct report_options *options);
const char *table_tone_end(enum table_tone tone, const struct report_options *options);

/* Text with what Markdown would take for markup escaped. */
void table_add_markdown_text(struct text *out, const char *text);

#endif
