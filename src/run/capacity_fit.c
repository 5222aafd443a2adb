/* SPDX-License-Identifier: Apache-2.0 */
#include "run/capacity_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define POINTS CAPACITY_FIT_POINTS
#define SLOPES 10u
#define SLOPE_LEAST 0.002 /* of ln(rate): sharper than any search ends */
#define SLOPE_MOST 0.12
#define MISS 0.005 /* a probe far above the capacity that holds */
#define TAIL 1e-5  /* of the coarse grid, left out of the fine one */
#define RATIO_STRATA 256u

/* Share of probes broken by something else than their rate, and how likely that is. */
static const struct {
    double lapse, prior;
} lapses[] = {{0.01, 0.5}, {0.05, 0.35}, {0.15, 0.15}};
#define LAPSES (sizeof(lapses) / sizeof(lapses[0]))
#define PRODUCT 32u

struct grid {
    const struct capacity_answer *answer;
    size_t count;
    double *at;      /* ln of each answer's rate */
    double *falling; /* scratch: the curve at each */
};

/* Of all answers at once; products of a few, so that few logarithms are taken and none of
 * them of 0. */
static double log_likelihood(const struct grid *g, const double *falling, double lapse)
{
    double sum = 0, product = 1;
    for (size_t i = 0; i < g->count; i++) {
        const double held = MISS + (1 - MISS - lapse) * falling[i];
        product *= g->answer[i].has_held ? held : 1 - held;
        if (i % PRODUCT == PRODUCT - 1) {
            sum += log(product);
            product = 1;
        }
    }
    return sum + log(product);
}

/* The logarithms of a point's weights, one for each slope and lapse. */
static void weigh_point(const struct grid *g, double point, double *out)
{
    for (size_t k = 0; k < SLOPES; k++) {
        const double slope =
            SLOPE_LEAST * pow(SLOPE_MOST / SLOPE_LEAST, (double)k / (SLOPES - 1));
        for (size_t i = 0; i < g->count; i++)
            g->falling[i] = 1 / (1 + exp((g->at[i] - point) / slope));
        for (size_t m = 0; m < LAPSES; m++)
            *out++ = log(lapses[m].prior) + log_likelihood(g, g->falling, lapses[m].lapse);
    }
}

/* The marginal, less a common factor that keeps it in range. */
static void weigh(const struct grid *g, struct capacity_fit *fit)
{
    double best = -INFINITY, sum = 0;
    double(*all)[SLOPES * LAPSES] = mem_alloc_zeroed(POINTS, sizeof(*all));
    for (size_t i = 0; i < POINTS; i++) {
        weigh_point(g, fit->first + (double)i * fit->step, all[i]);
        for (size_t k = 0; k < SLOPES * LAPSES; k++)
            best = fmax(best, all[i][k]);
    }
    for (size_t i = 0; i < POINTS; i++) {
        fit->weight[i] = 0;
        for (size_t k = 0; k < SLOPES * LAPSES; k++)
            fit->weight[i] += exp(all[i][k] - best);
        sum += fit->weight[i];
    }
    for (size_t i = 0; i < POINTS; i++)
        fit->weight[i] /= sum;
    free(all);
}

static void set_range(struct capacity_fit *fit, double low, double high)
{
    fit->step = (high - low) / (POINTS - 1);
    fit->first = low;
}

static void fit_grid(const struct grid *g, double low, double high, struct capacity_fit *out)
{
    struct capacity_fit fit;
    /* Beyond the probes there is room for a first one that was broken by chance. */
    set_range(&fit, low - log(2), high + log(2));
    weigh(g, &fit);
    const double from = log(capacity_fit_quantile(&fit, TAIL)) - 2 * fit.step;
    const double to = log(capacity_fit_quantile(&fit, 1 - TAIL)) + 2 * fit.step;
    set_range(&fit, from, to);
    weigh(g, &fit);
    *out = fit;
}

bool capacity_fit_make(const struct capacity_answer *answer, size_t count,
                       struct capacity_fit *out)
{
    double low = INFINITY, high = -INFINITY;
    size_t held = 0;
    struct grid g = {.answer = answer, .count = count};
    g.at = mem_alloc_zeroed(count + 1, sizeof(double));
    g.falling = mem_alloc_zeroed(count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        g.at[i] = log(answer[i].rate_per_s);
        low = fmin(low, g.at[i]);
        high = fmax(high, g.at[i]);
        held += answer[i].has_held;
    }
    const bool is_bracketed = held > 0 && held < count;
    if (is_bracketed)
        fit_grid(&g, low, high, out);
    free(g.at);
    free(g.falling);
    return is_bracketed;
}

double capacity_fit_quantile(const struct capacity_fit *fit, double q)
{
    double below = 0;
    size_t i = 0;
    while (i + 1 < POINTS && below + fit->weight[i] < q)
        below += fit->weight[i++];
    const double part = fit->weight[i] > 0 ? fmin(1, (q - below) / fit->weight[i]) : 0.5;
    return exp(fit->first + ((double)i - 0.5 + part) * fit->step);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void capacity_ratio_init(struct capacity_ratio *r, const struct capacity_fit *baseline,
                         const struct capacity_fit *arm)
{
    double below[RATIO_STRATA], above[RATIO_STRATA];
    for (size_t i = 0; i < RATIO_STRATA; i++) {
        const double q = ((double)i + 0.5) / RATIO_STRATA;
        below[i] = capacity_fit_quantile(baseline, q);
        above[i] = capacity_fit_quantile(arm, q);
    }
    r->count = (size_t)RATIO_STRATA * RATIO_STRATA;
    r->value = mem_alloc_zeroed(r->count, sizeof(*r->value));
    for (size_t i = 0; i < RATIO_STRATA; i++)
        for (size_t k = 0; k < RATIO_STRATA; k++)
            r->value[i * RATIO_STRATA + k] = above[i] / below[k];
    qsort(r->value, r->count, sizeof(*r->value), by_value);
}

double capacity_ratio_quantile(const struct capacity_ratio *r, double q)
{
    const size_t at = (size_t)(q * (double)r->count);
    return r->value[at < r->count ? at : r->count - 1];
}

void capacity_ratio_fini(struct capacity_ratio *r)
{
    free(r->value);
    *r = (struct capacity_ratio){0};
}
