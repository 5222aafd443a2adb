/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench load: fresh TLS connections at a fixed rate, latency per arm, a verdict. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cpu.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "cli/arm_options.h"
#include "cli/command.h"
#include "cli/measured.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/peer_choice.h"
#include "cli/predict_options.h"
#include "cli/progress.h"
#include "net/address.h"
#include "net/link_spec.h"
#include "run/endpoint.h"
#include "run/load.h"

#define MS_NS 1e6
#define DAY_NS 8.64e13
#define SEED_MOST 9007199254740991.0
#define WORKERS_MOST 1024
#define ROOTS_MOST_BYTES (4u << 20)
#define SYSTEM_ROOTS "/etc/ssl/certs/ca-certificates.crt"

struct load_values {
    struct option_list arms;
    char *target, *agent, *source, *sni, *path, *roots, *samples;
    char *link, *capture, *key_log;
    double rate_per_s;
    struct peer_choice peer;
    unsigned arrivals, interleave, close;
    uint64_t duration_ns, warmup_ns, grace_ns, timeout_ns;
    uint64_t trials, workers, max_in_flight, seed;
    bool is_spinning, is_calibrated;
    struct cpu_set client_cores, server_cores;
    struct predict_options predict;
    struct output_options output;
};

#define AT(member) .offset = offsetof(struct load_values, member)
#define DURATION_ROW(option, member, value, least, text)                               \
    {                                                                                  \
        .name = option, .kind = OPTION_DURATION, .argument = "TIME", .initial = value, \
        .help = text, .low = least, .high = DAY_NS, AT(member)                         \
    }
#define TEXT_ROW(option, member, word, text, note)                           \
    {                                                                        \
        .name = option, .kind = OPTION_TEXT, .argument = word, .help = text, \
        .unset_note = note, AT(member)                                       \
    }

static int check_link(const char *text, struct err *e)
{
    struct link_spec spec;
    return link_spec_parse(text, &spec, e);
}

static const struct option rows[] = {
    {.name = "arm",
     .kind = OPTION_LIST,
     .argument = "ARM",
     .help = "'NAME: KEY=VALUE ...', a configuration to compare; may be repeated",
     .unset_note = "classical, pq, control",
     .check = arm_options_check,
     AT(arms)},
    TEXT_ROW("target", target, "HOST:PORT", "the TLS server to measure",
             "an embedded server on cores of its own"),
    PEER_CHOICE_ROWS(struct load_values, peer),
    TEXT_ROW("agent", agent, "HOST:PORT",
             "a 'pqc-bench serve --agent' on the target's machine, for the server's CPU",
             "none; a server that load started is watched by itself"),
    {.name = "rate",
     .kind = OPTION_RATE,
     .argument = "RATE",
     .initial = "300",
     .help = "arrivals per second at the server; each is a new connection",
     AT(rate_per_s)},
    {.name = "arrivals",
     .kind = OPTION_CHOICE,
     .argument = "KIND",
     .initial = "constant",
     .help = "evenly spaced, or a Poisson process",
     .choices = "constant|poisson",
     AT(arrivals)},
    DURATION_ROW("duration", duration_ns, "2s", MS_NS, "measured part of each trial"),
    DURATION_ROW("warmup", warmup_ns, "500ms", 0, "before it, and dropped"),
    {.name = "trials",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "8",
     .help = "trials of each arm",
     .low = 1,
     .high = 1000,
     AT(trials)},
    {.name = "interleave",
     .kind = OPTION_CHOICE,
     .argument = "HOW",
     .initial = "trial",
     .help = "arms take turns by trial, or by connection within each trial",
     .choices = "trial|connection",
     AT(interleave)},
    {.name = "workers",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .help = "threads of the generator",
     .unset_note = "one for each client core",
     .low = 1,
     .high = WORKERS_MOST,
     AT(workers)},
    {.name = "spin",
     .kind = OPTION_SWITCH,
     .initial = "off",
     .help = "poll instead of sleeping: earlier starts, busy cores",
     AT(is_spinning)},
    {.name = "max-in-flight",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "10000",
     .help = "connections open at once; arrivals beyond it wait",
     .low = 1,
     .high = 1000000,
     AT(max_in_flight)},
    DURATION_ROW("grace", grace_ns, "5s", 0,
                 "after a trial's end, for what is open; the rest is unfinished"),
    DURATION_ROW("timeout", timeout_ns, "10s", MS_NS,
                 "a connection that takes longer has failed"),
    TEXT_ROW("source", source, "A-B", "local IPv4 addresses that connections come from in turn",
             "the kernel's choice"),
    {.name = "close",
     .kind = OPTION_CHOICE,
     .argument = "HOW",
     .initial = "fin",
     .help = "how connections end: politely, or by a reset that leaves no TIME_WAIT",
     .choices = "fin|rst",
     AT(close)},
    TEXT_ROW("sni", sni, "NAME", "server name to send and to verify", "the target's name"),
    TEXT_ROW("path", path, "PATH", "what is requested", "/, or /bytes/N for an arm's payload"),
    TEXT_ROW("roots", roots, "FILE", "certificates to trust, PEM; for --target",
             "the system's"),
    {.name = "link",
     .kind = OPTION_TEXT,
     .argument = "SPEC",
     .help = "an emulated link to the embedded server: a profile (lan, metro, continental, "
             "intercontinental, satellite, lte-m, 5g, 1mbit), or rtt=, delay=, jitter=, loss=, "
             "burst=, "
             "rate=, queue=, largest=, mtu=, initcwnd=, cc=, or both, commas between",
     .unset_note = "loopback",
     .check = check_link,
     AT(link)},
    TEXT_ROW("capture", capture, "FILE", "write what crosses the link, as pcapng; for --link",
             "no file"),
    TEXT_ROW("keylog", key_log, "FILE",
             "write the TLS secrets, for Wireshark; anyone who has them can read the traffic",
             "no file"),
    TEXT_ROW("samples", samples, "FILE", "write every handshake as a line of CSV", "no file"),
    {.name = "calibrate",
     .kind = OPTION_SWITCH,
     .initial = "on",
     .help = "do not measure first what this machine can generate",
     AT(is_calibrated)},
    {.name = "seed",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .help = "of the random order of the arms, and of Poisson arrivals",
     .unset_note = "a fresh one, recorded",
     .low = 0,
     .high = SEED_MOST,
     AT(seed)},
    {.name = "client-cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "cores for the generator, like 0-1,4",
     .unset_note = "the upper half of those allowed",
     AT(client_cores)},
    {.name = "server-cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "cores for the server that load starts, one worker each",
     .unset_note = "the lower half",
     AT(server_cores)},
    PREDICT_OPTION_ROWS(struct load_values, predict),
    OUTPUT_OPTION_ROWS(struct load_values, output),
    {.name = NULL},
};

