/* SPDX-License-Identifier: Apache-2.0 */
/* Are equal arms called equal, real differences found, and intervals as wide as they must
 * be?  By simulation with fixed seeds. */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "run/load_compare.h"

#define BLOCKS 6u
#define US 1000u

static struct load_difference compare(struct histogram **a, struct histogram **b,
                                      struct load_blocks rest, enum load_statistic s,
                                      uint64_t seed)
{
    struct load_difference d;
    rest.a = (const struct histogram *const *)a;
    rest.b = (const struct histogram *const *)b;
    load_difference_of(&rest, s, seed, &d);
    return d;
}
#define BLOCKS_OF(n, factor)            \
    (struct load_blocks)                \
    {                                   \
        .count = (n), .scale = (factor) \
    }

/* What a simulated trial does: skewed latencies around a level that differs from block to
 * block (both arms alike) and a little from trial to trial. */
struct world {
    struct rng rng;
    unsigned samples;
    double block_spread, trial_spread; /* of the level, relative */
    double added_us, added_share;      /* the second arm's handicap */
};

static double normal(struct rng *rng)
{
    return sqrt(2 * rng_exponential(rng)) * cos(2 * M_PI * rng_unit(rng));
}

static struct histogram *simulate(struct world *w, double level, bool is_slower)
{
    struct histogram *h = histogram_new();
    level *= exp(w->trial_spread * normal(&w->rng));
    for (unsigned i = 0; i < w->samples; i++) {
        double us = level * (600 + 40 * normal(&w->rng) + 60 * rng_exponential(&w->rng));
        if (is_slower && rng_unit(&w->rng) < w->added_share)
            us += w->added_us;
        histogram_record(h, (uint64_t)(fmax(1, us) * US));
    }
    return h;
}

static void draw(struct world *w, struct histogram **a, struct histogram **b, size_t blocks)
{
    for (size_t k = 0; k < blocks; k++) {
        const double level = exp(w->block_spread * normal(&w->rng));
        a[k] = simulate(w, level, false);
        b[k] = simulate(w, level, true);
    }
}

static void drop(struct histogram **a, struct histogram **b, size_t blocks)
{
    for (size_t k = 0; k < blocks; k++) {
        histogram_free(a[k]);
        histogram_free(b[k]);
    }
}

struct outcome {
    unsigned covered, found, found_wide, runs;
};

static struct outcome repeat(struct world *w, enum load_statistic s, size_t blocks,
                             unsigned runs, double truth_us)
{
    struct outcome o = {.runs = runs};
    for (unsigned i = 0; i < runs; i++) {
        struct histogram *a[16], *b[16];
        draw(w, a, b, blocks);
        const struct load_difference d = compare(a, b, BLOCKS_OF(blocks, 1e-3), s, i);
        assert_true(d.difference.low <= d.difference.value &&
                    d.difference.value <= d.difference.high);
        assert_true(d.wide_low <= d.difference.low && d.difference.high <= d.wide_high);
        o.covered += d.difference.low <= truth_us && truth_us <= d.difference.high;
        o.found += d.difference.low > 0 || d.difference.high < 0;
        o.found_wide += d.wide_low > 0 || d.wide_high < 0;
        drop(a, b, blocks);
    }
    return o;
}

static void equal_arms_are_rarely_called_different(void **state)
{
    (void)state;
    static const enum load_statistic which[] = {LOAD_MEAN, LOAD_P50, LOAD_P95, LOAD_P99};
    static const size_t blocks[] = {3, 5, 10};
    for (size_t i = 0; i < COUNT_OF(which); i++)
        for (size_t k = 0; k < COUNT_OF(blocks); k++) {
            struct world w = {.samples = 600, .block_spread = 0.1, .trial_spread = 0.01};
            rng_init(&w.rng, 100 * i + k);
            const struct outcome o = repeat(&w, which[i], blocks[k], 100, 0);
            /* 95 %: of 100 runs 5 are expected, 12 would be 3 sigma. */
            assert_true(o.found <= 11);
            assert_true(o.found_wide <= 4);
        }
}

static void a_delay_in_a_twentieth_is_found_in_p99(void **state)
{
    (void)state;
    struct world w = {.samples = 600,
                      .block_spread = 0.05,
                      .trial_spread = 0.01,
                      .added_us = 300,
                      .added_share = 0.05};
    rng_init(&w.rng, 5);
    /* p99 with the delay: the 80th percentile of the delayed ones, roughly. */
    struct histogram *a = NULL, *b = NULL;
    struct world large = w;
    large.samples = 400000;
    large.block_spread = large.trial_spread = 0;
    draw(&large, &a, &b, 1);
    const double truth_us =
        (load_statistic_of(b, LOAD_P99) - load_statistic_of(a, LOAD_P99)) / US;
    drop(&a, &b, 1);
    const struct outcome o = repeat(&w, LOAD_P99, 10, 60, truth_us);
    assert_true(o.found_wide >= 54);
    assert_true(o.covered >= 52);
}

