/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench capacity: the highest rate of new connections that holds an objective, per arm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "cli/keep.h"
#include "cli/load_setting.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "run/capacity.h"

#define PRECISION_LEAST 0.001
#define PRECISION_MOST 0.5
#define ARRIVALS_LEAST 10.0 /* of a probe at the lowest rate, where none is given */

struct capacity_values {
    struct load_setting setting;
    struct option_list objectives;
    double most_per_s, least_per_s, precision;
    uint64_t duration_ns, budget_ns;
    struct output_options output;
};

#define AT(member) .offset = offsetof(struct capacity_values, member)
#define TIME_ROW(option, member, value, least, text)                                   \
    {                                                                                  \
        .name = option, .kind = OPTION_DURATION, .argument = "TIME", .initial = value, \
        .help = text, .low = least, .high = LOAD_SETTING_DAY_NS, AT(member)            \
    }

/* Each item may be several with commas between. */
static int read_objectives(const char *text, struct capacity_objective *out, size_t *count,
                           struct err *e)
{
    int failed = 0;
    char *copy = mem_copy_string(text), *rest = copy;
    while (rest != NULL && failed == 0) {
        struct capacity_objective one;
        const char *word = strsep(&rest, ",");
        failed = capacity_objective_parse(word, &one, e);
        if (failed == 0 && *count + 1 >= CAPACITY_OBJECTIVES_MAX)
            failed =
                err_set(e, ERR_USAGE, "more than %u objectives", CAPACITY_OBJECTIVES_MAX - 1);
        if (failed == 0)
            out[(*count)++] = one;
    }
    free(copy);
    return failed;
}

static int check_objective(const char *text, struct err *e)
{
    struct capacity_objective objective[CAPACITY_OBJECTIVES_MAX];
    size_t count = 0;
    return read_objectives(text, objective, &count, e);
}

static const struct option rows[] = {
    {.name = "slo",
     .kind = OPTION_LIST,
     .argument = "METRIC=LIMIT",
     .initial = "p99=10ms",
     .help = "what a rate must hold: p50, p90, p99 or p99.9 of tls (or response.p99=TIME), "
             "failures=SHARE; several with commas, or repeated",
     .check = check_objective,
     AT(objectives)},
    LOAD_SUBJECT_ROWS(struct capacity_values, setting),
    {.name = "min-rate",
     .kind = OPTION_RATE,
     .argument = "RATE",
     .help = "no probe is slower",
     .unset_note = "ten arrivals a probe",
     AT(least_per_s)},
    {.name = "max-rate",
     .kind = OPTION_RATE,
     .argument = "RATE",
     .initial = "1M",
     .help = "no probe is faster; what holds it is not searched further",
     AT(most_per_s)},
    TIME_ROW("probe-duration", duration_ns, "2s", 1e8, "measured part of each probe"),
    {.name = "precision",
     .kind = OPTION_SHARE,
     .argument = "SHARE",
     .initial = "2%",
     .help = "end when every arm's 95 % interval reaches no further than this to each side",
     .low = PRECISION_LEAST,
     .high = PRECISION_MOST,
     AT(precision)},
    TIME_ROW("budget", budget_ns, "5m", 1e9, "end by then at the latest"),
    LOAD_GENERATOR_ROWS(struct capacity_values, setting),
    OUTPUT_OPTION_ROWS(struct capacity_values, output),
    {.name = NULL},
};

static int set_number(struct command_call *call, const char *name, double value, struct err *e)
{
    char text[40];
    return options_set(&call->options, options_find(rows, name),
                       units_format_number(value, text, sizeof text), e);
}

static int check_rates(struct command_call *call, struct err *e)
{
    const struct capacity_values *v = call->options.values;
    const double probe_s = (double)v->duration_ns / 1e9;
    const bool has_least = options_is_given(&call->options, "min-rate");
    struct schedule schedule;
    if (!has_least && set_number(call, "min-rate", ARRIVALS_LEAST / probe_s, e) != 0)
        return -1;
    if (has_least && v->least_per_s * probe_s < 1)
        return err_set(e, ERR_USAGE,
                       "--min-rate: %.6g/s: a probe of %.6g s would have no arrival",
                       v->least_per_s, probe_s);
    if (!(v->least_per_s < v->most_per_s))
        return err_set(e, ERR_USAGE, "--max-rate: %.6g/s is not above --min-rate (%.6g/s)",
                       v->most_per_s, v->least_per_s);
    if (schedule_init(&schedule, v->most_per_s, SCHEDULE_CONSTANT, 0,
                      v->setting.warmup_ns + v->duration_ns, e) != 0)
        return err_add_context(e, "--max-rate");
    return 0;
}

