/* SPDX-License-Identifier: Apache-2.0 */
/* The time to handshake of clients at a distance: the link's model, and computing where the
 * result has that of both sides. */
#include <math.h>
#include "report/plan_parts.h"

#define NS_PER_MS 1e6
#define US_PER_MS 1e3

static double network_ms(const struct plan_distance *d, const struct plan_cost *c)
{
    const struct link_model_way way = {.delay_ns = d->rtt_ms / 2 * NS_PER_MS,
                                       .rate_bits_per_s = d->rate_bits_per_s};
    const struct link_model_line line = {{way, way}, PLAN_MTU_BYTES};
    if (c->flights.count == 0)
        return NAN;
    return (link_model_connect_ns(&line) + link_model_ns(&line, &c->flights)) / NS_PER_MS;
}

/* Of both sides, one after the other; 0 where the result has not both. */
static struct figure both_ms(const struct figure cpu_us[RESULT_SIDES])
{
    if (!figure_is_set(&cpu_us[RESULT_CLIENT]) || !figure_is_set(&cpu_us[RESULT_SERVER]))
        return plan_figure_of(0);
    return plan_figure_times(plan_figure_sum(cpu_us[RESULT_CLIENT], cpu_us[RESULT_SERVER]),
                             1 / US_PER_MS);
}

static struct plan_time time_of(const struct plan *p, const struct plan_distance *d)
{
    const struct plan_cost *before = p->cost[PLAN_BEFORE], *after = p->cost[PLAN_AFTER];
    const struct plan_cost *full = &after[PLAN_FULL], *retry = &after[PLAN_RETRY];
    struct plan_time t;
    struct plan_weighed w;
    for (unsigned sort = 0; sort < PLAN_RETRY; sort++) {
        const double ms = network_ms(d, &before[sort]);
        w.before[sort] = plan_figure_sum(plan_figure_of(ms), both_ms(before[sort].cpu_us));
        w.more[sort] = plan_figure_sum(plan_figure_of(network_ms(d, &after[sort]) - ms),
                                       both_ms(after[sort].more_cpu_us));
    }
    const double full_ms = network_ms(d, full);
    w.retry = plan_figure_sum(plan_figure_of(network_ms(d, retry) - full_ms),
                              both_ms(retry->more_cpu_us));
    t.ms = plan_weigh(p->options, &w);
    t.retry_ms = p->options->hrr > 0 && p->options->hybrid_clients > 0
                     ? w.before[PLAN_FULL].value + w.more[PLAN_FULL].value + w.retry.value
                     : NAN;
    return t;
}

static void add_share(struct figure *sum, const struct figure *f, double share)
{
    *sum = plan_figure_sum(*sum, plan_figure_times(*f, share));
}

void plan_find_times(struct plan *p)
{
    const struct plan_options *o = p->options;
    const struct figure none = FIGURE_ABSENT;
    const struct figure start = o->distances > 0 ? plan_figure_of(0) : none;
    p->time = mem_alloc_zeroed(o->distances + 1, sizeof *p->time);
    p->mean = (struct plan_time){{start, start, start}, NAN};
    double retry_ms = 0;
    for (size_t i = 0; i < o->distances; i++) {
        const double share = o->distance[i].share;
        p->time[i] = time_of(p, &o->distance[i]);
        add_share(&p->mean.ms.before, &p->time[i].ms.before, share);
        add_share(&p->mean.ms.after, &p->time[i].ms.after, share);
        add_share(&p->mean.ms.change, &p->time[i].ms.change, share);
        retry_ms += p->time[i].retry_ms * share;
    }
    if (o->distances > 0)
        p->mean.retry_ms = retry_ms;
}
