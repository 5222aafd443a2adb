/* SPDX-License-Identifier: Apache-2.0 */
#include "run/capacity_search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define STRIDE 1.5     /* up or down while only one side is known, ... */
#define STRIDE_FAR 3.0 /* ... and from the fourth probe on */
#define STRIDES_NEAR 3u
#define PLACES_FROM 0.02  /* of the distribution, where probes are put: the ends as well, */
#define PLACES_TO 0.98    /* which alone tell a gradual limit from a sharp one */
#define CLIENT_PROBES 3u  /* saturated generators, one held rate below: its limit */
#define CLIENT_NEAR 1.1   /* ... this close above the highest held rate, or */
#define CLIENT_ENOUGH 6u  /* ... as many as this */
#define EDGE_PROBES 2u    /* at the lowest or highest rate, before that is the answer */
#define EDGE_AGAINST 4u   /* for each that came out otherwise */
#define VOIDS_IN_A_ROW 8u /* then there is no hope */

void capacity_search_init(struct capacity_search *s, const struct capacity_bounds *bounds,
                          double guess_per_s)
{
    memset(s, 0, sizeof(*s));
    s->bounds = *bounds;
    s->next_per_s = fmin(bounds->most_per_s, fmax(bounds->least_per_s, guess_per_s));
}

static double extreme(const struct capacity_search *s, enum capacity_outcome outcome,
                      bool is_lowest)
{
    double found = NAN;
    for (size_t i = 0; i < s->count; i++)
        if (s->outcome[i] == outcome)
            found = is_lowest ? fmin(found, s->rate_per_s[i]) : fmax(found, s->rate_per_s[i]);
    return found;
}

double capacity_search_highest_held(const struct capacity_search *s)
{
    return extreme(s, CAPACITY_HELD, false);
}

double capacity_search_lowest_broken(const struct capacity_search *s)
{
    return extreme(s, CAPACITY_BROKE, true);
}

static size_t count_of(const struct capacity_search *s, enum capacity_outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += s->outcome[i] == outcome;
    return n;
}

/* Of the saturated generators above the highest held rate: how many, and the lowest rate. */
static size_t count_client(const struct capacity_search *s, double *lowest_per_s)
{
    const double held = capacity_search_highest_held(s);
    size_t n = 0;
    *lowest_per_s = NAN;
    for (size_t i = 0; i < s->count; i++)
        if (s->outcome[i] == CAPACITY_CLIENT && !(s->rate_per_s[i] <= held)) {
            *lowest_per_s = fmin(*lowest_per_s, s->rate_per_s[i]);
            n++;
        }
    return n;
}

static double keep_within(const struct capacity_search *s, double rate_per_s)
{
    return fmin(s->bounds.most_per_s, fmax(s->bounds.least_per_s, rate_per_s));
}

/* Only held, only broken, or nothing that counts yet. */
static double next_outside(const struct capacity_search *s)
{
    const double held = capacity_search_highest_held(s);
    const double broken = capacity_search_lowest_broken(s);
    const double stride = s->count < STRIDES_NEAR ? STRIDE : STRIDE_FAR;
    double client;
    (void)count_client(s, &client);
    if (isfinite(held))
        return isfinite(client) ? sqrt(held * client) : held * stride;
    if (isfinite(broken) || isfinite(client))
        return fmin(broken, client) / stride;
    return s->next_per_s;
}

double capacity_search_next(struct capacity_search *s, struct rng *rng)
{
    assert(s->count < CAPACITY_PROBES_MAX);
    const double q = PLACES_FROM + (PLACES_TO - PLACES_FROM) * rng_unit(rng);
    return keep_within(s, s->has_fit ? capacity_fit_quantile(&s->fit, q) : next_outside(s));
}

static void fit_again(struct capacity_search *s)
{
    struct capacity_answer answer[CAPACITY_PROBES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->outcome[i] == CAPACITY_HELD || s->outcome[i] == CAPACITY_BROKE)
            answer[n++] =
                (struct capacity_answer){s->rate_per_s[i], s->outcome[i] == CAPACITY_HELD};
    s->has_fit = capacity_fit_make(answer, n, &s->fit);
}

