/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "run/bench_lab.h"
#include "stats/sample.h"

#define PROBE_ROUNDS 5u
#define STEAL_WINDOW_S 1.0 /* it is counted in ticks of 10 ms */

/* What a turn is for. */
enum turn_use { TURN_WATCH, TURN_WARM_UP, TURN_COUNT };

static void run_turn(struct bench *b, struct bench_arm *a, unsigned handshakes,
                     enum turn_use use)
{
    struct bench_turn *t = &b->turn;
    memset(t, 0, sizeof *t);
    t->lane = &a->lane;
    t->duplex = b->duplex;
    t->handshakes = handshakes;
    t->timeout_ns = b->options->timeout_ns;
    t->clock_cost_ns = b->clock_cost_ns;
    t->watch = use == TURN_WATCH ? a->watch : NULL;
    t->never_resumes = use == TURN_WARM_UP;
    for (unsigned side = 0; side < 2; side++)
        t->counters[side] = b->has_counters[side] ? &b->counters[side] : NULL;
    bench_run_job(b, bench_turn_run, t, -1);
    for (unsigned side = 0; side < 2; side++) {
        b->metered_ns += t->metered_ns[side];
        for (unsigned i = 0; i < t->done; i++)
            for (unsigned part = 0; part < BENCH_PARTS; part++)
                b->reported_ns += t->sample[side][i].ns[part];
    }
}

static void note_most(char out[SEEN_NAME_SIZE], const struct seen_names *names)
{
    const char *most = seen_most(names);
    snprintf(out, SEEN_NAME_SIZE, "%s", most != NULL ? most : "");
}

static int watch_arm(struct bench *b, struct bench_arm *a, struct err *e)
{
    char why[400];
    a->watch = mem_alloc_zeroed(1, sizeof *a->watch);
    run_turn(b, a, BENCH_WATCHED, TURN_WATCH);
    if (b->turn.seen.completed > 0) {
        note_most(a->watch->group, &b->turn.seen.group);
        note_most(a->watch->cipher, &b->turn.seen.cipher);
        a->kept.hrr_for_a_share_sent = b->turn.seen.hrr_for_a_share_sent;
        return 0;
    }
    return err_set(e, ERR_FAILED, "arm %s: none of %u handshakes completed: %s",
                   a->plan.arm->name, b->turn.done,
                   bench_explain_failure(a, &b->turn.seen, why, sizeof why));
}

int bench_watch_all(struct bench *b, struct err *e)
{
    snprintf(b->step, sizeof b->step, "first handshakes");
    if (bench_make_contexts(b, e) != 0)
        return -1;
    for (size_t i = 0; i < b->arms && !bench_is_stopped(b); i++) {
        if (watch_arm(b, &b->arm[i], e) != 0)
            return -1;
        bytes_merge(&b->result->arm[i].bytes, &b->arm[i].watch->messages);
    }
    return 0;
}

static void probe_speed(struct pair *p, enum duplex_side side, void *arg)
{
    uint64_t *ns = arg;
    (void)p;
    ns[side] = cpu_speed_probe_ns(PROBE_ROUNDS);
}

/* Of the slower core. */
static double read_speed(struct bench *b)
{
    uint64_t ns[2] = {0, 0};
    bench_run_job(b, probe_speed, ns, -1);
    return (double)(ns[0] > ns[1] ? ns[0] : ns[1]);
}

static unsigned clip_ns(uint64_t ns)
{
    return ns > UINT32_MAX ? UINT32_MAX : (unsigned)ns;
}

static double total_us(const struct bench_row *row, unsigned side)
{
    uint64_t ns = 0;
    for (unsigned part = 0; part < BENCH_PARTS; part++)
        ns += row->ns[side][part];
    return (double)ns / 1000;
}

/* Median of the rows' totals from `first` on. */
static double median_total_us(struct bench *b, const struct bench_arm *a, unsigned side,
                              unsigned first)
{
    size_t n = 0;
    for (unsigned i = first; i < a->rows; i++)
        b->scratch[n++] = total_us(&a->row[i], side);
    return n == 0 ? NAN : sample_median(b->scratch, n);
}

