/* SPDX-License-Identifier: Apache-2.0 */
#include "run/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"

#define NEW_SESSION_TICKET 4u
#define RECORD_13_BYTES (5u + 1u + 16u) /* header, inner type, tag (RFC 8446, 5.2) */

static bool is_measured(const struct conn *c)
{
    return c->due_ns >= c->setting->measured_from_ns;
}

static enum conn_phase phase_of(const struct conn *c)
{
    switch (c->state) {
    case CONN_STATE_IDLE:
    case CONN_STATE_CONNECTING:
        return CONN_TCP;
    case CONN_STATE_HANDSHAKE:
        return CONN_TLS;
    case CONN_STATE_REQUEST:
        return CONN_REQUEST;
    case CONN_STATE_RESPONSE:
    case CONN_STATE_TICKETS:
        break;
    }
    return CONN_RESPONSE;
}

static uint32_t retransmits_of(int fd)
{
    struct socket_tcp tcp;
    return socket_read_tcp(fd, &tcp) == 0 ? tcp.retransmits : 0;
}

/* ---- the end of a connection ---- */

static void keep_sessions(struct conn *c)
{
    struct conn_arm *arm = c->arm;
    if (arm->tickets.share <= 0)
        return;
    struct ticket ticket = {.kept_ns = c->end_ns, .serves_many = c->version == TLS_VERSION_12};
    while ((ticket.session = arm->backend->session_take(c->tls)) != NULL)
        tickets_keep(&arm->tickets, &ticket);
}

static void close_socket(struct conn *c, bool is_hard)
{
    if (c->wire.socket.fd < 0)
        return;
    if (is_hard)
        (void)socket_reset_on_close(c->wire.socket.fd);
    close(c->wire.socket.fd);
    c->wire.socket.fd = -1;
}

static enum conn_step finish(struct conn *c, bool is_hard)
{
    if (c->tls != NULL)
        c->arm->backend->conn_free(c->tls);
    c->tls = NULL;
    close_socket(c, is_hard);
    wire_fini(&c->wire);
    c->state = CONN_STATE_IDLE;
    return CONN_OVER;
}

static enum conn_step fail(struct conn *c, const char *cause, int code, bool is_local,
                           const char *detail)
{
    if (is_measured(c)) {
        struct shard_failure f = {phase_of(c), cause, code, is_local, "", 0};
        if (detail != NULL)
            snprintf(f.detail, sizeof(f.detail), "%s", detail);
        c->arm->shard.tally.scheduled++;
        c->arm->shard.tally.failed++;
        shard_count_failure(&c->arm->shard, &f);
    }
    return finish(c, c->setting->close == CONN_CLOSE_RST);
}

static enum conn_step fail_errno(struct conn *c, int error)
{
    char text[64];
    return fail(c, "errno", error, socket_error_is_local(error),
                strerror_r(error, text, sizeof(text)));
}

static enum conn_step fail_tls(struct conn *c)
{
    static const char *const causes[] = {
        [TLS_CAUSE_NONE] = "unknown",
        [TLS_CAUSE_ALERT_RECEIVED] = "alert",
        [TLS_CAUSE_ALERT_SENT] = "refused",
        [TLS_CAUSE_VERIFY] = "verify",
        [TLS_CAUSE_EOF] = "eof",
        [TLS_CAUSE_IO] = "errno",
        [TLS_CAUSE_NOT_TLS] = "not-tls",
        [TLS_CAUSE_VERSION] = "version",
        [TLS_CAUSE_PROTOCOL] = "protocol",
        [TLS_CAUSE_LOCAL] = "local",
    };
    struct tls_failure f;
    c->arm->backend->failure(c->tls, &f);
    if (f.cause == TLS_CAUSE_IO || (f.cause == TLS_CAUSE_NONE && c->wire.error != 0))
        return fail_errno(c, c->wire.error != 0 ? c->wire.error : f.code);
    return fail(c, causes[f.cause], f.code, f.cause == TLS_CAUSE_LOCAL, f.detail);
}

/* What crossed the link until now: once when the handshake is complete, and once at the end
 * (is_whole), which leaves in later_bytes what came between. */