void capacity_search_add(struct capacity_search *s, double rate_per_s,
                         enum capacity_outcome outcome)
{
    assert(s->count < CAPACITY_PROBES_MAX);
    s->rate_per_s[s->count] = rate_per_s;
    s->outcome[s->count++] = outcome;
    if (outcome == CAPACITY_HELD || outcome == CAPACITY_BROKE)
        fit_again(s);
}

void capacity_search_void(struct capacity_search *s, size_t probe)
{
    assert(probe < s->count);
    s->outcome[probe] = CAPACITY_VOID;
    fit_again(s);
}

bool capacity_search_has_answer(const struct capacity_search *s)
{
    const size_t valid = count_of(s, CAPACITY_HELD) + count_of(s, CAPACITY_BROKE);
    if (!s->has_fit || valid < CAPACITY_PROBES_MIN)
        return false;
    const double middle = capacity_fit_quantile(&s->fit, 0.5);
    return extreme(s, CAPACITY_HELD, true) <= middle &&
           extreme(s, CAPACITY_BROKE, false) >= middle;
}

static bool is_settled(const struct capacity_search *s)
{
    if (!capacity_search_has_answer(s))
        return false;
    const double low = capacity_fit_quantile(&s->fit, 0.025);
    const double high = capacity_fit_quantile(&s->fit, 0.975);
    return (high - low) / 2 <= s->bounds.precision * capacity_fit_quantile(&s->fit, 0.5);
}

/* Where the generator's limit stands between what held and what might break. */
static bool is_at_client(const struct capacity_search *s)
{
    double lowest;
    const size_t n = count_client(s, &lowest);
    const double held = capacity_search_highest_held(s);
    if (n < CLIENT_PROBES || s->has_fit || isnan(held))
        return false;
    return n >= CLIENT_ENOUGH || lowest <= held * CLIENT_NEAR;
}

/* Probes at the edge of what is allowed that came out the same, all or nearly all. */
static bool is_at_edge(const struct capacity_search *s, enum capacity_outcome outcome,
                       double edge_per_s)
{
    const enum capacity_outcome other =
        outcome == CAPACITY_HELD ? CAPACITY_BROKE : CAPACITY_HELD;
    size_t same = 0, others = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!(fabs(s->rate_per_s[i] - edge_per_s) <= 1e-9 * edge_per_s))
            continue;
        same += s->outcome[i] == outcome;
        others += s->outcome[i] == other;
    }
    return same >= EDGE_PROBES && same >= EDGE_AGAINST * others;
}

/* The newest probes that are void, back to the last that counts; `client` of them. */
static size_t count_newest_void(const struct capacity_search *s, size_t *client)
{
    size_t n = 0;
    *client = 0;
    for (size_t i = s->count; i-- > 0;) {
        if (s->outcome[i] == CAPACITY_HELD || s->outcome[i] == CAPACITY_BROKE)
            break;
        *client += s->outcome[i] == CAPACITY_CLIENT;
        n++;
    }
    return n;
}

enum capacity_state capacity_search_state(const struct capacity_search *s)
{
    size_t client;
    const size_t voids = count_newest_void(s, &client);
    if (is_at_edge(s, CAPACITY_HELD, s->bounds.most_per_s))
        return CAPACITY_AT_MAX;
    if (is_at_edge(s, CAPACITY_BROKE, s->bounds.least_per_s))
        return CAPACITY_BELOW_MIN;
    if (is_at_client(s) || (voids >= VOIDS_IN_A_ROW && 2 * client > voids))
        return CAPACITY_AT_CLIENT;
    if (voids >= VOIDS_IN_A_ROW)
        return CAPACITY_NOT_MEASURED;
    return is_settled(s) ? CAPACITY_SETTLED : CAPACITY_SEARCHING;
}
