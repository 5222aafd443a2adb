/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h - the row of figures that stands for a histogram, and the median of such rows.
 *
 * Layer: report.
 * Units: microseconds, from histograms of nanoseconds.
 * Shape: nearest-rank percentiles (histogram_quantile); the mean is that of the buckets'
 *   middles, within 1/2000.  A percentile of too few samples is
 *   there but marked: p99 wants 1,000, p99.9 10,000, p99.99 100,000 (METHOD.md).
 * Threads: any.
 */
#ifndef REPORT_LATENCY_H
#define REPORT_LATENCY_H

#include <stdbool.h>
#include <stdint.h>
#include "result/result.h"

enum latency_column {
    LATENCY_MIN,
    LATENCY_MEAN,
    LATENCY_P50,
    LATENCY_P75,
    LATENCY_P90,
    LATENCY_P95,
    LATENCY_P99,
    LATENCY_P99_9,
    LATENCY_P99_99,
    LATENCY_MAX,
};
#define LATENCY_COLUMNS 10u
const char *latency_column_key(enum latency_column column);   /* "p99_9" */
const char *latency_column_title(enum latency_column column); /* "p99.9" */

struct latency_row {
    uint64_t count; /* samples of the smallest histogram in it; never 0 */
    double us[LATENCY_COLUMNS];
};
bool latency_is_marked(const struct latency_row *row, enum latency_column column);

/* false: no samples (h NULL or empty); *row is then untouched. */
bool latency_of_histogram(const struct histogram *h, struct latency_row *row);

/* Each column: the median over all trials of the arm that have samples; false: none has. */
bool latency_of_arm(const struct result_arm *arm, enum result_phase phase,
                    struct latency_row *row);
/* The same of the handshakes of one sort; false also where none of the arm's trials mixes. */
bool latency_of_arm_apart(const struct result_arm *arm, enum result_handshake handshake,
                          enum result_phase phase, struct latency_row *row);
/* The same of start lag. */
bool latency_of_start_lag(const struct result_arm *arm, struct latency_row *row);

#endif
