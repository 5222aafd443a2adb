/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the workers, and the trials it makes. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "run/load_parts.h"
#include "run/validity.h"

#define LEAD_NS 20000000u
#define PROGRESS_NS 100000000u
#define PROBED_CORES 8u
#define PROBE_ROUNDS 3u

/* ---- the machine, before and after ---- */

/* The slowest of the cores used. */
static double probe_speed(const struct load *l)
{
    const struct cpu_set *sets[] = {&l->options->client_cores, &l->options->server_cores};
    struct cpu_set allowed;
    double worst_ns = NAN;
    cpu_allowed(&allowed);
    for (size_t k = 0; k < (l->has_child ? 2 : 1); k++)
        for (size_t i = 0; i < sets[k]->count && i < PROBED_CORES; i++)
            if (cpu_pin_thread(sets[k]->core[i], NULL) == 0)
                worst_ns = fmax(worst_ns, (double)cpu_speed_probe_ns(PROBE_ROUNDS));
    if (cpu_pin_thread_to_set(&allowed, NULL) != 0)
        return NAN;
    return worst_ns;
}

static int read_before(struct load *l, struct load_window *w, struct err *e)
{
    w->speed_before_ns = probe_speed(l);
    w->has_server = load_is_embedded(l);
    if (w->has_server && child_read_totals(&l->child, &w->server_before, e) != 0)
        return -1;
    cpu_read_losses(&l->options->client_cores, &w->client_before);
    cpu_read_losses(&l->options->server_cores, &w->server_losses_before);
    load_agent_before(l, w);
    return 0;
}

static int copy_samples(struct load *l, struct load_window *w, struct err *e)
{
    const size_t servers = w->server_workers = l->has_child ? l->child.workers : 0;
    w->client_samples = mem_alloc_zeroed(l->workers, sizeof(*w->client_samples));
    w->client_sample_count = mem_alloc_zeroed(l->workers, sizeof(size_t));
    w->client_first = mem_alloc_zeroed(l->workers, sizeof(*w->client_first));
    for (size_t i = 0; i < l->workers; i++)
        w->client_samples[i] = sampler_copy(&l->worker[i].sampler, 0,
                                            &w->client_sample_count[i], &w->client_first[i]);
    /* One more: an agent's. */
    w->server_samples = mem_alloc_zeroed(servers + 1, sizeof(*w->server_samples));
    w->server_sample_count = mem_alloc_zeroed(servers + 1, sizeof(size_t));
    w->server_first = mem_alloc_zeroed(servers + 1, sizeof(*w->server_first));
    for (size_t i = 0; i < servers; i++) {
        const struct child_samples which = {i, w->start_ns - 2 * SAMPLER_INTERVAL_NS};
        w->server_samples[i] = child_copy_samples(&l->child, &which, &w->server_sample_count[i],
                                                  &w->server_first[i], e);
        if (w->server_samples[i] == NULL)
            return -1;
    }
    return 0;
}

static int read_after(struct load *l, struct load_window *w, struct err *e)
{
    cpu_read_losses(&l->options->client_cores, &w->client_after);
    cpu_read_losses(&l->options->server_cores, &w->server_losses_after);
    if (w->has_server && child_read_totals(&l->child, &w->server_after, e) != 0)
        return -1;
    if (copy_samples(l, w, e) != 0)
        return -1;
    load_agent_after(l, w);
    w->speed_after_ns = probe_speed(l);
    return 0;
}

void load_window_fini(struct load *l, struct load_window *w)
{
    for (size_t i = 0; w->client_samples != NULL && i < l->workers; i++)
        free(w->client_samples[i]);
    for (size_t i = 0; w->server_samples != NULL && i < w->server_workers; i++)
        free(w->server_samples[i]);
    free(w->client_samples);
    free(w->client_sample_count);
    free(w->server_samples);
    free(w->server_sample_count);
    free(w->client_first);
    free(w->server_first);
    load_agent_window_fini(w);
    memset(w, 0, sizeof(*w));
}

/* ---- the run ---- */

static bool is_stopped(const struct load *l)
{
    return l->options->stop != NULL && *l->options->stop != 0;
}

static void report(const struct load *l, const char *step, uint64_t start_ns, uint64_t end_ns)
{
    const struct run_progress *p = &l->options->progress;
    if (p->report == NULL)
        return;
    const double run_s = (double)(end_ns - start_ns) / 1e9;
    const double part = fmin(1, fmax(0, (double)(clock_now_ns() - start_ns) / 1e9 / run_s));
    const double steps = l->steps > 0 ? (double)l->steps : 1;
    const double done = fmin(1, ((double)l->position + part) / steps);
    p->report(p->arg, step, done, (1 - done) * steps * run_s);
}

