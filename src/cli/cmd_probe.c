/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench probe: what does a server accept, prefer and cost, seen from a client? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hosts.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/probe_predict.h"
#include "cli/terminal.h"
#include "report/probed.h"

#define SECOND_NS 1e9
#define MINUTE_NS 6e10
#define STAMP_BYTES 32
#define NONE "none"

struct probe_values {
    char *hosts, *server_name, *backend, *json, *csv;
    unsigned starttls, proxy;
    uint64_t connections_max, concurrency, timeout_ns;
    double rate_per_s;
    struct predict_options predict;
    bool is_ipv4, is_ipv6, is_detailed, is_record, is_quiet;
};

#define ROW(option, type, word, text, member, ...)                    \
    {                                                                 \
        .name = option, .kind = type, .argument = word, .help = text, \
        .offset = offsetof(struct probe_values, member), __VA_ARGS__  \
    }

static const struct option rows[] = {
    ROW("hosts", OPTION_TEXT, "FILE",
        "more servers, one HOST[:PORT] a line; - is standard input", hosts,
        .unset_note = "the operands alone"),
    ROW("concurrency", OPTION_COUNT, "COUNT", "servers that are asked at the same time",
        concurrency, .initial = "4", .low = 1, .high = 256),
    ROW("max-connections", OPTION_COUNT, "COUNT", "connections to one server, at most",
        connections_max, .initial = "60", .low = 1, .high = 1000),
    ROW("rate", OPTION_RATE, "RATE", "new connections a second to one server, at most",
        rate_per_s, .initial = "10", .low = 0.01, .high = 10000),
    ROW("timeout", OPTION_DURATION, "TIME", "how long to wait for a connection or an answer",
        timeout_ns, .initial = "5s", .low = 1e8, .high = MINUTE_NS),
    ROW("sni", OPTION_TEXT, "NAME", "server name to ask for; none: no name", server_name,
        .unset_note = "the host's name; none for an address"),
    ROW("starttls", OPTION_CHOICE, "PROTOCOL", "what is spoken before TLS", starttls,
        .initial = NONE, .choices = "none|smtp|imap|postgres"),
    ROW("proxy-protocol", OPTION_CHOICE, "VERSION", "send a PROXY header first", proxy,
        .initial = NONE, .choices = "none|1|2"),
    ROW("ipv4", OPTION_SWITCH, NULL, "IPv4 addresses only", is_ipv4, .letter = '4'),
    ROW("ipv6", OPTION_SWITCH, NULL, "IPv6 addresses only", is_ipv6, .letter = '6'),
    ROW("backend", OPTION_TEXT, "NAME", "TLS library, like openssl-3.5", backend,
        .unset_note = "OpenSSL 3.5, else the newest"),
    ROW("json", OPTION_TEXT, "FILE",
        "write what was found as JSON; - is standard output, in place of the text", json,
        .unset_note = "no file"),
    ROW("csv", OPTION_TEXT, "FILE", "the same as CSV, one fact a row", csv,
        .unset_note = "no file"),
    ROW("details", OPTION_SWITCH, NULL, "show everything for each of several servers",
        is_detailed, .initial = "off"),
    ROW("print-record", OPTION_SWITCH, NULL,
        "print the DNS record each server should publish, in place of the text", is_record,
        .initial = "off"),
    ROW("quiet", OPTION_SWITCH, NULL, "show nothing; the exit status and the files tell",
        is_quiet, .letter = 'q'),
    PREDICT_OPTION_ROWS(struct probe_values, predict),
    {.name = NULL},
};

static bool is_stdout_taken(const struct probe_values *v)
{
    return (v->json != NULL && outfile_is_stdout(v->json)) ||
           (v->csv != NULL && outfile_is_stdout(v->csv));
}

