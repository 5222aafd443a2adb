/* SPDX-License-Identifier: Apache-2.0 */
/* One figure a row: before, after and change of each. */
#include <math.h>
#include "report/csv_rows.h"
#include "report/plan_parts.h"

static void add_number(struct text *out, double value)
{
    if (!isnan(value))
        text_addf(out, "%.10g", value);
}

static void add_row(struct text *out, const char *metric, const char *unit, const char *when,
                    const struct figure *f)
{
    if (!figure_is_set(f))
        return;
    csv_add_text(out, metric);
    text_addf(out, ",%s,%s,", unit, when);
    add_number(out, f->value);
    text_add(out, ",");
    add_number(out, f->low);
    text_add(out, ",");
    add_number(out, f->high);
    text_add(out, "\r\n");
}

static void add_change(struct text *out, const char *metric, const char *unit,
                       const struct plan_change *c)
{
    add_row(out, metric, unit, "before", &c->before);
    add_row(out, metric, unit, "after", &c->after);
    add_row(out, metric, unit, "change", &c->change);
}

static void add_times(struct text *out, const struct plan *p)
{
    for (size_t i = 0; i < p->options->distances; i++) {
        struct text metric = {0};
        text_addf(&metric, "handshake.%.10gms", p->options->distance[i].rtt_ms);
        if (p->options->distance[i].rate_bits_per_s > 0)
            text_addf(&metric, ".%.10gbit", p->options->distance[i].rate_bits_per_s);
        add_change(out, text_str(&metric), "ms", &p->time[i].ms);
        text_free(&metric);
    }
    add_change(out, "handshake", "ms", &p->mean.ms);
}

void plan_add_csv(const struct plan *p, struct text *out)
{
    const char *currency = p->options->currency;
    text_add(out, "metric,unit,when,value,low,high\r\n");
    add_change(out, "server_cpu", "us", &p->cpu_us);
    add_change(out, "cores", "cores", &p->cores);
    add_change(out, "egress_a_month", "GB", &p->egress_gb);
    add_change(out, "ingress_a_month", "GB", &p->ingress_gb);
    add_change(out, "price_of_cores_a_month", currency, &p->price_cores);
    add_change(out, "price_of_egress_a_month", currency, &p->price_egress);
    add_change(out, "price_a_month", currency, &p->price);
    add_times(out, p);
}
