/* SPDX-License-Identifier: Apache-2.0 */
/* Kind load: full, resumed and early-data handshakes, each sort for itself. */
#include "report/tables.h"

#include <stdio.h>
#include "report/figures.h"
#include "report/latency.h"
#include "report/lookup.h"

enum {
    COLUMN_ARM,
    COLUMN_SORT,
    COLUMN_SAMPLES,
    COLUMN_TLS_P50,
    COLUMN_TLS_P99 = COLUMN_TLS_P50 + 2, /* a mark between */
    COLUMN_RESPONSE_P50 = COLUMN_TLS_P99 + 2,
    COLUMN_RESPONSE_P99 = COLUMN_RESPONSE_P50 + 2,
    COLUMN_DIFFERENCE = COLUMN_RESPONSE_P99 + 2,
    COLUMN_INTERVAL,
    COLUMN_VERDICT,
};

static uint64_t samples_of(const struct result_arm *arm, enum result_handshake sort)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < arm->trials; i++) {
        const struct histogram *h = trial_latency_of(&arm->trial[i], sort, RESULT_PHASE_TLS);
        sum += h == NULL ? 0 : histogram_count(h);
    }
    return sum;
}

/* An arm that mixes nothing has full ones alone. */
static bool row_of(const struct result_arm *arm, enum result_handshake sort,
                   enum result_phase phase, struct latency_row *row)
{
    struct latency_row other;
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        if (latency_of_arm_apart(arm, (enum result_handshake)i, phase, &other))
            return latency_of_arm_apart(arm, sort, phase, row);
    return sort == RESULT_HANDSHAKE_FULL && latency_of_arm(arm, phase, row);
}

static void set_difference(struct table *t, size_t at, const struct result *r,
                           const struct result_arm *arm, enum result_handshake sort)
{
    char metric[64];
    struct text cell = {0};
    snprintf(metric, sizeof(metric), "by_handshake.%s.latency_us.tls.p50",
             result_handshake_name(sort));
    const struct result_comparison *c = lookup_comparison(r, arm->name, metric);
    if (c == NULL)
        return;
    figures_add_signed_us(&cell, c->difference.value);
    table_take(t, at, COLUMN_DIFFERENCE, &cell);
    figures_add_signed_interval(&cell, &c->difference);
    table_take(t, at, COLUMN_INTERVAL, &cell);
    tables_set_verdict(t, at, COLUMN_VERDICT, c->verdict);
}

static void fill_row(struct table *t, size_t at, const struct result *r,
                     const struct result_arm *arm, enum result_handshake sort)
{
    static const char *const words[RESULT_HANDSHAKES] = {"full", "resumed", "early data"};
    struct latency_row row;
    tables_set_name(t, at, COLUMN_ARM, arm->name);
    table_set(t, at, COLUMN_SORT, words[sort]);
    tables_set_count(t, at, COLUMN_SAMPLES, samples_of(arm, sort));
    if (row_of(arm, sort, RESULT_PHASE_TLS, &row)) {
        tables_set_latency(t, at, COLUMN_TLS_P50, &row, LATENCY_P50);
        tables_set_latency(t, at, COLUMN_TLS_P99, &row, LATENCY_P99);
    }
    if (row_of(arm, sort, RESULT_PHASE_RESPONSE, &row)) {
        tables_set_latency(t, at, COLUMN_RESPONSE_P50, &row, LATENCY_P50);
        tables_set_latency(t, at, COLUMN_RESPONSE_P99, &row, LATENCY_P99);
    }
    set_difference(t, at, r, arm, sort);
}

static void add_columns(struct table *t)
{
    table_add_column(t, "\narm", TABLE_TEXT, 0);
    table_add_column(t, "\nhandshake", TABLE_TEXT, 0);
    table_add_column(t, "\ncount", TABLE_FIGURE, 0);
    static const char *const titles[] = {"tls us\np50", "\np99", "response us\np50", "\np99"};
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        table_add_column(t, titles[i], TABLE_FIGURE, 0);
        table_add_column(t, "", TABLE_NOTE, 0);
    }
    table_add_column(t, "like with like\ntls p50", TABLE_FIGURE, 0);
    table_add_column(t, "\n[95 %]", TABLE_NOTE, 1);
    table_add_column(t, "\nverdict", TABLE_TEXT, 0);
}

struct table *tables_apart(const struct result *r)
{
    size_t rows = 0, resumed = 0, at = 0;
    for (size_t i = 0; i < r->arms; i++)
        for (unsigned k = 0; k < RESULT_HANDSHAKES; k++) {
            const bool is_there = samples_of(&r->arm[i], (enum result_handshake)k) > 0;
            rows += is_there;
            resumed += is_there && k != RESULT_HANDSHAKE_FULL;
        }
    if (resumed == 0)
        return NULL;
    struct table *t = table_new(rows);
    add_columns(t);
    for (size_t i = 0; i < r->arms; i++)
        for (unsigned k = 0; k < RESULT_HANDSHAKES; k++)
            if (samples_of(&r->arm[i], (enum result_handshake)k) > 0)
                fill_row(t, at++, r, &r->arm[i], (enum result_handshake)k);
    return t;
}
