/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/lookup.h"
#include "result/capacity.h"

static void set_rate(struct table *t, size_t row, size_t column, double per_s)
{
    struct text cell = {0};
    figures_add_us(&cell, per_s);
    table_take(t, row, column, &cell);
}

struct table *tables_capacity(const struct result *r)
{
    enum { ARM, VALUE, INTERVAL, CHANGE, HELD, BROKE, LIMIT };
    const struct capacity *c = r->capacity;
    struct text cell = {0};
    if (c->arms == 0)
        return NULL;
    struct table *t = table_new(c->arms);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "capacity\n/s", TABLE_FIGURE, 0);
    table_add_column(t, "[95 %]", TABLE_NOTE, 0);
    table_add_column(t, "change", TABLE_FIGURE, 0);
    table_add_column(t, "held at\nmost", TABLE_FIGURE, 1);
    table_add_column(t, "broke at\nleast", TABLE_FIGURE, 2);
    table_add_column(t, "limited by", TABLE_TEXT, 0);
    for (size_t i = 0; i < c->arms; i++) {
        const struct result_comparison *change =
            lookup_comparison(r, r->arm[i].name, "capacity_per_s");
        tables_set_name(t, i, ARM, r->arm[i].name);
        set_rate(t, i, VALUE, c->arm[i].per_s.value);
        figures_add_interval(&cell, &c->arm[i].per_s);
        table_take(t, i, INTERVAL, &cell);
        tables_set_change(t, i, CHANGE, change);
        set_rate(t, i, HELD, c->arm[i].lower_bound_per_s);
        set_rate(t, i, BROKE, c->arm[i].upper_bound_per_s);
        table_set(t, i, LIMIT, capacity_limit_name(c->arm[i].limited_by));
    }
    return t;
}

/* Codes of what was found in a trial: "client-saturated, steal". */
static void add_codes(struct text *out, const struct result *r, const char *arm, unsigned trial)
{
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->trial != trial || p->arm == NULL || strcmp(p->arm, arm) != 0 ||
            (out->length > 0 && strstr(text_str(out), p->code) != NULL))
            continue;
        text_add(out, out->length > 0 ? ", " : "");
        text_add_harmless(out, p->code);
    }
}

enum { PROBE_NUMBER, PROBE_ARM, PROBE_RATE, PROBE_OUTCOME, PROBE_VALUES };

static struct table *make_probes(const struct capacity *c)
{
    struct text title = {0};
    char name[48];
    struct table *t = table_new(c->probes);
    table_add_column(t, "#", TABLE_FIGURE, 0);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "rate\n/s", TABLE_FIGURE, 0);
    table_add_column(t, "outcome", TABLE_TEXT, 0);
    for (size_t k = 0; k < c->objectives; k++) {
        text_addf(&title, "%s%s", capacity_objective_name(&c->objective[k], name, sizeof(name)),
                  c->objective[k].is_failures ? "" : "\nus");
        table_add_column(t, text_str(&title), TABLE_FIGURE, 0);
        text_free(&title);
    }
    table_add_column(t, "server\nbusy", TABLE_FIGURE, 1);
    table_add_column(t, "client\nbusy", TABLE_FIGURE, 2);
    table_add_column(t, "found", TABLE_DETAIL, 0);
    return t;
}

static void fill_probe(struct table *t, const struct result *r, size_t i)
{
    const struct capacity *c = r->capacity;
    const struct capacity_probe *p = &c->probe[i];
    const struct result_trial *trial = capacity_trial(r, p);
    const size_t behind = PROBE_VALUES + c->objectives;
    struct text codes = {0};
    tables_set_count(t, i, PROBE_NUMBER, i + 1);
    tables_set_name(t, i, PROBE_ARM, r->arm[p->arm].name);
    set_rate(t, i, PROBE_RATE, trial->due_per_s);
    table_set(t, i, PROBE_OUTCOME, capacity_held_name(p->held));
    for (size_t k = 0; k < c->objectives; k++) {
        const double value = capacity_objective_value(&c->objective[k], trial);
        if (c->objective[k].is_failures)
            tables_set_share(t, i, PROBE_VALUES + k, value);
        else
            tables_set_us(t, i, PROBE_VALUES + k, value);
    }
    tables_set_share(t, i, behind, trial->server_busy);
    tables_set_share(t, i, behind + 1, trial->client_busy);
    add_codes(&codes, r, r->arm[p->arm].name, p->trial);
    table_take(t, i, behind + 2, &codes);
}

struct table *tables_probes(const struct result *r)
{
    const struct capacity *c = r->capacity;
    if (c->probes == 0)
        return NULL;
    struct table *t = make_probes(c);
    for (size_t i = 0; i < c->probes; i++)
        fill_probe(t, r, i);
    return t;
}
