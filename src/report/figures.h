/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - numbers as a person reads them.
 *
 * Layer: report.
 * Units: in each name; shares and ratios 0..1 become percent here and nowhere below.
 * Shape: three significant digits, whole numbers from 100 on; dots whatever the locale; "-"
 *   for what is absent (NAN).  Everything appends to a struct text.
 * Threads: any.
 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "base/text.h"
#include "result/result.h"

void figures_add_us(struct text *out, double us);        /* "276", "17.3", "0.42" */
void figures_add_signed_us(struct text *out, double us); /* "+129", "-0.42", "0" */
void figures_add_bytes(struct text *out, double bytes);  /* "1564", "651.6" */
void figures_add_signed_bytes(struct text *out, double bytes);
/* "+47 %", "-0.4 %": a change, 0.47; "41 %": a share. */
void figures_add_change(struct text *out, double change);
void figures_add_share(struct text *out, double share);
/* "[274, 279]" / "[+120, +141]"; nothing where there is no interval. */
void figures_add_interval(struct text *out, const struct figure *f);
void figures_add_signed_interval(struct text *out, const struct figure *f);
/* "min .. max" of a range that varies, else its only value; "-" if absent. */
void figures_add_range(struct text *out, const struct result_range *r);
void figures_add_count(struct text *out, double count); /* large counts: "6.05 M" */
void figures_add_seconds(struct text *out, double s);   /* "61 s", "5 min" */

/* The comparison's change, difference / baseline; NAN where there is none.  Not the ratio of
 * the two medians, whose sign can be another one: the verdict rests on the difference. */
double figures_change(const struct result_comparison *c);

#endif
