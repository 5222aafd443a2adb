/* SPDX-License-Identifier: Apache-2.0 */
#include "report/latency.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "stats/sample.h"

#define NS_PER_US 1000.0

static const struct {
    const char *key, *title;
    double quantile; /* below 0: not a quantile */
    uint64_t wanted; /* samples; fewer are marked */
} columns[LATENCY_COLUMNS] = {
    [LATENCY_MIN] = {"min", "min", -1, 0},
    [LATENCY_MEAN] = {"mean", "mean", -1, 0},
    [LATENCY_P50] = {"p50", "p50", 0.5, 0},
    [LATENCY_P75] = {"p75", "p75", 0.75, 0},
    [LATENCY_P90] = {"p90", "p90", 0.9, 0},
    [LATENCY_P95] = {"p95", "p95", 0.95, 0},
    [LATENCY_P99] = {"p99", "p99", 0.99, 1000},
    [LATENCY_P99_9] = {"p99_9", "p99.9", 0.999, 10000},
    [LATENCY_P99_99] = {"p99_99", "p99.99", 0.9999, 100000},
    [LATENCY_MAX] = {"max", "max", -1, 0},
};

const char *latency_column_key(enum latency_column column)
{
    assert((unsigned)column < LATENCY_COLUMNS);
    return columns[column].key;
}

const char *latency_column_title(enum latency_column column)
{
    assert((unsigned)column < LATENCY_COLUMNS);
    return columns[column].title;
}

bool latency_is_marked(const struct latency_row *row, enum latency_column column)
{
    assert((unsigned)column < LATENCY_COLUMNS);
    return row->count < columns[column].wanted;
}

/* From the buckets, as whoever decodes the histogram gets it, and not histogram_mean, which
 * is exact only until it is written: a result read from a file must show the same. */
static double mean_of(const struct histogram *h)
{
    const double count = (double)histogram_count(h);
    double mean = 0;
    uint64_t low, high, n;
    for (size_t cursor = 0; histogram_next(h, &cursor, &low, &high, &n);)
        mean += ((double)low + (double)(high - low + 1) / 2) * ((double)n / count);
    return fmin(fmax(mean, (double)histogram_min(h)), (double)histogram_max(h));
}

bool latency_of_histogram(const struct histogram *h, struct latency_row *row)
{
    if (h == NULL || histogram_count(h) == 0)
        return false;
    row->count = histogram_count(h);
    for (unsigned i = 0; i < LATENCY_COLUMNS; i++) {
        if (columns[i].quantile >= 0)
            row->us[i] = (double)histogram_quantile(h, columns[i].quantile) / NS_PER_US;
    }
    row->us[LATENCY_MIN] = (double)histogram_min(h) / NS_PER_US;
    row->us[LATENCY_MEAN] = mean_of(h) / NS_PER_US;
    row->us[LATENCY_MAX] = (double)histogram_max(h) / NS_PER_US;
    return true;
}

/* Which histogram of a trial. */
typedef const struct histogram *(*pick)(const struct result_trial *trial, unsigned which);

static const struct histogram *pick_phase(const struct result_trial *trial, unsigned which)
{
    return trial->latency_ns[which];
}

/* which: handshake * RESULT_PHASES + phase. */
static const struct histogram *pick_apart(const struct result_trial *trial, unsigned which)
{
    return trial->apart_ns[which / RESULT_PHASES][which % RESULT_PHASES];
}

static const struct histogram *pick_start_lag(const struct result_trial *trial, unsigned which)
{
    (void)which;
    return trial->start_lag_ns;
}

static bool median_row(const struct result_arm *arm, pick from, unsigned which,
                       struct latency_row *row)
{
    struct latency_row *rows = mem_alloc_zeroed(arm->trials + 1, sizeof(*rows));
    double *values = mem_alloc_zeroed(arm->trials + 1, sizeof(*values));
    size_t n = 0;
    for (size_t i = 0; i < arm->trials; i++) {
        if (!arm->trial[i].is_left_out &&
            latency_of_histogram(from(&arm->trial[i], which), &rows[n]))
            n++;
    }
    if (n > 0)
        *row = rows[0];
    for (size_t i = 1; i < n; i++) {
        if (rows[i].count < row->count)
            row->count = rows[i].count;
    }
    for (unsigned column = 0; n > 0 && column < LATENCY_COLUMNS; column++) {
        for (size_t i = 0; i < n; i++)
            values[i] = rows[i].us[column];
        row->us[column] = sample_median(values, n);
    }
    free(values);
    free(rows);
    return n > 0;
}

bool latency_of_arm(const struct result_arm *arm, enum result_phase phase,
                    struct latency_row *row)
{
    return median_row(arm, pick_phase, phase, row);
}

bool latency_of_arm_apart(const struct result_arm *arm, enum result_handshake handshake,
                          enum result_phase phase, struct latency_row *row)
{
    return median_row(arm, pick_apart, (unsigned)handshake * RESULT_PHASES + (unsigned)phase,
                      row);
}

bool latency_of_start_lag(const struct result_arm *arm, struct latency_row *row)
{
    return median_row(arm, pick_start_lag, 0, row);
}
