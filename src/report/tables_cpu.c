/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/lookup.h"

void tables_set_name(struct table *t, size_t row, size_t column, const char *name)
{
    struct text cell = {0};
    text_add_harmless(&cell, name == NULL || name[0] == '\0' ? "-" : name);
    table_take(t, row, column, &cell);
}

void tables_set_us(struct table *t, size_t row, size_t column, double us)
{
    struct text cell = {0};
    figures_add_us(&cell, us);
    table_take(t, row, column, &cell);
}

void tables_set_count(struct table *t, size_t row, size_t column, uint64_t count)
{
    struct text cell = {0};
    text_addf(&cell, "%llu", (unsigned long long)count);
    table_take(t, row, column, &cell);
}

void tables_set_share(struct table *t, size_t row, size_t column, double share)
{
    struct text cell = {0};
    figures_add_share(&cell, share);
    table_take(t, row, column, &cell);
}

void tables_set_latency(struct table *t, size_t row, size_t column,
                        const struct latency_row *latency, enum latency_column which)
{
    tables_set_us(t, row, column, latency->us[which]);
    if (latency_is_marked(latency, which))
        table_set(t, row, column + 1, "*");
}

static enum table_tone tone_of(enum result_verdict verdict)
{
    switch (verdict) {
    case RESULT_VERDICT_SLOWER:
    case RESULT_VERDICT_MORE:
        return TABLE_BAD;
    case RESULT_VERDICT_FASTER:
    case RESULT_VERDICT_FEWER:
        return TABLE_GOOD;
    case RESULT_VERDICT_SAME:
    case RESULT_VERDICT_INCONCLUSIVE:
    case RESULT_VERDICT_WITHHELD:
        break;
    }
    return TABLE_DIM;
}

void tables_add_change(struct text *out, const struct result_comparison *c)
{
    if (c->verdict == RESULT_VERDICT_SAME) {
        text_add(out, "same");
    } else if (c->verdict == RESULT_VERDICT_WITHHELD) {
        text_add(out, "withheld");
    } else {
        figures_add_change(out, figures_change(c));
        if (c->verdict == RESULT_VERDICT_INCONCLUSIVE)
            text_add(out, " ?");
    }
}

void tables_set_change(struct table *t, size_t row, size_t column,
                       const struct result_comparison *c)
{
    struct text cell = {0};
    if (c == NULL)
        return;
    tables_add_change(&cell, c);
    table_take(t, row, column, &cell);
    table_tone(t, row, column, tone_of(c->verdict));
}

static void add_arm_columns(struct table *t, const struct result *r)
{
    const size_t name = table_add_column(t, "\narm", TABLE_TEXT, 0);
    const size_t group = table_add_column(t, "\ngroup", TABLE_TEXT, 0);
    for (size_t i = 0; i < r->arms; i++) {
        tables_set_name(t, i, name, r->arm[i].name);
        table_tone(t, i, name, TABLE_STRONG);
        tables_set_name(t, i, group, r->arm[i].negotiated.group);
    }
}

static double largest_us(const struct result *r)
{
    double largest = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            const double us = r->arm[i].cpu.us[side][RESULT_CPU_TOTAL].value;
            if (us > largest)
                largest = us;
        }
    }
    return largest;
}

/* Both sides' bars have one scale. */
static void add_side_columns(struct table *t, const struct result *r, enum result_side side)
{
    static const char *const titles[RESULT_SIDES] = {"client\nus", "server\nus"};
    const size_t value = table_add_column(t, titles[side], TABLE_FIGURE, 0);
    const size_t interval = table_add_column(t, "\n[95 %]", TABLE_NOTE, 3);
    const size_t bar = table_add_column(t, "", TABLE_BAR, 2);
    const size_t change = table_add_column(t, "\nvs base", TABLE_NOTE, 0);
    const double largest = largest_us(r);
    for (size_t i = 0; i < r->arms; i++) {
        const struct figure *us = &r->arm[i].cpu.us[side][RESULT_CPU_TOTAL];
        struct text cell = {0};
        tables_set_us(t, i, value, us->value);
        figures_add_interval(&cell, us);
        table_take(t, i, interval, &cell);
        table_tone(t, i, interval, TABLE_DIM);
        if (figure_is_set(us) && largest > 0)
            table_set_bar(t, i, bar, us->value / largest);
        tables_set_change(
            t, i, change,
            lookup_metric(r, r->arm[i].name, "cpu_us", result_side_name(side), NULL));
    }
}

static double largest_bytes(const struct result *r)
{
    double largest = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            const struct result_range *b = &r->arm[i].bytes.handshake[side];
            if (b->count > 0 && b->mean > largest)
                largest = b->mean;
        }
    }
    return largest;
}

static void add_byte_columns(struct table *t, const struct result *r, enum result_side side)
{
    static const char *const titles[RESULT_SIDES] = {"client\nbytes", "server\nbytes"};
    const size_t value = table_add_column(t, titles[side], TABLE_FIGURE, 0);
    const size_t bar = table_add_column(t, "", TABLE_BAR, 2);
    const size_t change = table_add_column(t, "\nvs base", TABLE_NOTE, 1);
    const double largest = largest_bytes(r);
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_range *bytes = &r->arm[i].bytes.handshake[side];
        const struct result_arm *baseline = lookup_baseline(r, r->arm[i].name);
        struct text cell = {0};
        figures_add_bytes(&cell, bytes->count > 0 ? bytes->mean : NAN);
        table_take(t, i, value, &cell);
        if (bytes->count == 0)
            continue;
        table_set_bar(t, i, bar, bytes->mean / largest);
        if (baseline == NULL || baseline->bytes.handshake[side].count == 0)
            continue;
        const double more = bytes->mean - baseline->bytes.handshake[side].mean;
        if (fabs(more) >= 0.05) /* what one decimal shows */
            figures_add_signed_bytes(&cell, more);
        else
            text_add(&cell, "same");
        table_take(t, i, change, &cell);
    }
}

static void add_round_trips(struct table *t, const struct result *r)
{
    const size_t value = table_add_column(t, "round\ntrips", TABLE_FIGURE, 0);
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_range *trips = &r->arm[i].bytes.round_trips;
        struct text cell = {0};
        figures_add_bytes(&cell, trips->count > 0 ? trips->mean : NAN);
        table_take(t, i, value, &cell);
    }
}

static void add_wire_columns(struct table *t, const struct result *r)
{
    add_byte_columns(t, r, RESULT_CLIENT);
    add_byte_columns(t, r, RESULT_SERVER);
    add_round_trips(t, r);
}

struct table *tables_cpu(const struct result *r)
{
    struct table *t = table_new(r->arms);
    add_arm_columns(t, r);
    add_side_columns(t, r, RESULT_CLIENT);
    add_side_columns(t, r, RESULT_SERVER);
    return t;
}

struct table *tables_wire(const struct result *r)
{
    if (largest_bytes(r) == 0)
        return NULL;
    struct table *t = table_new(r->arms);
    add_arm_columns(t, r);
    add_wire_columns(t, r);
    return t;
}

struct table *tables_cpu_and_wire(const struct result *r)
{
    struct table *t = tables_cpu(r);
    add_wire_columns(t, r);
    return t;
}
