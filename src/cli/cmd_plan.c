/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench plan: what a migration costs a fleet, from a result and a traffic profile. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/result_file.h"
#include "cli/rtt_mix.h"
#include "report/plan.h"

#define NS_PER_US 1e3
#define HOUR_NS 3.6e12
#define PRICE_MOST 1e9
#define PRICE_FORM "core-hour=NUMBER,gb=NUMBER,currency=LETTERS; each may be left out"

struct plan_values {
    double peak_per_s, mean, resumed, hybrid_clients, hrr, utilisation;
    uint64_t other_cpu_ns, response_bytes;
    char *rtt_mix, *price, *before, *after, *resumed_before, *resumed_after, *retry;
    struct output_options output;
};

#define ROW(option, type, word, text, member, ...)                    \
    {                                                                 \
        .name = option, .kind = type, .argument = word, .help = text, \
        .offset = offsetof(struct plan_values, member), __VA_ARGS__   \
    }

static const struct option rows[] = {
    ROW("peak", OPTION_RATE, "RATE", "new connections a second at the busiest time", peak_per_s,
        .unset_note = "must be given"),
    ROW("mean", OPTION_SHARE, "SHARE", "mean rate of the month as a share of the peak", mean,
        .initial = "0.5", .low = 0.001, .high = 1),
    ROW("resumed", OPTION_SHARE, "SHARE", "share of the connections that resume a session",
        resumed, .initial = "0"),
    ROW("hybrid-clients", OPTION_SHARE, "SHARE", "share of the clients that take the new group",
        hybrid_clients, .initial = "1"),
    ROW("hrr", OPTION_SHARE, "SHARE",
        "share of these clients' connections that need a HelloRetryRequest", hrr,
        .initial = "0"),
    ROW("rtt-mix", OPTION_TEXT, "LIST",
        "how far away clients are: RTT:SHARE[:RATE],... or a CSV file with RTT,SHARE[,RATE]",
        rtt_mix, .unset_note = "no time to handshake"),
    ROW("utilisation", OPTION_SHARE, "SHARE", "how busy a core is to be at the peak",
        utilisation, .initial = "0.6", .low = 0.01, .high = 1),
    ROW("other-cpu", OPTION_DURATION, "TIME",
        "CPU of the server a connection beyond what was measured", other_cpu_ns,
        .initial = "0s", .low = 0, .high = HOUR_NS),
    ROW("response", OPTION_BYTES, "BYTES",
        "bytes of TLS that a connection's response has, before and after", response_bytes,
        .initial = "0"),
    ROW("price", OPTION_TEXT, "LIST",
        "what an hour of a core and a GB of egress cost: "
        "core-hour=NUMBER,gb=NUMBER,currency=LETTERS",
        price, .unset_note = "no cost is shown"),
    ROW("before", OPTION_TEXT, "ARM", "what the servers do today", before,
        .unset_note = "the first arm"),
    ROW("after", OPTION_TEXT, "ARM", "what they are to do", after,
        .unset_note = "the first arm of another group"),
    ROW("resumed-before", OPTION_TEXT, "ARM", "the arm of resumed handshakes of today",
        resumed_before, .unset_note = "looked for, else derived"),
    ROW("resumed-after", OPTION_TEXT, "ARM", "the same of what they are to do", resumed_after,
        .unset_note = "looked for, else derived"),
    ROW("retry", OPTION_TEXT, "ARM", "the arm whose handshakes meet a HelloRetryRequest", retry,
        .unset_note = "looked for, else derived"),
    OUTPUT_FILE_ROW("json",
                    "write the plan as JSON; - is standard output, in place of the text",
                    offsetof(struct plan_values, output), json),
    OUTPUT_FILE_ROW("csv", "the same as CSV, one figure a row",
                    offsetof(struct plan_values, output), csv),
    OUTPUT_FILE_ROW("markdown", "the same as Markdown", offsetof(struct plan_values, output),
                    markdown),
    OUTPUT_ASCII_ROW(offsetof(struct plan_values, output)),
    OUTPUT_STRICT_ROW(offsetof(struct plan_values, output)),
    {.name = NULL},
};

/* ---- prices ---- */

static int set_currency(const char *value, struct plan_options *out, struct err *e)
{
    const size_t length = strlen(value);
    bool is_word = length > 0 && length < sizeof out->currency;
    for (size_t i = 0; i < length && is_word; i++)
        is_word = isalpha((unsigned char)value[i]) != 0;
    if (!is_word)
        return err_set(e, ERR_USAGE, "currency: '%.40s' is not one to %zu letters", value,
                       sizeof out->currency - 1);
    snprintf(out->currency, sizeof out->currency, "%s", value);
    return 0;
}

static int set_price(char *item, struct plan_options *out, struct err *e)
{
    char *equals = strchr(item, '=');
    if (equals == NULL)
        return err_set(e, ERR_USAGE, "'%.60s': no '='; give " PRICE_FORM, item);
    *equals = '\0';
    if (strcmp(item, "currency") == 0)
        return set_currency(equals + 1, out, e);
    double *price = strcmp(item, "core-hour") == 0 ? &out->price_core_hour
                    : strcmp(item, "gb") == 0      ? &out->price_gb
                                                   : NULL;
    if (price == NULL)
        return err_set(e, ERR_USAGE, "'%.60s' is no price; give " PRICE_FORM, item);
    if (units_parse_number(equals + 1, price, e) != 0)
        return err_add_context(e, "%s", item);
    if (*price > PRICE_MOST)
        return err_set(e, ERR_USAGE, "%s: '%.40s' is more than %g", item, equals + 1,
                       PRICE_MOST);
    return 0;
}

