/* SPDX-License-Identifier: Apache-2.0 */
#include "run/load.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "run/left_out.h"
#include "run/load_compare.h"
#include "run/load_parts.h"
#include "run/validity.h"

#define CALIBRATION_NS 1000000000u
#define CALIBRATION_PER_S 20000.0 /* for each worker: more than any can do */
#define CALIBRATION_IN_FLIGHT 16u
#define SETTLE_NS 50000000u /* between runs, for what the last one left to close */

static void settle(void)
{
    (void)clock_sleep_until_ns(clock_now_ns() + SETTLE_NS);
}

/* ---- calibration ---- */

static void note_capacity(struct load *l, double per_s)
{
    char message[160];
    const double unit = pow(10, fmax(0, floor(log10(per_s)) - 1)); /* two digits */
    snprintf(message, sizeof(message),
             "asked %.4g/s; this machine can generate about %.0f/s with %zu worker%s",
             l->options->rate_per_s, floor(per_s / unit) * unit, l->workers,
             l->workers == 1 ? "" : "s");
    result_add_problem(l->result, RESULT_NOTE, "generator-capacity", NULL, 0, message);
}

int load_flood(struct load *l, unsigned arm, struct load_flood *out, struct err *e)
{
    struct schedule schedule;
    struct load_window window;
    double cpu_ns = 0, completed = 0;
    if (schedule_init(&schedule, CALIBRATION_PER_S * (double)l->workers, SCHEDULE_CONSTANT, 0,
                      CALIBRATION_NS, e) != 0)
        return -1;
    const struct worker_plan plan = {.schedule = &schedule,
                                     .grace_ns = CALIBRATION_NS,
                                     .timeout_ns = l->options->timeout_ns,
                                     .max_in_flight = CALIBRATION_IN_FLIGHT,
                                     .arm = arm,
                                     .arms = (unsigned)l->options->arms->count};
    const int end = load_run_once(l, &plan, "calibration", &window, e);
    for (size_t i = 0; i < l->workers; i++) {
        cpu_ns += (double)l->worker[i].cpu_ns;
        completed += (double)l->worker[i].arm[arm].shard.tally.completed;
    }
    load_window_fini(l, &window);
    *out = (struct load_flood){.completed_per_s = completed * 1e9 / CALIBRATION_NS,
                               .generator_per_s = NAN};
    if (completed > 0 && cpu_ns > 0)
        out->generator_per_s =
            VALIDITY_CLIENT_BUSY_MAX * (double)l->workers * 1e9 * completed / cpu_ns;
    settle();
    return end;
}

static int calibrate(struct load *l, struct err *e)
{
    struct load_flood flood;
    const int end = load_flood(l, 0, &flood, e);
    if (end == 0 && isfinite(flood.generator_per_s))
        note_capacity(l, flood.generator_per_s);
    return end == 0 ? load_compare_clients(l, e) : end;
}

/* ---- trials ---- */

static int make_schedule(const struct load *l, const struct load_turn *turn,
                         struct schedule *out, struct err *e)
{
    const struct load_options *o = l->options;
    /* All arms of a block meet the same arrivals. */
    const uint64_t seed =
        rng_derive_seed(rng_derive_seed(o->seed, LOAD_STREAM_ARRIVALS), turn->block);
    return schedule_init(out, turn->rate_per_s, o->arrivals, seed,
                         o->warmup_ns + o->duration_ns, e);
}

static void make_plan(const struct load *l, const struct schedule *schedule,
                      const struct load_turn *turn, struct worker_plan *out)
{
    const struct load_options *o = l->options;
    *out = (struct worker_plan){
        .schedule = schedule,
        .warmup_ns = o->warmup_ns,
        .grace_ns = o->grace_ns,
        .timeout_ns = o->timeout_ns,
        .max_in_flight = (unsigned)((o->max_in_flight + l->workers - 1) / l->workers),
        .is_interleaved = o->interleave == LOAD_INTERLEAVE_CONNECTION,
        .arm = turn->arm,
        .arms = (unsigned)o->arms->count,
        .seed = rng_derive_seed(rng_derive_seed(o->seed, LOAD_STREAM_TURNS), turn->block),
    };
}

/* Every arrival of the measured part is in some trial's tally. */
static void assert_complete(const struct load *l, const struct schedule *s)
{
    const uint64_t due = schedule_count_between(s, l->options->warmup_ns, s->duration_ns);
    uint64_t counted = 0;
    for (size_t i = 0; i < l->workers; i++)
        for (unsigned k = 0; k < l->worker[i].arms; k++)
            counted += l->worker[i].arm[k].shard.tally.scheduled;
    assert(counted == due);
}

int load_run_turn(struct load *l, const struct load_turn *turn, struct err *e)
{
    const struct load_options *o = l->options;
    const bool takes_turns = o->interleave == LOAD_INTERLEAVE_CONNECTION;
    struct schedule schedule;
    struct worker_plan plan;
    struct load_window window;
    if (make_schedule(l, turn, &schedule, e) != 0)
        return -1;
    make_plan(l, &schedule, turn, &plan);
    const int end = load_run_once(l, &plan, turn->step, &window, e);
    if (end < 0)
        err_add_context(e, "%s", turn->step);
    if (end == 0) {
        assert_complete(l, &schedule);
        const unsigned first = takes_turns ? 0 : turn->arm;
        const unsigned behind = takes_turns ? plan.arms : turn->arm + 1;
        for (unsigned i = first; i < behind; i++)
            load_fill_trial(l, i, &window, turn->rate_per_s / (behind - first));
        load_write_samples(l, &window);
        l->position++;
    }
    load_window_fini(l, &window);
    settle();
    return end;
}

