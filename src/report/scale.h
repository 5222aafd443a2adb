/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.h - the axis of a chart: values to places on it, and round numbers to mark it with.
 *
 * Layer: report.
 * Shape: low < high; both above 0 where is_log.
 * Threads: any.
 */
#ifndef REPORT_SCALE_H
#define REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#define SCALE_TICKS_MAX 32u

struct scale {
    double low, high;
    bool is_log;
};

/* From 0 to a little above highest; highest <= 0 or NAN: up to 1. */
struct scale scale_from_zero(double highest);
/* Round numbers around both; is_log needs 0 < lowest. */
struct scale scale_around(double lowest, double highest, bool is_log);
/* 0 at low, 1 at high; values outside are put on the edge. */
double scale_share(const struct scale *s, double value);
/* Of a logarithmic scale: its ticks are evenly apart, there being too few others. */
bool scale_is_narrow(const struct scale *s);
/* At most `wanted` (2..SCALE_TICKS_MAX) round values within the scale, ascending; their
 * number. */
size_t scale_ticks(const struct scale *s, size_t wanted, double ticks[SCALE_TICKS_MAX]);

#endif
