/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics that results are compared in, and what a run says of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/across_parts.h"

#define NORMAL_95 1.959963984540054
#define CERTIFICATE_DEVIATION_BYTES 1.0 /* of the length of an ECDSA signature in it */
#define CPU (1u << RESULT_KIND_CPU)
#define LOAD (1u << RESULT_KIND_LOAD)

enum what { CPU_US, CPU_PRIMITIVES, CPU_INSTRUCTIONS, BYTES, LATENCY, SIDE_CPU, OWN_RATIO };
enum bytes_field { BYTES_ALL, BYTES_HELLO, BYTES_FLIGHT };

#define CPU_ROWS(side, index)                                                                    \
    {"cpu_us." side, "us", ACROSS_TIME, CPU, true, 1, CPU_US, index, RESULT_CPU_TOTAL, 0},       \
        {"cpu_us." side ".handshake", "us", ACROSS_TIME, CPU, false, 1, CPU_US, index,           \
         RESULT_CPU_HANDSHAKE,        0},                                                        \
        {"cpu_us." side ".setup", "us", ACROSS_TIME, CPU, false, 2, CPU_US, index,               \
         RESULT_CPU_SETUP,        0},                                                            \
        {"cpu_us." side ".teardown", "us", ACROSS_TIME, CPU, false, 2, CPU_US, index,            \
         RESULT_CPU_TEARDOWN,        0},                                                         \
        {"primitives_us." side, "us", ACROSS_TIME, CPU, false, 2, CPU_PRIMITIVES, index, 0, 0},  \
        {"instructions." side, "1", ACROSS_RATIO, CPU, false, 1, CPU_INSTRUCTIONS, index, 0, 0}, \
    {                                                                                            \
        "ratio.cpu_us." side, "1", ACROSS_RATIO, CPU, true, 1, OWN_RATIO, index,                 \
            RESULT_CPU_TOTAL, 0                                                                  \
    }
#define LATENCY_ROWS(phase, index, main)                                                        \
    {"latency_us." phase ".p50", "us", ACROSS_TIME, LOAD, main, 2, LATENCY, index, 0, 500},     \
        {"latency_us." phase ".p99", "us", ACROSS_TIME, LOAD, main, 5, LATENCY, index, 0, 990}, \
    {                                                                                           \
        "latency_us." phase ".p99_9", "us", ACROSS_TIME, LOAD, false, 5, LATENCY, index, 0,     \
            999                                                                                 \
    }

/* table: name, unit, nature, kinds, main?, times the deviation, reader, side or phase, part,
 * field or thousandths of a quantile */
static const struct {
    const char *name, *unit;
    enum across_nature nature;
    unsigned kinds;
    bool is_main;
    double times;
    enum what what;
    unsigned side, part, field;
} rows[] = {
    CPU_ROWS("client", RESULT_CLIENT),
    CPU_ROWS("server", RESULT_SERVER),
    LATENCY_ROWS("tls", RESULT_PHASE_TLS, true),
    LATENCY_ROWS("response", RESULT_PHASE_RESPONSE, true),
    LATENCY_ROWS("tcp", RESULT_PHASE_TCP, false),
    LATENCY_ROWS("ttfb", RESULT_PHASE_TTFB, false),
    {"client_cpu_us", "us", ACROSS_TIME, LOAD, true, 1, SIDE_CPU, RESULT_CLIENT, 0, 0},
    {"server_cpu_us", "us", ACROSS_TIME, LOAD, true, 1, SIDE_CPU, RESULT_SERVER, 0, 0},
    {"ratio.latency_us.tls.p50", "1", ACROSS_RATIO, LOAD, true, 1, OWN_RATIO, RESULT_PHASE_TLS,
     0, 500},
    {"ratio.latency_us.tls.p99", "1", ACROSS_RATIO, LOAD, false, 2, OWN_RATIO, RESULT_PHASE_TLS,
     0, 990},
    {"bytes.client", "bytes", ACROSS_COUNT, CPU | LOAD, true, 0, BYTES, RESULT_CLIENT, 0,
     BYTES_ALL},
    {"bytes.server", "bytes", ACROSS_COUNT, CPU | LOAD, true, 0, BYTES, RESULT_SERVER, 0,
     BYTES_ALL},
    {"bytes.client_hello", "bytes", ACROSS_COUNT, CPU | LOAD, false, 0, BYTES, RESULT_CLIENT, 0,
     BYTES_HELLO},
    {"bytes.server_flight", "bytes", ACROSS_COUNT, CPU | LOAD, false, 0, BYTES, RESULT_SERVER,
     0, BYTES_FLIGHT},
};
#define ROWS (sizeof rows / sizeof rows[0])

