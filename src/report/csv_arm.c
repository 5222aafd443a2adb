/* SPDX-License-Identifier: Apache-2.0 */
#include "report/csv_rows.h"

#include <math.h>
#include <stdio.h>
#include "report/latency.h"

#define METRIC_SIZE 64

static void add_cpu(struct csv *csv, const struct result_cpu *cpu)
{
    char metric[METRIC_SIZE];
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const char *side = result_side_name((enum result_side)i);
        csv->statistic = "median";
        csv_add_figure(csv, "cpu_us", "us", side, &cpu->us[i][RESULT_CPU_TOTAL]);
        for (unsigned part = 0; part < RESULT_CPU_TOTAL; part++) {
            snprintf(metric, sizeof(metric), "cpu_us.%s",
                     result_cpu_part_name((enum result_cpu_part)part));
            csv_add_figure(csv, metric, "us", side, &cpu->us[i][part]);
        }
        csv_add_figure(csv, "instructions", "1", side, &cpu->instructions[i]);
        csv_add_figure(csv, "cycles", "1", side, &cpu->cycles[i]);
        csv_add_figure(csv, "primitives_us", "us", side, &cpu->primitives_us[i]);
        csv_add_figure(csv, "primitives_share", "1", side, &cpu->primitives_share[i]);
        csv->statistic = "min";
        csv_add_figure(csv, "cpu_us", "us", side, &cpu->min_us[i]);
    }
}

static void add_range(struct csv *csv, const char *metric, const char *side,
                      const struct result_range *range)
{
    const struct {
        const char *statistic;
        double value;
    } rows[] = {
        {"min", (double)range->min}, {"mean", range->mean}, {"max", (double)range->max}};
    for (size_t i = 0; range->count > 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
        csv_add_row(
            csv, &(struct csv_row){.side = side,
                                   .metric = metric,
                                   .statistic = rows[i].statistic,
                                   .unit = metric[0] == 'r' ? "1" : "bytes",
                                   .figure = {.value = rows[i].value, .low = NAN, .high = NAN},
                                   .count = range->count});
}

static void add_bytes(struct csv *csv, const struct result_bytes *b)
{
    add_range(csv, "bytes", "client", &b->handshake[RESULT_CLIENT]);
    add_range(csv, "bytes", "server", &b->handshake[RESULT_SERVER]);
    add_range(csv, "bytes.client_hello", "client", &b->client_hello);
    add_range(csv, "bytes.server_flight", "server", &b->server_flight);
    add_range(csv, "bytes.tickets", "server", &b->tickets);
    add_range(csv, "round_trips", NULL, &b->round_trips);
}

static void add_latency(struct csv *csv, const char *metric, const struct latency_row *row)
{
    for (unsigned i = 0; i < LATENCY_COLUMNS; i++) {
        csv_add_row(csv,
                    &(struct csv_row){.metric = metric,
                                      .statistic = latency_column_key((enum latency_column)i),
                                      .unit = "us",
                                      .figure = {.value = row->us[i], .low = NAN, .high = NAN},
                                      .count = row->count});
    }
}

/* By how the handshakes began: of an arm or, with arm NULL, of one trial. */
static void add_apart(struct csv *csv, const struct result_arm *arm,
                      const struct result_trial *t)
{
    char metric[METRIC_SIZE];
    struct latency_row row;
    for (unsigned i = 0; i < RESULT_HANDSHAKES * RESULT_PHASES; i++) {
        const enum result_handshake handshake = (enum result_handshake)(i / RESULT_PHASES);
        const enum result_phase phase = (enum result_phase)(i % RESULT_PHASES);
        const bool is_there = arm != NULL
                                  ? latency_of_arm_apart(arm, handshake, phase, &row)
                                  : latency_of_histogram(t->apart_ns[handshake][phase], &row);
        if (!is_there)
            continue;
        snprintf(metric, sizeof(metric), "by_handshake.%s.latency_us.%s",
                 result_handshake_name(handshake), result_phase_name(phase));
        add_latency(csv, metric, &row);
    }
}

static void add_trial_sides(struct csv *csv, const struct result_trial *t)
{
    char metric[METRIC_SIZE];
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const char *side = result_side_name((enum result_side)i);
        csv->statistic = "median";
        csv_add_value(csv, "cpu_us", "us", side, t->cpu_us[i][RESULT_CPU_TOTAL]);
        for (unsigned part = 0; part < RESULT_CPU_TOTAL; part++) {
            snprintf(metric, sizeof(metric), "cpu_us.%s",
                     result_cpu_part_name((enum result_cpu_part)part));
            csv_add_value(csv, metric, "us", side, t->cpu_us[i][part]);
        }
        csv_add_value(csv, "instructions", "1", side, t->instructions[i]);
        csv_add_value(csv, "cycles", "1", side, t->cycles[i]);
        csv->statistic = "mean";
        csv_add_value(csv, "cpu_us", "us", side, t->side_cpu_us[i]);
    }
    csv->statistic = "share";
    csv_add_value(csv, "busy", "1", "client", t->client_busy);
    csv_add_value(csv, "busy", "1", "server", t->server_busy);
    csv_add_value(csv, "steal", "1", NULL, t->steal);
    csv_add_value(csv, "throttled", "1", NULL, t->throttled);
}

