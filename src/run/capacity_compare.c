/* SPDX-License-Identifier: Apache-2.0 */
/* Capacities of two arms; the word is of counts: "fewer" is what an arm that costs more has. */
#include <math.h>
#include <string.h>
#include "base/text.h"
#include "run/capacity_parts.h"
#include "run/verdict.h"

#define METRIC "capacity_per_s"

struct pair {
    const struct arm_list *arms;
    const struct capacity_search *search;
    size_t arm, baseline;
    bool is_control;
};

static double floor_of(const struct pair *p, const struct result *r)
{
    double floor = NAN;
    for (size_t i = 0; !p->is_control && i < r->comparisons; i++) {
        const struct result_comparison *c = &r->comparison[i];
        for (size_t k = 0; k < p->arms->count; k++)
            if (strcmp(p->arms->arm[k].name, c->arm) == 0 && arms_is_control(p->arms, k) &&
                arms_baseline(p->arms, k) == p->baseline)
                floor = fmax(floor, verdict_noise_floor(&c->difference));
    }
    return floor;
}

static enum result_verdict word_of(enum result_verdict v)
{
    if (v == RESULT_VERDICT_SLOWER)
        return RESULT_VERDICT_MORE;
    return v == RESULT_VERDICT_FASTER ? RESULT_VERDICT_FEWER : v;
}

static void compare(const struct pair *p, struct result *r)
{
    const double baseline = r->capacity->arm[p->baseline].per_s.value;
    const double wide = (1 - VERDICT_CONFIDENCE) / 2;
    const double floor = floor_of(p, r);
    struct capacity_ratio ratio;
    capacity_ratio_init(&ratio, &p->search[p->baseline].fit, &p->search[p->arm].fit);
    struct result_comparison *c = result_add_comparison(r);
    result_set_text(&c->baseline, r->arm[p->baseline].name);
    result_set_text(&c->arm, r->arm[p->arm].name);
    result_set_text(&c->metric, METRIC);
    c->baseline_value = baseline;
    c->value.value = r->capacity->arm[p->arm].per_s.value;
    c->ratio = (struct figure){capacity_ratio_quantile(&ratio, 0.5),
                               capacity_ratio_quantile(&ratio, 0.025),
                               capacity_ratio_quantile(&ratio, 0.975)};
    c->difference =
        (struct figure){baseline * (c->ratio.value - 1), baseline * (c->ratio.low - 1),
                        baseline * (c->ratio.high - 1)};
    c->noise_floor = floor;
    const struct verdict_input in = {
        .difference = c->difference,
        .noise_floor = floor,
        .is_control = p->is_control,
        .is_valid = true,
        .elapsed_s = r->elapsed_s,
        .wide_low = baseline * (capacity_ratio_quantile(&ratio, wide) - 1),
        .wide_high = baseline * (capacity_ratio_quantile(&ratio, 1 - wide) - 1)};
    const enum result_verdict verdict = verdict_of(&in);
    c->verdict = word_of(verdict);
    c->settle_s = verdict == RESULT_VERDICT_INCONCLUSIVE ? verdict_settle_s(&in) : NAN;
    capacity_ratio_fini(&ratio);
}

/* Controls first: the others need their floor. */
void capacity_compare(const struct arm_list *arms, const struct capacity_search *search,
                      struct result *result)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < arms->count; i++) {
            const struct pair p = {.arms = arms,
                                   .search = search,
                                   .arm = i,
                                   .baseline = arms_baseline(arms, i),
                                   .is_control = pass == 0};
            if (p.baseline == i || arms_is_control(arms, i) != p.is_control ||
                !figure_is_set(&result->capacity->arm[i].per_s) ||
                !figure_is_set(&result->capacity->arm[p.baseline].per_s))
                continue;
            compare(&p, result);
        }
}
