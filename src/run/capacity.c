/* SPDX-License-Identifier: Apache-2.0 */
#include "run/capacity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "run/capacity_parts.h"
#include "run/load_parts.h"
#include "run/validity.h"

#define CLIENT_IDLE_MAX 0.5
#define PROBES_IN_ALL 1500u /* with all that is found in them, a file that can be read */
#define GUESS_SHARE 0.7     /* of what a few connections at once complete */

struct capacity_run {
    const struct capacity_options *options;
    struct result *result;
    struct load *load;
    struct capacity_search *search; /* one per arm */
    struct rng rng;
    uint64_t deadline_ns;
    bool is_out_of_time;
};

/* ---- one probe ---- */

static bool is_of(const struct result_problem *p, const char *code)
{
    return strcmp(p->code, code) == 0;
}

/* A generator that had cores to spare was kept from them by something else. */
static bool was_busy(const struct result_trial *t)
{
    return !(t->client_busy <= CLIENT_IDLE_MAX) || t->throttled > 0;
}

/* What the trial's problems make of it.  A server that is full or fails is what is looked
 * for; an in-flight limit that was reached is a backlog. */
static enum capacity_outcome judge_problems(const struct result *r, size_t from,
                                            const struct result_trial *t)
{
    bool is_client = false, is_void = false, is_full = false, is_throttled = false;
    for (size_t i = from; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->severity != RESULT_FAULT || is_of(p, "errors"))
            continue;
        if (is_of(p, "server-saturated"))
            is_full = !(t->server_busy > VALIDITY_SERVER_BUSY_MAX);
        else if (is_of(p, "client-saturated"))
            is_client = true;
        else if (!is_of(p, "throttled"))
            is_void = true;
        else
            is_throttled = true;
    }
    if (is_void)
        return CAPACITY_VOID;
    if (is_client)
        return was_busy(t) ? CAPACITY_CLIENT : CAPACITY_VOID;
    if (is_throttled)
        return CAPACITY_VOID;
    return is_full ? CAPACITY_BROKE : CAPACITY_HELD;
}

static bool keeps_objectives(const struct capacity *c, const struct result_trial *t)
{
    for (size_t i = 0; i < c->objectives; i++)
        if (!(capacity_objective_value(&c->objective[i], t) <= c->objective[i].limit))
            return false;
    return true;
}

/* A probe that is void is named, and the search goes on without it: no fault of the result. */
static void demote_problems(struct result *r, size_t from)
{
    r->is_valid = true;
    for (size_t i = 0; i < r->problems; i++) {
        if (i >= from && r->problem[i].trial != 0)
            r->problem[i].severity = RESULT_NOTE;
        r->is_valid = r->is_valid && r->problem[i].severity != RESULT_FAULT;
    }
}

static void read_link(const struct load *l, double bits[LINK_WAYS])
{
    struct link_counters counters[LINK_WAYS];
    memset(counters, 0, sizeof(counters));
    if (l->link != NULL)
        link_read_counters(l->link, counters);
    for (unsigned i = 0; i < LINK_WAYS; i++)
        bits[i] = 8.0 * (double)counters[i].bytes;
}

/* Of the busier way; NAN where no way has a rate. */
static double link_busy(const struct load *l, const double before[LINK_WAYS],
                        const struct result_trial *t)
{
    double after[LINK_WAYS], busiest = NAN;
    const double took_s = (double)l->options->warmup_ns / 1e9 + t->elapsed_s;
    read_link(l, after);
    for (unsigned i = 0; l->link != NULL && i < LINK_WAYS; i++) {
        const double rate = link_get_spec(l->link)->way[i].rate_bits_per_s;
        if (rate > 0)
            busiest = fmax(busiest, (after[i] - before[i]) / (rate * took_s));
    }
    return busiest;
}

static void note_probe(struct capacity_run *c, unsigned arm, size_t problems_before,
                       const double bits_before[LINK_WAYS])
{
    struct result *r = c->result;
    struct result_trial *t = &r->arm[arm].trial[r->arm[arm].trials - 1];
    struct capacity_probe *p = capacity_add_probe(r->capacity);
    enum capacity_outcome outcome = judge_problems(r, problems_before, t);
    if (outcome == CAPACITY_HELD && !keeps_objectives(r->capacity, t))
        outcome = CAPACITY_BROKE;
    demote_problems(r, problems_before);
    t->is_valid = outcome == CAPACITY_HELD || outcome == CAPACITY_BROKE;
    p->arm = arm;
    p->trial = t->index;
    p->held = outcome == CAPACITY_HELD ? CAPACITY_PROBE_HELD
              : t->is_valid            ? CAPACITY_PROBE_BROKE
                                       : CAPACITY_PROBE_VOID;
    p->link_busy = link_busy(c->load, bits_before, t);
    capacity_search_add(&c->search[arm], t->due_per_s, outcome);
}

