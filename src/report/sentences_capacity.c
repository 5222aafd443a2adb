/* SPDX-License-Identifier: Apache-2.0 */
/* What each arm holds, what was full then, and what an arm costs of the baseline's. */
#include "report/sentences.h"

#include <math.h>
#include "base/units.h"
#include "report/figures.h"
#include "report/lookup.h"
#include "result/capacity.h"

static void add_rate(struct text *out, double per_s)
{
    figures_add_us(out, per_s); /* three digits, as any figure */
    text_add(out, "/s");
}

void sentences_add_objectives(struct text *out, const struct result *r)
{
    char name[48], limit[32];
    for (size_t i = 0; i < r->capacity->objectives; i++) {
        const struct capacity_objective *o = &r->capacity->objective[i];
        text_addf(out, "%s%s <= ", i > 0 ? ", " : "",
                  capacity_objective_name(o, name, sizeof(name)));
        if (o->is_failures)
            figures_add_share(out, o->limit);
        else
            text_add(out,
                     units_format_duration((uint64_t)(o->limit * 1e3), limit, sizeof(limit)));
    }
}

static const char *words_of(enum capacity_limit limit)
{
    static const char *const words[CAPACITY_LIMITS] = {
        [CAPACITY_LIMIT_UNKNOWN] = "what the limit is was not found out",
        [CAPACITY_LIMIT_SERVER_CPU] = "the limit is the server's CPU",
        [CAPACITY_LIMIT_LINK] = "the limit is the link",
        [CAPACITY_LIMIT_BACKLOG] = "above it arrivals queue up, though nothing that is seen is "
                                   "full",
        [CAPACITY_LIMIT_LATENCY] = "above it the latency is too high before anything is full",
        [CAPACITY_LIMIT_FAILURES] = "above it too many connections fail",
        [CAPACITY_LIMIT_CLIENT] = "the limit is the client, this generator: what the server "
                                  "can do is not known",
        [CAPACITY_LIMIT_MAX_RATE] = "no faster rate was to be tried",
        [CAPACITY_LIMIT_MIN_RATE] = "not even the lowest rate holds",
    };
    return words[limit];
}

bool sentences_add_capacity(struct text *out, const struct result *r, size_t arm)
{
    if (arm >= r->capacity->arms)
        return false;
    const struct capacity_arm *a = &r->capacity->arm[arm];
    sentences_add_arm(out, &r->arm[arm]);
    if (figure_is_set(&a->per_s)) {
        text_add(out, " holds ");
        add_rate(out, a->per_s.value);
        text_addf(out, ", %.3g %% interval ", r->capacity->confidence * 100);
        figures_add_interval(out, &a->per_s);
    } else if (!isnan(a->lower_bound_per_s)) {
        text_add(out, " holds at least ");
        add_rate(out, a->lower_bound_per_s);
    } else if (!isnan(a->upper_bound_per_s)) {
        text_add(out, " does not hold ");
        add_rate(out, a->upper_bound_per_s);
    } else {
        text_add(out, " has no valid probe");
    }
    text_addf(out, "; %s.", words_of(a->limited_by));
    return true;
}

static void add_share_lost(struct text *out, double ratio)
{
    figures_add_share(out, fabs(1 - ratio));
}

/* "costs 14 % of the capacity (95 % interval 12 % to 16 %, noise floor 1 %)" */
static void add_cost(struct text *out, const struct result_comparison *c)
{
    const bool is_less = c->ratio.value < 1;
    text_add(out, is_less ? " costs " : " gains ");
    add_share_lost(out, c->ratio.value);
    text_addf(out, " of the capacity (%.3g %% interval ", c->confidence * 100);
    add_share_lost(out, is_less ? c->ratio.high : c->ratio.low);
    text_add(out, " to ");
    add_share_lost(out, is_less ? c->ratio.low : c->ratio.high);
    if (!isnan(c->noise_floor)) {
        text_add(out, ", noise floor ");
        figures_add_share(out, c->noise_floor / c->baseline_value);
    }
    text_add(out, ")");
}

/* Where the sign is open: from - to +. */
static void add_change(struct text *out, const struct result_comparison *c)
{
    text_add(out, " (");
    figures_add_change(out, c->ratio.value - 1);
    text_addf(out, ", %.3g %% interval ", c->confidence * 100);
    figures_add_change(out, c->ratio.low - 1);
    text_add(out, " to ");
    figures_add_change(out, c->ratio.high - 1);
    text_add(out, ")");
}

bool sentences_add_capacity_cost(struct text *out, const struct result *r,
                                 const struct result_arm *arm)
{
    const struct result_comparison *c = lookup_comparison(r, arm->name, "capacity_per_s");
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    if (c == NULL || baseline == NULL || !figure_has_interval(&c->ratio))
        return false;
    text_add(out, "Against ");
    sentences_add_arm(out, baseline);
    text_add(out, ", ");
    sentences_add_arm(out, arm);
    switch (c->verdict) {
    case RESULT_VERDICT_MORE:
    case RESULT_VERDICT_FEWER:
    case RESULT_VERDICT_SLOWER:
    case RESULT_VERDICT_FASTER:
        add_cost(out, c);
        text_add(out, ": ");
        add_rate(out, c->baseline_value);
        text_add(out, " become ");
        add_rate(out, c->value.value);
        break;
    case RESULT_VERDICT_SAME:
        text_add(out, " makes no difference beyond noise to the capacity");
        add_change(out, c);
        break;
    case RESULT_VERDICT_INCONCLUSIVE:
    case RESULT_VERDICT_WITHHELD:
        text_add(out, " is inconclusive for the capacity");
        add_change(out, c);
        break;
    }
    text_add(out, ".");
    return true;
}