static void watch(struct load *l, const char *step, struct load_window *w)
{
    uint64_t now_ns;
    while ((now_ns = clock_now_ns()) < w->end_ns && !is_stopped(l)) {
        const uint64_t next_ns = now_ns + PROGRESS_NS;
        (void)clock_sleep_until_ns(next_ns < w->end_ns ? next_ns : w->end_ns);
        if (clock_now_ns() > w->start_ns)
            report(l, step, w->start_ns, w->end_ns);
        load_agent_watch(l, w);
    }
}

static int run_workers(struct load *l, const struct worker_plan *plan, const char *step,
                       struct load_window *w, struct err *e)
{
    size_t begun = 0;
    int failed = 0;
    while (begun < l->workers && failed == 0) {
        failed = worker_begin(&l->worker[begun], plan, e);
        begun += failed == 0;
    }
    if (failed != 0)
        atomic_store(&l->cancel, true);
    else
        watch(l, step, w);
    for (size_t i = 0; i < begun && (failed != 0 || is_stopped(l)); i++)
        worker_wake(&l->worker[i]);
    for (size_t i = 0; i < begun; i++)
        if (worker_end(&l->worker[i], e) != 0)
            failed = -1;
    return failed;
}

int load_run_once(struct load *l, const struct worker_plan *plan, const char *step,
                  struct load_window *out, struct err *e)
{
    struct worker_plan timed = *plan;
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; l->records != NULL && i < l->workers; i++)
        l->records[i].count = 0;
    if (read_before(l, out, e) != 0)
        return -1;
    timed.start_ns = out->start_ns = clock_now_ns() + LEAD_NS;
    out->measured_ns = out->start_ns + plan->warmup_ns;
    out->end_ns = out->start_ns + plan->schedule->duration_ns;
    if (load_is_embedded(l) && child_keep_samples(&l->child, out->measured_ns, e) != 0)
        return -1;
    for (size_t i = 0; i < l->workers; i++)
        sampler_keep(&l->worker[i].sampler, out->measured_ns);
    if (run_workers(l, &timed, step, out, e) != 0 ||
        (l->link != NULL && link_check(l->link, e) != 0))
        return -1;
    if (is_stopped(l))
        return 1;
    /* One more sample of everything behind the end. */
    (void)clock_sleep_until_ns(out->end_ns + 2 * SAMPLER_INTERVAL_NS);
    return read_after(l, out, e);
}

/* ---- a trial's figures ---- */

static double window_s(const struct load_window *w)
{
    return (double)(w->end_ns - w->measured_ns) / 1e9;
}

/* Of the measured part, however many samples the sampler has forgotten; NAN where unknown. */
static double busy_share(const struct sample *first, const struct sample *samples, size_t count,
                         uint64_t end_ns)
{
    size_t after = count;
    while (after > 0 && samples[after - 1].at_ns >= end_ns)
        after--;
    return sample_busy_share(first, after < count ? &samples[after] : NULL);
}

static double client_busy(const struct load *l, const struct load_window *w)
{
    double busiest = NAN;
    for (size_t i = 0; i < l->workers; i++) {
        const struct worker *worker = &l->worker[i];
        double share = busy_share(&w->client_first[i], w->client_samples[i],
                                  w->client_sample_count[i], w->end_ns);
        if ((!isfinite(share) || worker->is_spinning) && worker->wall_ns > 0)
            share = fmin(1, (double)worker->busy_ns / (double)worker->wall_ns);
        busiest = fmax(busiest, share);
    }
    return busiest;
}

static double server_busy(const struct load_window *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->server_workers; i++)
        sum += busy_share(&w->server_first[i], w->server_samples[i], w->server_sample_count[i],
                          w->end_ns);
    return w->server_workers > 0 ? sum / (double)w->server_workers : (double)NAN;
}