bool across_metric_at(size_t index, struct across_metric *out)
{
    if (index >= ROWS)
        return false;
    *out = (struct across_metric){
        .unit = rows[index].unit,
        .nature = rows[index].nature,
        .kinds = rows[index].kinds,
        .is_main = rows[index].is_main,
        .times = rows[index].times,
        .what = rows[index].what,
        .side = rows[index].side,
        .part = rows[index].part,
        .field = rows[index].field,
    };
    snprintf(out->name, sizeof out->name, "%s", rows[index].name);
    return true;
}

/* The null backend burns a time that was asked for, however fast the host is. */
static bool is_null(const char *backend)
{
    return backend != NULL && strncmp(backend, "null-", 5) == 0;
}

bool across_can_scale(const struct result_arm *arm, const struct across_metric *m)
{
    if (m->what != CPU_US && m->what != CPU_PRIMITIVES)
        return false;
    if (is_null(m->side == RESULT_CLIENT ? arm->client_backend : arm->server_backend))
        return false;
    for (size_t i = 0; i < arm->trials; i++)
        if (!(arm->trial[i].cpu_per_work[m->side] > 0 &&
              arm->trial[i].cpu_us[m->side][RESULT_CPU_TOTAL] > 0))
            return false;
    return arm->trials > 0;
}

/* A fault of time leaves bytes as they are. */
static bool is_about_time(const char *code)
{
    static const char *const codes[] = {
        "client-saturated", "server-saturated", "steal", "throttled",
        "speed-changed",    "shared-cores",     "clock", "agent-lost",
        "link-late"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

static bool are_bytes_valid(const struct result *r, const struct result_arm *arm)
{
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->severity == RESULT_FAULT && (p->arm == NULL || strcmp(p->arm, arm->name) == 0) &&
            !is_about_time(p->code))
            return false;
    }
    return true;
}

static bool is_beyond_doubt(const struct result *r, const struct result_arm *arm)
{
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->severity == RESULT_FAULT && (p->arm == NULL || strcmp(p->arm, arm->name) == 0))
            return false;
    }
    for (size_t i = 0; i < arm->trials; i++)
        if (!arm->trial[i].is_valid && !arm->trial[i].is_left_out)
            return false;
    return true;
}

/* us of the work beside the trial, as its turns saw it; 1 where nothing is scaled. */
static double scale_of(const struct result_trial *t, unsigned side, bool is_scaled)
{
    return is_scaled ? t->cpu_us[side][RESULT_CPU_TOTAL] / t->cpu_per_work[side] : 1;
}

/* A trial's figure as measured; NAN: none. */
static double trial_value(const struct result_trial *t, const struct across_metric *m)
{
    static const uint64_t wanted[] = {1000, 10000};
    const struct histogram *h;
    switch ((enum what)m->what) {
    case CPU_US:
        return t->cpu_us[m->side][m->part];
    case CPU_INSTRUCTIONS:
        return t->instructions[m->side];
    case SIDE_CPU:
        return t->side_cpu_us[m->side];
    case LATENCY:
        h = t->latency_ns[m->side];
        if (h == NULL || histogram_count(h) == 0 ||
            (m->field > 900 && histogram_count(h) < wanted[m->field > 990]))
            return NAN;
        return (double)histogram_quantile(h, m->field / 1000.0) / 1000;
    case CPU_PRIMITIVES:
    case BYTES:
    case OWN_RATIO:
        break;
    }
    return NAN;
}

/* The median of the trials.  What makes trials of one run differ (neighbours, where memory
 * lies) outlasts a run now and then: so their whole deviation counts, not only what it leaves
 * of it in a median. */
static void read_trials(const struct result_arm *arm, const struct across_metric *m,
                        bool is_scaled, struct across_reading *out)
{
    double *logs = mem_alloc_zeroed(arm->trials, sizeof *logs);
    double *values = mem_alloc_zeroed(arm->trials, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < arm->trials; i++) {
        const double value = trial_value(&arm->trial[i], m);
        if (!(value > 0) || arm->trial[i].is_left_out)
            continue;
        values[n] = value;
        logs[n++] = log(value / scale_of(&arm->trial[i], m->side, is_scaled));
    }
    if (n > 0) {
        out->is_set = true;
        out->shown = sample_median(values, n);
        out->run = between_of_repeats(logs, n);
        if (n >= SAMPLE_INTERVAL_MIN)
            out->run.error = hypot(out->run.error, sample_deviation(logs, n));
    }
    free(logs);
    free(values);
}