static int read_price(const char *text, struct plan_options *out, struct err *e)
{
    char *copy = mem_copy_string(text), *rest = copy;
    int failed = 0;
    for (char *item = strsep(&rest, ","); item != NULL && failed == 0;
         item = strsep(&rest, ","))
        failed = set_price(item, out, e);
    free(copy);
    if (failed == 0 && isnan(out->price_core_hour) && isnan(out->price_gb))
        return err_set(e, ERR_USAGE, "'%.60s' has no price; give " PRICE_FORM, text);
    return failed;
}

/* ---- the settings ---- */

static int read_options(const struct plan_values *v, struct rtt_mix *mix,
                        struct plan_options *out, struct err *e)
{
    *out = (struct plan_options){
        .before = v->before,
        .after = v->after,
        .resumed_before = v->resumed_before,
        .resumed_after = v->resumed_after,
        .retry = v->retry,
        .peak_per_s = v->peak_per_s,
        .mean_share = v->mean,
        .resumed = v->resumed,
        .hybrid_clients = v->hybrid_clients,
        .hrr = v->hrr,
        .utilisation = v->utilisation,
        .other_cpu_us = (double)v->other_cpu_ns / NS_PER_US,
        .response_bytes = (double)v->response_bytes,
        .price_core_hour = NAN,
        .price_gb = NAN,
    };
    if (v->price != NULL && read_price(v->price, out, e) != 0)
        return err_add_context(e, "--price");
    *mix = (struct rtt_mix){.count = 0};
    if (v->rtt_mix != NULL && rtt_mix_read(v->rtt_mix, mix, e) != 0)
        return err_add_context(e, "--rtt-mix");
    out->distances = mix->count;
    out->distance = mix->row;
    return 0;
}

static int check(struct command_call *call, struct err *e)
{
    const struct plan_values *v = call->options.values;
    struct plan_options options;
    struct rtt_mix mix;
    if (!options_is_given(&call->options, "peak"))
        return err_set(e, ERR_USAGE, "--peak: must be given, such as --peak 50k/s");
    if (read_options(v, &mix, &options, e) != 0)
        return -1;
    return output_prepare(&v->output, e);
}

/* ---- what is shown ---- */

static void add_markdown(const struct plan *p, struct text *out)
{
    const struct report_options look = REPORT_OPTIONS_DEFAULT;
    plan_add_markdown(p, out, &look);
}

static int write_one(const struct plan *p, const char *option, const char *path,
                     void (*add)(const struct plan *p, struct text *out), struct err *e)
{
    struct text content = {0};
    add(p, &content);
    const int failed = outfile_write(path, &content, e);
    text_free(&content);
    return failed ? err_add_context(e, "%s", option) : 0;
}

/* Files first, standard output last. */
static int show(const struct plan_values *v, const struct plan *p, struct err *e)
{
    const struct {
        const char *option, *path;
        void (*add)(const struct plan *p, struct text *out);
    } takers[] = {{"--json", v->output.json, plan_add_json},
                  {"--csv", v->output.csv, plan_add_csv},
                  {"--markdown", v->output.markdown, add_markdown}};
    const size_t count = sizeof takers / sizeof takers[0];
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        if (takers[i].path == NULL)
            continue;
        if (outfile_is_stdout(takers[i].path))
            last = i;
        else if (write_one(p, takers[i].option, takers[i].path, takers[i].add, e) != 0)
            return -1;
    }
    if (last < count)
        return write_one(p, takers[last].option, takers[last].path, takers[last].add, e);
    const struct report_options look = output_look(&v->output);
    struct text content = {0};
    plan_add_text(p, &content, &look);
    fwrite(text_str(&content), 1, content.length, stdout);
    text_free(&content);
    return 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct plan_values *v = call->options.values;
    struct plan_options options;
    struct rtt_mix mix;
    struct plan plan = {0};
    int failed = -1;
    if (read_options(v, &mix, &options, e) != 0)
        return -1;
    struct result *result = result_file_read(call->operand[0], e);
    if (result != NULL && plan_make(result, &options, &plan, e) == 0) {
        failed = show(v, &plan, e);
        if (failed == 0 && v->output.is_strict && !result->is_valid)
            failed = err_set(e, ERR_FAILED, "the result is not valid");
    }
    plan_free(&plan);
    result_free(result);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench plan --peak 50k/s --resumed 0.7 --hybrid-clients 0.6 --hrr 0.02 results/quick",
    "pqc-bench plan --peak 2k/s --rtt-mix 20ms:0.5,80ms:0.4,250ms:0.1 results/quick",
    "pqc-bench plan --peak 2k/s --price core-hour=0.04,gb=0.05,currency=EUR results/quick",
    NULL,
};

const struct command cmd_plan = {
    .name = "plan",
    .summary = "What a migration costs a fleet in cores, egress and time, from a result and a "
               "traffic profile",
    .operands = "RESULT",
    .operands_min = 1,
    .operands_max = 1,
    .options = rows,
    .values_size = sizeof(struct plan_values),
    .examples = examples,
    .details = "RESULT is a result.json of cpu or load, or a directory that holds one. Cores, "
               "egress and price before and after, with the intervals of what was measured; "
               "every assumption is printed. docs/PLAN.md has the arithmetic.\n\n"
               "There is no price by default: none would be true for long.",
    .check = check,
    .run = run,
};
