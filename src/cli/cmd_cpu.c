/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench cpu: in-process handshakes, CPU and bytes of each side, per arm. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/arm_options.h"
#include "cli/command.h"
#include "cli/keep.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/predict_options.h"
#include "cli/progress.h"
#include "run/bench.h"

#define MS_NS 1e6
#define HOUR_NS 3.6e12
#define SEED_MOST 9007199254740991.0

struct cpu_values {
    struct option_list arms;
    uint64_t handshakes, repeats, seed, timeout_ns;
    struct cpu_set client_cores, server_cores;
    bool has_primitives;
    struct predict_options predict;
    struct output_options output;
};

static const struct option rows[] = {
    {.name = "arm",
     .kind = OPTION_LIST,
     .argument = "ARM",
     .help = "'NAME: KEY=VALUE ...', a configuration to compare; may be repeated",
     .unset_note = "classical, rsa, pq, mlkem1024, control",
     .check = arm_options_check,
     .offset = offsetof(struct cpu_values, arms)},
    {.name = "handshakes",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "2000",
     .help = "handshakes of each arm in each repeat",
     .low = 1,
     .high = 10000000,
     .offset = offsetof(struct cpu_values, handshakes)},
    {.name = "repeats",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "5",
     .help = "how often everything is done; one more comes first and is dropped",
     .low = 1,
     .high = 1000,
     .offset = offsetof(struct cpu_values, repeats)},
    {.name = "seed",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .help = "of the random order of the arms",
     .unset_note = "a fresh one, recorded",
     .low = 0,
     .high = SEED_MOST,
     .offset = offsetof(struct cpu_values, seed)},
    {.name = "client-cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "cores for the client, like 0-1,4; the first is used",
     .unset_note = "the upper half of those allowed",
     .offset = offsetof(struct cpu_values, client_cores)},
    {.name = "server-cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "the same for the server",
     .unset_note = "the lower half",
     .offset = offsetof(struct cpu_values, server_cores)},
    {.name = "timeout",
     .kind = OPTION_DURATION,
     .argument = "TIME",
     .initial = "5s",
     .help = "a handshake that takes longer has failed",
     .low = MS_NS,
     .high = HOUR_NS,
     .offset = offsetof(struct cpu_values, timeout_ns)},
    {.name = "primitives",
     .kind = OPTION_SWITCH,
     .initial = "on",
     .help = "do not time each arm's cryptographic operations by themselves",
     .offset = offsetof(struct cpu_values, has_primitives)},
    PREDICT_OPTION_ROWS(struct cpu_values, predict),
    OUTPUT_OPTION_ROWS(struct cpu_values, output),
    {.name = NULL},
};

static const char *const default_arms[] = {
    "classical: groups=X25519",  "rsa: groups=X25519 cert=rsa-2048",
    "pq: groups=X25519MLKEM768", "mlkem1024: groups=MLKEM1024",
    "control: groups=X25519",
};

static int set_default_arms(struct options *o, struct err *e)
{
    const struct option *row = options_find(rows, "arm");
    for (size_t i = 0; i < sizeof default_arms / sizeof default_arms[0]; i++)
        if (options_set(o, row, default_arms[i], e) != 0)
            return -1;
    return 0;
}

static int set_fresh_seed(struct options *o, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, rng_fresh_seed());
    return options_set(o, options_find(rows, "seed"), text, e);
}

/* What was not given is chosen now, so that the echo in the result is complete. */
static int fill_in(struct command_call *call, struct err *e)
{
    struct cpu_values *v = call->options.values;
    struct cpu_set allowed, client, server;
    if (v->arms.count == 0 && set_default_arms(&call->options, e) != 0)
        return -1;
    if (!options_is_given(&call->options, "seed") && set_fresh_seed(&call->options, e) != 0)
        return -1;
    cpu_allowed(&allowed);
    (void)cpu_split(&allowed, &client, &server);
    if (v->client_cores.count == 0)
        v->client_cores = client;
    if (v->server_cores.count == 0)
        v->server_cores = server;
    return 0;
}

static struct arm_list *read_arms(struct command_call *call, bool may_ask, struct err *e)
{
    const struct cpu_values *v = call->options.values;
    const struct predict_target target = {.backends = call->context->backends,
                                          .may_ask = may_ask};
    return predict_options_read_arms(&v->predict, &target, &v->arms, e);
}

static int check(struct command_call *call, struct err *e)
{
    const struct cpu_values *v = call->options.values;
    if (command_need_backends(call, e) != 0 || fill_in(call, e) != 0)
        return -1;
    struct arm_list *arms = read_arms(call, false, e);
    int failed = !arms || arm_options_plan(arms, call->context->backends, e) != 0;
    free(arms);
    return failed ? -1 : output_prepare(&v->output, e);
}

static int measure(struct command_call *call, const struct arm_list *arms,
                   struct result *result, struct err *e)
{
    const struct cpu_values *v = call->options.values;
    struct progress progress;
    struct keep keep = {.output = &v->output, .result = result};
    progress_init(&progress, call->title ? call->title : "cpu", !v->output.is_quiet);
    struct bench_options options = {
        .arms = arms,
        .backends = call->context->backends,
        .handshakes = (unsigned)v->handshakes,
        .repeats = (unsigned)v->repeats,
        .seed = v->seed,
        .client_cores = v->client_cores,
        .server_cores = v->server_cores,
        .timeout_ns = v->timeout_ns,
        .without_primitives = !v->has_primitives,
        .stop = call->context->stop,
        .progress = progress_hook(&progress),
        .keep = keep_hook(&keep),
    };
    int failed = bench_run(&options, result, e);
    progress_end(&progress);
    measured_end(result, call->context);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    const struct cpu_values *v = call->options.values;
    struct arm_list *arms = read_arms(call, true, e);
    if (!arms)
        return -1;
    struct result *result = measured_begin(RESULT_KIND_CPU, call);
    measured_add_host(result, "both", &v->client_cores, &v->server_cores);
    arm_options_describe(arms, call->context->backends, result);
    int failed = measure(call, arms, result, e);
    predict_tell(arms, result);
    if (!failed)
        failed = output_show(&v->output, result, e);
    result_free(result);
    free(arms);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench cpu",
    "pqc-bench cpu --handshakes 500 --arm 'x: groups=X25519' --arm 'pq: groups=X25519MLKEM768'",
    "pqc-bench cpu --arm 'old: groups=X25519 backend=openssl-3.5' --arm 'new: groups=X25519 "
    "backend=aws-lc' -o results/libraries",
    NULL,
};

const struct command cmd_cpu = {
    .name = "cpu",
    .summary = "Measure the CPU time and the bytes of a TLS handshake, client and server in "
               "this process",
    .options = rows,
    .values_size = sizeof(struct cpu_values),
    .section = "cpu",
    .examples = examples,
    .details =
        "A full client and a full server run on two threads that are joined in memory, "
        "each on a core of its own where there are two. Each arm's CPU time is the median "
        "over the repeats, with a 95 % interval; its difference is against the baseline, "
        "the first arm. 'control' is a copy of the baseline: what differs there is "
        "noise.",
    .check = check,
    .run = run,
};
