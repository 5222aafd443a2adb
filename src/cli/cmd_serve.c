/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench serve: the embedded TLS target, by itself. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "run/agent.h"
#include "run/child.h"
#include "run/endpoint.h"

#define POLL_NS 100000000u
#define HOUR_NS 3.6e12
#define SECOND_NS 1e9
#define NO_DESCRIPTOR 1000000u
#define PIDS_MOST 4194304.0 /* the kernel's PID_MAX_LIMIT */
#define NO_SERVER "none"

struct serve_values {
    char *listen, *port_file, *root_file, *name;
    char *groups, *certificate, *chain, *cipher, *tls, *backend;
    char *agent, *process;
    uint64_t pid;
    uint64_t tickets, early_data_bytes, timeout_ns, control_fd;
    struct cpu_set cores;
    bool anti_replay;
};

#define TEXT_ROW(option, member, word, text, ...)                            \
    {                                                                        \
        .name = option, .kind = OPTION_TEXT, .argument = word, .help = text, \
        .offset = offsetof(struct serve_values, member), __VA_ARGS__         \
    }

static const struct option rows[] = {
    TEXT_ROW("listen", listen, "ADDR:PORT",
             "address and port; port 0: a free one; no address: all of them; none: no server",
             .initial = "127.0.0.1:8443"),
    TEXT_ROW("agent", agent, "ADDR:PORT",
             "tell over HTTP what a server here costs; no address: loopback; without --listen "
             "this alone",
             .unset_note = "no agent"),
    {.name = "pid",
     .kind = OPTION_COUNT,
     .argument = "NUMBER",
     .help = "process that the agent watches, with its descendants",
     .unset_note = "this one",
     .low = 1,
     .high = PIDS_MOST,
     .offset = offsetof(struct serve_values, pid)},
    TEXT_ROW("process", process, "NAME", "name of the processes that the agent watches",
             .unset_note = "this one"),
    TEXT_ROW("port-file", port_file, "FILE", "write the port into this file once it listens",
             .unset_note = "no file"),
    TEXT_ROW("root-file", root_file, "FILE",
             "write the certificate that a client must trust into this file",
             .unset_note = "no file"),
    TEXT_ROW("name", name, "HOST", "name in the certificate", .initial = ENDPOINT_HOST),
    {.name = "cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "cores, one worker each",
     .unset_note = "one worker on any core",
     .offset = offsetof(struct serve_values, cores)},
    TEXT_ROW("groups", groups, "LIST", "groups that are accepted, '/' between tuples",
             .unset_note = "the library's list"),
    TEXT_ROW("cert", certificate, "KIND", "certificate: see the keys of an arm",
             .initial = "ecdsa-p256"),
    TEXT_ROW("chain", chain, "SHAPE", "what is sent: see the keys of an arm",
             .initial = "self-signed"),
    TEXT_ROW("cipher", cipher, "LIST", "cipher suites",
             .unset_note = "AES-256-GCM with SHA-384"),
    TEXT_ROW("tls", tls, "VERSION", "the only version accepted: 1.2, 1.3", .initial = "1.3"),
    TEXT_ROW("backend", backend, "NAME", "TLS library, like openssl-3.5",
             .unset_note = "OpenSSL 3.5, else the newest"),
    {.name = "tickets",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "0",
     .help = "tickets after each full handshake",
     .low = 0,
     .high = 20,
     .offset = offsetof(struct serve_values, tickets)},
    {.name = "early-data",
     .kind = OPTION_BYTES,
     .argument = "BYTES",
     .initial = "0",
     .help = "early data that is accepted",
     .low = 0,
     .high = 16384,
     .offset = offsetof(struct serve_values, early_data_bytes)},
    {.name = "anti-replay",
     .kind = OPTION_SWITCH,
     .initial = "on",
     .help = "take the early data of a ticket once; off: of the same ticket again and again",
     .offset = offsetof(struct serve_values, anti_replay)},
    {.name = "timeout",
     .kind = OPTION_DURATION,
     .argument = "TIME",
     .initial = "30s",
     .help = "time for a handshake, for a request, and between bytes of an answer",
     .low = SECOND_NS,
     .high = HOUR_NS,
     .offset = offsetof(struct serve_values, timeout_ns)},
    {.name = "control-fd",
     .kind = OPTION_COUNT,
     .argument = "NUMBER",
     .help = "serve what the process at the other end says; for pqc-bench load's own use",
     .unset_note = "none",
     .low = 3,
     .high = NO_DESCRIPTOR,
     .offset = offsetof(struct serve_values, control_fd)},
    {.name = NULL},
};

