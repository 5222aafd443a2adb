/* SPDX-License-Identifier: Apache-2.0 */
/* From repeats and rounds to figures, differences and words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/bench_lab.h"
#include "run/verdict.h"
#include "stats/sample.h"

#define NORMAL_FREEDOM 1000000u /* Student's t of so many degrees is the normal */
#define RELEVANT_SHARE 0.05     /* of the baseline: a difference that nobody would overlook */

/* Which number of a trial a figure is made of. */
struct column {
    double (*of)(const struct result_trial *trial, unsigned side, unsigned part);
};

static double cpu_of(const struct result_trial *trial, unsigned side, unsigned part)
{
    return trial->cpu_us[side][part];
}

static double instructions_of(const struct result_trial *trial, unsigned side, unsigned part)
{
    (void)part;
    return trial->instructions[side];
}

static double cycles_of(const struct result_trial *trial, unsigned side, unsigned part)
{
    (void)part;
    return trial->cycles[side];
}

static struct figure figure_from(const struct estimate *e)
{
    struct figure f = FIGURE_ABSENT;
    f.value = e->value;
    if (e->has_interval) {
        f.low = e->low;
        f.high = e->high;
    }
    return f;
}

/* Median over the arm's repeats; *least: the smallest of them. */
static struct figure over_repeats(const struct bench *b, size_t i, struct column column,
                                  unsigned side, unsigned part)
{
    const struct result_arm *arm = &b->result->arm[i];
    struct figure f = FIGURE_ABSENT;
    double *x = mem_alloc_zeroed(arm->trials, sizeof *x);
    size_t n = 0;
    for (size_t k = 0; k < arm->trials; k++) {
        double value = column.of(&arm->trial[k], side, part);
        if (!isnan(value))
            x[n++] = value;
    }
    if (n > 0) {
        uint64_t seed = rng_derive_seed(b->options->seed, 100 + i * 8 + side * 4 + part);
        struct estimate e = sample_median_interval(x, n, seed);
        f = figure_from(&e);
        if (figure_has_interval(&f))
            f.low = fmax(0, f.low);
    }
    free(x);
    return f;
}

static double least_us(const struct result_arm *arm, unsigned side)
{
    double least = NAN;
    for (size_t k = 0; k < arm->trials; k++)
        least = fmin(least, arm->trial[k].cpu_us[side][RESULT_CPU_TOTAL]);
    return least;
}

static void summarise_arm(const struct bench *b, size_t i)
{
    struct result_arm *arm = &b->result->arm[i];
    const struct column cpu = {cpu_of}, instructions = {instructions_of}, cycles = {cycles_of};
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            arm->cpu.us[side][part] = over_repeats(b, i, cpu, side, part);
        arm->cpu.min_us[side].value = least_us(arm, side);
        arm->cpu.instructions[side] = over_repeats(b, i, instructions, side, 0);
        arm->cpu.cycles[side] = over_repeats(b, i, cycles, side, 0);
    }
    seen_to_arm(&b->arm[i].kept, arm);
}

static bool are_trials_valid(const struct result_arm *arm)
{
    for (size_t k = 0; k < arm->trials; k++)
        if (!arm->trial[k].is_valid)
            return false;
    return arm->trials > 0;
}

/* A difference with what the word about it needs. */
struct contrast {
    struct figure difference;
    double wide_low, wide_high;
    double baseline_value, value;
};

/* Rounds are independent draws: turns are in random order, and so is where contexts lie.
 * Between equal arms each difference is as likely above 0 as below it, whatever the machine
 * does in the meantime, and that is all that the interval of their median rests on. */
static bool cpu_contrast(const struct bench *b, size_t i, unsigned side, struct contrast *out)
{
    const struct bench_arm *a = &b->arm[i];
    size_t to = arms_baseline(b->options->arms, i), n = a->differences;
    if (n == 0)
        return false;
    double *zero = mem_alloc_zeroed(n, sizeof *zero);
    const double *d = a->difference_us[side];
    struct estimate shown = sample_paired_difference(zero, d, n, 0.95, b->options->seed);
    struct estimate wide =
        sample_paired_difference(zero, d, n, VERDICT_CONFIDENCE, b->options->seed);
    free(zero);
    out->difference = figure_from(&shown);
    out->wide_low = wide.has_interval ? wide.low : NAN;
    out->wide_high = wide.has_interval ? wide.high : NAN;
    out->baseline_value = b->result->arm[to].cpu.us[side][RESULT_CPU_TOTAL].value;
    out->value = b->result->arm[i].cpu.us[side][RESULT_CPU_TOTAL].value;
    return true;
}

/* Square of the standard error of a range's mean.  The variance of what lies between min and
 * max about a mean is at most (max - mean)(mean - min) (Bhatia & Davis 2000): exact for a
 * mix of two sizes, 0 for one, and else on the safe side. */
