/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables.h"

#include <math.h>
#include <stdio.h>
#include "report/figures.h"
#include "report/lookup.h"

struct table *tables_parts(const struct result *r)
{
    static const char *const titles[RESULT_SIDES][RESULT_CPU_PARTS] = {
        {"client\nhandshake", "\nset-up", "\ntear-down", "\ntotal"},
        {"server\nhandshake", "\nset-up", "\ntear-down", "\ntotal"},
    };
    struct table *t = table_new(r->arms);
    const size_t name = table_add_column(t, "\narm", TABLE_TEXT, 0);
    for (size_t i = 0; i < r->arms; i++)
        tables_set_name(t, i, name, r->arm[i].name);
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++) {
            const size_t column = table_add_column(t, titles[side][part], TABLE_FIGURE, 0);
            for (size_t i = 0; i < r->arms; i++)
                tables_set_us(t, i, column, r->arm[i].cpu.us[side][part].value);
        }
    }
    return t;
}

static void set_figure_count(struct table *t, size_t row, size_t column, double count)
{
    struct text cell = {0};
    figures_add_count(&cell, count);
    table_take(t, row, column, &cell);
}

static bool has_counters(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++) {
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            if (figure_is_set(&r->arm[i].cpu.instructions[side]) ||
                figure_is_set(&r->arm[i].cpu.cycles[side]))
                return true;
        }
    }
    return false;
}

struct table *tables_counters(const struct result *r)
{
    if (!has_counters(r))
        return NULL;
    struct table *t = table_new(r->arms);
    const size_t name = table_add_column(t, "\narm", TABLE_TEXT, 0);
    const size_t column[RESULT_SIDES][2] = {
        {table_add_column(t, "client\ninstructions", TABLE_FIGURE, 0),
         table_add_column(t, "\ncycles", TABLE_FIGURE, 0)},
        {table_add_column(t, "server\ninstructions", TABLE_FIGURE, 0),
         table_add_column(t, "\ncycles", TABLE_FIGURE, 0)},
    };
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_cpu *cpu = &r->arm[i].cpu;
        tables_set_name(t, i, name, r->arm[i].name);
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            set_figure_count(t, i, column[side][0], cpu->instructions[side].value);
            set_figure_count(t, i, column[side][1], cpu->cycles[side].value);
        }
    }
    return t;
}

static void fill_primitive(struct table *t, size_t row, const struct result_arm *arm,
                           const struct result_primitive *p)
{
    struct text cell = {0};
    tables_set_name(t, row, 0, arm->name);
    table_set(t, row, 1, result_side_name(p->side));
    tables_set_name(t, row, 2, p->operation);
    tables_set_name(t, row, 3, p->subject);
    tables_set_count(t, row, 4, p->times);
    tables_set_us(t, row, 5, p->us.value);
    figures_add_interval(&cell, &p->us);
    table_take(t, row, 6, &cell);
}

struct table *tables_primitives(const struct result *r)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->arms; i++)
        rows += r->arm[i].primitives;
    if (rows == 0)
        return NULL;
    struct table *t = table_new(rows);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "side", TABLE_TEXT, 0);
    table_add_column(t, "operation", TABLE_TEXT, 0);
    table_add_column(t, "of", TABLE_TEXT, 0);
    table_add_column(t, "times", TABLE_FIGURE, 0);
    table_add_column(t, "us each", TABLE_FIGURE, 0);
    table_add_column(t, "[95 %]", TABLE_NOTE, 1);
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].primitives; k++)
            fill_primitive(t, row++, &r->arm[i], &r->arm[i].primitive[k]);
    }
    return t;
}

static void fill_message(struct table *t, size_t row, const struct result_arm *arm,
                         const struct result_message *m)
{
    char name[32];
    struct text cell = {0};
    tables_set_name(t, row, 0, arm->name);
    table_set(t, row, 1, result_side_name(m->sender));
    text_add(&cell, result_message_name(m->type, name, sizeof(name)));
    if (m->index > 0)
        text_addf(&cell, " (%u)", m->index + 1);
    table_take(t, row, 2, &cell);
    figures_add_range(&cell, &m->bytes);
    table_take(t, row, 3, &cell);
    tables_set_count(t, row, 4, m->bytes.count);
}