static const char *const default_arms[] = {
    "classical: groups=X25519",
    "pq: groups=X25519MLKEM768",
    "control: groups=X25519",
};

/* What was not given is chosen now, so that the echo in the result is complete. */
static int fill_in(struct command_call *call, struct err *e)
{
    struct load_values *v = call->options.values;
    const struct option *arm = options_find(rows, "arm");
    struct cpu_set allowed, client, server;
    char text[32];
    const bool has_arms = v->arms.count > 0;
    for (size_t i = 0; !has_arms && i < sizeof default_arms / sizeof default_arms[0]; i++)
        if (options_set(&call->options, arm, default_arms[i], e) != 0)
            return -1;
    snprintf(text, sizeof text, "%" PRIu64, rng_fresh_seed());
    if (!options_is_given(&call->options, "seed") &&
        options_set(&call->options, options_find(rows, "seed"), text, e) != 0)
        return -1;
    cpu_allowed(&allowed);
    (void)cpu_split(&allowed, &client, &server);
    if (v->client_cores.count == 0)
        v->client_cores = v->target != NULL ? allowed : client;
    if (v->server_cores.count == 0 && v->target == NULL)
        v->server_cores = server;
    if (v->workers == 0)
        v->workers = v->client_cores.count;
    return 0;
}

/* The link ends at a server of our own, whose end it makes. */
static int check_network(const struct load_values *v, struct err *e)
{
    if (v->link != NULL && v->target != NULL)
        return err_set(e, ERR_USAGE,
                       "--link: leads to the embedded server; not with --target %.80s",
                       v->target);
    if (v->link != NULL && v->peer.server != PEER_NONE)
        return err_set(e, ERR_USAGE,
                       "--link: leads to the embedded server; not with --server %s",
                       peer_name((enum peer_kind)v->peer.server));
    if (v->link != NULL && v->source != NULL)
        return err_set(e, ERR_USAGE, "--link: has one address at each end; not with --source");
    if (v->capture != NULL && v->link == NULL)
        return err_set(e, ERR_USAGE, "--capture: needs --link; only what crosses it is seen");
    if (v->capture != NULL && outfile_probe(v->capture, e) != 0)
        return err_add_context(e, "--capture");
    if (v->key_log != NULL && outfile_probe(v->key_log, e) != 0)
        return err_add_context(e, "--keylog");
    return 0;
}