static double mean_error_squared(const struct result_range *r)
{
    return ((double)r->max - r->mean) * (r->mean - (double)r->min) / (double)r->count;
}

/* Bytes are counted; where they vary from handshake to handshake, their mean has an
 * interval. */
static bool bytes_contrast(const struct bench *b, size_t i, unsigned side, struct contrast *out)
{
    const struct result_range *mine = &b->result->arm[i].bytes.handshake[side];
    size_t to = arms_baseline(b->options->arms, i);
    const struct result_range *theirs = &b->result->arm[to].bytes.handshake[side];
    if (mine->count == 0 || theirs->count == 0)
        return false;
    double value = mine->mean - theirs->mean;
    double error = sqrt(mean_error_squared(mine) + mean_error_squared(theirs));
    double shown = error * sample_student_t(0.95, NORMAL_FREEDOM);
    double wide = error * sample_student_t(VERDICT_CONFIDENCE, NORMAL_FREEDOM);
    out->difference = (struct figure){value, value - shown, value + shown};
    out->wide_low = value - wide;
    out->wide_high = value + wide;
    out->baseline_value = theirs->mean;
    out->value = mine->mean;
    return true;
}

typedef bool contrast_of(const struct bench *b, size_t i, unsigned side, struct contrast *out);

/* The largest that any control of this arm's baseline shows; NAN without one. */
static double noise_floor(const struct bench *b, size_t i, unsigned side, contrast_of *of)
{
    const struct arm_list *arms = b->options->arms;
    double most = NAN;
    for (size_t k = 0; k < b->arms; k++) {
        struct contrast c;
        if (k == i || arms_baseline(arms, k) != arms_baseline(arms, i) ||
            !arms_is_control(arms, k) || !of(b, k, side, &c))
            continue;
        most = fmax(most, verdict_noise_floor(&c.difference));
    }
    return most;
}

static void set_ratio(struct result_comparison *row)
{
    const double base = row->baseline_value;
    if (!(base > 0))
        return;
    row->ratio.value = fmax(0, 1 + row->difference.value / base);
    if (!figure_has_interval(&row->difference))
        return;
    row->ratio.low = fmax(0, 1 + row->difference.low / base);
    row->ratio.high = fmax(0, 1 + row->difference.high / base);
}

/* The same answer in words for counts. */
static enum result_verdict word_for_bytes(enum result_verdict verdict)
{
    if (verdict == RESULT_VERDICT_SLOWER)
        return RESULT_VERDICT_MORE;
    return verdict == RESULT_VERDICT_FASTER ? RESULT_VERDICT_FEWER : verdict;
}

static void compare(struct bench *b, size_t i, const char *metric, unsigned side,
                    contrast_of *of)
{
    const struct arm_list *arms = b->options->arms;
    const struct result_arm *arm = &b->result->arm[i];
    const struct result_arm *base = &b->result->arm[arms_baseline(arms, i)];
    struct contrast c;
    if (!of(b, i, side, &c))
        return;
    struct result_comparison *row = result_add_comparison(b->result);
    result_set_text(&row->baseline, base->name);
    result_set_text(&row->arm, arm->name);
    result_set_text(&row->metric, metric);
    row->baseline_value = c.baseline_value;
    row->value.value = c.value;
    row->difference = c.difference;
    row->noise_floor = noise_floor(b, i, side, of);
    set_ratio(row);
    const struct verdict_input in = {
        .difference = c.difference,
        .noise_floor = row->noise_floor,
        .is_control = arms_is_control(arms, i),
        .is_valid = are_trials_valid(arm) && are_trials_valid(base),
        .elapsed_s = (double)b->measured_ns * 1e-9,
        .wide_low = c.wide_low,
        .wide_high = c.wide_high,
        .relevant = RELEVANT_SHARE * c.baseline_value,
    };
    row->verdict = verdict_of(&in);
    if (row->verdict == RESULT_VERDICT_INCONCLUSIVE)
        row->settle_s = verdict_settle_s(&in);
    if (of == bytes_contrast)
        row->verdict = word_for_bytes(row->verdict);
}

void bench_summarise(struct bench *b)
{
    for (size_t i = 0; i < b->arms; i++)
        summarise_arm(b, i);
    bench_primitives_summarise(b);
    bench_find_problems(b);
    for (size_t i = 0; i < b->arms; i++) {
        if (arms_baseline(b->options->arms, i) == i)
            continue;
        compare(b, i, "cpu_us.client", DUPLEX_CLIENT, cpu_contrast);
        compare(b, i, "cpu_us.server", DUPLEX_SERVER, cpu_contrast);
        compare(b, i, "bytes.client", DUPLEX_CLIENT, bytes_contrast);
        compare(b, i, "bytes.server", DUPLEX_SERVER, bytes_contrast);
    }
}