static void read_network(struct conn *c, bool is_whole)
{
    struct shard_network *n = &c->network;
    struct link_flow flow;
    if (c->setting->link == NULL)
        return;
    link_read_flow(c->setting->link, c->port, &flow);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        n->retransmits[i] = flow.retransmits[i];
        n->timeouts[i] = flow.timeouts[i];
        n->dropped[i] = flow.dropped[i];
        if (is_whole)
            continue;
        n->flights[i] = flow.flights[i];
        n->segments[i] = flow.segments[i];
    }
    memcpy(n->flight_us, flow.flight_us, sizeof(n->flight_us));
    n->later_bytes[RESULT_CLIENT] = c->wire.sent_bytes - n->later_bytes[RESULT_CLIENT];
    n->later_bytes[RESULT_SERVER] = c->wire.received_bytes - n->later_bytes[RESULT_SERVER];
    if (!is_whole)
        n->tls_round_trips = flow.round[LINK_UP] - n->tcp_round_trips;
}

static void begin_network(struct conn *c)
{
    struct address own;
    struct link_flow flow;
    c->port = 0;
    c->network.later_bytes[RESULT_CLIENT] = c->network.later_bytes[RESULT_SERVER] = 0;
    if (c->setting->link == NULL || socket_local_address(c->wire.socket.fd, &own) != 0)
        return;
    c->port = address_port(&own);
    link_read_flow(c->setting->link, c->port, &flow);
    c->network.tcp_round_trips = flow.round[LINK_UP];
}

static void fill_network(struct conn *c, struct shard_record *r)
{
    const struct shard_network *n = &c->network;
    r->has_network = c->setting->link != NULL;
    if (!r->has_network) {
        r->retransmits = retransmits_of(c->wire.socket.fd);
        return;
    }
    read_network(c, true);
    r->network = *n;
    r->retransmits = n->retransmits[RESULT_CLIENT] + n->retransmits[RESULT_SERVER];
}

static void fill_record(struct conn *c, struct shard_record *r)
{
    *r = (struct shard_record){.due_ns = c->due_ns, .end_ns = c->end_ns};
    r->phase_ns[RESULT_PHASE_TCP] = c->connected_ns - c->start_ns;
    r->phase_ns[RESULT_PHASE_TLS] = c->secured_ns - c->wire.first_send_ns;
    const bool is_early = c->early == TLS_EARLY_ACCEPTED;
    const uint64_t request_ns = is_early ? c->wire.first_send_ns : c->secured_ns;
    r->phase_ns[RESULT_PHASE_TTFB] = c->first_byte_ns - request_ns;
    r->phase_ns[RESULT_PHASE_TTLB] = c->end_ns - request_ns;
    r->phase_ns[RESULT_PHASE_RESPONSE] = c->end_ns - c->due_ns;
    r->start_lag_ns = c->start_ns - c->due_ns;
    r->is_hrr = c->is_hrr;
    r->is_resumed = c->is_resumed;
    r->handshake = is_early        ? RESULT_HANDSHAKE_EARLY
                   : c->is_resumed ? RESULT_HANDSHAKE_RESUMED
                                   : RESULT_HANDSHAKE_FULL;
    fill_network(c, r);
}

static enum conn_step leave(struct conn *c)
{
    if (is_measured(c) && c->ticket_bytes > 0)
        range_add(&c->arm->shard.tickets, c->ticket_bytes);
    keep_sessions(c);
    if (c->setting->close == CONN_CLOSE_RST)
        return finish(c, true);
    if (c->arm->backend->shutdown(c->tls) == TLS_STATUS_OK)
        (void)wire_flush(&c->wire);
    return finish(c, false);
}

/* Until a ticket or the end of the stream has come. */
static enum conn_step await_tickets(struct conn *c)
{
    char data[256];
    size_t count;
    enum tls_status status;
    do {
        status = c->arm->backend->read(c->tls, data, sizeof(data), &count);
    } while (status == TLS_STATUS_OK);
    const bool is_open = status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE;
    if (is_open && c->ticket_bytes == 0 && wire_flush(&c->wire) != WIRE_FAILED)
        return CONN_WAITS;
    if (status != TLS_STATUS_FAILED)
        return leave(c);
    keep_sessions(c);
    return finish(c, true);
}