/* Take over what the turn measured of completed handshakes. */
static void absorb_turn(struct bench *b, struct bench_arm *a, unsigned round)
{
    const struct bench_turn *t = &b->turn;
    const unsigned first = a->rows;
    for (unsigned i = 0; i < t->done; i++) {
        if (!t->is_complete[i])
            continue;
        struct bench_row *row = &a->row[a->rows++];
        for (unsigned side = 0; side < 2; side++) {
            for (unsigned part = 0; part < BENCH_PARTS; part++)
                row->ns[side][part] = clip_ns(t->sample[side][i].ns[part]);
            row->instructions[side] = t->sample[side][i].instructions;
            row->cycles[side] = t->sample[side][i].cycles;
        }
    }
    a->begun += t->done;
    a->is_stalled = t->is_stalled;
    seen_merge(&a->now, &t->seen);
    for (unsigned side = 0; side < 2; side++)
        a->round_us[side][round] = median_total_us(b, a, side, first);
}

/* Handshakes of a round: the whole is shared out evenly. */
static unsigned round_size(const struct bench *b, unsigned round)
{
    uint64_t all = b->options->handshakes;
    return (unsigned)(all * (round + 1) / b->rounds - all * round / b->rounds);
}

/* Some readings of the primitives, at evenly spread rounds. */
static bool is_primitive_round(const struct bench *b, unsigned round)
{
    unsigned visits = b->rounds < BENCH_PRIMITIVE_VISITS ? b->rounds : BENCH_PRIMITIVE_VISITS;
    return round == 0 ||
           (uint64_t)round * visits / b->rounds != (uint64_t)(round - 1) * visits / b->rounds;
}

static int run_round(struct bench *b, unsigned round, struct err *e)
{
    if (bench_make_contexts(b, e) != 0)
        return -1;
    if (is_primitive_round(b, round))
        bench_primitives_read(b);
    rng_shuffle(&b->rng, b->order, b->arms);
    for (size_t i = 0; i < b->arms && !bench_is_stopped(b); i++) {
        struct bench_arm *a = &b->arm[b->order[i]];
        b->turns_done++;
        if (a->is_stalled)
            continue;
        if (a->position == 0)
            a->position = (unsigned)i + 1;
        bench_work_read(b, a, round);
        run_turn(b, a, BENCH_WARM_UP, TURN_WARM_UP);
        uint64_t before_ns = clock_now_ns();
        run_turn(b, a, round_size(b, round), TURN_COUNT);
        a->elapsed_ns += clock_now_ns() - before_ns;
        absorb_turn(b, a, round);
    }
    return 0;
}

static void begin_repeat(struct bench *b)
{
    b->repeat++;
    snprintf(b->step, sizeof b->step, b->repeat == 1 ? "warm-up" : "repeat %u of %u",
             b->repeat - 1, b->options->repeats);
    for (size_t i = 0; i < b->arms; i++) {
        struct bench_arm *a = &b->arm[i];
        a->position = a->begun = a->rows = 0;
        a->is_stalled = false;
        a->elapsed_ns = 0;
        seen_reset(&a->now);
        for (unsigned side = 0; side < 2; side++)
            for (unsigned round = 0; round < b->rounds; round++)
                a->round_us[side][round] = a->work_us[side][round] = NAN;
    }
}

/* One of each side and round in which both completed something. */
static void keep_differences(const struct bench *b, struct bench_arm *a,
                             const struct bench_arm *base)
{
    for (unsigned round = 0; round < b->rounds; round++) {
        double client =
            a->round_us[DUPLEX_CLIENT][round] - base->round_us[DUPLEX_CLIENT][round];
        double server =
            a->round_us[DUPLEX_SERVER][round] - base->round_us[DUPLEX_SERVER][round];
        if (isnan(client) || isnan(server))
            continue;
        a->difference_us[DUPLEX_CLIENT][a->differences] = client;
        a->difference_us[DUPLEX_SERVER][a->differences] = server;
        a->differences++;
    }
}