static void set_elapsed(struct load *l)
{
    l->result->elapsed_s = (double)(clock_now_ns() - l->began_ns) / 1e9;
}

void load_keep(struct load *l)
{
    const struct run_keep *k = &l->options->keep;
    set_elapsed(l);
    if (k->keep != NULL)
        k->keep(k->arg);
}

static int run_trials(struct load *l, unsigned block, unsigned arm, struct err *e)
{
    const struct load_options *o = l->options;
    const bool takes_turns = o->interleave == LOAD_INTERLEAVE_CONNECTION;
    char step[ARM_NAME_MAX + 64];
    snprintf(step, sizeof(step), "trial %u of %u%s%s", block + 1, o->trials,
             takes_turns ? "" : ", ", takes_turns ? "" : o->arms->arm[arm].name);
    const struct load_turn turn = {
        .rate_per_s = o->rate_per_s, .block = block, .arm = arm, .step = step};
    const int end = load_run_turn(l, &turn, e);
    if (end == 0)
        load_keep(l);
    return end;
}

/* Randomised complete blocks. */
static int run_block(struct load *l, unsigned block, struct rng *rng, struct err *e)
{
    const size_t arms = l->options->arms->count;
    size_t order[ARMS_MAX];
    int end = 0;
    if (l->options->interleave == LOAD_INTERLEAVE_CONNECTION)
        return run_trials(l, block, 0, e);
    for (size_t i = 0; i < arms; i++)
        order[i] = i;
    rng_shuffle(rng, order, arms);
    for (size_t i = 0; i < arms && end == 0; i++)
        end = run_trials(l, block, (unsigned)order[i], e);
    return end;
}

static int run_blocks(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    struct rng rng;
    int end = 0;
    rng_init(&rng, rng_derive_seed(o->seed, LOAD_STREAM_ORDER));
    l->steps =
        o->interleave == LOAD_INTERLEAVE_CONNECTION ? o->trials : o->trials * o->arms->count;
    if (l->has_child && !o->is_uncalibrated)
        end = calibrate(l, e);
    for (unsigned block = 0; block < o->trials && end == 0; block++)
        end = run_block(l, block, &rng, e);
    if (end > 0)
        l->result->is_interrupted = true;
    return end < 0 ? -1 : 0;
}

/* ---- the end ---- */

void load_conclude(struct load *l)
{
    const struct load_options *o = l->options;
    struct host_facts host;
    host_read_facts(&host);
    const struct validity_run v = {.shares_cores = l->has_child && load_shares_cores(o),
                                   .is_over_loopback = address_is_loopback(&l->target[0]),
                                   .host = &host};
    validity_check_run(&v, l->result);
    load_link_fill(l);
    set_elapsed(l);
}

int load_check_outcome(const struct load *l, struct err *e)
{
    uint64_t trials = 0, completed = 0;
    for (size_t i = 0; i < l->result->arms; i++)
        for (size_t k = 0; k < l->result->arm[i].trials; k++) {
            trials++;
            completed += l->result->arm[i].trial[k].tally.completed;
        }
    if (trials == 0)
        return err_set(e, ERR_FAILED, "stopped before one trial was finished");
    if (completed == 0)
        return err_set(e, ERR_FAILED, "not one handshake was completed");
    return 0;
}

static void conclude_all(struct load *l)
{
    load_conclude(l);
    (void)left_out_apply(l->result);
    load_compare(l->options->arms, rng_derive_seed(l->options->seed, LOAD_STREAM_COMPARE),
                 l->result->elapsed_s, l->result);
}

bool load_has_trials(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++)
        if (r->arm[i].trials > 0)
            return true;
    return false;
}

void load_end_early(struct load *l, const struct err *why)
{
    l->result->is_interrupted = true;
    result_set_text(&l->result->interrupted_by, "an error");
    result_add_problem(l->result, RESULT_NOTE, "ended-early", NULL, 0, why->text);
}

/* An error costs the trial that it came in and those behind it, not the ones before. */
static int run_and_conclude(struct load *l, struct err *e)
{
    struct err why = ERR_INIT;
    if (run_blocks(l, &why) == 0) {
        conclude_all(l);
        return load_link_close(l, e) != 0 || load_check_outcome(l, e) != 0 ? -1 : 0;
    }
    if (load_has_trials(l->result)) {
        load_end_early(l, &why);
        conclude_all(l);
    }
    if (e != NULL)
        *e = why;
    return -1;
}

int load_run(const struct load_options *options, struct result *result, struct err *e)
{
    struct load *l = mem_alloc_zeroed(1, sizeof(*l));
    l->options = options;
    l->result = result;
    l->began_ns = clock_now_ns();
    result->seed = options->seed;
    int failed = load_set_up(l, e);
    if (failed == 0)
        failed = run_and_conclude(l, e);
    load_take_down(l);
    free(l);
    return failed;
}
