/* SPDX-License-Identifier: Apache-2.0 */
/* The answer in one sentence an arm, and whether it may be believed. */
#include "report/sentences.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/lookup.h"

static const struct {
    const char *metric, *words;
} headlines[] = {
    {"latency_us.tls.p50", "the handshake's p50"},
    {"latency_us.tls.p99", "its p99"},
    {"cpu_us.client", "the client's CPU time"},
    {"cpu_us.server", "the server's CPU time"},
};
#define HEADLINES (sizeof(headlines) / sizeof(headlines[0]))

static void add_amount(struct text *out, const struct result_comparison *c)
{
    if (!figure_is_set(&c->difference))
        return;
    text_add(out, " ");
    figures_add_us(out, fabs(c->difference.value));
    text_add(out, " us (");
    figures_add_change(out, figures_change(c));
    text_add(out, ")");
}

/* " adds 180 us (+40 %) to" what follows; the verb again only where it changes. */
static void add_clause(struct text *out, const struct result_comparison *c, bool is_new)
{
    switch (c->verdict) {
    case RESULT_VERDICT_SLOWER:
    case RESULT_VERDICT_MORE:
        text_add(out, is_new ? " adds" : "");
        add_amount(out, c);
        text_add(out, " to");
        break;
    case RESULT_VERDICT_FASTER:
    case RESULT_VERDICT_FEWER:
        text_add(out, is_new ? " takes" : "");
        add_amount(out, c);
        text_add(out, " off");
        break;
    case RESULT_VERDICT_SAME:
        text_add(out, is_new ? " makes no difference beyond noise to" : "");
        break;
    case RESULT_VERDICT_INCONCLUSIVE:
        text_add(out, is_new ? " is inconclusive for" : "");
        break;
    case RESULT_VERDICT_WITHHELD:
        text_add(out, is_new ? " has its verdict withheld for" : "");
        break;
    }
}

bool sentences_add_answer(struct text *out, const struct result *r,
                          const struct result_arm *arm)
{
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    const struct result_comparison *last = NULL;
    if (baseline == NULL)
        return false;
    if (r->kind == RESULT_KIND_CAPACITY)
        return sentences_add_capacity_cost(out, r, arm);
    text_add(out, "Against ");
    sentences_add_arm(out, baseline);
    text_add(out, ", ");
    sentences_add_arm(out, arm);
    for (size_t i = 0; i < HEADLINES; i++) {
        const struct result_comparison *c =
            lookup_comparison(r, arm->name, headlines[i].metric);
        if (c == NULL)
            continue;
        const bool is_new = last == NULL || last->verdict != c->verdict;
        text_add(out, last == NULL ? "" : is_new ? "; it" : " and");
        add_clause(out, c, is_new);
        text_addf(out, " %s", headlines[i].words);
        last = c;
    }
    if (last == NULL)
        text_add(out, " has no figure to compare");
    sentences_add_byte_cost(out, arm, baseline);
    text_add(out, ".");
    return true;
}

static bool is_named_before(const struct result *r, size_t problem)
{
    for (size_t i = 0; i < problem; i++) {
        if (r->problem[i].severity == RESULT_FAULT &&
            strcmp(r->problem[i].code, r->problem[problem].code) == 0)
            return true;
    }
    return false;
}

static bool is_block_named_before(const struct result *r, size_t problem)
{
    for (size_t i = 0; i < problem; i++)
        if (r->problem[i].severity == RESULT_LEFT_OUT &&
            r->problem[i].trial == r->problem[problem].trial)
            return true;
    return false;
}

/* "; left out: block 3 (client-saturated), block 5 (steal)" */
static void add_left_out(struct text *out, const struct result *r)
{
    const char *before = "; left out:";
    text_addf(out, "Valid: %zu of %zu trials, and no rule of the method was broken in them",
              lookup_count_trials(r) - lookup_count_left_out(r), lookup_count_trials(r));
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->severity != RESULT_LEFT_OUT || is_block_named_before(r, i))
            continue;
        text_addf(out, "%s block %u (", before, p->trial);
        text_add_harmless(out, p->code);
        text_add(out, ")");
        before = ",";
    }
    text_add(out, ".");
}

void sentences_add_validity(struct text *out, const struct result *r)
{
    struct text codes = {0};
    size_t faults = 0;
    for (size_t i = 0; i < r->problems; i++) {
        if (r->problem[i].severity != RESULT_FAULT)
            continue;
        if (!is_named_before(r, i)) {
            text_add(&codes, codes.length > 0 ? ", " : "");
            text_add_harmless(&codes, r->problem[i].code);
        }
        faults++;
    }
    if (r->is_valid && lookup_count_left_out(r) > 0)
        add_left_out(out, r);
    else if (r->is_valid && faults == 0)
        text_addf(out, "Valid: %zu %s, and no rule of the method was broken.",
                  lookup_count_trials(r),
                  r->kind == RESULT_KIND_CPU        ? "repeats"
                  : r->kind == RESULT_KIND_CAPACITY ? "probes"
                                                    : "trials");
    else if (faults == 0)
        text_add(out, "Not valid.");
    else
        text_addf(out, "Not valid: %zu %s (%s). What rests on them is no answer.", faults,
                  faults == 1 ? "fault" : "faults", text_str(&codes));
    text_free(&codes);
}
