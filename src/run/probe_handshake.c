/* SPDX-License-Identifier: Apache-2.0 */
/* Whole handshakes, by a TLS library. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "run/cause.h"
#include "run/probe_ask.h"
#include "tls/groups.h"

enum { MESSAGE_SERVER_HELLO = 2 };

/* One handshake while it runs. */
struct shaking {
    struct probe *p;
    const struct tls_backend *backend;
    struct tls_context *context;
    struct tls_conn *conn;
    struct probe_link link;
    bool saw_hello, is_hrr;
    struct probed_handshake *out;
};

static void message_seen(void *arg, enum tls_direction direction, unsigned type, size_t bytes)
{
    struct shaking *s = arg;
    (void)bytes;
    if (direction != TLS_RECEIVED)
        return;
    s->saw_hello |= type == MESSAGE_SERVER_HELLO || type == TLS_MESSAGE_HELLO_RETRY_REQUEST;
    s->is_hrr |= type == TLS_MESSAGE_HELLO_RETRY_REQUEST;
}

static void note_failure(struct shaking *s)
{
    struct tls_failure failure;
    s->backend->failure(s->conn, &failure);
    probe_fail_tls(&s->out->failure, &failure);
}

/* True: wait was worth it. */
static bool wait_for(struct shaking *s, enum tls_status status)
{
    short events = status == TLS_STATUS_WANT_WRITE ? POLLOUT : POLLIN;
    enum probe_wait wait = probe_link_wait(&s->link, events);
    if (wait == PROBE_TIMED_OUT)
        probe_fail(&s->out->failure, "timeout", 0, "no answer in time after %zu flights",
                   s->link.flights);
    else if (wait == PROBE_STOPPED)
        probe_fail(&s->out->failure, "stopped", 0, "interrupted");
    return wait == PROBE_READY;
}

static void note_flights(struct shaking *s)
{
    struct probed_handshake *out = s->out;
    out->flights = s->link.flights;
    for (size_t i = 0; i < s->link.flights; i++) {
        const struct probed_flight *flight = &s->link.flight[i];
        out->flight[i] = *flight;
        out->bytes[flight->sender] += flight->bytes;
        if (flight->sender != RESULT_SERVER)
            continue;
        out->round_trips++;
        if (flight->bytes > out->server_flight_bytes)
            out->server_flight_bytes = flight->bytes;
    }
}

static void note_complete(struct shaking *s)
{
    struct probed_handshake *out = s->out;
    struct tls_info info;
    s->backend->info(s->conn, &info);
    const struct tls_group *group = tls_group_by_name(info.group);
    out->is_complete = true;
    out->is_resumed = info.is_resumed;
    out->is_hybrid = group != NULL && group->is_hybrid;
    snprintf(out->tls, sizeof out->tls, "%s", info.version == TLS_VERSION_12 ? "1.2" : "1.3");
    snprintf(out->group, sizeof out->group, "%s", info.group);
    snprintf(out->cipher, sizeof out->cipher, "%s", info.cipher);
    snprintf(out->signature, sizeof out->signature, "%s", info.signature);
    note_flights(s);
}

static void drive(struct shaking *s)
{
    enum tls_status status;
    probe_link_begin_step(&s->link);
    while ((status = s->backend->handshake(s->conn)) == TLS_STATUS_WANT_READ ||
           status == TLS_STATUS_WANT_WRITE)
        if (!wait_for(s, status))
            return;
    if (status == TLS_STATUS_OK)
        note_complete(s);
    else if (status == TLS_STATUS_CLOSED)
        probe_fail(&s->out->failure, "closed", 0, "the server closed the connection");
    else
        note_failure(s);
}

static struct tls_context *make_context(struct probe *p, const char *groups,
                                        struct probed_failure *why)
{
    struct err e = ERR_INIT;
    const struct tls_config config = {
        .role = TLS_ROLE_CLIENT, .version_min = TLS_VERSION_12, .groups = groups};
    struct tls_context *context = p->options->backend->context_new(&config, &e);
    if (context == NULL)
        probe_fail(why, "local", 0, "%.200s", e.text);
    return context;
}

static void connect_and_drive(struct shaking *s)
{
    struct probe *p = s->p;
    if (probe_link_open(p, &s->link, &s->out->failure) != 0)
        return;
    const struct tls_connect connect = {.io = probe_link_io(&s->link),
                                        .observer = {.message = message_seen, .arg = s},
                                        .server_name = p->server_name};
    s->conn = s->backend->conn_new(s->context, &connect);
    if (s->conn != NULL)
        drive(s);
    else
        probe_fail(&s->out->failure, "local", 0, "the TLS library made no connection");
    s->out->is_hrr = s->is_hrr;
    if (s->link.flights > 0)
        s->out->client_hello_bytes = s->link.flight[0].bytes;
    if (s->saw_hello || s->out->failure.cause[0] == '\0' ||
        strcmp(s->out->failure.cause, cause_name(TLS_CAUSE_ALERT_RECEIVED)) == 0)
        p->silent_in_row = 0;
    p->out->has_answered |= s->saw_hello;
    if (s->out->is_complete)
        (void)s->backend->shutdown(s->conn);
    s->backend->conn_free(s->conn);
    probe_link_close(&s->link);
}

void probe_shake(struct probe *p, const char *groups, struct probed_handshake *out)
{
    static _Thread_local struct shaking s;
    memset(out, 0, sizeof *out);
    if (!probe_may_go_on(p)) {
        p->out->is_cut = true;
        return;
    }
    memset(&s, 0, sizeof s);
    s.p = p;
    s.backend = p->options->backend;
    s.out = out;
    out->is_tried = true;
    s.context = make_context(p, groups, &out->failure);
    if (s.context != NULL)
        connect_and_drive(&s);
    p->options->backend->context_free(s.context);
}
