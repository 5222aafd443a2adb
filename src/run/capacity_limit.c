/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "run/capacity_parts.h"
#include "run/validity.h"

#define LINK_BUSY_MAX 0.90
#define NEAR 1.5 /* times the capacity: probes further up say less */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of what is known; NAN where nothing is. */
static double median(double *x, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            x[known++] = x[i];
    qsort(x, known, sizeof(*x), by_value);
    return known > 0 ? x[known / 2] : (double)NAN;
}

struct broken {
    size_t count, late, failing;
    double *server_busy, *link_busy;
};

/* The limit of the loosest objective of latency. */
static double longest_limit_us(const struct capacity *c)
{
    double longest = 0;
    for (size_t i = 0; i < c->objectives; i++)
        if (!c->objective[i].is_failures)
            longest = fmax(longest, c->objective[i].limit);
    return longest;
}

/* Were connections still open when the objective's time had passed after the last arrival?
 * Then arrivals were waiting for those before them. */
static bool is_late(const struct result *r, const struct result_trial *t)
{
    const double due_s = (double)t->tally.scheduled / t->due_per_s;
    return t->is_censored || t->elapsed_s - due_s > longest_limit_us(r->capacity) / 1e6;
}

static bool only_failures_broke(const struct capacity *c, const struct result_trial *t)
{
    for (size_t i = 0; i < c->objectives; i++)
        if (!c->objective[i].is_failures &&
            capacity_objective_value(&c->objective[i], t) > c->objective[i].limit)
            return false;
    return true;
}

static void collect(const struct result *r, unsigned arm, double most_per_s, struct broken *out)
{
    const struct capacity *c = r->capacity;
    out->count = out->late = out->failing = 0;
    for (size_t i = 0; i < c->probes; i++) {
        const struct capacity_probe *p = &c->probe[i];
        const struct result_trial *t = capacity_trial(r, p);
        if (p->arm != arm || p->held != CAPACITY_PROBE_BROKE || t->due_per_s > most_per_s)
            continue;
        out->late += is_late(r, t);
        out->failing += only_failures_broke(c, t);
        out->server_busy[out->count] = t->server_busy;
        out->link_busy[out->count++] = p->link_busy;
    }
}

static enum capacity_limit judge(const struct broken *b)
{
    const double server = median(b->server_busy, b->count);
    const double link = median(b->link_busy, b->count);
    if (b->count == 0)
        return CAPACITY_LIMIT_UNKNOWN;
    if (link > LINK_BUSY_MAX)
        return CAPACITY_LIMIT_LINK;
    if (server > VALIDITY_SERVER_BUSY_MAX)
        return CAPACITY_LIMIT_SERVER_CPU;
    if (2 * b->failing > b->count)
        return CAPACITY_LIMIT_FAILURES;
    return 2 * b->late > b->count ? CAPACITY_LIMIT_BACKLOG : CAPACITY_LIMIT_LATENCY;
}

enum capacity_limit capacity_limit_of(const struct result *r, unsigned arm)
{
    const struct capacity *c = r->capacity;
    const struct figure *capacity = &c->arm[arm].per_s;
    struct broken b = {.server_busy = mem_alloc_zeroed(c->probes + 1, sizeof(double)),
                       .link_busy = mem_alloc_zeroed(c->probes + 1, sizeof(double))};
    collect(r, arm, figure_is_set(capacity) ? NEAR * capacity->value : (double)INFINITY, &b);
    const enum capacity_limit limit = judge(&b);
    free(b.server_busy);
    free(b.link_busy);
    return limit;
}
