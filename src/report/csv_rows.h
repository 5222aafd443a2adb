/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_rows.h - the rows of the CSV report.
 *
 * Layer: report, private to csv.c and csv_arm.c.
 */
#ifndef REPORT_CSV_ROWS_H
#define REPORT_CSV_ROWS_H

#include "base/text.h"
#include "result/result.h"

/* What rows that follow each other have in common. */
struct csv {
    struct text *out;
    const char *kind, *arm;
    unsigned trial;        /* 0: the whole arm */
    const char *statistic; /* of csv_add_figure and csv_add_value */
};
struct csv_row {
    const char *baseline, *side; /* NULL: empty */
    const char *metric, *statistic, *unit;
    struct figure figure;
    uint64_t count; /* samples behind it, 0: empty */
    const char *verdict;
};

void csv_add_text(struct text *out, const char *text); /* one cell; NULL: empty */
void csv_add_row(struct csv *csv, const struct csv_row *row);
/* A row with the common statistic; nothing where the figure is absent. */
void csv_add_figure(struct csv *csv, const char *metric, const char *unit, const char *side,
                    const struct figure *f);
void csv_add_value(struct csv *csv, const char *metric, const char *unit, const char *side,
                   double value);
void csv_add_arm(struct csv *csv, const struct result_arm *arm, enum result_kind kind);
/* Of kind capacity (csv_capacity.c). */
void csv_add_capacity(struct csv *csv, const struct result *r);

#endif
