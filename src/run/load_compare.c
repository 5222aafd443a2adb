/* SPDX-License-Identifier: Apache-2.0 */
#include "run/load_compare.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "base/text.h"
#include "run/verdict.h"
#include "stats/sample.h"

#define FEW_BLOCKS 8u
#define NORMAL_95 1.959963984540054
#define NORMAL_WIDE 2.807033768343811 /* two-sided 0.995 */

static const struct {
    const char *name;
    double quantile;
} statistics[LOAD_STATISTICS] = {{"min", 0},    {"mean", NAN}, {"p50", 0.5},
                                 {"p95", 0.95}, {"p99", 0.99}, {"p99_9", 0.999}};

const char *load_statistic_name(enum load_statistic s)
{
    return statistics[s].name;
}

double load_statistic_of(const struct histogram *h, enum load_statistic s)
{
    switch (s) {
    case LOAD_MIN:
        return (double)histogram_min(h);
    case LOAD_MEAN:
        return histogram_mean(h);
    case LOAD_P50:
    case LOAD_P95:
    case LOAD_P99:
    case LOAD_P999:
        break;
    }
    return (double)histogram_quantile(h, statistics[s].quantile);
}

/* One histogram as the empirical quantile function. */
struct sample_table {
    size_t buckets;
    uint64_t count;
    double *value;      /* ascending */
    uint64_t *below;    /* samples up to and with the bucket */
    double mean, error; /* of the mean */
};

static void table_init(struct sample_table *t, const struct histogram *h)
{
    size_t cursor = 0, n = 0;
    uint64_t low, high, count;
    double squares = 0;
    while (histogram_next(h, &cursor, &low, &high, &count))
        n++;
    *t = (struct sample_table){.buckets = n, .mean = histogram_mean(h)};
    t->value = mem_alloc_zeroed(n, sizeof(double));
    t->below = mem_alloc_zeroed(n, sizeof(uint64_t));
    cursor = 0;
    for (size_t i = 0; histogram_next(h, &cursor, &low, &high, &count); i++) {
        t->value[i] = (double)low + (double)(high - low) / 2;
        t->count += count;
        t->below[i] = t->count;
        squares += (double)count * (t->value[i] - t->mean) * (t->value[i] - t->mean);
    }
    t->value[0] = (double)histogram_min(h);
    t->value[n - 1] = (double)histogram_max(h);
    t->error = sqrt(squares) / (double)t->count;
}

static void table_fini(struct sample_table *t)
{
    free(t->value);
    free(t->below);
}

