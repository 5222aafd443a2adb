/* SPDX-License-Identifier: Apache-2.0 */
/* Kind load, trial by trial and arm by arm. */
#include "report/tables.h"

#include <math.h>
#include "report/figures.h"
#include "report/latency.h"
#include "report/lookup.h"

/* Fills one row of a table with one row a trial. */
typedef void (*fill_trial)(struct table *t, size_t row, const struct result_arm *arm,
                           const struct result_trial *trial);

static void fill_trials(struct table *t, const struct result *r, fill_trial fill)
{
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            tables_set_name(t, row, 0, r->arm[i].name);
            tables_set_count(t, row, 1, r->arm[i].trial[k].index);
            fill(t, row++, &r->arm[i], &r->arm[i].trial[k]);
        }
    }
}

static struct table *new_trials(const struct result *r)
{
    const size_t rows = lookup_count_trials(r);
    if (rows == 0)
        return NULL;
    struct table *t = table_new(rows);
    table_add_column(t, "\narm", TABLE_TEXT, 0);
    table_add_column(t, "\ntrial", TABLE_FIGURE, 0);
    return t;
}

static void set_rate(struct table *t, size_t row, size_t column, double per_s)
{
    struct text cell = {0};
    if (isnan(per_s))
        text_add(&cell, "-");
    else
        text_addf(&cell, "%.4g", per_s);
    table_take(t, row, column, &cell);
}

static const enum latency_column shown[] = {LATENCY_P50, LATENCY_P95, LATENCY_P99,
                                            LATENCY_P99_9, LATENCY_MAX};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))
enum { FIRST_FIGURE = 3, COLUMN_STATE = FIRST_FIGURE + 2 * SHOWN };

static void fill_latency_trial(struct table *t, size_t row, const struct result_arm *arm,
                               const struct result_trial *trial)
{
    struct latency_row latency;
    (void)arm;
    if (trial->is_left_out)
        table_set(t, row, COLUMN_STATE, "left out");
    else if (!trial->is_valid)
        table_set(t, row, COLUMN_STATE, "not valid");
    else if (trial->is_censored)
        table_set(t, row, COLUMN_STATE, "censored");
    table_tone(t, row, COLUMN_STATE, TABLE_BAD);
    tables_set_count(t, row, 2, 0);
    if (!latency_of_histogram(trial->latency_ns[RESULT_PHASE_TLS], &latency))
        return;
    tables_set_count(t, row, 2, latency.count);
    for (size_t i = 0; i < SHOWN; i++)
        tables_set_latency(t, row, FIRST_FIGURE + 2 * i, &latency, shown[i]);
}

struct table *tables_latency_trials(const struct result *r)
{
    struct table *t = new_trials(r);
    if (t == NULL)
        return NULL;
    table_add_column(t, "tls\nsamples", TABLE_FIGURE, 0);
    for (size_t i = 0; i < SHOWN; i++) {
        struct text title = {0};
        text_addf(&title, "%s\n%s", i == 0 ? "tls us" : "", latency_column_title(shown[i]));
        table_add_column(t, text_str(&title), TABLE_FIGURE, 0);
        table_add_column(t, "", TABLE_NOTE, 0);
        text_free(&title);
    }
    table_add_column(t, "", TABLE_TEXT, 0);
    fill_trials(t, r, fill_latency_trial);
    return t;
}

static void fill_load_trial(struct table *t, size_t row, const struct result_arm *arm,
                            const struct result_trial *trial)
{
    struct latency_row lag;
    (void)arm;
    set_rate(t, row, 2, trial->due_per_s);
    set_rate(t, row, 3, trial->achieved_per_s);
    if (latency_of_histogram(trial->start_lag_ns, &lag)) {
        tables_set_us(t, row, 4, lag.us[LATENCY_P50]);
        tables_set_us(t, row, 5, lag.us[LATENCY_P99]);
        tables_set_us(t, row, 6, lag.us[LATENCY_MAX]);
    }
    tables_set_us(t, row, 7, trial->side_cpu_us[RESULT_CLIENT]);
    tables_set_us(t, row, 8, trial->side_cpu_us[RESULT_SERVER]);
    tables_set_share(t, row, 9, trial->client_busy);
    tables_set_share(t, row, 10, trial->server_busy);
    tables_set_share(t, row, 11, trial->steal);
    tables_set_count(t, row, 12, trial->retransmits);
}

struct table *tables_load_trials(const struct result *r)
{
    static const struct {
        const char *title;
        unsigned rank;
    } columns[] = {
        {"due\n/s", 0},      {"done\n/s", 0},       {"lag us\np50", 2},    {"lag us\np99", 0},
        {"lag us\nmax", 1},  {"client\nCPU us", 0}, {"server\nCPU us", 0}, {"client\nbusy", 0},
        {"server\nbusy", 0}, {"\nsteal", 0},        {"re-\nsent", 3},
    };
    struct table *t = new_trials(r);
    if (t == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_add_column(t, columns[i].title, TABLE_FIGURE, columns[i].rank);
    fill_trials(t, r, fill_load_trial);
    return t;
}

struct table *tables_tallies(const struct result *r)
{
    static const char *const titles[] = {"scheduled", "completed",  "failed",
                                         "timed out", "unfinished", "not started"};
    struct table *t = table_new(r->arms);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        table_add_column(t, titles[i], TABLE_FIGURE, 0);
    for (size_t i = 0; i < r->arms; i++) {
        struct result_tally sum = {0};
        for (size_t k = 0; k < r->arm[i].trials; k++)
            tally_add(&sum, &r->arm[i].trial[k].tally);
        const uint64_t counts[] = {sum.scheduled, sum.completed,  sum.failed,
                                   sum.timed_out, sum.unfinished, sum.not_started};
        tables_set_name(t, i, 0, r->arm[i].name);
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
            tables_set_count(t, i, 1 + k, counts[k]);
    }
    return t;
}