/* The options are an arm's keys, seen from the server. */
static int read_arm(const struct command_call *call, struct arm *arm, struct err *e)
{
    const struct serve_values *v = call->options.values;
    const struct {
        const char *key, *value;
    } keys[] = {
        {"server-groups", v->groups}, {"cert", v->certificate}, {"chain", v->chain},
        {"cipher", v->cipher},        {"tls", v->tls},          {"backend", v->backend},
    };
    arm_init(arm, "server");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].value != NULL && arm_set(arm, keys[i].key, keys[i].value, e) != 0)
            return -1;
    arm->tickets = (int)v->tickets;
    arm->resume = v->tickets > 0 ? 1 : 0;
    arm->early_data_bytes = (uint32_t)v->early_data_bytes;
    arm->anti_replay = v->anti_replay;
    if (arm->early_data_bytes > 0 && v->tickets == 0)
        return err_set(e, ERR_USAGE, "--early-data: needs --tickets 1 or more");
    return 0;
}

static int write_file(const char *path, const char *content, struct err *e)
{
    struct text text = {0};
    if (path == NULL)
        return 0;
    text_add(&text, content);
    int failed = outfile_write(path, &text, e);
    text_free(&text);
    return failed;
}

/* Tell where it listens, before any client can be told to come. */
static int announce(const struct serve_values *v, const struct server *server,
                    const struct endpoint *ep, struct err *e)
{
    char where[ADDRESS_TEXT_MAX], port[16];
    struct address at = ep->server.address;
    snprintf(port, sizeof port, "%u\n", server_port(server, 0));
    address_set_port(&at, server_port(server, 0));
    if (write_file(v->root_file, ep->identity.root_pem, e) != 0 ||
        write_file(v->port_file, port, e) != 0)
        return -1;
    printf("listening on %s\n", address_format(&at, where, sizeof where));
    fflush(stdout);
    return 0;
}

static void show_totals(struct server *server)
{
    struct server_totals t;
    server_read_totals(server, &t);
    printf("accepted %" PRIu64 ", handshakes %" PRIu64 " (failed %" PRIu64 ", resumed %" PRIu64
           "), early data %" PRIu64 ", requests %" PRIu64 ", timed out %" PRIu64
           ", body bytes %" PRIu64 "\n",
           t.accepted, t.handshakes, t.handshakes_failed, t.resumed, t.early, t.requests,
           t.timed_out, t.body_bytes);
    if (t.accept_paused + t.put_out > 0)
        printf("no room for more %" PRIu64 " times; %" PRIu64
               " that kept us waiting were ended for others\n",
               t.accept_paused, t.put_out);
}

static int serve_until_stopped(const struct command_call *call, struct endpoint *ep,
                               struct err *e)
{
    const struct serve_values *v = call->options.values;
    const struct server_options options = {.endpoint = &ep->server,
                                           .endpoints = 1,
                                           .cores = v->cores,
                                           .timeout_ns = v->timeout_ns};
    struct server *server = server_start(&options, e);
    if (server == NULL)
        return -1;
    int failed = announce(v, server, ep, e);
    while (failed == 0 && *call->context->stop == 0)
        (void)clock_sleep_until_ns(clock_now_ns() + POLL_NS);
    if (failed == 0)
        show_totals(server);
    server_stop(server);
    return failed;
}