static void fill_arms(struct capacity_run *c);

/* The answers as the probes until now give them. */
static void keep_so_far(struct capacity_run *c)
{
    if (c->options->load.keep.keep == NULL)
        return;
    fill_arms(c);
    load_keep(c->load);
}

/* 0, -1 with an error, 1: stopped. */
static int run_probe(struct capacity_run *c, unsigned arm, unsigned round, struct err *e)
{
    char step[ARM_NAME_MAX + 80];
    double bits[LINK_WAYS];
    const double rate_per_s = capacity_search_next(&c->search[arm], &c->rng);
    const size_t problems = c->result->problems;
    snprintf(step, sizeof(step), "probe %zu, %s at %.4g/s", c->result->capacity->probes + 1,
             c->result->arm[arm].name, rate_per_s);
    const struct load_turn turn = {
        .rate_per_s = rate_per_s, .block = round, .arm = arm, .step = step};
    read_link(c->load, bits);
    const int end = load_run_turn(c->load, &turn, e);
    if (end == 0) {
        note_probe(c, arm, problems, bits);
        keep_so_far(c);
    }
    return end;
}

/* ---- the search ---- */

static void note_generator(struct capacity_run *c, unsigned arm, double per_s)
{
    char message[160];
    snprintf(message, sizeof(message), "this machine can generate about %.2g/s", per_s);
    if (per_s >= 100)
        snprintf(message, sizeof(message), "this machine can generate about %.0f/s",
                 round(per_s / 10) * 10);
    result_add_problem(c->result, RESULT_NOTE, "generator-capacity", c->result->arm[arm].name,
                       0, message);
}

/* Where each arm's search begins. */
static int begin_searches(struct capacity_run *c, struct err *e)
{
    const struct capacity_options *o = c->options;
    const struct capacity_bounds bounds = {o->least_per_s, o->most_per_s, o->precision};
    for (unsigned arm = 0; arm < o->load.arms->count; arm++) {
        struct load_flood flood;
        const int end = load_flood(c->load, arm, &flood, e);
        if (end != 0)
            return end;
        if (isfinite(flood.generator_per_s))
            note_generator(c, arm, flood.generator_per_s);
        capacity_search_init(&c->search[arm], &bounds, GUESS_SHARE * flood.completed_per_s);
    }
    return 0;
}

static bool may_go_on(const struct capacity_search *s)
{
    const enum capacity_state state = capacity_search_state(s);
    return s->count < CAPACITY_PROBES_MAX &&
           (state == CAPACITY_SEARCHING || state == CAPACITY_SETTLED);
}

static bool is_any_searching(const struct capacity_run *c)
{
    for (size_t i = 0; i < c->options->load.arms->count; i++)
        if (capacity_search_state(&c->search[i]) == CAPACITY_SEARCHING &&
            c->search[i].count < CAPACITY_PROBES_MAX)
            return true;
    return false;
}

/* A settled arm goes on as long as another is searched for: all meet the same host. */
static int run_round(struct capacity_run *c, unsigned round, struct err *e)
{
    const struct load_options *o = &c->options->load;
    size_t order[ARMS_MAX];
    int end = 0;
    for (size_t i = 0; i < o->arms->count; i++)
        order[i] = i;
    rng_shuffle(&c->rng, order, o->arms->count);
    for (size_t i = 0; i < o->arms->count && end == 0; i++) {
        if (!may_go_on(&c->search[order[i]]))
            continue;
        c->is_out_of_time = clock_now_ns() + o->warmup_ns + o->duration_ns > c->deadline_ns ||
                            c->result->capacity->probes >= PROBES_IN_ALL;
        if (c->is_out_of_time)
            break;
        end = run_probe(c, (unsigned)order[i], round, e);
    }
    return end;
}