struct table *tables_messages(const struct result *r)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->arms; i++)
        rows += r->arm[i].bytes.messages;
    if (rows == 0)
        return NULL;
    struct table *t = table_new(rows);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "sender", TABLE_TEXT, 0);
    table_add_column(t, "message", TABLE_TEXT, 0);
    table_add_column(t, "bytes", TABLE_FIGURE, 0);
    table_add_column(t, "seen", TABLE_FIGURE, 0);
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].bytes.messages; k++)
            fill_message(t, row++, &r->arm[i], &r->arm[i].bytes.message[k]);
    }
    return t;
}

static void fill_cpu_trial(struct table *t, size_t row, const struct result_arm *arm,
                           const struct result_trial *trial)
{
    tables_set_name(t, row, 0, arm->name);
    tables_set_count(t, row, 1, trial->index);
    tables_set_us(t, row, 2, trial->cpu_us[RESULT_CLIENT][RESULT_CPU_TOTAL]);
    tables_set_us(t, row, 3, trial->cpu_us[RESULT_SERVER][RESULT_CPU_TOTAL]);
    tables_set_count(t, row, 4, trial->tally.completed);
    tables_set_count(t, row, 5, trial->tally.scheduled - trial->tally.completed);
    table_set(t, row, 6, trial->is_valid ? "" : "not valid");
    table_tone(t, row, 6, TABLE_BAD);
}

struct table *tables_cpu_trials(const struct result *r)
{
    const size_t rows = lookup_count_trials(r);
    if (rows == 0)
        return NULL;
    struct table *t = table_new(rows);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "repeat", TABLE_FIGURE, 0);
    table_add_column(t, "client us", TABLE_FIGURE, 0);
    table_add_column(t, "server us", TABLE_FIGURE, 0);
    table_add_column(t, "completed", TABLE_FIGURE, 0);
    table_add_column(t, "not", TABLE_FIGURE, 0);
    table_add_column(t, "", TABLE_TEXT, 0);
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++)
            fill_cpu_trial(t, row++, &r->arm[i], &r->arm[i].trial[k]);
    }
    return t;
}

static void fill_failure(struct table *t, size_t row, const struct result_arm *arm,
                         const struct result_failure *f)
{
    struct text cell = {0};
    tables_set_name(t, row, 0, arm->name);
    tables_set_name(t, row, 1, f->phase);
    text_add_harmless(&cell, f->cause);
    if (f->code != 0)
        text_addf(&cell, " %d", f->code);
    if (f->is_local)
        text_add(&cell, " (ours)");
    table_take(t, row, 2, &cell);
    tables_set_count(t, row, 3, f->count);
    if (f->detail != NULL)
        tables_set_name(t, row, 4, f->detail);
}

/* Failures of all trials of the arm, as of one. */
static void merge_failures(const struct result_arm *arm, struct result_arm *into)
{
    struct result_trial *all = arm_add_trial(into);
    for (size_t i = 0; i < arm->trials; i++) {
        for (size_t k = 0; k < arm->trial[i].failures; k++)
            trial_add_failure(all, &arm->trial[i].failure[k]);
    }
}

struct table *tables_failures(const struct result *r)
{
    if (!lookup_has_failures(r))
        return NULL;
    struct result *merged = result_new(r->kind);
    size_t rows = 0, row = 0;
    for (size_t i = 0; i < r->arms; i++)
        merge_failures(&r->arm[i], result_add_arm(merged, r->arm[i].name));
    for (size_t i = 0; i < merged->arms; i++)
        rows += merged->arm[i].trial[0].failures;
    struct table *t = table_new(rows);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "phase", TABLE_TEXT, 0);
    table_add_column(t, "cause", TABLE_TEXT, 0);
    table_add_column(t, "count", TABLE_FIGURE, 0);
    table_add_column(t, "the first one said", TABLE_DETAIL, 0);
    for (size_t i = 0; i < merged->arms; i++) {
        const struct result_trial *all = &merged->arm[i].trial[0];
        for (size_t k = 0; k < all->failures; k++)
            fill_failure(t, row++, &merged->arm[i], &all->failure[k]);
    }
    result_free(merged);
    return t;
}
