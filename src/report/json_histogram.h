/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_histogram.h - a histogram from its encoding and the row of figures beside it.
 *
 * Layer: report, private to the JSON reader.
 * Shape: the encoding knows buckets alone; the row knows the exact smallest and largest.
 *   Those that do not lie in the outermost buckets are moved to their nearest ends.
 */
#ifndef REPORT_JSON_HISTOGRAM_H
#define REPORT_JSON_HISTOGRAM_H

#include "report/json_field.h"
#include "stats/histogram.h"

/* NULL where it is absent or a fault (told to the reader).  row: the latency_us object; its
 * value may be NULL. */
struct histogram *json_histogram_read(const struct place *histograms, const char *name,
                                      const struct place *row);

#endif