static int run_search(struct capacity_run *c, struct err *e)
{
    int end = begin_searches(c, e);
    for (unsigned round = 0; end == 0 && !c->is_out_of_time && is_any_searching(c); round++)
        end = run_round(c, round, e);
    if (end > 0)
        c->result->is_interrupted = true;
    return end < 0 ? -1 : 0;
}

/* ---- the answers ---- */

/* Probes that the whole run shows to be of another speed. */
static void void_odd_probes(struct capacity_run *c)
{
    struct capacity *found = c->result->capacity;
    for (size_t i = 0; i < found->probes; i++) {
        struct capacity_probe *p = &found->probe[i];
        if (p->held == CAPACITY_PROBE_VOID || capacity_trial(c->result, p)->is_valid)
            continue;
        p->held = CAPACITY_PROBE_VOID;
        capacity_search_void(&c->search[p->arm], p->trial - 1);
    }
}

static void fill_arm(struct capacity_run *c, unsigned arm)
{
    const struct capacity_search *s = &c->search[arm];
    struct capacity_arm *out = &c->result->capacity->arm[arm];
    const enum capacity_state state = capacity_search_state(s);
    out->lower_bound_per_s = capacity_search_highest_held(s);
    out->upper_bound_per_s = capacity_search_lowest_broken(s);
    if (state == CAPACITY_AT_CLIENT)
        out->limited_by = CAPACITY_LIMIT_CLIENT;
    else if (state == CAPACITY_AT_MAX)
        out->limited_by = CAPACITY_LIMIT_MAX_RATE;
    else if (state == CAPACITY_BELOW_MIN)
        out->limited_by = CAPACITY_LIMIT_MIN_RATE;
    else if (state != CAPACITY_NOT_MEASURED && capacity_search_has_answer(s)) {
        out->per_s = (struct figure){capacity_fit_quantile(&s->fit, 0.5),
                                     capacity_fit_quantile(&s->fit, 0.025),
                                     capacity_fit_quantile(&s->fit, 0.975)};
        out->limited_by = capacity_limit_of(c->result, arm);
    }
}

static void fill_arms(struct capacity_run *c)
{
    const unsigned arms = (unsigned)c->options->load.arms->count;
    c->result->capacity->arms = 0;
    for (unsigned i = 0; i < arms; i++)
        (void)capacity_add_arm(c->result->capacity);
    for (unsigned i = 0; i < arms; i++)
        fill_arm(c, i);
}

static void add_problem(struct capacity_run *c, unsigned arm, enum result_severity severity,
                        const char *code, const char *message)
{
    result_add_problem(c->result, severity, code, c->result->arm[arm].name, 0, message);
}

/* What keeps an arm from having a figure, or makes it a coarse one. */
static void name_outcome(struct capacity_run *c, unsigned arm)
{
    const struct capacity_arm *a = &c->result->capacity->arm[arm];
    const enum capacity_state state = capacity_search_state(&c->search[arm]);
    char message[200];
    if (a->limited_by == CAPACITY_LIMIT_CLIENT && isfinite(a->lower_bound_per_s)) {
        snprintf(message, sizeof(message),
                 "the generator saturates first: the server holds at least %.4g/s, and what "
                 "is above is not known",
                 a->lower_bound_per_s);
        add_problem(c, arm, RESULT_FAULT, "client-limited", message);
    } else if (a->limited_by == CAPACITY_LIMIT_CLIENT) {
        add_problem(c, arm, RESULT_FAULT, "client-limited",
                    "the generator saturates at every rate that was tried");
    } else if (state == CAPACITY_NOT_MEASURED) {
        add_problem(c, arm, RESULT_FAULT, "no-valid-probe",
                    "one probe after the other was not valid");
    } else if (a->limited_by == CAPACITY_LIMIT_UNKNOWN && !figure_is_set(&a->per_s)) {
        add_problem(c, arm, RESULT_FAULT, "not-settled",
                    "too few valid probes for an interval: a larger budget would help");
    } else if (state == CAPACITY_SEARCHING && figure_is_set(&a->per_s)) {
        add_problem(c, arm, RESULT_NOTE, "budget",
                    "the search ended before the interval was as narrow as was asked for");
    }
}

/* Percentiles that rest on a few handshakes of a probe, and limits that a growing queue
 * reaches late in it. */
