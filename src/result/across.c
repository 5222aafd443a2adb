/* SPDX-License-Identifier: Apache-2.0 */
#include "result/across.h"

#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "result/list.h"

struct across *across_new(void)
{
    struct across *a = mem_alloc_zeroed(1, sizeof *a);
    a->run_deviation = NAN;
    return a;
}

static void sides_free(struct across *a)
{
    for (size_t i = 0; i < a->sides; i++) {
        struct across_side *s = &a->side[i];
        for (size_t k = 0; k < s->runs; k++)
            free(s->file[k]);
        free(s->file);
        free(s->name);
        free(s->started_at);
        free(s->version);
        free(s->cpu_model);
        free(s->arch);
    }
    free(a->side);
}

static void facts_free(struct across *a)
{
    for (size_t i = 0; i < a->facts; i++) {
        struct across_fact *f = &a->fact[i];
        free(f->subject);
        free(f->arm);
        free(f->name);
        free(f->before);
        free(f->after);
    }
    free(a->fact);
}

static void rows_free(struct across *a)
{
    for (size_t i = 0; i < a->rows; i++) {
        free(a->row[i].arm);
        free(a->row[i].other);
        free(a->row[i].metric);
        free(a->row[i].unit);
    }
    free(a->row);
}

void across_free(struct across *a)
{
    if (a == NULL)
        return;
    sides_free(a);
    facts_free(a);
    rows_free(a);
    for (size_t i = 0; i < a->limits; i++)
        free(a->limit[i].text);
    free(a->limit);
    for (size_t i = 0; i < a->left; i++)
        free(a->unmatched[i]);
    free(a->unmatched);
    free(a);
}

struct across_side *across_add_side(struct across *a, const char *name)
{
    a->side = list_grow(a->side, &a->sides, sizeof *a->side);
    struct across_side *s = &a->side[a->sides - 1];
    s->name = mem_copy_string(name);
    s->work_us = NAN;
    return s;
}

void across_add_file(struct across_side *side, const char *path)
{
    side->file = list_grow(side->file, &side->runs, sizeof *side->file);
    side->file[side->runs - 1] = mem_copy_string(path);
}

struct across_fact *across_add_fact(struct across *a)
{
    a->fact = list_grow(a->fact, &a->facts, sizeof *a->fact);
    return &a->fact[a->facts - 1];
}

struct across_row *across_add_row(struct across *a)
{
    const struct figure absent = FIGURE_ABSENT;
    a->row = list_grow(a->row, &a->rows, sizeof *a->row);
    struct across_row *row = &a->row[a->rows - 1];
    row->before = row->after = row->change = absent;
    row->measured = row->noise_floor = NAN;
    row->verdict = RESULT_VERDICT_INCONCLUSIVE;
    return row;
}

struct across_limit *across_add_limit(struct across *a, const char *text)
{
    a->limit = list_grow(a->limit, &a->limits, sizeof *a->limit);
    struct across_limit *limit = &a->limit[a->limits - 1];
    limit->text = mem_copy_string(text);
    return limit;
}

void across_add_unmatched(struct across *a, const char *text)
{
    a->unmatched = list_grow(a->unmatched, &a->left, sizeof *a->unmatched);
    a->unmatched[a->left - 1] = mem_copy_string(text);
}

const struct across_fact *across_forbidding(const struct across *a)
{
    for (size_t i = 0; i < a->facts; i++)
        if (a->fact[i].forbids)
            return &a->fact[i];
    return NULL;
}

bool across_is_different(const struct across *a, size_t side)
{
    for (size_t i = 0; i < a->rows; i++) {
        const struct across_row *row = &a->row[i];
        if (row->side == side && row->is_main && row->verdict <= RESULT_VERDICT_FEWER)
            return true;
    }
    return false;
}
