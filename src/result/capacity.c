/* SPDX-License-Identifier: Apache-2.0 */
#include "result/capacity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"
#include "result/list.h"

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

const char *capacity_limit_name(enum capacity_limit limit)
{
    static const char *const names[CAPACITY_LIMITS] = {
        "unknown",  "server-cpu", "link",     "backlog",  "latency",
        "failures", "client",     "max-rate", "min-rate",
    };
    assert((size_t)limit < COUNT_OF(names));
    return names[limit];
}

const char *capacity_held_name(enum capacity_held held)
{
    static const char *const names[CAPACITY_HELDS] = {"held", "broke", "void"};
    assert((size_t)held < COUNT_OF(names));
    return names[held];
}

char *capacity_objective_name(const struct capacity_objective *o, char *buf, size_t size)
{
    if (o->is_failures)
        snprintf(buf, size, "failures");
    else
        snprintf(buf, size, "%s.p%.10g", result_phase_name(o->phase), o->quantile * 100);
    return buf;
}

/* What never began, or was cut off, has failed as well. */
static double failures_of(const struct result_tally *t)
{
    return t->scheduled == 0 ? (double)NAN
                             : (double)(t->scheduled - t->completed) / (double)t->scheduled;
}

double capacity_objective_value(const struct capacity_objective *o,
                                const struct result_trial *trial)
{
    if (o->is_failures)
        return failures_of(&trial->tally);
    const struct histogram *h = trial->latency_ns[o->phase];
    if (h == NULL || histogram_count(h) == 0)
        return NAN;
    return (double)histogram_quantile(h, o->quantile) / 1e3;
}

struct capacity *capacity_new(void)
{
    struct capacity *c = mem_alloc_zeroed(1, sizeof(*c));
    c->confidence = 0.95;
    return c;
}

void capacity_free(struct capacity *c)
{
    if (c == NULL)
        return;
    free(c->arm);
    free(c->probe);
    free(c);
}

struct capacity_arm *capacity_add_arm(struct capacity *c)
{
    c->arm = list_grow(c->arm, &c->arms, sizeof(*c->arm));
    struct capacity_arm *added = &c->arm[c->arms - 1];
    added->per_s = (struct figure)FIGURE_ABSENT;
    added->lower_bound_per_s = added->upper_bound_per_s = (double)NAN;
    return added;
}

struct capacity_probe *capacity_add_probe(struct capacity *c)
{
    c->probe = list_grow(c->probe, &c->probes, sizeof(*c->probe));
    struct capacity_probe *added = &c->probe[c->probes - 1];
    added->held = CAPACITY_PROBE_VOID;
    added->link_busy = (double)NAN;
    return added;
}

const struct result_trial *capacity_trial(const struct result *r,
                                          const struct capacity_probe *probe)
{
    if (probe->arm >= r->arms || probe->trial == 0)
        return NULL;
    const struct result_arm *arm = &r->arm[probe->arm];
    /* Trials are numbered as they come. */
    return probe->trial <= arm->trials && arm->trial[probe->trial - 1].index == probe->trial
               ? &arm->trial[probe->trial - 1]
               : NULL;
}

/* ---- identities ---- */

static int broken(struct err *e, const char *list, size_t index, const char *why)
{
    return err_set(e, ERR_FAILED, "capacity.%s[%zu]: %s", list, index, why);
}

static bool is_amount(double value) /* absent, or a number that may be */
{
    return isnan(value) || (isfinite(value) && value >= 0);
}

static int check_objective(const struct capacity *c, size_t i, struct err *e)
{
    const struct capacity_objective *o = &c->objective[i];
    if (!(isfinite(o->limit) && o->limit >= 0))
        return broken(e, "objectives", i, "no limit");
    if (o->is_failures)
        return o->limit <= 1 ? 0 : broken(e, "objectives", i, "a share above 1");
    if ((unsigned)o->phase >= RESULT_PHASES || !(o->quantile > 0 && o->quantile < 1))
        return broken(e, "objectives", i, "not a percentile of a phase");
    return 0;
}

static int check_arm(const struct capacity_arm *a, size_t i, struct err *e)
{
    const struct figure *f = &a->per_s;
    const bool may_have_value =
        a->limited_by >= CAPACITY_LIMIT_SERVER_CPU && a->limited_by <= CAPACITY_LIMIT_FAILURES;
    if ((unsigned)a->limited_by >= CAPACITY_LIMITS)
        return broken(e, "arms", i, "limited by nothing known");
    if (!is_amount(f->value) || !is_amount(f->low) || !is_amount(f->high) ||
        !is_amount(a->lower_bound_per_s) || !is_amount(a->upper_bound_per_s))
        return broken(e, "arms", i, "a rate that is none");
    if (figure_is_set(f) != figure_has_interval(f) || isnan(f->low) != isnan(f->high))
        return broken(e, "arms", i, "a value without an interval, or the reverse");
    if (figure_is_set(f) && !(f->low <= f->value && f->value <= f->high))
        return broken(e, "arms", i, "the value is outside its interval");
    if (figure_is_set(f) && !may_have_value)
        return broken(e, "arms", i, "a value, though the server was not the limit");
    return 0;
}

/* newest: of each arm, the trial of its last probe before this. */
static int check_probe(const struct result *r, size_t i, unsigned *newest, struct err *e)
{
    const struct capacity_probe *p = &r->capacity->probe[i];
    const struct result_trial *trial = capacity_trial(r, p);
    if ((unsigned)p->held >= CAPACITY_HELDS)
        return broken(e, "probes", i, "came out as nothing known");
    if (trial == NULL)
        return broken(e, "probes", i, "no such trial");
    if (trial->is_valid != (p->held != CAPACITY_PROBE_VOID))
        return broken(e, "probes", i, "void, or its trial not valid, but not both");
    if (!is_amount(p->link_busy))
        return broken(e, "probes", i, "link_busy is not a share");
    if (p->trial <= newest[p->arm])
        return broken(e, "probes", i, "not in the order they were made");
    newest[p->arm] = p->trial;
    return 0;
}

static int check_probes(const struct result *r, struct err *e)
{
    unsigned *newest = mem_alloc_zeroed(r->arms + 1, sizeof(*newest));
    int failed = 0;
    for (size_t i = 0; i < r->capacity->probes && failed == 0; i++)
        failed = check_probe(r, i, newest, e);
    free(newest);
    return failed;
}

int capacity_check(const struct result *r, struct err *e)
{
    const struct capacity *c = r->capacity;
    if ((c != NULL) != (r->kind == RESULT_KIND_CAPACITY))
        return err_set(e, ERR_FAILED,
                       "capacity: stands in results of its kind, and only there");
    if (c == NULL)
        return 0;
    if (c->arms != 0 && c->arms != r->arms)
        return err_set(e, ERR_FAILED, "capacity.arms: not one for each arm");
    if (c->objectives > CAPACITY_OBJECTIVES_MAX || (c->probes > 0 && c->objectives == 0))
        return err_set(e, ERR_FAILED, "capacity.objectives: too many, or none");
    if (!(c->confidence > 0 && c->confidence < 1))
        return err_set(e, ERR_FAILED, "capacity.confidence: not between 0 and 1");
    for (size_t i = 0; i < c->objectives; i++)
        if (check_objective(c, i, e) != 0)
            return -1;
    for (size_t i = 0; i < c->arms; i++)
        if (check_arm(&c->arm[i], i, e) != 0)
            return -1;
    return check_probes(r, e);
}