static int list_objectives(const struct capacity_values *v, struct capacity_objective *out,
                           size_t *count, struct err *e)
{
    size_t failures = 0;
    *count = 0;
    for (size_t i = 0; i < v->objectives.count; i++)
        if (read_objectives(v->objectives.item[i], out, count, e) != 0)
            return err_add_context(e, "--slo");
    for (size_t i = 0; i < *count; i++) {
        failures += out[i].is_failures;
        for (size_t k = 0; k < i; k++)
            if (out[k].is_failures == out[i].is_failures && out[k].phase == out[i].phase &&
                !(out[k].quantile < out[i].quantile || out[k].quantile > out[i].quantile))
                return err_set(e, ERR_USAGE, "--slo: one metric has two limits");
    }
    if (failures == *count)
        return err_set(e, ERR_USAGE,
                       "--slo: says nothing of latency; give a percentile as well, like "
                       "p99=10ms");
    return 0;
}

static int check(struct command_call *call, struct err *e)
{
    struct capacity_values *v = call->options.values;
    struct capacity_objective objective[CAPACITY_OBJECTIVES_MAX];
    size_t objectives;
    if (command_need_backends(call, e) != 0 || load_setting_fill(call, &v->setting, e) != 0 ||
        check_rates(call, e) != 0 || list_objectives(v, objective, &objectives, e) != 0 ||
        load_setting_check(call, &v->setting, e) != 0)
        return -1;
    if (v->budget_ns < v->setting.warmup_ns + v->duration_ns)
        return err_set(e, ERR_USAGE, "--budget: %.6g s is less than one probe with its warm-up",
                       (double)v->budget_ns / 1e9);
    return output_prepare(&v->output, e);
}

static int measure(struct command_call *call, const struct arm_list *arms,
                   const struct load_inputs *in, struct result *result, struct err *e)
{
    const struct capacity_values *v = call->options.values;
    struct capacity_objective objective[CAPACITY_OBJECTIVES_MAX];
    struct progress progress;
    struct capacity_options options = {
        .load = {.arms = arms,
                 .rate_per_s = v->least_per_s,
                 .duration_ns = v->duration_ns,
                 .trials = 1,
                 .interleave = LOAD_INTERLEAVE_TRIAL},
        .objective = objective,
        .least_per_s = v->least_per_s,
        .most_per_s = v->most_per_s,
        .precision = v->precision,
        .budget_ns = v->budget_ns,
    };
    if (list_objectives(v, objective, &options.objectives, e) != 0)
        return -1;
    struct keep keep = {.output = &v->output, .result = result};
    progress_init(&progress, call->title ? call->title : "capacity", !v->output.is_quiet);
    options.load.progress = progress_hook(&progress);
    options.load.keep = keep_hook(&keep);
    load_setting_apply(call, &v->setting, in, &options.load);
    const int failed = capacity_run(&options, result, e);
    progress_end(&progress);
    measured_end(result, call->context);
    return failed;
}

static int run_with(struct command_call *call, const struct arm_list *arms, struct err *e)
{
    const struct capacity_values *v = call->options.values;
    struct load_inputs in;
    struct result *result = measured_begin(RESULT_KIND_CAPACITY, call);
    measured_add_host(result, v->setting.target != NULL ? "client" : "both",
                      &v->setting.client_cores, &v->setting.server_cores);
    arm_options_describe(arms, call->context->backends, result);
    int failed = load_inputs_open(&v->setting, &in, e);
    if (failed == 0) {
        struct err shown = ERR_INIT;
        failed = measure(call, arms, &in, result, e);
        predict_tell(arms, result);
        if (result->capacity->arms > 0 &&
            output_show(&v->output, result, failed ? &shown : e) != 0)
            failed = -1;
    }
    load_inputs_close(&in);
    result_free(result);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    const struct capacity_values *v = call->options.values;
    struct arm_list *arms = load_setting_read_arms(call, &v->setting, true, e);
    if (!arms)
        return -1;
    int failed = run_with(call, arms, e);
    free(arms);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench capacity --slo p99=10ms",
    "pqc-bench capacity --slo response.p99=20ms,failures=0.5% --arrivals poisson "
    "--arm 'old: groups=X25519' --arm 'new: groups=X25519MLKEM768'",
    "pqc-bench capacity --server nginx --slo p99=10ms --budget 10m -o results/capacity",
    NULL,
};

const struct command cmd_capacity = {
    .name = "capacity",
    .summary = "Find the highest rate of new connections that holds a latency target, per arm",
    .options = rows,
    .values_size = sizeof(struct capacity_values),
    .section = "capacity",
    .examples = examples,
    .details =
        "Every probe is a short open-loop run of one arm at one rate; it held the target, or "
        "broke it, or is void and says why. The arms take turns in random order, each at the "
        "rate that tells most about it. The answer has an interval, and what was full: the "
        "server's cores, the link, or nothing but the target itself. Where the generator ends "
        "first the answer is 'client' and a lower bound, never a capacity.",
    .check = check,
    .run = run,
};
