/* SPDX-License-Identifier: Apache-2.0 */
/* Rows: every metric of every arm, side against reference. */
#include "run/across.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/across_parts.h"
#include "run/verdict.h"
#include "stats/sample.h"

#define FREEDOM 20u /* that the expectation is worth */
#define COUNT_FREEDOM 1000000u
#define RATIO_TIMES 0.5     /* of the deviation: arms of one run see the same host */
#define RELEVANT_SHARE 0.05 /* a difference that nobody would overlook */

/* ---- who is compared ---- */

static double work_of(const struct across_input *side)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < side->runs; k++)
        for (size_t i = 0; i < side->run[k]->arms; i++)
            for (size_t t = 0; t < side->run[k]->arm[i].trials; t++) {
                const double us = side->run[k]->arm[i].trial[t].work_us[RESULT_SERVER];
                sum += isnan(us) ? 0 : us;
                n += isnan(us) ? 0 : 1;
            }
    return n == 0 ? (double)NAN : sum / (double)n;
}

static void add_side(struct across *a, const struct across_input *input)
{
    const struct result *first = input->run[0];
    struct across_side *side = across_add_side(a, input->name);
    for (size_t k = 0; k < input->runs; k++) {
        across_add_file(side, input->file[k]);
        side->interrupted += input->run[k]->is_interrupted;
        side->invalid += !input->run[k]->is_valid;
    }
    result_set_text(&side->started_at, first->started_at);
    result_set_text(&side->version, first->build.version);
    if (first->hosts > 0) {
        result_set_text(&side->cpu_model, first->host[0].facts.cpu_model);
        result_set_text(&side->arch, first->host[0].facts.arch);
    }
    side->work_us = work_of(input);
}

static int check_kinds(const struct across_options *o, struct err *e)
{
    const struct result *first = o->side[0].run[0];
    for (size_t s = 0; s < o->sides; s++)
        for (size_t k = 0; k < o->side[s].runs; k++)
            if (o->side[s].run[k]->kind != first->kind)
                return err_set(e, ERR_FAILED,
                               "%s is of kind %s and %s of kind %s: they measure different "
                               "things",
                               o->side[0].file[0], result_kind_name(first->kind),
                               o->side[s].file[k], result_kind_name(o->side[s].run[k]->kind));
    return 0;
}

static void add_left(struct across *a, const char *arm, const char *where)
{
    struct text line = {0};
    text_addf(&line, "%s (%s)", arm, where);
    across_add_unmatched(a, text_str(&line));
    text_free(&line);
}

/* Arms of either side that have no counterpart. */
static void find_left(const struct across_options *o, const struct across_arms *arms,
                      struct across *a)
{
    for (size_t s = 1; s < o->sides; s++) {
        const struct result *r = o->side[s].run[0];
        for (size_t i = 0; i < arms->count; i++)
            if (arms->arm[i].other[s] == NULL)
                add_left(a, arms->arm[i].reference->name, o->side[0].name);
        for (size_t k = 0; k < r->arms; k++) {
            bool is_matched = false;
            for (size_t i = 0; i < arms->count; i++)
                is_matched = is_matched || arms->arm[i].of[s][0] == &r->arm[k];
            if (!is_matched)
                add_left(a, r->arm[k].name, o->side[s].name);
        }
    }
}

struct across *across_look(const struct across_options *o, struct err *e)
{
    struct across_arms arms;
    assert(o->sides >= 2 && o->sides <= ACROSS_SIDES_MAX && o->run_deviation > 0);
    if (check_kinds(o, e) != 0)
        return NULL;
    struct across *a = across_new();
    a->kind = o->side[0].run[0]->kind;
    a->is_forced = o->is_forced;
    a->run_deviation = o->run_deviation;
    for (size_t i = 0; i < o->sides; i++)
        add_side(a, &o->side[i]);
    if (across_match(o, &arms, e) != 0) {
        across_free(a);
        a = NULL;
    } else {
        across_find_facts(o, &arms, a);
        find_left(o, &arms, a);
    }
    across_arms_free(&arms);
    return a;
}

/* ---- rows ---- */

/* What a side's runs say of one metric of one arm. */
struct readings {
    size_t runs;
    bool is_set, is_valid, has_error;
    double shown;
    struct between_run run[ACROSS_RUNS_MAX];
};

/* Where a row comes from. */
struct place {
    const struct across_options *o;
    const struct across_arms *arms;
    size_t side;
    const struct across_metric *metric;
};

static bool can_scale(const struct place *p, const struct across_arm *arm)
{
    const size_t sides[] = {0, p->side};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < p->o->side[sides[i]].runs; k++)
            if (!across_can_scale(arm->of[sides[i]][k], p->metric))
                return false;
    return true;
}