static double median_part_us(struct bench *b, const struct bench_arm *a, unsigned side,
                             enum result_cpu_part part)
{
    static const enum bench_part parts[] = {
        [RESULT_CPU_HANDSHAKE] = BENCH_HANDSHAKE,
        [RESULT_CPU_SETUP] = BENCH_SETUP,
        [RESULT_CPU_TEARDOWN] = BENCH_TEARDOWN,
    };
    if (part == RESULT_CPU_TOTAL)
        return median_total_us(b, a, side, 0);
    for (unsigned i = 0; i < a->rows; i++)
        b->scratch[i] = a->row[i].ns[side][parts[part]] / 1000.0;
    return a->rows == 0 ? NAN : sample_median(b->scratch, a->rows);
}

static void keep_counters(struct bench *b, const struct bench_arm *a, unsigned side,
                          struct result_trial *trial)
{
    if (!b->has_counters[side] || a->rows == 0)
        return;
    for (unsigned i = 0; i < a->rows; i++)
        b->scratch[i] = (double)a->row[i].instructions[side];
    double instructions = sample_median(b->scratch, a->rows);
    for (unsigned i = 0; i < a->rows; i++)
        b->scratch[i] = (double)a->row[i].cycles[side];
    double cycles = sample_median(b->scratch, a->rows);
    trial->instructions[side] = instructions > 0 ? instructions : NAN;
    trial->cycles[side] = cycles > 0 ? cycles : NAN;
}

static void keep_arm(struct bench *b, size_t i, const struct bench_conditions *c)
{
    struct bench_arm *a = &b->arm[i];
    struct result_trial *trial = arm_add_trial(&b->result->arm[i]);
    trial->position = b->kept * (unsigned)b->arms + (a->position > 0 ? a->position : 1);
    trial->started_s = c->started_s;
    trial->elapsed_s = (double)a->elapsed_ns * 1e-9;
    trial->steal = c->steal;
    trial->throttled = c->throttled;
    trial->speed_before_ns = c->speed_before_ns;
    trial->speed_after_ns = c->speed_after_ns;
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            trial->cpu_us[side][part] = median_part_us(b, a, side, (enum result_cpu_part)part);
        keep_counters(b, a, side, trial);
    }
    bench_work_keep(b, a, trial);
    seen_to_trial(&a->now, b->options->handshakes, trial);
    seen_merge(&a->kept, &a->now);
    size_t to = arms_baseline(b->options->arms, i);
    if (to != i)
        keep_differences(b, a, &b->arm[to]);
}

static double share_of(bool is_known, uint64_t before_ns, uint64_t after_ns, double of_s)
{
    if (!is_known || after_ns < before_ns || !(of_s > 0))
        return NAN;
    return fmin(1.0, (double)(after_ns - before_ns) * 1e-9 / of_s);
}

static int run_rounds(struct bench *b, struct err *e)
{
    for (unsigned round = 0; round < b->rounds && !bench_is_stopped(b); round++)
        if (run_round(b, round, e) != 0)
            return -1;
    return 0;
}

int bench_repeat_run(struct bench *b, struct err *e)
{
    struct cpu_losses before, after;
    struct bench_conditions c;
    const double turns_before = b->turns_done;
    begin_repeat(b);
    cpu_read_losses(&b->cores, &before);
    c.speed_before_ns = read_speed(b);
    uint64_t began_ns = clock_now_ns();
    if (run_rounds(b, e) != 0)
        return -1;
    uint64_t ended_ns = clock_now_ns();
    c.speed_after_ns = read_speed(b);
    cpu_read_losses(&b->cores, &after);
    c.started_s = (double)(began_ns - b->started_ns) * 1e-9;
    c.elapsed_s = (double)(ended_ns - began_ns) * 1e-9;
    bool has_steal = before.has_steal && after.has_steal && c.elapsed_s >= STEAL_WINDOW_S;
    c.steal = share_of(has_steal, before.steal_ns, after.steal_ns,
                       c.elapsed_s * (double)b->cores.count);
    c.throttled = share_of(before.has_throttled && after.has_throttled, before.throttled_ns,
                           after.throttled_ns, c.elapsed_s);
    bool is_whole = b->turns_done - turns_before >= (double)b->rounds * (double)b->arms;
    bool is_kept = b->repeat > 1 && is_whole;
    bench_primitives_keep(b, is_kept);
    if (!is_kept)
        return 0;
    for (size_t i = 0; i < b->arms; i++)
        keep_arm(b, i, &c);
    b->kept++;
    b->measured_ns += ended_ns - began_ns;
    return 0;
}