static void a_shift_of_everything_is_covered(void **state)
{
    (void)state;
    static const enum load_statistic which[] = {LOAD_MEAN, LOAD_P50, LOAD_P95};
    for (size_t i = 0; i < COUNT_OF(which); i++) {
        struct world w = {.samples = 600,
                          .block_spread = 0.05,
                          .trial_spread = 0.01,
                          .added_us = 50,
                          .added_share = 1};
        rng_init(&w.rng, i);
        const struct outcome o = repeat(&w, which[i], BLOCKS, 100, 50);
        assert_true(o.covered >= 88);
        assert_true(o.found >= 90);
    }
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    struct world w = {.samples = 500, .block_spread = 0.1};
    struct histogram *a[4], *b[4];
    struct load_difference x, y;
    rng_init(&w.rng, 1);
    draw(&w, a, b, 4);
    x = compare(a, b, BLOCKS_OF(4, 1e-3), LOAD_P95, 9);
    y = compare(a, b, BLOCKS_OF(4, 1e-3), LOAD_P95, 9);
    assert_memory_equal(&x, &y, sizeof x);
    drop(a, b, 4);
}

static void too_little_gives_no_interval(void **state)
{
    (void)state;
    struct world w = {.samples = 200};
    struct histogram *a[4], *b[4];
    struct load_difference d;
    rng_init(&w.rng, 1);
    draw(&w, a, b, 4);
    d = compare(a, b, BLOCKS_OF(2, 1), LOAD_P50, 1);
    assert_false(figure_has_interval(&d.difference));
    assert_true(isnan(d.wide_low));
    d = compare(a, b, BLOCKS_OF(4, 1), LOAD_P50, 1);
    assert_true(figure_has_interval(&d.difference));
    d = compare(a, b, BLOCKS_OF(4, 1), LOAD_P99, 1); /* 800 samples */
    assert_true(figure_is_set(&d.difference) && !figure_has_interval(&d.difference));
    d = compare(a, b, BLOCKS_OF(4, 1), LOAD_P999, 1);
    assert_false(figure_has_interval(&d.difference));
    drop(a, b, 4);
}

static void values_are_medians_of_the_trials(void **state)
{
    (void)state;
    struct histogram *a[3], *b[3];
    struct load_difference d;
    for (unsigned k = 0; k < 3; k++) {
        a[k] = histogram_new();
        b[k] = histogram_new();
        histogram_record_many(a[k], 100 + 100 * k, 10);
        histogram_record_many(b[k], k == 2 ? 100000 : 150 + 100 * k, 10);
    }
    d = compare(a, b, BLOCKS_OF(3, 1), LOAD_P50, 1);
    assert_true(fabs(d.baseline_value - 200) < 1e-9);
    assert_true(fabs(d.value - 250) < 1e-9);
    assert_true(fabs(d.difference.value - 50) < 1e-9); /* of the middle block */
    assert_true(fabs(d.ratio.value - 1.25) < 1e-9);
    drop(a, b, 3);
}

/* ---- whole results ---- */

static void fill(struct world *w, struct result *r, const char *name, bool is_slower)
{
    struct result_arm *arm = result_add_arm(r, name);
    for (unsigned k = 0; k < BLOCKS; k++) {
        struct result_trial *t = arm_add_trial(arm);
        t->latency_ns[RESULT_PHASE_TLS] = simulate(w, 1, is_slower);
        t->tally.scheduled = t->tally.completed = w->samples;
    }
}

static const struct result_comparison *find(const struct result *r, const char *arm,
                                            const char *metric)
{
    for (size_t i = 0; i < r->comparisons; i++)
        if (strcmp(r->comparison[i].arm, arm) == 0 &&
            strcmp(r->comparison[i].metric, metric) == 0)
            return &r->comparison[i];
    return NULL;
}

static void arms_are_judged_by_control_and_validity(void **state)
{
    (void)state;
    static struct arm_list arms;
    struct err e = ERR_INIT;
    for (unsigned round = 0; round < 3; round++) {
        struct world w = {
            .samples = 600, .trial_spread = 0.005, .added_us = 200, .added_share = 1};
        struct result *r = result_new(RESULT_KIND_LOAD);
        rng_init(&w.rng, 3);
        arms.count = 3;
        assert_int_equal(arm_parse("classical: groups=X25519", &arms.arm[0], &e), 0);
        assert_int_equal(arm_parse("pq: groups=X25519MLKEM768", &arms.arm[1], &e), 0);
        assert_int_equal(arm_parse("control: groups=X25519", &arms.arm[2], &e), 0);
        fill(&w, r, "classical", false);
        fill(&w, r, "pq", true);
        fill(&w, r, "control", false);
        if (round > 0)
            result_add_problem(r, RESULT_FAULT, "errors", "pq", 2, "made up");
        if (round == 2) { /* and far off: it must not count */
            histogram_free(r->arm[1].trial[1].latency_ns[RESULT_PHASE_TLS]);
            r->arm[1].trial[1].latency_ns[RESULT_PHASE_TLS] = simulate(&w, 100, true);
            result_leave_out(r, 2);
        }
        load_compare(&arms, 1, 60, r);
        const struct result_comparison *c = find(r, "pq", "latency_us.tls.p50");
        assert_non_null(c);
        assert_true(c->noise_floor > 0 && c->noise_floor < 100);
        assert_true(fabs(c->difference.value - 200) < 30);
        assert_int_equal(c->verdict,
                         round == 1 ? RESULT_VERDICT_WITHHELD : RESULT_VERDICT_SLOWER);
        c = find(r, "control", "latency_us.tls.p50");
        assert_non_null(c);
        assert_true(isnan(c->noise_floor));
        assert_int_equal(c->verdict, RESULT_VERDICT_SAME);
        assert_null(find(r, "pq", "latency_us.tcp.p50"));
        assert_int_equal(result_check(r, &e), 0);
        result_free(r);
    }
}

