/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_put.h"

#include <stdio.h>
#include <stdlib.h>
#include "report/latency.h"

static json_t *of_tally(const struct result_tally *t)
{
    json_t *object = json_made(json_object());
    json_put_count(object, "scheduled", t->scheduled);
    json_put_count(object, "completed", t->completed);
    json_put_count(object, "failed", t->failed);
    json_put_count(object, "timed_out", t->timed_out);
    json_put_count(object, "unfinished", t->unfinished);
    json_put_count(object, "not_started", t->not_started);
    return object;
}

static json_t *of_failures(const struct result_trial *t)
{
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < t->failures; i++) {
        const struct result_failure *f = &t->failure[i];
        json_t *object = json_made(json_object());
        json_put_text(object, "phase", f->phase);
        json_put_text(object, "cause", f->cause);
        json_put(object, "code", json_integer(f->code));
        json_put_bool(object, "local", f->is_local);
        json_put_text(object, "detail", f->detail);
        json_put_count(object, "count", f->count);
        json_append(array, object);
    }
    return array;
}

static json_t *of_cpu_parts(const struct result_trial *t)
{
    json_t *object = json_made(json_object());
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        json_t *parts = json_made(json_object());
        for (unsigned part = 0; part < RESULT_CPU_PARTS; part++)
            json_put_number(parts, result_cpu_part_name((enum result_cpu_part)part),
                            t->cpu_us[side][part]);
        json_put_nonempty(object, result_side_name((enum result_side)side), parts);
    }
    return object;
}

static json_t *of_sides(const double values[RESULT_SIDES])
{
    json_t *object = json_made(json_object());
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        json_put_number(object, result_side_name((enum result_side)side), values[side]);
    return object;
}

static void put_cpu(json_t *trial, const struct result_trial *t)
{
    json_put_nonempty(trial, "cpu_us", of_cpu_parts(t));
    json_put_nonempty(trial, "instructions", of_sides(t->instructions));
    json_put_nonempty(trial, "cycles", of_sides(t->cycles));
    json_put_nonempty(trial, "work_us", of_sides(t->work_us));
    json_put_nonempty(trial, "cpu_per_work", of_sides(t->cpu_per_work));
}

static void put_histogram(json_t *object, const char *key, const struct histogram *h)
{
    if (h == NULL || histogram_count(h) == 0)
        return;
    char *encoded = histogram_encode(h);
    json_put_text(object, key, encoded);
    free(encoded);
}

/* latency_us and histograms of the phases, and of start lag where it is not NULL. */
static void put_phases(json_t *object, struct histogram *const latency_ns[RESULT_PHASES],
                       const struct histogram *start_lag_ns)
{
    json_t *latency = json_made(json_object());
    json_t *histograms = json_made(json_object());
    struct latency_row row;
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        const char *name = result_phase_name((enum result_phase)phase);
        if (latency_of_histogram(latency_ns[phase], &row))
            json_put(latency, name, json_of_latency(&row));
        put_histogram(histograms, name, latency_ns[phase]);
    }
    put_histogram(histograms, "start_lag", start_lag_ns);
    json_put_nonempty(object, "latency_us", latency);
    json_put_nonempty(object, "histograms", histograms);
}

static void put_latency(json_t *trial, const struct result_trial *t)
{
    json_t *by_handshake = json_made(json_object());
    struct latency_row row;
    put_phases(trial, t->latency_ns, t->start_lag_ns);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++) {
        json_t *apart = json_made(json_object());
        put_phases(apart, t->apart_ns[i], NULL);
        json_put_nonempty(by_handshake, result_handshake_name((enum result_handshake)i), apart);
    }
    json_put_nonempty(trial, "by_handshake", by_handshake);
    if (latency_of_histogram(t->start_lag_ns, &row))
        json_put(trial, "start_lag_us", json_of_latency(&row));
}

static json_t *of_slow(const struct result_slow *s)
{
    char key[32];
    json_t *object = json_made(json_object());
    json_put_number(object, "at_s", s->at_s);
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        snprintf(key, sizeof(key), "%s_us", result_phase_name((enum result_phase)phase));
        json_put_number(object, key, s->phase_us[phase].value);
    }
    json_put_number(object, "start_lag_us", s->start_lag_us);
    json_put_number(object, "run_delay_us", s->run_delay_us);
    json_put_number(object, "server_run_delay_us", s->server_run_delay_us);
    json_put_number(object, "steal_us", s->steal_us);
    json_put_count(object, "involuntary", s->involuntary);
    json_put_count(object, "retransmits", s->retransmits);
    json_put_text(object, "cause", s->cause);
    return object;
}

static void put_load(json_t *trial, const struct result_trial *t)
{
    json_put_number(trial, "due_per_s", t->due_per_s);
    json_put_number(trial, "achieved_per_s", t->achieved_per_s);
    put_latency(trial, t);
    json_put_number(trial, "client_cpu_us", t->side_cpu_us[RESULT_CLIENT]);
    json_put_number(trial, "server_cpu_us", t->side_cpu_us[RESULT_SERVER]);
    json_put_number(trial, "client_busy", t->client_busy);
    json_put_number(trial, "server_busy", t->server_busy);
    json_put_count(trial, "retransmits", t->retransmits);
    json_put_count(trial, "unclean_closes", t->unclean_closes);
    if (t->oldest_unfinished_ns != 0)
        json_put_count(trial, "oldest_unfinished_ns", t->oldest_unfinished_ns);
    json_t *slowest = json_made(json_array());
    for (size_t i = 0; i < t->slow; i++)
        json_append(slowest, of_slow(&t->slowest[i]));
    json_put_nonempty(trial, "slowest", slowest);
}

json_t *json_of_trial(const struct result_trial *t, enum result_kind kind)
{
    json_t *object = json_made(json_object());
    json_put_count(object, "index", t->index);
    if (t->position != 0)
        json_put_count(object, "position", t->position);
    json_put_number(object, "started_s", t->started_s);
    json_put_number(object, "elapsed_s", t->elapsed_s);
    json_put_bool(object, "valid", t->is_valid);
    json_put_bool(object, "censored", t->is_censored);
    if (t->is_left_out)
        json_put_bool(object, "left_out", true);
    json_put(object, "tally", of_tally(&t->tally));
    json_put(object, "failures", of_failures(t));
    put_cpu(object, t);
    if (kind != RESULT_KIND_CPU)
        put_load(object, t);
    json_put_number(object, "steal", t->steal);
    json_put_number(object, "throttled", t->throttled);
    json_put_number(object, "speed_before_ns", t->speed_before_ns);
    json_put_number(object, "speed_after_ns", t->speed_after_ns);
    return object;
}