static enum conn_step complete(struct conn *c)
{
    struct shard *s = &c->arm->shard;
    struct shard_record r;
    if (is_measured(c)) {
        s->tally.scheduled++;
        s->tally.completed++;
        s->unclean_closes += c->is_unclean;
        fill_record(c, &r);
        shard_record(s, &r);
        if (c->setting->on_record != NULL)
            c->setting->on_record(c->setting->record_arg, c->arm_index, &r);
    }
    if (c->is_unclean || c->early != TLS_EARLY_ACCEPTED || c->ticket_bytes > 0)
        return leave(c);
    c->state = CONN_STATE_TICKETS;
    return await_tickets(c);
}

/* ---- the states ---- */

static enum conn_step wait_or_fail(struct conn *c)
{
    return wire_flush(&c->wire) == WIRE_FAILED ? fail_errno(c, c->wire.error) : CONN_WAITS;
}

/* Data ended with `status`: is what arrived a whole response? */
static enum conn_step end_of_stream(struct conn *c, enum tls_status status)
{
    struct tls_failure f = {.cause = TLS_CAUSE_NONE};
    if (status == TLS_STATUS_FAILED)
        c->arm->backend->failure(c->tls, &f);
    if (status == TLS_STATUS_FAILED && f.cause != TLS_CAUSE_EOF)
        return fail_tls(c);
    if (http_response_end(&c->response) != HTTP_DONE)
        return fail(c, c->response.status != 0 ? "truncated" : "eof", 0, false, NULL);
    c->is_unclean = status == TLS_STATUS_FAILED;
    c->end_ns = clock_now_ns();
    if (c->first_byte_ns == 0)
        c->first_byte_ns = c->end_ns;
    return complete(c);
}

static enum conn_step respond(struct conn *c)
{
    static _Thread_local char data[16384 + 256];
    enum tls_status status;
    size_t count, used;
    while ((status = c->arm->backend->read(c->tls, data, sizeof(data), &count)) ==
           TLS_STATUS_OK) {
        if (c->first_byte_ns == 0)
            c->first_byte_ns = clock_now_ns();
        const enum http_step step = http_response_feed(&c->response, data, count, &used);
        if (step == HTTP_MORE)
            continue;
        if (step == HTTP_BAD)
            return fail(c, "not-http", 0, false, NULL);
        c->end_ns = clock_now_ns();
        if (c->response.status >= 400)
            return fail(c, "http-status", (int)c->response.status, false, NULL);
        return complete(c);
    }
    if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
        return wait_or_fail(c);
    return end_of_stream(c, status);
}

static enum conn_step send_request(struct conn *c)
{
    const struct conn_arm *arm = c->arm;
    while (c->request_sent < arm->request_bytes) {
        size_t count;
        const enum tls_status status =
            arm->backend->write(c->tls, arm->request + c->request_sent,
                                arm->request_bytes - c->request_sent, &count);
        /* A flush that made room for more is followed by no event: write on at once. */
        if (status == TLS_STATUS_WANT_WRITE && wire_flush(&c->wire) == WIRE_CLEAR)
            continue;
        if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
            return wait_or_fail(c);
        if (status == TLS_STATUS_CLOSED)
            return fail(c, "closed", 0, false, NULL);
        if (status != TLS_STATUS_OK)
            return fail_tls(c);
        c->request_sent += count;
    }
    if (wire_flush(&c->wire) == WIRE_FAILED)
        return fail_errno(c, c->wire.error);
    c->state = CONN_STATE_RESPONSE;
    return respond(c);
}