/* The smallest value with at least rank u * count. */
static double table_quantile(const struct sample_table *t, double u)
{
    uint64_t rank = (uint64_t)ceil(u * (double)t->count);
    if (rank < 1)
        rank = 1;
    size_t low = 0, high = t->buckets - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->below[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return t->value[low];
}

static double draw_normal(struct rng *rng)
{
    const double radius = sqrt(2 * rng_exponential(rng));
    return radius * cos(2 * M_PI * rng_unit(rng));
}

/* Gamma(shape, 1), shape >= 1: Marsaglia & Tsang 2000. */
static double draw_gamma(struct rng *rng, double shape)
{
    const double d = shape - 1.0 / 3.0, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = draw_normal(rng), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v > 0 && log(1 - rng_unit(rng)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* The statistic of a resample of the table. */
static double table_resample(const struct sample_table *t, enum load_statistic s,
                             struct rng *rng)
{
    if (s == LOAD_MEAN)
        return t->mean + t->error * draw_normal(rng);
    const double n = (double)t->count;
    const double rank = fmax(1, ceil(statistics[s].quantile * n));
    const double below = draw_gamma(rng, rank), above = draw_gamma(rng, n + 1 - rank);
    return table_quantile(t, below / (below + above));
}

static double median_of(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && x[k] < x[k - 1]; k--) {
            const double swap = x[k];
            x[k] = x[k - 1];
            x[k - 1] = swap;
        }
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* The mean of the middle half (n >= 3: at least one at each end is left out): nearly as
 * precise as a mean, and one bad trial does not move it. */
static double middle_mean(double *x, size_t n)
{
    const size_t cut = n < 3 ? 0 : n < 8 ? 1 : n / 4;
    double sum = 0;
    (void)median_of(x, n); /* sorts */
    for (size_t i = cut; i < n - cut; i++)
        sum += x[i];
    return sum / (double)(n - 2 * cut);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct rounds {
    size_t blocks;
    struct sample_table *a, *b;
    double *both, *whole; /* LOAD_COMPARE_ROUNDS each: two stages, blocks alone */
    double *x, *y;        /* the blocks' values */
    double *p, *q;        /* scratch of `blocks` */
};

static void run_rounds(struct rounds *r, enum load_statistic s, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < LOAD_COMPARE_ROUNDS; i++) {
        for (size_t k = 0; k < r->blocks; k++) {
            const size_t block = (size_t)rng_below(&rng, r->blocks);
            const double a = table_resample(&r->a[block], s, &rng);
            r->p[k] = table_resample(&r->b[block], s, &rng) - a;
            r->q[k] = r->y[block] - r->x[block];
        }
        r->both[i] = middle_mean(r->p, r->blocks);
        r->whole[i] = middle_mean(r->q, r->blocks);
    }
    qsort(r->both, LOAD_COMPARE_ROUNDS, sizeof(double), by_value);
    qsort(r->whole, LOAD_COMPARE_ROUNDS, sizeof(double), by_value);
}

/* The two ends at a confidence: the wider of both ways, see the header. */
static void ends_of(const struct rounds *r, double value, double confidence, double *low,
                    double *high)
{
    const double normal = confidence > 0.99 ? NORMAL_WIDE : NORMAL_95;
    const double n = (double)r->blocks;
    const double factor =
        sample_student_t(confidence, (unsigned)r->blocks - 1) / normal * sqrt(n / (n - 1));
    const size_t at = (size_t)((1 - confidence) / 2 * LOAD_COMPARE_ROUNDS);
    const size_t behind = LOAD_COMPARE_ROUNDS - 1 - at;
    double below = factor * (value - r->whole[at]), above = factor * (r->whole[behind] - value);
    /* Of a few blocks two may lie close together by chance: no side is trusted alone. */
    if (r->blocks < FEW_BLOCKS)
        below = above = fmax(below, above);
    *low = fmin(value, fmin(r->both[at], value - below));
    *high = fmax(value, fmax(r->both[behind], value + above));
}

static bool has_enough(const struct rounds *r, enum load_statistic s)
{
    uint64_t a = 0, b = 0;
    for (size_t k = 0; k < r->blocks; k++) {
        a += r->a[k].count;
        b += r->b[k].count;
    }
    const uint64_t least = a < b ? a : b;
    return r->blocks >= LOAD_COMPARE_BLOCKS_MIN &&
           !(s == LOAD_P99 && least < LOAD_COMPARE_P99_SAMPLES) &&
           !(s == LOAD_P999 && least < LOAD_COMPARE_P999_SAMPLES);
}

static void set_intervals(struct rounds *r, enum load_statistic s, double scale, uint64_t seed,
                          struct load_difference *out)
{
    const double difference = out->difference.value / scale;
    run_rounds(r, s, seed);
    ends_of(r, difference, 0.95, &out->difference.low, &out->difference.high);
    ends_of(r, difference, VERDICT_CONFIDENCE, &out->wide_low, &out->wide_high);
    out->difference.low *= scale;
    out->difference.high *= scale;
    out->wide_low *= scale;
    out->wide_high *= scale;
}

static void rounds_init(struct rounds *r, const struct load_blocks *from, enum load_statistic s)
{
    const size_t blocks = from->count;
    double **const scratch[] = {&r->x, &r->y, &r->p, &r->q};
    r->blocks = blocks;
    r->a = mem_alloc_zeroed(blocks, sizeof(*r->a));
    r->b = mem_alloc_zeroed(blocks, sizeof(*r->b));
    r->both = mem_alloc_zeroed(LOAD_COMPARE_ROUNDS, sizeof(double));
    r->whole = mem_alloc_zeroed(LOAD_COMPARE_ROUNDS, sizeof(double));
    for (size_t i = 0; i < sizeof(scratch) / sizeof(scratch[0]); i++)
        *scratch[i] = mem_alloc_zeroed(blocks, sizeof(double));
    for (size_t k = 0; k < blocks; k++) {
        table_init(&r->a[k], from->a[k]);
        table_init(&r->b[k], from->b[k]);
        r->x[k] = load_statistic_of(from->a[k], s);
        r->y[k] = load_statistic_of(from->b[k], s);
    }
}

static void rounds_fini(struct rounds *r)
{
    for (size_t k = 0; k < r->blocks; k++) {
        table_fini(&r->a[k]);
        table_fini(&r->b[k]);
    }
    free(r->a);
    free(r->b);
    free(r->both);
    free(r->whole);
    free(r->x);
    free(r->y);
    free(r->p);
    free(r->q);
}

void load_difference_of(const struct load_blocks *from, enum load_statistic s, uint64_t seed,
                        struct load_difference *out)
{
    const size_t blocks = from->count;
    const double scale = from->scale;
    const struct figure absent = FIGURE_ABSENT;
    struct rounds r;
    assert(blocks >= 1);
    rounds_init(&r, from, s);
    out->difference = out->ratio = absent;
    out->wide_low = out->wide_high = NAN;
    for (size_t k = 0; k < blocks; k++)
        r.p[k] = r.y[k] - r.x[k];
    out->difference.value = scale * middle_mean(r.p, blocks);
    if (has_enough(&r, s))
        set_intervals(&r, s, scale, seed, out);
    out->baseline_value = scale * median_of(r.x, blocks);
    out->value = scale * median_of(r.y, blocks);
    if (out->baseline_value > 0) {
        out->ratio.value = fmax(0, 1 + out->difference.value / out->baseline_value);
        if (figure_has_interval(&out->difference)) {
            out->ratio.low = fmax(0, 1 + out->difference.low / out->baseline_value);
            out->ratio.high = fmax(0, 1 + out->difference.high / out->baseline_value);
        }
    }
    rounds_fini(&r);
}

/* ---- the comparisons of a result ---- */

#define PAIRS_MAX 1024u

struct pairing {
    const struct histogram *a[PAIRS_MAX], *b[PAIRS_MAX];
    size_t count;
    bool is_valid;
};

/* What is compared: a phase of all handshakes, or of those of one sort. */
struct subject {
    enum result_phase phase;
    bool is_apart;
    enum result_handshake handshake;
};

/* NULL: none, or of one sort too few to stand for it. */
static const struct histogram *histogram_of(const struct result_trial *t,
                                            const struct subject *what)
{
    const struct histogram *h = t->latency_ns[what->phase];
    uint64_t wanted = 1;
    if (what->is_apart) {
        h = trial_latency_of(t, what->handshake, what->phase);
        wanted = LOAD_COMPARE_APART_SAMPLES;
    }
    return h != NULL && histogram_count(h) >= wanted ? h : NULL;
}

static void pair_trials(const struct result_arm *baseline, const struct result_arm *arm,
                        const struct subject *what, struct pairing *out)
{
    out->count = 0;
    out->is_valid = true;
    for (size_t i = 0; i < arm->trials && out->count < PAIRS_MAX; i++) {
        const struct result_trial *b = &arm->trial[i];
        const struct result_trial *a = arm_find_trial(baseline, b->index);
        if (a == NULL || a->is_left_out || b->is_left_out || histogram_of(a, what) == NULL ||
            histogram_of(b, what) == NULL)
            continue;
        out->a[out->count] = histogram_of(a, what);
        out->b[out->count++] = histogram_of(b, what);
        out->is_valid = out->is_valid && a->is_valid && b->is_valid;
    }
}

static const enum result_phase compared[] = {RESULT_PHASE_TCP, RESULT_PHASE_TLS,
                                             RESULT_PHASE_TTFB, RESULT_PHASE_RESPONSE};
#define COMPARED (sizeof(compared) / sizeof(compared[0]))

struct one_arm {
    const struct result_arm *baseline, *arm;
    bool is_control;
    double elapsed_s;
    uint64_t seed;
    const struct arm_list *arms;
    size_t baseline_index;
};

static bool is_control_of(const struct arm_list *arms, size_t baseline, const char *name)
{
    for (size_t i = 0; i < arms->count; i++)
        if (strcmp(arms->arm[i].name, name) == 0)
            return arms_is_control(arms, i) && arms_baseline(arms, i) == baseline;
    return false;
}

/* What the baseline's control (the noisiest, if several) shows for this metric. */
static double floor_of(const struct one_arm *o, const struct result *result, const char *metric)
{
    double floor = NAN;
    for (size_t i = 0; !o->is_control && i < result->comparisons; i++) {
        const struct result_comparison *c = &result->comparison[i];
        if (strcmp(c->metric, metric) == 0 && is_control_of(o->arms, o->baseline_index, c->arm))
            floor = fmax(floor, verdict_noise_floor(&c->difference));
    }
    return floor;
}

static uint64_t seed_of(const struct one_arm *o, const struct subject *what,
                        enum load_statistic s)
{
    uint64_t place = 0;
    while (compared[place] != what->phase)
        place++;
    if (what->is_apart)
        place += COMPARED * (1 + (uint64_t)what->handshake);
    return rng_derive_seed(o->seed, place * LOAD_STATISTICS + s);
}

static void name_metric(const struct subject *what, enum load_statistic s, char *buf,
                        size_t size)
{
    const char *phase = result_phase_name(what->phase), *statistic = load_statistic_name(s);
    if (what->is_apart)
        snprintf(buf, size, "by_handshake.%s.latency_us.%s.%s",
                 result_handshake_name(what->handshake), phase, statistic);
    else
        snprintf(buf, size, "latency_us.%s.%s", phase, statistic);
}

static void compare_metric(const struct one_arm *o, struct result *result,
                           const struct subject *what, enum load_statistic s,
                           const struct pairing *pairs)
{
    char metric[96];
    struct load_difference d;
    const struct load_blocks blocks = {pairs->a, pairs->b, pairs->count, 1e-3};
    load_difference_of(&blocks, s, seed_of(o, what, s), &d);
    name_metric(what, s, metric, sizeof(metric));
    const double noise_floor = floor_of(o, result, metric);
    struct result_comparison *c = result_add_comparison(result);
    result_set_text(&c->baseline, o->baseline->name);
    result_set_text(&c->arm, o->arm->name);
    result_set_text(&c->metric, metric);
    c->baseline_value = d.baseline_value;
    c->value.value = d.value;
    c->difference = d.difference;
    c->ratio = d.ratio;
    c->noise_floor = noise_floor;
    const struct verdict_input in = {.difference = d.difference,
                                     .noise_floor = c->noise_floor,
                                     .is_control = o->is_control,
                                     .is_valid = pairs->is_valid,
                                     .elapsed_s = o->elapsed_s,
                                     .wide_low = d.wide_low,
                                     .wide_high = d.wide_high};
    c->verdict = verdict_of(&in);
    c->settle_s = c->verdict == RESULT_VERDICT_INCONCLUSIVE ? verdict_settle_s(&in) : NAN;
}

static void compare_subject(const struct one_arm *o, struct result *result,
                            const struct subject *what, struct pairing *pairs)
{
    pair_trials(o->baseline, o->arm, what, pairs);
    for (unsigned s = 0; pairs->count > 0 && s < LOAD_STATISTICS; s++)
        compare_metric(o, result, what, (enum load_statistic)s, pairs);
}

/* Has a trial of the arm handshakes of more than one sort? */
static bool is_mixed(const struct result_arm *arm)
{
    for (size_t i = 0; i < arm->trials; i++) {
        unsigned sorts = 0;
        for (unsigned k = 0; k < RESULT_HANDSHAKES; k++) {
            const struct subject what = {RESULT_PHASE_TLS, true, (enum result_handshake)k};
            sorts += histogram_of(&arm->trial[i], &what) != NULL;
        }
        if (sorts > 1)
            return true;
    }
    return false;
}

/* Like with like where one of the two mixes, besides the whole with the whole. */
static void compare_arm(const struct one_arm *o, struct result *result)
{
    static const enum result_phase apart[] = {RESULT_PHASE_TLS, RESULT_PHASE_RESPONSE};
    struct pairing *pairs = mem_alloc_zeroed(1, sizeof(*pairs));
    for (size_t i = 0; i < COMPARED; i++)
        compare_subject(o, result, &(struct subject){.phase = compared[i]}, pairs);
    const bool has_sorts = is_mixed(o->baseline) || is_mixed(o->arm);
    for (unsigned k = 0; has_sorts && k < RESULT_HANDSHAKES; k++)
        for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
            const struct subject what = {apart[i], true, (enum result_handshake)k};
            compare_subject(o, result, &what, pairs);
        }
    free(pairs);
}

/* Controls first: the others need their floor. */
void load_compare(const struct arm_list *arms, uint64_t seed, double elapsed_s,
                  struct result *result)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < arms->count; i++) {
            const size_t baseline = arms_baseline(arms, i);
            if (baseline == i || arms_is_control(arms, i) != (pass == 0))
                continue;
            const struct one_arm o = {
                .baseline = result_find_arm(result, arms->arm[baseline].name),
                .arm = result_find_arm(result, arms->arm[i].name),
                .is_control = pass == 0,
                .elapsed_s = elapsed_s,
                .seed = rng_derive_seed(seed, i),
                .arms = arms,
                .baseline_index = baseline,
            };
            if (o.baseline != NULL && o.arm != NULL)
                compare_arm(&o, result);
        }
}