static int read_target(const char *text, struct address_name *out, struct err *e)
{
    if (address_parse(text, ADDRESS_CONNECT, 0, out, e) != 0)
        return err_add_context(e, "--target");
    return 0;
}

static int check_values(const struct load_values *v, struct err *e)
{
    struct schedule schedule;
    struct address_name agent, target;
    if (v->max_in_flight < v->workers)
        return err_set(e, ERR_USAGE,
                       "--max-in-flight: %" PRIu64 " for %" PRIu64 " workers; each needs one",
                       v->max_in_flight, v->workers);
    if (v->path != NULL && v->path[0] != '/')
        return err_set(e, ERR_USAGE, "--path: '%.80s' does not begin with /", v->path);
    if (v->target != NULL && read_target(v->target, &target, e) != 0)
        return -1;
    if (v->agent != NULL && v->target == NULL)
        return err_set(
            e, ERR_USAGE,
            "--agent: needs --target; a server that load starts is watched by itself");
    if (v->agent != NULL && address_parse(v->agent, ADDRESS_CONNECT, 0, &agent, e) != 0)
        return err_add_context(e, "--agent");
    if (check_network(v, e) != 0)
        return -1;
    return schedule_init(&schedule, v->rate_per_s, SCHEDULE_CONSTANT, 0,
                         v->warmup_ns + v->duration_ns, e);
}

static struct arm_list *read_arms(struct command_call *call, bool may_ask, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct address_name name;
    const struct predict_target target = {.target = v->target != NULL ? &name : NULL,
                                          .sni = v->sni,
                                          .backends = call->context->backends,
                                          .may_ask = may_ask};
    if (v->target != NULL && read_target(v->target, &name, e) != 0)
        return NULL;
    return predict_options_read_arms(&v->predict, &target, &v->arms, e);
}

static int check(struct command_call *call, struct err *e)
{
    const struct load_values *v = call->options.values;
    if (command_need_backends(call, e) != 0 || fill_in(call, e) != 0 || check_values(v, e) != 0)
        return -1;
    struct arm_list *arms = read_arms(call, false, e);
    int failed = !arms || peer_choice_check(&v->peer, v->target, arms, e) != 0 ||
                 arm_options_plan(arms, call->context->backends, e) != 0;
    free(arms);
    if (failed || (v->samples != NULL && outfile_probe(v->samples, e) != 0))
        return -1;
    return output_prepare(&v->output, e);
}

/* What is opened or read for the run's time. */
struct inputs {
    struct address_range sources; /* count 0: none */
    char *roots;
    FILE *samples, *key_log;
    struct link_spec link; /* mtu 0: none */
};

static void close_inputs(struct inputs *in)
{
    free(in->roots);
    if (in->samples != NULL)
        fclose(in->samples);
    if (in->key_log != NULL)
        fclose(in->key_log);
}

/* For its owner alone, also where it was there with other rights. */
static FILE *open_key_log(const char *path, struct err *e)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 && fchmod(fd, 0600) == 0 ? fdopen(fd, "w") : NULL;
    if (f != NULL)
        return f;
    err_set_errno(e, "--keylog: %.200s", path);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static int open_inputs(const struct load_values *v, struct inputs *in, struct err *e)
{
    *in = (struct inputs){0};
    if (v->source != NULL && address_parse_range(v->source, &in->sources, e) != 0)
        return err_add_context(e, "--source");
    in->roots =
        file_read_text("", v->roots != NULL ? v->roots : SYSTEM_ROOTS, ROOTS_MOST_BYTES);
    if (v->roots != NULL && in->roots == NULL)
        return err_set(e, ERR_SYSTEM, "--roots: %.200s: cannot be read", v->roots);
    if (v->link != NULL && link_spec_parse(v->link, &in->link, e) != 0)
        return err_add_context(e, "--link");
    if (v->key_log != NULL && (in->key_log = open_key_log(v->key_log, e)) == NULL)
        return -1;
    if (v->samples == NULL)
        return 0;
    in->samples = fopen(v->samples, "we");
    if (in->samples == NULL)
        return err_set_errno(e, "--samples: %.200s", v->samples);
    fputs("arm,trial,due_s,start_lag_us,tcp_us,tls_us,ttfb_us,ttlb_us,response_us,"
          "retransmits,hrr,resumed,early_data",
          in->samples);
    fputs(v->link != NULL ? "," LOAD_NETWORK_COLUMNS "\n" : "\n", in->samples);
    return 0;
}