static int check(struct command_call *call, struct err *e)
{
    const struct probe_values *v = call->options.values;
    if (v->is_ipv4 && v->is_ipv6)
        return err_set(e, ERR_USAGE, "--ipv4 and --ipv6: give one of them");
    if (call->operands == 0 && v->hosts == NULL)
        return err_set(e, ERR_USAGE, "needs HOST[:PORT] or --hosts FILE; see --help");
    if (v->json != NULL && v->csv != NULL && outfile_is_stdout(v->json) &&
        outfile_is_stdout(v->csv))
        return err_set(e, ERR_USAGE, "--json - and --csv -: give one of them");
    if (v->is_record && is_stdout_taken(v))
        return err_set(e, ERR_USAGE,
                       "--print-record: standard output is taken by --json or --csv");
    if (v->json != NULL && outfile_probe(v->json, e) != 0)
        return err_add_context(e, "--json");
    if (v->csv != NULL && outfile_probe(v->csv, e) != 0)
        return err_add_context(e, "--csv");
    return 0;
}

/* A name as a hello can carry it; NULL: the target's own. */
static int read_server_name(const char *text, struct address_name *room, const char **out,
                            struct err *e)
{
    *out = NULL;
    if (text == NULL)
        return 0;
    *out = "";
    if (strcmp(text, NONE) == 0)
        return 0;
    if (strchr(text, ':') == NULL && address_parse(text, ADDRESS_CONNECT, 1, room, e) == 0 &&
        !room->is_literal) {
        *out = room->server_name;
        return 0;
    }
    return err_set(e, ERR_USAGE,
                   "--sni '%s': not a name in letters, digits, '-' and '.' "
                   "(accepted: NAME, none)",
                   text);
}

static int read_options(const struct command_call *call, struct address_name *name,
                        struct probe_options *out, struct err *e)
{
    const struct probe_values *v = call->options.values;
    *out = (struct probe_options){
        .starttls = (enum probe_starttls)v->starttls,
        .family = v->is_ipv4   ? PROBE_FAMILY_IPV4
                  : v->is_ipv6 ? PROBE_FAMILY_IPV6
                               : PROBE_FAMILY_ANY,
        .proxy_version = v->proxy,
        .connections_max = (unsigned)v->connections_max,
        .rate_per_s = v->rate_per_s,
        .timeout_ns = v->timeout_ns,
        .stop = call->context->stop,
    };
    if (read_server_name(v->server_name, name, &out->server_name, e) != 0 ||
        command_need_backends(call, e) != 0)
        return -1;
    out->backend = tls_backends_find(call->context->backends, v->backend, e);
    if (out->backend == NULL || probe_check(out, e) != 0)
        return err_add_context(e, "--backend");
    return 0;
}

static int read_hosts(const struct command_call *call, const struct probe_options *options,
                      struct hosts *hosts, struct err *e)
{
    const struct probe_values *v = call->options.values;
    unsigned port = probe_default_port(options->starttls);
    for (size_t i = 0; i < call->operands; i++)
        if (hosts_add(hosts, call->operand[i], port, e) != 0)
            return -1;
    if (v->hosts != NULL && hosts_add_file(hosts, v->hosts, port, e) != 0)
        return err_add_context(e, "--hosts");
    return 0;
}

static int write_one(const char *option, const char *path, const struct text *content,
                     struct err *e)
{
    return outfile_write(path, content, e) == 0 ? 0 : err_add_context(e, "%s", option);
}

static int write_files(const struct probe_values *v, const struct probed_list *list,
                       struct err *e)
{
    struct text json = {0}, csv = {0};
    int failed = 0;
    if (v->json != NULL) {
        probed_add_json(list, &json);
        failed = write_one("--json", v->json, &json, e);
    }
    if (failed == 0 && v->csv != NULL) {
        probed_add_csv(list, &csv);
        failed = write_one("--csv", v->csv, &csv, e);
    }
    text_free(&json);
    text_free(&csv);
    return failed;
}

