/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "result/list.h"
#include "result/parts.h"

static const struct figure absent = FIGURE_ABSENT;

void result_arm_init(struct result_arm *arm, const char *name)
{
    arm->name = mem_copy_string(name);
    arm->network.model_tcp_us = arm->network.model_tls_us = (double)NAN;
    arm->network.model_ttlb_us = (double)NAN;
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            arm->cpu.us[side][part] = absent;
        arm->cpu.min_us[side] = absent;
        arm->cpu.instructions[side] = absent;
        arm->cpu.cycles[side] = absent;
        arm->cpu.primitives_us[side] = absent;
        arm->cpu.primitives_share[side] = absent;
    }
}

static void failures_free(struct result_trial *trial)
{
    for (size_t i = 0; i < trial->failures; i++) {
        free(trial->failure[i].phase);
        free(trial->failure[i].cause);
        free(trial->failure[i].detail);
    }
    free(trial->failure);
}

static void trial_fini(struct result_trial *trial)
{
    failures_free(trial);
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
        histogram_free(trial->latency_ns[phase]);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
            histogram_free(trial->apart_ns[i][phase]);
    histogram_free(trial->start_lag_ns);
    for (size_t i = 0; i < trial->slow; i++)
        free(trial->slowest[i].cause);
    free(trial->slowest);
}

void result_arm_fini(struct result_arm *arm)
{
    free(arm->name);
    pairs_free(&arm->spec);
    pairs_free(&arm->prediction);
    free(arm->client_backend);
    free(arm->server_backend);
    negotiated_free(&arm->negotiated);
    bytes_free(&arm->bytes);
    for (size_t i = 0; i < arm->primitives; i++) {
        free(arm->primitive[i].operation);
        free(arm->primitive[i].subject);
    }
    free(arm->primitive);
    for (size_t i = 0; i < arm->trials; i++)
        trial_fini(&arm->trial[i]);
    free(arm->trial);
}

struct result_trial *arm_add_trial(struct result_arm *arm)
{
    const unsigned index = arm->trials == 0 ? 1 : arm->trial[arm->trials - 1].index + 1;
    arm->trial = list_grow(arm->trial, &arm->trials, sizeof(*arm->trial));
    struct result_trial *t = &arm->trial[arm->trials - 1];
    t->index = index;
    t->is_valid = true;
    t->started_s = NAN;
    t->elapsed_s = NAN;
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            t->cpu_us[side][part] = NAN;
        t->instructions[side] = NAN;
        t->cycles[side] = NAN;
        t->work_us[side] = NAN;
        t->cpu_per_work[side] = NAN;
        t->side_cpu_us[side] = NAN;
    }
    t->due_per_s = NAN;
    t->achieved_per_s = NAN;
    t->client_busy = NAN;
    t->server_busy = NAN;
    t->steal = NAN;
    t->throttled = NAN;
    t->speed_before_ns = NAN;
    t->speed_after_ns = NAN;
    return t;
}

struct result_trial *arm_find_trial(const struct result_arm *arm, unsigned index)
{
    for (size_t i = 0; i < arm->trials; i++) {
        if (arm->trial[i].index == index)
            return &arm->trial[i];
    }
    return NULL;
}

bool trial_is_split(const struct result_trial *trial)
{
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
            if (trial->apart_ns[i][phase] != NULL)
                return true;
    return false;
}

const struct histogram *trial_latency_of(const struct result_trial *trial,
                                         enum result_handshake handshake,
                                         enum result_phase phase)
{
    const struct histogram *h = trial->apart_ns[handshake][phase];
    if (handshake == RESULT_HANDSHAKE_FULL && !trial_is_split(trial))
        h = trial->latency_ns[phase];
    return h != NULL && histogram_count(h) > 0 ? h : NULL;
}

struct result_primitive *arm_add_primitive(struct result_arm *arm)
{
    arm->primitive = list_grow(arm->primitive, &arm->primitives, sizeof(*arm->primitive));
    struct result_primitive *p = &arm->primitive[arm->primitives - 1];
    p->times = 1;
    p->us = absent;
    return p;
}

static bool is_same_failure(const struct result_failure *a, const struct result_failure *b)
{
    return a->code == b->code && a->is_local == b->is_local &&
           strcmp(a->phase, b->phase) == 0 && strcmp(a->cause, b->cause) == 0;
}

void trial_add_failure(struct result_trial *trial, const struct result_failure *f)
{
    for (size_t i = 0; i < trial->failures; i++) {
        if (is_same_failure(&trial->failure[i], f)) {
            trial->failure[i].count += f->count;
            return;
        }
    }
    trial->failure = list_grow(trial->failure, &trial->failures, sizeof(*trial->failure));
    struct result_failure *added = &trial->failure[trial->failures - 1];
    added->phase = mem_copy_string(f->phase);
    added->cause = mem_copy_string(f->cause);
    added->code = f->code;
    added->is_local = f->is_local;
    added->count = f->count;
    if (f->detail != NULL) {
        struct text harmless = {0};
        text_add_harmless(&harmless, f->detail);
        added->detail = text_take(&harmless);
    }
}

struct result_slow *trial_add_slow(struct result_trial *trial)
{
    trial->slowest = list_grow(trial->slowest, &trial->slow, sizeof(*trial->slowest));
    struct result_slow *s = &trial->slowest[trial->slow - 1];
    s->at_s = NAN;
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
        s->phase_us[phase] = absent;
    s->start_lag_us = NAN;
    s->run_delay_us = NAN;
    s->server_run_delay_us = NAN;
    s->steal_us = NAN;
    return s;
}