static void read_side(const struct place *p, const struct across_arm *arm, size_t side,
                      bool is_scaled, struct readings *out)
{
    const struct across_input *input = &p->o->side[side];
    *out = (struct readings){
        .runs = input->runs, .is_set = true, .is_valid = true, .has_error = true};
    for (size_t k = 0; k < input->runs; k++) {
        const struct across_reading r =
            across_read(input->run[k], arm->of[side][k], p->metric, is_scaled);
        out->is_set = out->is_set && r.is_set;
        out->is_valid = out->is_valid && r.is_valid;
        out->has_error = out->has_error && !isnan(r.run.error);
        out->shown += r.shown / (double)input->runs;
        out->run[k] = r.run;
    }
}

/* Several runs a side tell their scatter by themselves. */
static bool fill_errors(struct readings *a, struct readings *b)
{
    if (a->has_error && b->has_error)
        return true;
    if (a->runs < SAMPLE_INTERVAL_MIN || b->runs < SAMPLE_INTERVAL_MIN)
        return false;
    for (size_t k = 0; k < a->runs; k++)
        a->run[k].error = isnan(a->run[k].error) ? 0 : a->run[k].error;
    for (size_t k = 0; k < b->runs; k++)
        b->run[k].error = isnan(b->run[k].error) ? 0 : b->run[k].error;
    return true;
}

static struct between_expected expected_of(const struct across_metric *m, double deviation)
{
    if (m->nature == ACROSS_COUNT)
        return (struct between_expected){0, COUNT_FREEDOM};
    const double times = m->times * (m->nature == ACROSS_RATIO ? RATIO_TIMES : 1);
    return (struct between_expected){times * deviation, FREEDOM};
}

static double as_share(const struct across_metric *m, double difference, double before)
{
    return m->nature == ACROSS_COUNT ? difference / before : expm1(difference);
}

static enum result_verdict word_of(const struct across_metric *m, enum result_verdict verdict)
{
    const bool is_time = m->nature == ACROSS_TIME;
    if (is_time || (verdict != RESULT_VERDICT_SLOWER && verdict != RESULT_VERDICT_FASTER))
        return verdict;
    return verdict == RESULT_VERDICT_SLOWER ? RESULT_VERDICT_MORE : RESULT_VERDICT_FEWER;
}

/* The floor is one draw and may be near nothing by chance: it can take a word away, and a
 * change above it is none for that. */
static enum result_verdict above_floor(const struct across_row *row,
                                       enum result_verdict verdict)
{
    const bool is_word = verdict == RESULT_VERDICT_SLOWER || verdict == RESULT_VERDICT_FASTER;
    const double nearer = fmin(fabs(row->change.low), fabs(row->change.high));
    return is_word && nearer <= row->noise_floor ? RESULT_VERDICT_INCONCLUSIVE : verdict;
}

static void judge(const struct place *p, const struct readings *a, const struct readings *b,
                  struct across_row *row)
{
    const struct across_metric *m = p->metric;
    const struct between_side before = {a->runs, a->run}, after = {b->runs, b->run};
    const struct between_expected expected = expected_of(m, p->o->run_deviation);
    struct verdict_input in = {.noise_floor = NAN,
                               .is_valid = p->o->is_forced || (a->is_valid && b->is_valid),
                               .relevant = m->nature == ACROSS_COUNT ? 0 : RELEVANT_SHARE};
    const struct estimate shown = between_difference(&before, &after, &expected, 0.95);
    const struct estimate wide =
        between_difference(&before, &after, &expected, VERDICT_CONFIDENCE);
    row->change.value = as_share(m, shown.value, a->shown);
    row->change.low = as_share(m, shown.low, a->shown);
    row->change.high = as_share(m, shown.high, a->shown);
    in.wide_low = as_share(m, wide.low, a->shown);
    in.wide_high = as_share(m, wide.high, a->shown);
    in.difference = row->change;
    row->verdict = word_of(m, above_floor(row, verdict_of(&in)));
}

static struct across_row *begin_row(const struct place *p, struct across *a)
{
    struct across_row *row = across_add_row(a);
    row->side = p->side;
    row->is_main = p->metric->is_main;
    result_set_text(&row->metric, p->metric->name);
    result_set_text(&row->unit, p->metric->unit);
    return row;
}

static bool is_compared(const struct place *p, const struct across_arm *arm)
{
    return arm->other[0] != NULL && arm->other[p->side] != NULL;
}

/* The change of an arm's logarithm (of counts: of the value); false: not to be had. */
static bool shift_of(const struct place *p, const struct across_arm *arm, double *out)
{
    struct readings before, after;
    const bool is_scaled = can_scale(p, arm);
    double sum[2] = {0, 0};
    read_side(p, arm, 0, is_scaled, &before);
    read_side(p, arm, p->side, is_scaled, &after);
    if (!before.is_set || !after.is_set)
        return false;
    for (size_t k = 0; k < before.runs; k++)
        sum[0] += before.run[k].value / (double)before.runs;
    for (size_t k = 0; k < after.runs; k++)
        sum[1] += after.run[k].value / (double)after.runs;
    *out = sum[1] - sum[0];
    return true;
}