static void add_tally(struct csv *csv, const struct result_tally *tally)
{
    csv->statistic = "count";
    csv_add_value(csv, "tally.scheduled", "1", NULL, (double)tally->scheduled);
    csv_add_value(csv, "tally.completed", "1", NULL, (double)tally->completed);
    csv_add_value(csv, "tally.failed", "1", NULL, (double)tally->failed);
    csv_add_value(csv, "tally.timed_out", "1", NULL, (double)tally->timed_out);
    csv_add_value(csv, "tally.unfinished", "1", NULL, (double)tally->unfinished);
    csv_add_value(csv, "tally.not_started", "1", NULL, (double)tally->not_started);
}

static void add_failures(struct csv *csv, const struct result_trial *t)
{
    for (size_t i = 0; i < t->failures; i++) {
        const struct result_failure *f = &t->failure[i];
        struct text metric = {0};
        text_addf(&metric, "failures.%s.%s", f->phase, f->cause);
        if (f->code != 0)
            text_addf(&metric, ".%d", f->code);
        csv->statistic = "count";
        csv_add_value(csv, text_str(&metric), "1", NULL, (double)f->count);
        text_free(&metric);
    }
}

static void add_network(struct csv *csv, const struct result_network *n)
{
    if (n->tls_round_trips.count == 0)
        return;
    csv->statistic = "mean";
    csv_add_value(csv, "network.tcp_round_trips", "1", NULL, n->tcp_round_trips.mean);
    csv_add_value(csv, "network.tls_round_trips", "1", NULL, n->tls_round_trips.mean);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const char *side = result_side_name((enum result_side)i);
        csv->statistic = "mean";
        csv_add_value(csv, "network.flights", "1", side, n->flights[i].mean);
        csv_add_value(csv, "network.segments", "1", side, n->segments[i].mean);
        csv->statistic = "count";
        csv_add_value(csv, "network.retransmits", "1", side, (double)n->retransmits[i]);
        csv_add_value(csv, "network.timeouts", "1", side, (double)n->timeouts[i]);
        csv_add_value(csv, "network.dropped", "1", side, (double)n->dropped[i]);
    }
    csv_add_value(csv, "network.disturbed", "1", NULL, (double)n->disturbed);
    csv->statistic = "model";
    csv_add_value(csv, "latency_us.tcp", "us", NULL, n->model_tcp_us);
    csv_add_value(csv, "latency_us.tls", "us", NULL, n->model_tls_us);
    csv_add_value(csv, "latency_us.ttlb", "us", NULL, n->model_ttlb_us);
}

static void add_trial(struct csv *csv, const struct result_trial *t, enum result_kind kind)
{
    char metric[METRIC_SIZE];
    struct latency_row row;
    csv->trial = t->index;
    add_tally(csv, &t->tally);
    add_failures(csv, t);
    csv->statistic = "value";
    csv_add_value(csv, "elapsed_s", "s", NULL, t->elapsed_s);
    csv_add_value(csv, "due_per_s", "1/s", NULL, t->due_per_s);
    csv_add_value(csv, "achieved_per_s", "1/s", NULL, t->achieved_per_s);
    add_trial_sides(csv, t);
    if (kind == RESULT_KIND_CPU)
        return;
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        snprintf(metric, sizeof(metric), "latency_us.%s",
                 result_phase_name((enum result_phase)phase));
        if (latency_of_histogram(t->latency_ns[phase], &row))
            add_latency(csv, metric, &row);
    }
    add_apart(csv, NULL, t);
    if (latency_of_histogram(t->start_lag_ns, &row))
        add_latency(csv, "start_lag_us", &row);
}

void csv_add_arm(struct csv *csv, const struct result_arm *arm, enum result_kind kind)
{
    char metric[METRIC_SIZE];
    struct latency_row row;
    csv->arm = arm->name;
    csv->trial = 0;
    add_cpu(csv, &arm->cpu);
    add_bytes(csv, &arm->bytes);
    /* Trials of different rates have no common latency. */
    for (unsigned phase = 0; kind != RESULT_KIND_CAPACITY && phase < RESULT_PHASES; phase++) {
        snprintf(metric, sizeof(metric), "latency_us.%s",
                 result_phase_name((enum result_phase)phase));
        if (latency_of_arm(arm, (enum result_phase)phase, &row))
            add_latency(csv, metric, &row);
    }
    if (kind != RESULT_KIND_CAPACITY)
        add_apart(csv, arm, NULL);
    add_network(csv, &arm->network);
    for (size_t i = 0; i < arm->trials; i++)
        add_trial(csv, &arm->trial[i], kind);
}
