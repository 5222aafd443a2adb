/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench load: fresh TLS connections at a fixed rate, latency per arm, a verdict. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/keep.h"
#include "cli/load_setting.h"
#include "cli/measured.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/progress.h"

struct load_values {
    struct load_setting setting;
    char *samples, *capture, *key_log;
    double rate_per_s;
    unsigned interleave;
    uint64_t duration_ns, trials;
    bool is_calibrated;
    struct output_options output;
};

#define AT(member) .offset = offsetof(struct load_values, member)
#define TEXT_ROW(option, member, word, text, note)                           \
    {                                                                        \
        .name = option, .kind = OPTION_TEXT, .argument = word, .help = text, \
        .unset_note = note, AT(member)                                       \
    }

static const struct option rows[] = {
    LOAD_SUBJECT_ROWS(struct load_values, setting),
    {.name = "rate",
     .kind = OPTION_RATE,
     .argument = "RATE",
     .initial = "300",
     .help = "arrivals per second at the server; each is a new connection",
     AT(rate_per_s)},
    {.name = "duration",
     .kind = OPTION_DURATION,
     .argument = "TIME",
     .initial = "2s",
     .help = "measured part of each trial",
     .low = LOAD_SETTING_MS_NS,
     .high = LOAD_SETTING_DAY_NS,
     AT(duration_ns)},
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
    LOAD_GENERATOR_ROWS(struct load_values, setting),
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
    OUTPUT_OPTION_ROWS(struct load_values, output),
    {.name = NULL},
};

static int check_files(const struct load_values *v, struct err *e)
{
    if (v->capture != NULL && v->setting.link == NULL)
        return err_set(e, ERR_USAGE, "--capture: needs --link; only what crosses it is seen");
    if (v->capture != NULL && outfile_probe(v->capture, e) != 0)
        return err_add_context(e, "--capture");
    if (v->key_log != NULL && outfile_probe(v->key_log, e) != 0)
        return err_add_context(e, "--keylog");
    return v->samples != NULL ? outfile_probe(v->samples, e) : 0;
}

static int check(struct command_call *call, struct err *e)
{
    struct load_values *v = call->options.values;
    struct schedule schedule;
    if (command_need_backends(call, e) != 0 || load_setting_fill(call, &v->setting, e) != 0 ||
        load_setting_check(call, &v->setting, e) != 0 ||
        schedule_init(&schedule, v->rate_per_s, SCHEDULE_CONSTANT, 0,
                      v->setting.warmup_ns + v->duration_ns, e) != 0 ||
        check_files(v, e) != 0)
        return -1;
    return output_prepare(&v->output, e);
}

/* What is opened or read for the run's time. */
struct inputs {
    struct load_inputs load;
    FILE *samples, *key_log;
};

static int close_one(FILE *f, const char *option, const char *path, struct err *e)
{
    if (f == NULL)
        return 0;
    const bool is_cut = ferror(f) != 0;
    const int code = fclose(f) == 0 ? 0 : errno;
    if (code == 0 && !is_cut)
        return 0;
    return err_set(e, ERR_SYSTEM, "%s: %.200s is not whole: %s", option, path,
                   code != 0 ? strerror(code) : "a write failed");
}

/* -1 where a file lacks what could not be written. */
static int close_inputs(const struct load_values *v, struct inputs *in, struct err *e)
{
    load_inputs_close(&in->load);
    const int samples = close_one(in->samples, "--samples", v->samples, e);
    return close_one(in->key_log, "--keylog", v->key_log, samples ? NULL : e) || samples ? -1
                                                                                         : 0;
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
    *in = (struct inputs){.samples = NULL};
    if (load_inputs_open(&v->setting, &in->load, e) != 0)
        return -1;
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
    fputs(v->setting.link != NULL ? "," LOAD_NETWORK_COLUMNS "\n" : "\n", in->samples);
    return 0;
}

static int measure(struct command_call *call, const struct arm_list *arms,
                   const struct inputs *in, struct result *result, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct progress progress;
    struct keep keep = {.output = &v->output, .result = result};
    progress_init(&progress, call->title ? call->title : "load", !v->output.is_quiet);
    struct load_options options = {
        .arms = arms,
        .rate_per_s = v->rate_per_s,
        .duration_ns = v->duration_ns,
        .trials = (unsigned)v->trials,
        .interleave = (enum load_interleave)v->interleave,
        .is_uncalibrated = !v->is_calibrated,
        .samples = in->samples,
        .capture = v->capture,
        .key_log = in->key_log,
        .progress = progress_hook(&progress),
        .keep = keep_hook(&keep),
    };
    load_setting_apply(call, &v->setting, &in->load, &options);
    int failed = load_run(&options, result, e);
    progress_end(&progress);
    measured_end(result, call->context);
    return failed;
}

/* One more step has failed, or not: neither error hides the other. */
static int also(int failed, int next, const struct err *why, struct err *e)
{
    if (next == 0)
        return failed;
    if (failed == 0)
        *e = *why;
    else
        err_set(e, e->kind, "%s; %s", e->text, why->text);
    return -1;
}

/* Failures are shown too: a run in which nothing succeeded still says what went wrong. */
static int run_with(struct command_call *call, const struct arm_list *arms, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct inputs in;
    struct err shown = ERR_INIT;
    struct result *result = measured_begin(RESULT_KIND_LOAD, call);
    measured_add_host(result, v->setting.target != NULL ? "client" : "both",
                      &v->setting.client_cores, &v->setting.server_cores);
    arm_options_describe(arms, call->context->backends, result);
    int failed = open_inputs(v, &in, e);
    if (failed == 0) {
        failed = measure(call, arms, &in, result, e);
        predict_tell(arms, result);
        if (load_has_trials(result))
            failed = also(failed, output_show(&v->output, result, &shown), &shown, e);
    }
    const int closed = close_inputs(v, &in, &shown);
    failed = also(failed, closed, &shown, e);
    result_free(result);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    const struct load_values *v = call->options.values;
    struct arm_list *arms = load_setting_read_arms(call, &v->setting, true, e);
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
