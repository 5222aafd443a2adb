/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "report/plan_parts.h"

#define US_PER_S 1e6
#define S_PER_H 3600.0
#define BYTES_PER_GB 1e9

const char *plan_sort_name(enum plan_sort sort)
{
    static const char *const names[PLAN_SORTS] = {"full", "resumed", "hrr"};
    assert((unsigned)sort < PLAN_SORTS);
    return names[sort];
}

struct figure plan_figure_of(double value)
{
    return (struct figure){value, value, value};
}

struct figure plan_figure_sum(struct figure a, struct figure b)
{
    return (struct figure){a.value + b.value, a.low + b.low, a.high + b.high};
}

struct figure plan_figure_less(struct figure a, struct figure b)
{
    return (struct figure){a.value - b.value, a.low - b.high, a.high - b.low};
}

struct figure plan_figure_times(struct figure f, double k)
{
    assert(k >= 0);
    if (k == 0)
        return plan_figure_of(0);
    return (struct figure){f.value * k, f.low * k, f.high * k};
}

/* No fleet has fewer than no cores, whatever the noise. */
static struct figure not_below_zero(struct figure f)
{
    return (struct figure){f.value < 0 ? 0 : f.value, f.low < 0 ? 0 : f.low,
                           f.high < 0 ? 0 : f.high};
}

struct plan_change plan_weigh(const struct plan_options *o, const struct plan_weighed *w)
{
    const double share[PLAN_RETRY] = {1 - o->resumed, o->resumed};
    struct plan_change out = {plan_figure_of(0), plan_figure_of(0),
                              plan_figure_times(w->retry, o->hybrid_clients * o->hrr)};
    for (unsigned sort = 0; sort < PLAN_RETRY; sort++) {
        out.before =
            plan_figure_sum(out.before, plan_figure_times(w->before[sort], share[sort]));
        out.change = plan_figure_sum(
            out.change, plan_figure_times(w->more[sort], o->hybrid_clients * share[sort]));
    }
    out.after = not_below_zero(plan_figure_sum(out.before, out.change));
    return out;
}

static void add_to_both(struct plan_change *c, double value)
{
    c->before = plan_figure_sum(c->before, plan_figure_of(value));
    c->after = plan_figure_sum(c->after, plan_figure_of(value));
}

static struct plan_change change_times(const struct plan_change *c, double k)
{
    return (struct plan_change){plan_figure_times(c->before, k), plan_figure_times(c->after, k),
                                plan_figure_times(c->change, k)};
}

static struct plan_change change_sum(const struct plan_change *a, const struct plan_change *b)
{
    return (struct plan_change){plan_figure_sum(a->before, b->before),
                                plan_figure_sum(a->after, b->after),
                                plan_figure_sum(a->change, b->change)};
}

static void find_cores(struct plan *p)
{
    const struct plan_options *o = p->options;
    struct plan_weighed w;
    for (unsigned sort = 0; sort < PLAN_RETRY; sort++) {
        w.before[sort] = p->cost[PLAN_BEFORE][sort].cpu_us[RESULT_SERVER];
        w.more[sort] = p->cost[PLAN_AFTER][sort].more_cpu_us[RESULT_SERVER];
    }
    w.retry = p->cost[PLAN_AFTER][PLAN_RETRY].more_cpu_us[RESULT_SERVER];
    p->cpu_us = plan_weigh(o, &w);
    add_to_both(&p->cpu_us, o->other_cpu_us);
    p->cores = change_times(&p->cpu_us, o->peak_per_s / US_PER_S / o->utilisation);
}

static struct plan_change month_gb(const struct plan *p, enum result_side sender)
{
    const struct plan_cost *before = p->cost[PLAN_BEFORE], *after = p->cost[PLAN_AFTER];
    struct plan_weighed w;
    for (unsigned sort = 0; sort < PLAN_RETRY; sort++) {
        w.before[sort] = plan_figure_of(before[sort].wire_bytes[sender]);
        w.more[sort] =
            plan_figure_of(after[sort].wire_bytes[sender] - before[sort].wire_bytes[sender]);
    }
    w.retry = plan_figure_of(after[PLAN_RETRY].wire_bytes[sender] -
                             after[PLAN_FULL].wire_bytes[sender]);
    struct plan_change bytes = plan_weigh(p->options, &w);
    if (sender == RESULT_SERVER)
        add_to_both(&bytes, plan_wire_bytes(p->options->response_bytes));
    return change_times(&bytes, p->month_connections / BYTES_PER_GB);
}

/* NAN where there is no price; the sum is of those that there are. */
static void find_price(struct plan *p)
{
    const struct plan_options *o = p->options;
    const struct figure none = FIGURE_ABSENT;
    p->price_cores = p->price_egress = p->price = (struct plan_change){none, none, none};
    if (!isnan(o->price_core_hour))
        p->price = p->price_cores = change_times(&p->cores, o->price_core_hour * PLAN_MONTH_H);
    if (!isnan(o->price_gb))
        p->price = p->price_egress = change_times(&p->egress_gb, o->price_gb);
    if (!isnan(o->price_core_hour) && !isnan(o->price_gb))
        p->price = change_sum(&p->price_cores, &p->price_egress);
}

int plan_make(const struct result *r, const struct plan_options *options, struct plan *out,
              struct err *e)
{
    *out = (struct plan){.result = r, .options = options};
    if (plan_find_arms(out, e) != 0 || plan_find_costs(out, e) != 0) {
        plan_free(out);
        return -1;
    }
    out->month_connections = options->peak_per_s * options->mean_share * S_PER_H * PLAN_MONTH_H;
    find_cores(out);
    out->egress_gb = month_gb(out, RESULT_SERVER);
    out->ingress_gb = month_gb(out, RESULT_CLIENT);
    find_price(out);
    plan_find_times(out);
    plan_tell_assumptions(out);
    return 0;
}

void plan_free(struct plan *p)
{
    for (size_t i = 0; i < p->assumptions; i++)
        free(p->assumption[i].text);
    free(p->time);
    *p = (struct plan){0};
}