/* Counted as soon as the handshake is complete, whatever becomes of the response. */
static void count_handshake(struct conn *c)
{
    struct shard *s = &c->arm->shard;
    struct tls_info info;
    c->arm->backend->info(c->tls, &info);
    c->is_hrr = info.is_hrr;
    c->is_resumed = info.is_resumed;
    c->version = info.version;
    c->early = info.early_data;
    if (info.early_data == TLS_EARLY_ACCEPTED)
        c->request_sent = c->early_sent;
    if (!is_measured(c))
        return;
    shard_count_group(s, info.group);
    s->hrr += info.is_hrr;
    s->resume_asked += c->is_resume_turn;
    s->resume_offered += c->has_offered;
    s->resumed += info.is_resumed;
    s->early_accepted += info.early_data == TLS_EARLY_ACCEPTED;
    s->early_rejected += info.early_data == TLS_EARLY_REJECTED;
    shard_count_bytes(s, c->early_sent > 0 ? 0 : c->wire.first_flight_bytes, c->wire.sent_bytes,
                      c->wire.received_bytes);
    if (s->cipher[0] == '\0' || (s->signature[0] == '\0' && info.signature[0] != '\0')) {
        snprintf(s->cipher, sizeof(s->cipher), "%s", info.cipher);
        snprintf(s->signature, sizeof(s->signature), "%s", info.signature);
        snprintf(s->version, sizeof(s->version), "%s",
                 info.version == TLS_VERSION_12 ? "1.2" : "1.3");
    }
}

static enum conn_step shake_hands(struct conn *c)
{
    const enum tls_status status = c->arm->backend->handshake(c->tls);
    if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
        return wait_or_fail(c);
    if (status == TLS_STATUS_CLOSED)
        return fail(c, "closed", 0, false, NULL);
    if (status != TLS_STATUS_OK) {
        (void)wire_flush(&c->wire); /* our alert, if any */
        return fail_tls(c);
    }
    c->secured_ns = clock_now_ns();
    read_network(c, false);
    count_handshake(c);
    c->state = CONN_STATE_REQUEST;
    http_response_init(&c->response, false);
    return send_request(c);
}

/* A session for this connection where it is its turn to resume. */
static struct ticket choose_ticket(struct conn *c)
{
    struct ticket ticket = {.session = NULL};
    c->is_resume_turn = tickets_take_turn(&c->arm->tickets);
    if (c->is_resume_turn)
        ticket = tickets_take(&c->arm->tickets, c->start_ns);
    c->has_offered = ticket.session != NULL;
    return ticket;
}

/* TLS 1.3 tickets come behind the handshake, each in a record of its own. */
static void note_message(void *arg, enum tls_direction direction, unsigned type, size_t bytes)
{
    struct conn *c = arg;
    if (direction == TLS_RECEIVED && type == NEW_SESSION_TICKET && c->secured_ns != 0)
        c->ticket_bytes += bytes + RECORD_13_BYTES;
}

static void send_early(struct conn *c, const struct tls_session *session)
{
    const struct conn_arm *arm = c->arm;
    size_t count = 0;
    if (!arm->wants_early ||
        arm->backend->session_early_data_bytes(session) < arm->request_bytes)
        return;
    if (arm->backend->write_early(c->tls, arm->request, arm->request_bytes, &count) ==
        TLS_STATUS_OK)
        c->early_sent = count;
}

/* Lines of several workers stay whole: stdio locks the stream. */
static void log_key(void *arg, const char *line)
{
    const struct conn *c = arg;
    (void)fprintf(c->setting->key_log, "%s\n", line);
}

static enum conn_step begin_tls(struct conn *c)
{
    struct conn_arm *arm = c->arm;
    const struct ticket ticket = choose_ticket(c);
    struct tls_connect connect = {.io = wire_io(&c->wire),
                                  .observer = {.message = note_message, .arg = c},
                                  .server_name = arm->server_name,
                                  .session = ticket.session};
    if (c->setting->key_log != NULL)
        connect.observer.key_log = log_key;
    c->state = CONN_STATE_HANDSHAKE;
    c->tls = arm->backend->conn_new(arm->context, &connect);
    if (c->tls != NULL && ticket.session != NULL)
        send_early(c, ticket.session);
    if (ticket.session != NULL)
        tickets_done(&arm->tickets, &ticket);
    if (c->tls == NULL)
        return fail(c, "local", 0, true, "the TLS library made no connection");
    return shake_hands(c);
}