static void fill_machine(struct load *l, const struct load_window *w, struct result_trial *t)
{
    const struct load_options *o = l->options;
    const struct cpu_losses *a = &w->client_before, *b = &w->client_after;
    const double wall_ns = (double)(w->end_ns - w->start_ns);
    t->client_busy = client_busy(l, w);
    t->server_busy = server_busy(w);
    load_agent_fill_machine(w, t);
    if (a->has_steal && b->has_steal) {
        double stolen = (double)(b->steal_ns - a->steal_ns);
        double cores = (double)(o->client_cores.count > 0 ? o->client_cores.count : 1);
        if (load_is_embedded(l) && o->server_cores.count > 0) {
            stolen +=
                (double)(w->server_losses_after.steal_ns - w->server_losses_before.steal_ns);
            cores += (double)o->server_cores.count;
        }
        double agent_share, agent_cores;
        if (load_agent_steal(w, &agent_share, &agent_cores)) {
            stolen += agent_share * agent_cores * wall_ns;
            cores += agent_cores;
        }
        t->steal = stolen / (cores * wall_ns);
    }
    if (a->has_throttled && b->has_throttled)
        t->throttled = fmin(1, (double)(b->throttled_ns - a->throttled_ns) / wall_ns);
    t->speed_before_ns = w->speed_before_ns;
    t->speed_after_ns = w->speed_after_ns;
}

/* CPU of each side per handshake; in one trial of several arms it cannot be told apart. */
static void fill_cpu(struct load *l, const struct load_window *w, struct result_trial *t)
{
    uint64_t cpu_ns = 0;
    if (l->options->interleave == LOAD_INTERLEAVE_CONNECTION && l->options->arms->count > 1)
        return;
    for (size_t i = 0; i < l->workers; i++)
        cpu_ns += l->worker[i].cpu_ns;
    if (t->tally.completed > 0)
        t->side_cpu_us[RESULT_CLIENT] = (double)cpu_ns / 1e3 / (double)t->tally.completed;
    load_agent_fill_cpu(w, t);
    const uint64_t served = w->server_after.handshakes - w->server_before.handshakes;
    if (w->has_server && served > 0)
        t->side_cpu_us[RESULT_SERVER] =
            (double)(w->server_after.cpu_ns - w->server_before.cpu_ns) / 1e3 / (double)served;
}

static void fill_times(struct load *l, const struct load_window *w, uint64_t last_end_ns,
                       struct result_trial *t)
{
    t->position = l->position + 1;
    t->started_s = (double)(w->measured_ns - l->began_ns) / 1e9;
    t->elapsed_s = window_s(w);
    if (last_end_ns > w->end_ns)
        t->elapsed_s = (double)(last_end_ns - w->measured_ns) / 1e9;
    t->achieved_per_s = (double)t->tally.completed / t->elapsed_s;
    t->is_censored = t->tally.unfinished + t->tally.not_started + t->tally.timed_out > 0;
}

static void judge(struct load *l, unsigned arm, const struct result_trial *t,
                  uint64_t held_back, unsigned max_in_flight,
                  const struct result_negotiated *seen)
{
    const struct arm *a = &l->options->arms->arm[arm];
    const struct validity_trial v = {.arm = a->name,
                                     .trial = t,
                                     .busiest_worker = t->client_busy,
                                     .lag_allowed_ns = l->lag_allowed_ns,
                                     .max_in_flight = max_in_flight,
                                     .held_back = held_back,
                                     .seen = seen,
                                     .groups = arm_groups_sent(a),
                                     .expects_resumption = a->resume > 0,
                                     .expects_early = a->early_data_bytes > 0};
    validity_check_trial(&v, l->result);
}

void load_fill_trial(struct load *l, unsigned arm, const struct load_window *w,
                     double due_per_s)
{
    struct result_arm *out = &l->result->arm[arm];
    struct result_negotiated seen;
    uint64_t held_back = 0, last_end_ns = 0;
    memset(&seen, 0, sizeof(seen));
    struct result_trial *t = arm_add_trial(out);
    for (size_t i = 0; i < l->workers; i++) {
        const struct shard *s = &l->worker[i].arm[arm].shard;
        shard_merge(s, t, &seen, &out->bytes);
        network_merge(&out->network, &s->network);
        held_back += s->held_back;
        if (s->last_end_ns > last_end_ns)
            last_end_ns = s->last_end_ns;
    }
    assert(tally_holds(&t->tally));
    t->due_per_s = due_per_s;
    fill_times(l, w, last_end_ns, t);
    fill_machine(l, w, t);
    fill_cpu(l, w, t);
    load_fill_slowest(l, arm, w, t);
    load_agent_add_problems(l, w, out->name, t->index);
    judge(l, arm, t, held_back, l->options->max_in_flight, &seen);
    negotiated_merge(&out->negotiated, &seen);
    negotiated_free(&seen);
}
