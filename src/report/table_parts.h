/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_parts.h - what a table is made of.
 *
 * Layer: report, private to table.c and table_text.c.
 */
#ifndef REPORT_TABLE_PARTS_H
#define REPORT_TABLE_PARTS_H

#include "report/table.h"

struct table_cell {
    char *text; /* NULL: empty */
    double bar;
    enum table_tone tone;
};
struct table_column {
    char *title[2]; /* its lines, "" none */
    enum table_kind kind;
    unsigned rank;
};
struct table {
    size_t columns, rows;
    struct table_column column[TABLE_COLUMNS_MAX];
    struct table_cell *cells; /* rows x TABLE_COLUMNS_MAX */
    bool *starts_block;
};
const struct table_cell *table_cell(const struct table *t, size_t row, size_t column);

#endif
