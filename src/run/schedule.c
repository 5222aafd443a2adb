/* SPDX-License-Identifier: Apache-2.0 */
#include "run/schedule.h"

#include <assert.h>
#include <math.h>

#define NS_PER_S 1e9L
#define RATE_MAX_PER_S 1e9

const char *schedule_kind_name(enum schedule_kind kind)
{
    return kind == SCHEDULE_POISSON ? "poisson" : "constant";
}

static uint64_t constant_due_ns(const struct schedule *s, uint64_t index)
{
    return (uint64_t)roundl((long double)index * NS_PER_S / (long double)s->rate_per_s);
}

/* How many arrivals are due before `end_ns`.  The estimate is off by one at most, by the
 * rounding to whole ns; the loops settle it by the rule itself. */
static uint64_t constant_count(const struct schedule *s, uint64_t end_ns)
{
    uint64_t n = (uint64_t)ceill((long double)end_ns * (long double)s->rate_per_s / NS_PER_S);
    while (n > 0 && constant_due_ns(s, n - 1) >= end_ns)
        n--;
    while (constant_due_ns(s, n) < end_ns)
        n++;
    return n;
}

static uint64_t draw(struct schedule_cursor *c)
{
    c->at_ns +=
        (long double)rng_exponential(&c->rng) * NS_PER_S / (long double)c->schedule->rate_per_s;
    c->drawn++;
    return (uint64_t)roundl(c->at_ns);
}

static uint64_t poisson_count(const struct schedule *s, uint64_t from_ns, uint64_t to_ns)
{
    struct schedule_cursor c;
    uint64_t n = 0, due_ns;
    schedule_start(&c, s, 0, 1);
    while ((due_ns = draw(&c)) < to_ns && c.drawn <= SCHEDULE_COUNT_MAX + UINT64_C(1))
        if (due_ns >= from_ns)
            n++;
    return n;
}

int schedule_init(struct schedule *out, double rate_per_s, enum schedule_kind kind,
                  uint64_t seed, uint64_t duration_ns, struct err *e)
{
    if (!isfinite(rate_per_s) || rate_per_s <= 0 || rate_per_s > RATE_MAX_PER_S)
        return err_set(e, ERR_USAGE, "rate: must be above 0 and at most 1000000000/s");
    if (duration_ns == 0)
        return err_set(e, ERR_USAGE, "duration: must be above 0");
    const double expected = rate_per_s * (double)duration_ns / 1e9;
    if (expected > SCHEDULE_COUNT_MAX)
        return err_set(e, ERR_USAGE,
                       "rate and duration: %.3g arrivals in one trial; at most %u are possible",
                       expected, SCHEDULE_COUNT_MAX);
    *out = (struct schedule){rate_per_s, kind, seed, duration_ns, 0};
    out->count = schedule_count_between(out, 0, duration_ns);
    return 0;
}

uint64_t schedule_count_between(const struct schedule *s, uint64_t from_ns, uint64_t to_ns)
{
    if (to_ns > s->duration_ns)
        to_ns = s->duration_ns;
    if (from_ns >= to_ns)
        return 0;
    if (s->kind == SCHEDULE_POISSON)
        return poisson_count(s, from_ns, to_ns);
    return constant_count(s, to_ns) - constant_count(s, from_ns);
}

void schedule_start(struct schedule_cursor *c, const struct schedule *s, uint64_t first,
                    uint64_t step)
{
    assert(step >= 1 && first < step);
    *c = (struct schedule_cursor){.schedule = s, .next_index = first, .step = step};
    rng_init(&c->rng, s->seed);
}

bool schedule_next(struct schedule_cursor *c, uint64_t *index, uint64_t *due_ns)
{
    const struct schedule *s = c->schedule;
    if (c->next_index >= s->count)
        return false;
    if (s->kind == SCHEDULE_CONSTANT) {
        *due_ns = constant_due_ns(s, c->next_index);
    } else {
        while (c->drawn <= c->next_index)
            *due_ns = draw(c);
    }
    *index = c->next_index;
    c->next_index += c->step;
    return true;
}
