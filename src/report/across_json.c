/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "report/across.h"
#include "report/json_put.h"

#define SCHEMA "pqc-bench-compare/1"

static json_t *of_side(const struct across_side *side)
{
    json_t *json = json_made(json_object()), *files = json_made(json_array());
    json_put_text(json, "name", side->name);
    for (size_t i = 0; i < side->runs; i++)
        json_append(files, json_of_text(side->file[i]));
    json_put(json, "files", files);
    json_put_text(json, "started_at", side->started_at);
    json_put_text(json, "version", side->version);
    json_put_text(json, "cpu_model", side->cpu_model);
    json_put_text(json, "arch", side->arch);
    json_put_count(json, "interrupted", side->interrupted);
    json_put_count(json, "not_valid", side->invalid);
    json_put_number(json, "work_us", side->work_us);
    return json;
}

static json_t *of_fact(const struct across *a, const struct across_fact *fact)
{
    json_t *json = json_made(json_object());
    json_put_text(json, "in", a->side[fact->side].name);
    json_put_text(json, "subject", fact->subject);
    json_put_text(json, "arm", fact->arm);
    json_put_text(json, "name", fact->name);
    json_put_text(json, "reference", fact->before);
    json_put_text(json, "compared", fact->after);
    json_put_bool(json, "forbids", fact->forbids);
    return json;
}

static json_t *of_row(const struct across *a, const struct across_row *row)
{
    json_t *json = json_made(json_object());
    json_put_text(json, "in", a->side[row->side].name);
    json_put_text(json, "arm", row->arm);
    json_put_text(json, "arm_there", row->other);
    json_put_text(json, "metric", row->metric);
    json_put_text(json, "unit", row->unit);
    json_put_number(json, "reference", row->before.value);
    json_put_number(json, "compared", row->after.value);
    json_put_number(json, "as_measured", row->measured);
    json_put_figure_into(json, "change", &row->change);
    json_put_number(json, "noise_floor", row->noise_floor);
    json_put_bool(json, "scaled", row->is_scaled);
    json_put_bool(json, "main", row->is_main);
    json_put_text(json, "verdict", result_verdict_name(row->verdict));
    return json;
}

static json_t *of_limit(const struct across *a, const struct across_limit *limit)
{
    json_t *json = json_made(json_object());
    json_put_text(json, "limit", limit->text);
    json_put_text(json, "state",
                  limit->broken > 0                ? "broken"
                  : limit->unjudged == limit->rows ? "not-judged"
                                                   : "holds");
    json_put_count(json, "rows", limit->rows);
    json_put_count(json, "broken", limit->broken);
    json_put_count(json, "not_judged", limit->unjudged);
    if (limit->broken > 0)
        json_put(json, "worst", of_row(a, &a->row[limit->worst]));
    return json;
}

static void put_lists(json_t *json, const struct across *a)
{
    json_t *facts = json_made(json_array()), *left = json_made(json_array());
    json_t *rows = json_made(json_array()), *limits = json_made(json_array());
    for (size_t i = 0; i < a->facts; i++)
        json_append(facts, of_fact(a, &a->fact[i]));
    for (size_t i = 0; i < a->left; i++)
        json_append(left, json_of_text(a->unmatched[i]));
    for (size_t i = 0; i < a->rows; i++)
        json_append(rows, of_row(a, &a->row[i]));
    for (size_t i = 0; i < a->limits; i++)
        json_append(limits, of_limit(a, &a->limit[i]));
    json_put(json, "differences", facts);
    json_put(json, "unmatched", left);
    json_put(json, "rows", rows);
    json_put(json, "limits", limits);
}

void across_add_json(const struct across *a, struct text *out)
{
    json_t *json = json_made(json_object()), *sides = json_made(json_array());
    json_put_text(json, "schema", SCHEMA);
    json_put_text(json, "kind", result_kind_name(a->kind));
    json_put_bool(json, "anyway", a->is_forced);
    json_put_number(json, "run_noise", a->run_deviation);
    for (size_t i = 0; i < a->sides; i++)
        json_append(sides, of_side(&a->side[i]));
    json_put(json, "sides", sides);
    put_lists(json, a);
    char *dumped =
        json_dumps(json, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    json_decref(json);
    text_add(out, dumped != NULL ? dumped : "");
    text_add(out, "\n");
    free(dumped);
}