static void name_probe_limits(struct capacity_run *c, unsigned arm)
{
    const struct capacity *found = c->result->capacity;
    const struct load_options *o = &c->options->load;
    const double probe_s = (double)o->duration_ns / 1e9;
    const double whole_s = probe_s + (double)o->warmup_ns / 1e9;
    const double per_s = found->arm[arm].per_s.value;
    char name[32], message[200];
    for (size_t i = 0; i < found->objectives; i++) {
        const struct capacity_objective *obj = &found->objective[i];
        capacity_objective_name(obj, name, sizeof(name));
        if (obj->is_failures)
            continue;
        if (per_s * probe_s * (1 - obj->quantile) < 10) {
            snprintf(message, sizeof(message),
                     "%s rests on the slowest %.0f of a probe's handshakes; longer probes are "
                     "steadier",
                     name, fmax(1, per_s * probe_s * (1 - obj->quantile)));
            add_problem(c, arm, RESULT_NOTE, "few-samples", message);
        }
        if (isfinite(per_s) && obj->limit / 1e6 > 0.01 * whole_s) {
            snprintf(message, sizeof(message),
                     "a queue takes its time to grow to %s's limit: the capacity may be up to "
                     "%.2g %% too high; longer probes narrow that",
                     name, 100 * obj->limit / 1e6 / whole_s);
            add_problem(c, arm, RESULT_NOTE, "short-probes", message);
        }
    }
}

static void conclude(struct capacity_run *c)
{
    const size_t problems = c->result->problems;
    const unsigned arms = (unsigned)c->options->load.arms->count;
    load_conclude(c->load);
    demote_problems(c->result, problems);
    void_odd_probes(c);
    fill_arms(c);
    for (unsigned i = 0; i < arms; i++) {
        name_outcome(c, i);
        name_probe_limits(c, i);
    }
    capacity_compare(c->options->load.arms, c->search, c->result);
}

/* ---- from begin to end ---- */

/* The limits; failures always have one. */
static void set_objectives(const struct capacity_options *o, struct capacity *out)
{
    bool has_failures = false;
    assert(o->objectives < CAPACITY_OBJECTIVES_MAX);
    for (size_t i = 0; i < o->objectives; i++) {
        out->objective[out->objectives++] = o->objective[i];
        has_failures = has_failures || o->objective[i].is_failures;
    }
    if (!has_failures)
        out->objective[out->objectives++] =
            (struct capacity_objective){.is_failures = true, .limit = CAPACITY_FAILURES_LIMIT};
}

static double allowed_lag_ns(const struct capacity *c)
{
    double tightest_us = INFINITY;
    for (size_t i = 0; i < c->objectives; i++)
        if (!c->objective[i].is_failures)
            tightest_us = fmin(tightest_us, c->objective[i].limit);
    return isfinite(tightest_us) ? CAPACITY_LAG_SHARE * tightest_us * 1e3 : 0;
}

static int search_and_conclude(struct capacity_run *c, struct err *e)
{
    struct load *l = c->load;
    const struct load_options *o = &c->options->load;
    l->lag_allowed_ns = allowed_lag_ns(c->result->capacity);
    l->steps = (size_t)(c->options->budget_ns / (o->warmup_ns + o->duration_ns) + 1);
    struct err why = ERR_INIT;
    if (run_search(c, &why) != 0) {
        if (c->result->capacity->probes > 0) {
            load_end_early(l, &why);
            conclude(c);
        }
        if (e != NULL)
            *e = why;
        return -1;
    }
    conclude(c);
    return load_link_close(l, e) != 0 || load_check_outcome(l, e) != 0 ? -1 : 0;
}

int capacity_run(const struct capacity_options *options, struct result *result, struct err *e)
{
    struct capacity_run c = {.options = options, .result = result};
    c.load = mem_alloc_zeroed(1, sizeof(*c.load));
    c.search = mem_alloc_zeroed(options->load.arms->count, sizeof(*c.search));
    c.load->options = &options->load;
    c.load->result = result;
    c.load->began_ns = clock_now_ns();
    c.deadline_ns = c.load->began_ns + options->budget_ns;
    result->seed = options->load.seed;
    rng_init(&c.rng, rng_derive_seed(options->load.seed, LOAD_STREAM_PROBES));
    set_objectives(options, result->capacity);
    int failed = load_set_up(c.load, e);
    if (failed == 0)
        failed = search_and_conclude(&c, e);
    load_take_down(c.load);
    free(c.load);
    free(c.search);
    return failed;
}