static double median_scale(const struct result_arm *arm, unsigned side, bool is_scaled)
{
    double *scales = mem_alloc_zeroed(arm->trials, sizeof *scales);
    for (size_t i = 0; i < arm->trials; i++)
        scales[i] = scale_of(&arm->trial[i], side, is_scaled);
    const double scale = arm->trials > 0 ? sample_median(scales, arm->trials) : 1;
    free(scales);
    return scale;
}

static void read_figure(const struct figure *f, double scale, struct across_reading *out)
{
    if (!(f->value > 0))
        return;
    out->is_set = true;
    out->shown = f->value;
    out->run.value = log(f->value / scale);
    out->run.error = figure_has_interval(f) && f->low > 0
                         ? (log(f->high) - log(f->low)) / 2 / NORMAL_95
                         : (double)NAN;
}

/* How far apart the trials' own ratios to the baseline's trials lie; 0 where there are too few.
 * A neighbour slows what multiplies and what fetches differently: the ratio keeps some of it.
 */
static double ratio_deviation(const struct result_arm *arm, const struct result_arm *baseline,
                              const struct across_metric *m)
{
    struct across_metric each = *m;
    double *logs = mem_alloc_zeroed(arm->trials, sizeof *logs);
    size_t n = 0;
    each.what = m->kinds == CPU ? CPU_US : LATENCY;
    for (size_t i = 0; i < arm->trials; i++) {
        const struct result_trial *t = &arm->trial[i];
        const struct result_trial *other = arm_find_trial(baseline, t->index);
        if (other == NULL || t->is_left_out || other->is_left_out)
            continue;
        const double ratio = trial_value(t, &each) / trial_value(other, &each);
        if (ratio > 0 && isfinite(ratio))
            logs[n++] = log(ratio);
    }
    const double deviation = n >= SAMPLE_INTERVAL_MIN ? sample_deviation(logs, n) : 0;
    free(logs);
    return deviation;
}

static void read_ratio(const struct result *r, const struct result_arm *arm,
                       const struct across_metric *m, struct across_reading *out)
{
    for (size_t i = 0; i < r->comparisons; i++) {
        const struct result_comparison *c = &r->comparison[i];
        const struct result_arm *baseline = result_find_arm(r, c->baseline);
        if (baseline == NULL || strcmp(c->arm, arm->name) != 0 ||
            strcmp(c->metric, m->name + strlen("ratio.")) != 0)
            continue;
        read_figure(&c->ratio, 1, out);
        out->run.error = hypot(out->run.error, ratio_deviation(arm, baseline, m));
    }
}

/* Certificates are made anew for every run, and the length of an ECDSA signature varies. */
static double certificate_error(const struct result_arm *arm, const struct across_metric *m)
{
    const char *kind = pairs_find(&arm->spec, "cert"), *chain = pairs_find(&arm->spec, "chain");
    if (m->side != RESULT_SERVER || kind == NULL || strncmp(kind, "ecdsa", 5) != 0)
        return 0;
    const bool has_two = chain != NULL && strstr(chain, "intermediate") != NULL;
    return CERTIFICATE_DEVIATION_BYTES * (has_two ? M_SQRT2 : 1);
}

static void read_bytes(const struct result_arm *arm, const struct across_metric *m,
                       struct across_reading *out)
{
    const struct result_bytes *b = &arm->bytes;
    const struct result_range *range = m->field == BYTES_HELLO    ? &b->client_hello
                                       : m->field == BYTES_FLIGHT ? &b->server_flight
                                                                  : &b->handshake[m->side];
    if (range->count == 0)
        return;
    /* The variance of what lies between min and max about a mean is at most this (Bhatia &
     * Davis 2000). */
    const double variance = ((double)range->max - range->mean) *
                            (range->mean - (double)range->min) / (double)range->count;
    out->is_set = true;
    out->shown = out->run.value = range->mean;
    out->run.error = hypot(sqrt(fmax(0, variance)), certificate_error(arm, m));
}

struct across_reading across_read(const struct result *r, const struct result_arm *arm,
                                  const struct across_metric *m, bool is_scaled)
{
    struct across_reading out = {.is_valid = m->nature == ACROSS_COUNT
                                                 ? are_bytes_valid(r, arm)
                                                 : is_beyond_doubt(r, arm)};
    switch ((enum what)m->what) {
    case CPU_PRIMITIVES:
        read_figure(&arm->cpu.primitives_us[m->side], median_scale(arm, m->side, is_scaled),
                    &out);
        break;
    case BYTES:
        read_bytes(arm, m, &out);
        break;
    case OWN_RATIO:
        read_ratio(r, arm, m, &out);
        break;
    case CPU_US:
    case CPU_INSTRUCTIONS:
    case LATENCY:
    case SIDE_CPU:
        read_trials(arm, m, is_scaled, &out);
        break;
    }
    return out;
}