static int serve(struct command_call *call, struct err *e)
{
    const struct serve_values *v = call->options.values;
    static struct endpoint endpoint; /* several KiB */
    struct arm arm;
    if (read_arm(call, &arm, e) != 0)
        return -1;
    int failed = endpoint_init(&endpoint, &arm, call->context->backends, v->name, e);
    if (failed == 0 &&
        address_lookup(v->listen, ADDRESS_LISTEN, &endpoint.server.address, e) != 0)
        failed = err_add_context(e, "--listen");
    if (failed == 0)
        failed = serve_until_stopped(call, &endpoint, e);
    endpoint_fini(&endpoint);
    return failed;
}

/* ---- the agent ---- */

static int check_agent_options(const struct command_call *call, struct err *e)
{
    const struct serve_values *v = call->options.values;
    const bool has_pid = options_is_given(&call->options, "pid");
    if (v->agent == NULL && (has_pid || v->process != NULL))
        return err_set(e, ERR_USAGE, "--%s: for the agent only; give --agent ADDR:PORT",
                       has_pid ? "pid" : "process");
    if (has_pid && v->process != NULL)
        return err_set(e, ERR_USAGE, "--pid and --process: give one of them");
    if (v->agent == NULL && v->listen != NULL && strcmp(v->listen, NO_SERVER) == 0)
        return err_set(e, ERR_USAGE, "--listen none: nothing to serve; give --agent ADDR:PORT");
    if (v->process != NULL && v->process[0] == '\0')
        return err_set(e, ERR_USAGE, "--process: an empty name");
    return 0;
}

/* *out NULL: none was asked for. */
static int start_agent(const struct command_call *call, struct agent **out, struct err *e)
{
    const struct serve_values *v = call->options.values;
    char where[ADDRESS_TEXT_MAX];
    const char *option = "--agent";
    struct agent_options options = {.target = {.name = v->process}, .cores = v->cores};
    if (options_is_given(&call->options, "pid"))
        options.target.pid = (pid_t)v->pid;
    *out = NULL;
    if (v->agent == NULL)
        return 0;
    if (agent_parse_address(v->agent, &options.at, e) != 0)
        return err_add_context(e, "%s", option);
    *out = agent_start(&options, e);
    if (*out == NULL) {
        if (e->kind == ERR_USAGE)
            option = v->process != NULL ? "--process" : "--pid";
        return err_add_context(e, "%s", option);
    }
    printf("agent on %s\n", address_format(agent_address(*out), where, sizeof where));
    fflush(stdout);
    return 0;
}

static bool wants_server(const struct command_call *call)
{
    const struct serve_values *v = call->options.values;
    if (v->agent != NULL && !options_is_given(&call->options, "listen"))
        return false;
    return strcmp(v->listen, NO_SERVER) != 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct serve_values *v = call->options.values;
    struct agent *agent;
    const bool has_server = wants_server(call);
    if (check_agent_options(call, e) != 0)
        return -1;
    if (has_server && command_need_backends(call, e) != 0)
        return -1;
    if (options_is_given(&call->options, "control-fd"))
        return child_serve((int)v->control_fd, call->context->backends, e);
    if (start_agent(call, &agent, e) != 0)
        return -1;
    int failed = has_server ? serve(call, e) : 0;
    while (!has_server && *call->context->stop == 0)
        (void)clock_sleep_until_ns(clock_now_ns() + POLL_NS);
    agent_stop(agent);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench serve --listen 127.0.0.1:0 --port-file port",
    "pqc-bench serve --listen :8443 --cores 0-3 --cert rsa-2048 --root-file root.pem",
    "pqc-bench serve --agent 10.0.0.7:9000 --process nginx",
    NULL,
};

const struct command cmd_serve = {
    .name = "serve",
    .summary = "Serve TLS to be measured: GET / and GET /bytes/N",
    .options = rows,
    .values_size = sizeof(struct serve_values),
    .examples = examples,
    .details =
        "A small HTTP/1.1 server over the TLS libraries of this program, one worker for "
        "each core, with a certificate made at the start. GET / answers the three bytes "
        "\"OK\\n\", GET /bytes/N answers N bytes. It serves until it is interrupted. With "
        "--agent it also, or only, tells a load generator elsewhere what the server's "
        "processes cost their machine; whoever can reach that address can read it.",
    .run = run,
};