static void show(const struct probe_values *v, const struct probed_list *list)
{
    struct text out = {0};
    const struct report_options look =
        output_look(&(struct output_options){.is_detailed = v->is_detailed});
    if (is_stdout_taken(v) || v->is_quiet)
        return;
    if (!v->is_record)
        probed_add_text(list, &out, &look);
    for (size_t i = 0; v->is_record && i < list->count; i++)
        (void)probed_add_record(&list->probed[i], &out);
    fwrite(text_str(&out), 1, out.length, stdout);
    text_free(&out);
}

static int answer(const struct probed *probed, size_t count, struct err *e)
{
    size_t without = 0;
    for (size_t i = 0; i < count; i++) {
        const struct probed *p = &probed[i];
        enum probed_verdict verdict = probed_judge(p);
        without += verdict != PROBED_POST_QUANTUM;
        if (verdict == PROBED_UNMEASURED)
            return err_set(e, ERR_FAILED, "%.200s: %.200s", p->target,
                           p->failure.text[0] != '\0' ? p->failure.text : "not measured");
    }
    if (without == 0)
        return 0;
    return err_set(e, ERR_UNMET,
                   "%zu of %zu servers do not negotiate a hybrid group with a browser's hello",
                   without, count);
}

static void show_progress(void *arg, size_t finished)
{
    fprintf(stderr, "\rprobe: %zu of %zu servers", finished, *(const size_t *)arg);
}

static int probe(const struct command_call *call, const struct probe_options *options,
                 const struct hosts *hosts, struct err *e)
{
    const struct probe_values *v = call->options.values;
    char stamp[STAMP_BYTES];
    size_t total = hosts->count;
    struct probed *probed = mem_alloc_zeroed(hosts->count, sizeof *probed);
    struct probe_many many = {.options = options,
                              .target = hosts->target,
                              .count = hosts->count,
                              .concurrency = (unsigned)v->concurrency,
                              .out = probed,
                              .arg = &total};
    bool has_progress = hosts->count > 1 && !v->is_quiet && terminal_is(STDERR_FILENO);
    const struct probed_list list = {.probed = probed,
                                     .count = hosts->count,
                                     .started_at = clock_wall_stamp(stamp, sizeof stamp)};
    if (has_progress)
        many.done = show_progress;
    probe_run_many(&many);
    if (has_progress)
        fprintf(stderr, "\r\033[K");
    int failed = write_files(v, &list, e);
    show(v, &list);
    if (failed == 0)
        failed = answer(probed, hosts->count, e);
    free(probed);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    const struct probe_values *v = call->options.values;
    struct probe_options options;
    struct address_name name;
    struct hosts hosts = {0};
    int failed = -1;
    if (read_options(call, &name, &options, e) == 0 &&
        read_hosts(call, &options, &hosts, e) == 0 &&
        probe_predict(&v->predict, call->context->backends, v->backend, options.server_name,
                      &hosts, e) == 0)
        failed = probe(call, &options, &hosts, e);
    hosts_free(&hosts);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench probe www.example.org",
    "pqc-bench probe --starttls smtp mail.example.org",
    "pqc-bench probe --hosts servers.txt --json probed.json",
    NULL,
};

const struct command cmd_probe = {
    .name = "probe",
    .summary = "Ask a server which groups it accepts and prefers, and what they cost",
    .operands = "HOST[:PORT]...",
    .operands_max = HOSTS_MAX,
    .options = rows,
    .values_size = sizeof(struct probe_values),
    .examples = examples,
    .details =
        "Makes a bounded number of connections to each server, one at a time and paced: a "
        "whole handshake as a browser would make it, and ClientHellos that are closed after "
        "the server's first answer. Nothing but TLS is sent, and before it what --starttls "
        "and --proxy-protocol ask for. Certificates are not verified.\n\n"
        "The exit status is 0 if every server negotiates a hybrid group with a browser's "
        "ClientHello, 3 if one does not, 1 if one could not be measured.",
    .check = check,
    .run = run,
};