static const struct across_arm *find_arm(const struct across_arms *arms,
                                         const struct result_arm *reference)
{
    for (size_t i = 0; i < arms->count; i++)
        if (arms->arm[i].reference == reference)
            return &arms->arm[i];
    return NULL;
}

/* A control and its baseline are one configuration: whatever a build changes, it changes in
 * both.  By how much their shifts differ nevertheless, noise alone can do. */
static double floor_of(const struct place *p)
{
    const struct result *reference = p->o->side[0].run[0];
    double floor = NAN;
    for (size_t i = 0; i < p->arms->count; i++) {
        const struct across_arm *control = &p->arms->arm[i];
        double shift[2];
        if (!is_compared(p, control) || !across_is_control(reference, control->reference))
            continue;
        const struct across_arm *baseline =
            find_arm(p->arms, across_baseline(reference, control->reference));
        if (baseline == NULL || !is_compared(p, baseline) || !shift_of(p, control, &shift[0]))
            continue;
        if (p->metric->nature == ACROSS_RATIO) /* of the control itself */
            floor = fmax(floor, fabs(shift[0]));
        else if (shift_of(p, baseline, &shift[1]))
            floor = fmax(floor, fabs(shift[0] - shift[1]));
    }
    return floor;
}

static void add_arm_row(const struct place *p, const struct across_arm *arm, double floor,
                        struct across *a)
{
    struct readings before, after;
    const bool is_scaled = can_scale(p, arm);
    read_side(p, arm, 0, is_scaled, &before);
    read_side(p, arm, p->side, is_scaled, &after);
    if (!before.is_set || !after.is_set)
        return;
    struct across_row *row = begin_row(p, a);
    result_set_text(&row->arm, arm->reference->name);
    if (strcmp(arm->reference->name, arm->other[p->side]) != 0)
        result_set_text(&row->other, arm->other[p->side]);
    row->is_scaled = is_scaled;
    row->before.value = before.shown;
    row->after.value = after.shown;
    row->measured = after.shown / before.shown - 1;
    row->noise_floor = p->metric->nature == ACROSS_COUNT ? (double)NAN : floor;
    if (fill_errors(&before, &after))
        judge(p, &before, &after, row);
    else
        row->change.value =
            as_share(p->metric, after.run[0].value - before.run[0].value, before.shown);
}

/* The mean over arms, run by run.  Their errors have one cause and do not cancel. */
static size_t average_side(const struct place *p, size_t side, bool is_scaled,
                           struct readings *out)
{
    size_t n = 0;
    *out = (struct readings){
        .runs = p->o->side[side].runs, .is_set = true, .is_valid = true, .has_error = true};
    for (size_t i = 0; i < p->arms->count; i++) {
        struct readings one;
        if (!is_compared(p, &p->arms->arm[i]))
            continue;
        read_side(p, &p->arms->arm[i], side, is_scaled, &one);
        if (!one.is_set)
            continue;
        n++;
        out->is_valid = out->is_valid && one.is_valid;
        out->has_error = out->has_error && one.has_error;
        for (size_t k = 0; k < out->runs; k++) {
            out->run[k].value += (one.run[k].value - out->run[k].value) / (double)n;
            out->run[k].error += (one.run[k].error - out->run[k].error) / (double)n;
        }
    }
    return n;
}

/* What a change of the build, or of the machine, does to all arms. */
static void add_common_row(const struct place *p, double floor, struct across *a)
{
    struct readings before, after;
    bool is_scaled = true;
    for (size_t i = 0; i < p->arms->count; i++)
        if (is_compared(p, &p->arms->arm[i]))
            is_scaled = is_scaled && can_scale(p, &p->arms->arm[i]);
    const size_t n = average_side(p, 0, is_scaled, &before);
    if (n < 2 || average_side(p, p->side, is_scaled, &after) != n)
        return;
    struct across_row *row = begin_row(p, a);
    row->is_scaled = is_scaled;
    row->noise_floor = floor;
    if (fill_errors(&before, &after))
        judge(p, &before, &after, row);
    else
        row->change.value = expm1(after.run[0].value - before.run[0].value);
}

void across_measure(const struct across_options *o, struct across *a)
{
    struct across_arms arms;
    struct across_metric metric;
    struct err e = ERR_INIT;
    if (across_match(o, &arms, &e) != 0)
        return;
    for (size_t side = 1; side < o->sides; side++)
        for (size_t i = 0; across_metric_at(i, &metric); i++) {
            const struct place p = {o, &arms, side, &metric};
            if ((metric.kinds & 1u << a->kind) == 0)
                continue;
            const double floor = floor_of(&p);
            if (metric.nature == ACROSS_TIME && metric.is_main)
                add_common_row(&p, floor, a);
            for (size_t k = 0; k < arms.count; k++)
                if (is_compared(&p, &arms.arm[k]))
                    add_arm_row(&p, &arms.arm[k], floor, a);
        }
    across_arms_free(&arms);
}