static enum conn_step finish_connecting(struct conn *c, bool has_error)
{
    const int error = has_error ? socket_error(c->wire.socket.fd) : 0;
    if (error != 0)
        return fail_errno(c, error);
    c->connected_ns = clock_now_ns();
    begin_network(c);
    return begin_tls(c);
}

enum conn_step conn_step(struct conn *c, bool has_ended, bool has_error)
{
    wire_begin(&c->wire, has_ended || has_error);
    switch (c->state) {
    case CONN_STATE_CONNECTING:
        return finish_connecting(c, has_error);
    case CONN_STATE_HANDSHAKE:
        return shake_hands(c);
    case CONN_STATE_REQUEST:
        return send_request(c);
    case CONN_STATE_RESPONSE:
        return respond(c);
    case CONN_STATE_TICKETS:
        return await_tickets(c);
    case CONN_STATE_IDLE:
        break;
    }
    assert(c->state != CONN_STATE_IDLE); /* no event for a connection that is over */
    return CONN_OVER;
}

/* ---- the beginning, and ends from outside ---- */

static int open_socket(struct conn *c)
{
    const struct address_range *sources = c->setting->sources;
    struct address source;
    if (sources != NULL)
        address_of_range(sources, (uint32_t)(c->setting->next_source++ % sources->count),
                         &source);
    c->wire.socket.fd = socket_connect(&c->arm->target, sources != NULL ? &source : NULL);
    return c->wire.socket.fd >= 0 ? 0 : -1;
}

enum conn_step conn_start(struct conn *c, struct conn_setting *setting, struct conn_arm *arm,
                          uint64_t due_ns, uint64_t now_ns)
{
    c->setting = setting;
    c->arm = arm;
    c->state = CONN_STATE_CONNECTING;
    wire_init(&c->wire, -1, setting->buffers);
    c->tls = NULL;
    c->request_sent = c->early_sent = 0;
    c->due_ns = due_ns;
    c->start_ns = now_ns;
    c->connected_ns = c->secured_ns = c->first_byte_ns = c->end_ns = 0;
    c->is_hrr = c->is_resumed = c->is_unclean = c->is_resume_turn = c->has_offered = false;
    c->early = TLS_EARLY_NONE;
    c->ticket_bytes = 0;
    if (is_measured(c))
        histogram_record(arm->shard.start_lag_ns, now_ns > due_ns ? now_ns - due_ns : 0);
    return open_socket(c) == 0 ? CONN_WAITS : fail_errno(c, errno);
}

enum conn_step conn_fail_local(struct conn *c, int error)
{
    return fail_errno(c, error);
}

void conn_time_out(struct conn *c, uint64_t now_ns)
{
    (void)now_ns;
    if (is_measured(c) && c->state != CONN_STATE_TICKETS) {
        struct shard_failure f = {phase_of(c), "timeout", 0, false, "", 0};
        if (c->state == CONN_STATE_HANDSHAKE)
            snprintf(f.detail, sizeof(f.detail), "after a ClientHello of %zu bytes",
                     c->wire.first_flight_bytes);
        c->arm->shard.tally.scheduled++;
        c->arm->shard.tally.timed_out++;
        shard_count_failure(&c->arm->shard, &f);
    }
    (void)finish(c, true);
}

void conn_abandon(struct conn *c, uint64_t now_ns)
{
    struct shard *s = &c->arm->shard;
    if (is_measured(c) && c->state != CONN_STATE_TICKETS) {
        s->tally.scheduled++;
        s->tally.unfinished++;
        if (now_ns - c->start_ns > s->oldest_unfinished_ns)
            s->oldest_unfinished_ns = now_ns - c->start_ns;
    }
    (void)finish(c, true);
}

void conn_arm_fini(struct conn_arm *arm)
{
    tickets_fini(&arm->tickets);
    if (arm->backend != NULL)
        arm->backend->context_free(arm->context);
    arm->context = NULL;
    shard_fini(&arm->shard);
}