/* Both arms mix full ones of 1 ms with resumed ones; the second resumes more and its resumed
 * ones are 100 us slower.  The whole looks faster; like with like says how it is. */
static struct result *mixed_result(void)
{
    static const unsigned full[] = {500, 100};
    struct result *r = result_new(RESULT_KIND_LOAD);
    for (unsigned i = 0; i < 2; i++) {
        struct result_arm *arm = result_add_arm(r, i == 0 ? "a" : "b");
        for (unsigned k = 0; k < 6; k++) {
            struct result_trial *t = arm_add_trial(arm);
            struct histogram *all = histogram_new(), *f = histogram_new(), *m = histogram_new();
            for (unsigned n = 0; n < 1000; n++) {
                const bool is_full = n < full[i];
                const uint64_t us = is_full ? 1000 + n % 40 : 500 + n % 40 + 100 * i;
                histogram_record(is_full ? f : m, us * US);
                histogram_record(all, us * US);
            }
            t->tally = (struct result_tally){.scheduled = 1000, .completed = 1000};
            t->latency_ns[RESULT_PHASE_TLS] = all;
            t->apart_ns[RESULT_HANDSHAKE_FULL][RESULT_PHASE_TLS] = f;
            t->apart_ns[RESULT_HANDSHAKE_RESUMED][RESULT_PHASE_TLS] = m;
        }
    }
    return r;
}

static const struct result_comparison *find_metric(const struct result *r, const char *metric)
{
    for (size_t i = 0; i < r->comparisons; i++)
        if (strcmp(r->comparison[i].metric, metric) == 0)
            return &r->comparison[i];
    return NULL;
}

static void mixed_arms_are_compared_like_with_like(void **state)
{
    (void)state;
    static struct arm_list arms;
    struct result *r = mixed_result();
    arms.count = 2;
    arm_init(&arms.arm[0], "a");
    arm_init(&arms.arm[1], "b");
    arms.arm[1].resume = 0.9;
    load_compare(&arms, 1, 60, r);
    const struct result_comparison *whole = find_metric(r, "latency_us.tls.mean");
    const struct result_comparison *full =
        find_metric(r, "by_handshake.full.latency_us.tls.p50");
    const struct result_comparison *resumed =
        find_metric(r, "by_handshake.resumed.latency_us.tls.p50");
    assert_non_null(whole);
    assert_non_null(full);
    assert_non_null(resumed);
    assert_true(whole->difference.value < -50);
    assert_true(fabs(full->difference.value) < 5);
    assert_true(fabs(resumed->difference.value - 100) < 5);
    assert_null(find_metric(r, "by_handshake.early_data.latency_us.tls.p50"));
    result_free(r);
}

/* One full handshake, before the first ticket came, is no sort of its own. */
static void a_handful_of_full_ones_is_not_compared(void **state)
{
    (void)state;
    static struct arm_list arms;
    struct result *r = mixed_result();
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 6; k++) {
            struct result_trial *t = &r->arm[i].trial[k];
            histogram_reset(t->apart_ns[RESULT_HANDSHAKE_FULL][RESULT_PHASE_TLS]);
            histogram_record_many(t->apart_ns[RESULT_HANDSHAKE_FULL][RESULT_PHASE_TLS], US,
                                  LOAD_COMPARE_APART_SAMPLES - 1);
        }
    arms.count = 2;
    arm_init(&arms.arm[0], "a");
    arm_init(&arms.arm[1], "b");
    load_compare(&arms, 1, 60, r);
    for (size_t i = 0; i < r->comparisons; i++)
        assert_null(strstr(r->comparison[i].metric, "by_handshake"));
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_arms_are_rarely_called_different),
        cmocka_unit_test(a_delay_in_a_twentieth_is_found_in_p99),
        cmocka_unit_test(a_shift_of_everything_is_covered),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(too_little_gives_no_interval),
        cmocka_unit_test(values_are_medians_of_the_trials),
        cmocka_unit_test(arms_are_judged_by_control_and_validity),
        cmocka_unit_test(mixed_arms_are_compared_like_with_like),
        cmocka_unit_test(a_handful_of_full_ones_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