static int measure(struct command_call *call, const struct arm_list *arms,
                   const struct inputs *in, struct result *result, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct progress progress;
    struct peer_program peer;
    if (peer_choice_find(&v->peer, &peer, e) != 0)
        return -1;
    progress_init(&progress, call->title ? call->title : "load", !v->output.is_quiet);
    const struct load_options options = {
        .arms = arms,
        .backends = call->context->backends,
        .rate_per_s = v->rate_per_s,
        .arrivals = (enum schedule_kind)v->arrivals,
        .duration_ns = v->duration_ns,
        .warmup_ns = v->warmup_ns,
        .grace_ns = v->grace_ns,
        .timeout_ns = v->timeout_ns,
        .trials = (unsigned)v->trials,
        .interleave = (enum load_interleave)v->interleave,
        .workers = (unsigned)v->workers,
        .is_spinning = v->is_spinning,
        .max_in_flight = (unsigned)v->max_in_flight,
        .close = (enum conn_close)v->close,
        .sources = in->sources.count > 0 ? &in->sources : NULL,
        .target = v->target,
        .agent = v->agent,
        .peer = peer.kind != PEER_NONE ? &peer : NULL,
        .server_name = v->sni,
        .path = v->path,
        .roots_pem = in->roots,
        .is_uncalibrated = !v->is_calibrated,
        .samples = in->samples,
        .link = in->link.mtu_bytes > 0 ? &in->link : NULL,
        .capture = v->capture,
        .key_log = in->key_log,
        .seed = v->seed,
        .client_cores = v->client_cores,
        .server_cores = v->server_cores,
        .stop = call->context->stop,
        .progress = progress_hook(&progress),
    };
    int failed = load_run(&options, result, e);
    progress_end(&progress);
    measured_end(result, call->context);
    return failed;
}

static bool has_trials(const struct result *result)
{
    for (size_t i = 0; i < result->arms; i++)
        if (result->arm[i].trials > 0)
            return true;
    return false;
}

/* Failures are shown too: a run in which nothing succeeded still says what went wrong. */
static int run_with(struct command_call *call, const struct arm_list *arms, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct inputs in;
    struct result *result = measured_begin(RESULT_KIND_LOAD, call);
    measured_add_host(result, v->target != NULL ? "client" : "both", &v->client_cores,
                      &v->server_cores);
    arm_options_describe(arms, call->context->backends, result);
    int failed = open_inputs(v, &in, e);
    if (failed == 0) {
        struct err shown = ERR_INIT;
        failed = measure(call, arms, &in, result, e);
        predict_tell(arms, result);
        if (has_trials(result) && output_show(&v->output, result, failed ? &shown : e) != 0)
            failed = -1;
    }
    close_inputs(&in);
    result_free(result);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    struct arm_list *arms = read_arms(call, true, e);
    if (!arms)
        return -1;
    int failed = run_with(call, arms, e);
    free(arms);
    return failed;
}

static const char target_example[] =
    "pqc-bench load --target server.example:443 --interleave connection --trials 10 "
    "--arm 'old: groups=X25519' --arm 'new: groups=X25519MLKEM768' "
    "--arm 'control: groups=X25519'";
static const char *const examples[] = {
    "pqc-bench load",
    "pqc-bench load --rate 300 --duration 4m30s --warmup 30s --trials 3 -o results/fresh",
    "pqc-bench load --link intercontinental,loss=1% --rate 50 --duration 20s",
    "pqc-bench load --server nginx --rate 200 -o results/nginx",
    target_example,
    NULL,
};

const struct command cmd_load = {
    .name = "load",
    .summary = "Measure handshake latency at a fixed rate of new connections, arm against arm",
    .options = rows,
    .values_size = sizeof(struct load_values),
    .section = "load",
    .examples = examples,
    .details =
        "Arrival i is due at i / rate, whatever became of those before it, and its response "
        "time counts from then: a stall shows in every arrival that waited. Arms are run in "
        "random order within each block of trials and compared with the baseline, the first "
        "arm; 'control' is a copy of the baseline: what differs there is noise. A trial that "
        "cannot be believed is named, and no verdict rests on it.",
    .check = check,
    .run = run,
};
