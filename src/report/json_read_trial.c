/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_field.h"

#include <math.h>
#include <stdio.h>
#include "report/json_histogram.h"

static void read_tally(const struct place *p, struct result_tally *tally)
{
    const struct place found = field_object(p, "tally");
    tally->scheduled = field_count(&found, "scheduled");
    tally->completed = field_count(&found, "completed");
    tally->failed = field_count(&found, "failed");
    tally->timed_out = field_count(&found, "timed_out");
    tally->unfinished = field_count(&found, "unfinished");
    tally->not_started = field_count(&found, "not_started");
}

static void read_failures(const struct place *p, struct result_trial *t)
{
    const struct place list = field_list(p, "failures");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        /* trial_add_failure copies and does not change the texts. */
        const struct result_failure f = {
            .phase = (char *)(uintptr_t)field_text(&item, "phase"),
            .cause = (char *)(uintptr_t)field_text(&item, "cause"),
            .code = field_integer(&item, "code"),
            .is_local = field_bool(&item, "local"),
            .detail = (char *)(uintptr_t)field_text(&item, "detail"),
            .count = field_count(&item, "count"),
        };
        if (f.phase == NULL || f.cause == NULL || f.count > t->tally.scheduled)
            field_fail(&item, "no phase, no cause or a wrong count");
        else
            trial_add_failure(t, &f);
    }
}

static void read_sides(const struct place *p, const char *name, double values[RESULT_SIDES])
{
    const struct place found = field_object(p, name);
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        values[side] = field_number(&found, result_side_name((enum result_side)side));
}

static void read_cpu(const struct place *p, struct result_trial *t)
{
    const struct place us = field_object(p, "cpu_us");
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct place side = field_object(&us, result_side_name((enum result_side)i));
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            t->cpu_us[i][part] =
                field_number(&side, result_cpu_part_name((enum result_cpu_part)part));
    }
    read_sides(p, "instructions", t->instructions);
    read_sides(p, "cycles", t->cycles);
    read_sides(p, "work_us", t->work_us);
    read_sides(p, "cpu_per_work", t->cpu_per_work);
}

static void read_phases(const struct place *p, struct histogram *latency_ns[RESULT_PHASES])
{
    const struct place histograms = field_object(p, "histograms");
    const struct place rows = field_object(p, "latency_us");
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        const char *name = result_phase_name((enum result_phase)phase);
        const struct place row = field_object(&rows, name);
        latency_ns[phase] = json_histogram_read(&histograms, name, &row);
    }
}

static void read_latency(const struct place *p, struct result_trial *t)
{
    const struct place histograms = field_object(p, "histograms");
    const struct place by_handshake = field_object(p, "by_handshake");
    read_phases(p, t->latency_ns);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++) {
        const struct place apart =
            field_object(&by_handshake, result_handshake_name((enum result_handshake)i));
        read_phases(&apart, t->apart_ns[i]);
    }
    const struct place lag = field_object(p, "start_lag_us");
    t->start_lag_ns = json_histogram_read(&histograms, "start_lag", &lag);
}

static void read_slowest(const struct place *p, struct result_trial *t)
{
    char key[32];
    const struct place list = field_list(p, "slowest");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        struct result_slow *s = trial_add_slow(t);
        s->at_s = field_number(&item, "at_s");
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            snprintf(key, sizeof(key), "%s_us", result_phase_name((enum result_phase)phase));
            s->phase_us[phase].value = field_number(&item, key);
        }
        s->start_lag_us = field_number(&item, "start_lag_us");
        s->run_delay_us = field_number(&item, "run_delay_us");
        s->server_run_delay_us = field_number(&item, "server_run_delay_us");
        s->steal_us = field_number(&item, "steal_us");
        s->involuntary = field_count(&item, "involuntary");
        s->retransmits = field_count(&item, "retransmits");
        field_copy_text(&item, "cause", &s->cause);
    }
}

void json_read_trial(const struct place *p, struct result_trial *t)
{
    t->index = field_small_count(p, "index");
    t->position = field_small_count(p, "position");
    t->started_s = field_number(p, "started_s");
    t->elapsed_s = field_number(p, "elapsed_s");
    t->is_valid = field_bool(p, "valid");
    t->is_censored = field_bool(p, "censored");
    t->is_left_out = field_bool(p, "left_out");
    read_tally(p, &t->tally);
    read_failures(p, t);
    read_cpu(p, t);
    t->due_per_s = field_number(p, "due_per_s");
    t->achieved_per_s = field_number(p, "achieved_per_s");
    read_latency(p, t);
    t->side_cpu_us[RESULT_CLIENT] = field_number(p, "client_cpu_us");
    t->side_cpu_us[RESULT_SERVER] = field_number(p, "server_cpu_us");
    t->client_busy = field_number(p, "client_busy");
    t->server_busy = field_number(p, "server_busy");
    t->steal = field_number(p, "steal");
    t->throttled = field_number(p, "throttled");
    t->speed_before_ns = field_number(p, "speed_before_ns");
    t->speed_after_ns = field_number(p, "speed_after_ns");
    t->retransmits = field_count(p, "retransmits");
    t->unclean_closes = field_count(p, "unclean_closes");
    t->oldest_unfinished_ns = field_count(p, "oldest_unfinished_ns");
    read_slowest(p, t);
}
