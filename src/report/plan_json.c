/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include "report/json_put.h"
#include "report/plan_parts.h"

#define SCHEMA "pqc-bench-plan/1"

static json_t *of_change(const struct plan_change *c)
{
    json_t *json = json_made(json_object());
    json_put_figure(json, "before", &c->before);
    json_put_figure(json, "after", &c->after);
    json_put_figure(json, "change", &c->change);
    return json;
}

static json_t *of_settings(const struct plan_options *o)
{
    json_t *json = json_made(json_object());
    json_put_number(json, "peak_per_s", o->peak_per_s);
    json_put_number(json, "mean", o->mean_share);
    json_put_number(json, "resumed", o->resumed);
    json_put_number(json, "hybrid_clients", o->hybrid_clients);
    json_put_number(json, "hrr", o->hrr);
    json_put_number(json, "utilisation", o->utilisation);
    json_put_number(json, "other_cpu_us", o->other_cpu_us);
    json_put_number(json, "response_bytes", o->response_bytes);
    json_put_number(json, "price_core_hour", o->price_core_hour);
    json_put_number(json, "price_gb", o->price_gb);
    if (o->currency[0] != '\0')
        json_put_text(json, "currency", o->currency);
    json_put_number(json, "month_hours", PLAN_MONTH_H);
    return json;
}

static json_t *of_cost(const struct plan_cost *c, enum plan_when when, enum plan_sort sort)
{
    json_t *json = json_made(json_object());
    json_put_text(json, "when", when == PLAN_BEFORE ? "before" : "after");
    json_put_text(json, "handshake", plan_sort_name(sort));
    json_put_bool(json, "measured", c->arm != NULL);
    if (c->arm != NULL)
        json_put_text(json, "arm", c->arm->name);
    json_put_figure(json, "server_cpu_us", &c->cpu_us[RESULT_SERVER]);
    json_put_figure(json, "client_cpu_us", &c->cpu_us[RESULT_CLIENT]);
    json_put_number(json, "client_bytes", c->bytes[RESULT_CLIENT]);
    json_put_number(json, "server_bytes", c->bytes[RESULT_SERVER]);
    json_put_number(json, "client_wire_bytes", c->wire_bytes[RESULT_CLIENT]);
    json_put_number(json, "server_wire_bytes", c->wire_bytes[RESULT_SERVER]);
    return json;
}

static json_t *of_costs(const struct plan *p)
{
    json_t *list = json_made(json_array());
    for (unsigned when = 0; when < PLAN_WHENS; when++)
        for (unsigned sort = 0; sort < PLAN_SORTS; sort++)
            if (when == PLAN_AFTER || sort != PLAN_RETRY)
                json_append(list, of_cost(&p->cost[when][sort], (enum plan_when)when,
                                          (enum plan_sort)sort));
    return list;
}

static void put_time(json_t *json, const struct plan_time *time)
{
    json_put_figure(json, "before", &time->ms.before);
    json_put_figure(json, "after", &time->ms.after);
    json_put_figure(json, "change", &time->ms.change);
    json_put_number(json, "with_hrr_ms", time->retry_ms);
}

static json_t *of_times(const struct plan *p)
{
    json_t *list = json_made(json_array());
    for (size_t i = 0; i < p->options->distances; i++) {
        const struct plan_distance *d = &p->options->distance[i];
        json_t *json = json_made(json_object());
        json_put_number(json, "rtt_ms", d->rtt_ms);
        json_put_number(json, "share", d->share);
        if (d->rate_bits_per_s > 0)
            json_put_number(json, "rate_bits_per_s", d->rate_bits_per_s);
        put_time(json, &p->time[i]);
        json_append(list, json);
    }
    return list;
}

static void put_figures(json_t *root, const struct plan *p)
{
    json_t *mean = json_made(json_object());
    json_put_number(root, "connections_a_month", p->month_connections);
    json_put(root, "server_cpu_us", of_change(&p->cpu_us));
    json_put(root, "cores", of_change(&p->cores));
    json_put(root, "egress_gb_a_month", of_change(&p->egress_gb));
    json_put(root, "ingress_gb_a_month", of_change(&p->ingress_gb));
    json_put_nonempty(root, "price_of_cores_a_month", of_change(&p->price_cores));
    json_put_nonempty(root, "price_of_egress_a_month", of_change(&p->price_egress));
    json_put_nonempty(root, "price_a_month", of_change(&p->price));
    json_put_nonempty(root, "handshake_ms", of_times(p));
    put_time(mean, &p->mean);
    json_put_nonempty(root, "mean_handshake_ms", mean);
}

static json_t *of_assumptions(const struct plan *p)
{
    json_t *json = json_made(json_object());
    for (size_t i = 0; i < p->assumptions; i++)
        json_put_text(json, p->assumption[i].name, p->assumption[i].text);
    return json;
}

void plan_add_json(const struct plan *p, struct text *out)
{
    json_t *root = json_made(json_object()), *measured = json_made(json_object());
    json_put_text(root, "schema", SCHEMA);
    json_put_text(measured, "kind", result_kind_name(p->result->kind));
    json_put_text(measured, "started_at", p->result->started_at);
    json_put_bool(measured, "valid", p->result->is_valid);
    json_put(root, "result", measured);
    json_put(root, "settings", of_settings(p->options));
    json_put(root, "one_handshake", of_costs(p));
    put_figures(root, p);
    json_put(root, "assumptions", of_assumptions(p));
    char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    text_addf(out, "%s\n", dumped != NULL ? dumped : "{}");
    free(dumped);
}
