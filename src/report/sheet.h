/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.h - the figures behind a chart: columns of texts or numbers, as many rows as wanted.
 *
 * Layer: report.
 * Units: stand in the names of the columns ("cpu_us"); numbers are kept in full and rounded
 *   only where they are shown.
 * Shape: one sheet is the table behind a chart, the data that the page's script draws and
 *   saves, and what the still picture is made from.  A number that is NAN, a text that was
 *   not set: absent.  A cell that is read must be there (asserted).
 * Threads: one owner.
 */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include <stdbool.h>
#include <stddef.h>

enum sheet_kind {
    SHEET_TEXT,
    SHEET_US,        /* "276" */
    SHEET_SIGNED_US, /* "+129" */
    SHEET_BYTES,
    SHEET_SIGNED_BYTES,
    SHEET_SHARE,  /* 0..1, shown as percent */
    SHEET_CHANGE, /* the same with its sign */
    SHEET_NUMBER, /* as %.6g */
};

struct sheet_column {
    char *name;
    enum sheet_kind kind;
    bool is_shown; /* in the table too, not in the data alone */
    int arm;       /* its arm's place in the result, -1: of no arm */
    unsigned trial;
    double *number; /* or */
    char **text;
};

struct sheet {
    size_t columns, rows;
    struct sheet_column *column;
};

struct sheet *sheet_new(void);
/* With columns of no arm: a title each. */
struct sheet_title {
    const char *name;
    enum sheet_kind kind;
};
struct sheet *sheet_of(const struct sheet_title *titles, size_t count);
void sheet_free(struct sheet *s); /* NULL: nothing */
/* Before the first row; returns its place.  name is copied, any text.  Texts of cells are
 * made harmless (text_add_harmless). */
size_t sheet_add_column(struct sheet *s, const char *name, enum sheet_kind kind);
size_t sheet_add_row(struct sheet *s); /* every cell absent */
void sheet_set_number(struct sheet *s, size_t row, size_t column, double value);
void sheet_set_text(struct sheet *s, size_t row, size_t column, const char *text);
double sheet_number(const struct sheet *s, size_t row, size_t column);
const char *sheet_text(const struct sheet *s, size_t row, size_t column); /* NULL: absent */

#endif
