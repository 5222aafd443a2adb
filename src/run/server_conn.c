/* SPDX-License-Identifier: Apache-2.0 */
#include "run/server_conn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define FILLER_BYTES 16384u
#define OK_BODY "OK\n"

static void count(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

void server_conn_open(struct server_conn *c, struct server_site *site, int fd, uint64_t now_ns)
{
    memset(c, 0, sizeof(*c));
    c->site = site;
    c->last_ns = now_ns;
    wire_init(&c->wire, fd, site->buffers);
    c->state = site->accepts_early ? SERVER_EARLY : SERVER_HANDSHAKE;
}

bool server_conn_begin(struct server_conn *c)
{
    const struct tls_connect connect = {.io = wire_io(&c->wire)};
    c->tls = c->site->backend->conn_new(c->site->context, &connect);
    return c->tls != NULL;
}

void server_conn_close(struct server_conn *c)
{
    if (c->tls != NULL)
        c->site->backend->conn_free(c->tls);
    close(c->wire.socket.fd);
    wire_fini(&c->wire);
    free(c->head);
    c->head = NULL;
}

enum progress { GOES_ON, WAITS, ENDS };

/* TLS wants to read or write: what was gathered leaves now.  Where that made room for more,
 * no event would tell: it is tried again at once. */
static enum progress wait(struct server_conn *c, enum tls_status wanted)
{
    switch (wire_flush(&c->wire)) {
    case WIRE_CLEAR:
        return wanted == TLS_STATUS_WANT_WRITE ? GOES_ON : WAITS;
    case WIRE_BLOCKED:
        return WAITS;
    case WIRE_FAILED:
        break;
    }
    return ENDS;
}

static bool end_handshake(struct server_conn *c)
{
    count(&c->site->counters->handshakes_failed, 1);
    (void)wire_flush(&c->wire); /* our alert, if any */
    return false;
}

static bool close_politely(struct server_conn *c)
{
    const enum tls_status status = c->site->backend->shutdown(c->tls);
    c->state = SERVER_CLOSING;
    if (status == TLS_STATUS_FAILED)
        return false;
    return wire_flush(&c->wire) == WIRE_BLOCKED;
}

/* ---- answers ---- */

static const char *filler(void)
{
    static const char line[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+\n";
    static _Thread_local char data[FILLER_BYTES];
    if (data[0] == '\0')
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = line[i % (sizeof(line) - 1)];
    return data;
}

/* "/bytes/N" -> N; false where N is no number in range. */
static bool parse_bytes_path(const char *path, uint64_t *out)
{
    static const char prefix[] = "/bytes/";
    if (strncmp(path, prefix, sizeof(prefix) - 1) != 0)
        return false;
    const char *digits = path + sizeof(prefix) - 1;
    const size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 10 || digits[n] != '\0')
        return false;
    const unsigned long long value = strtoull(digits, NULL, 10);
    *out = value;
    return value <= SERVER_BODY_MAX_BYTES;
}

static void prepare_answer(struct server_conn *c, const struct http_request *q)
{
    uint64_t body_bytes = 0;
    unsigned status = q->refuse_status;
    c->is_ok_body = false;
    if (status == 0) {
        status = 200;
        if (strcmp(q->path, "/") == 0) {
            body_bytes = sizeof(OK_BODY) - 1;
            c->is_ok_body = true;
        } else if (!parse_bytes_path(q->path, &body_bytes)) {
            status = 404;
            body_bytes = 0;
        }
    }
    c->is_close = q->is_close;
    c->answer_bytes =
        http_answer_write(status, body_bytes, c->is_close, c->answer, sizeof(c->answer));
    c->answer_sent = 0;
    c->body_left = q->is_head ? 0 : body_bytes;
    c->state = SERVER_ANSWER;
    c->has_moved = true;
    count(&c->site->counters->requests, 1);
}

/* The next piece to write: head with the beginning of the body, then the body. */
static const char *next_piece(struct server_conn *c, size_t *bytes)
{
    const char *body = c->is_ok_body ? OK_BODY : filler();
    const size_t head = c->answer_bytes - c->answer_sent;
    const size_t room = head > 0 ? FILLER_BYTES - head : FILLER_BYTES;
    const size_t part = c->body_left < room ? (size_t)c->body_left : room;
    *bytes = head + part;
    if (head == 0)
        return body;
    memcpy(c->site->scratch, c->answer + c->answer_sent, head);
    memcpy(c->site->scratch + head, body, part);
    return c->site->scratch;
}

static enum progress end_answer(struct server_conn *c)
{
    if (c->is_early) { /* the handshake goes on, and the connection ends behind it */
        c->is_early = false;
        c->state = SERVER_EARLY;
        return GOES_ON;
    }
    if (c->is_close)
        return close_politely(c) ? WAITS : ENDS;
    c->state = SERVER_REQUEST;
    return GOES_ON;
}

static enum progress answer(struct server_conn *c)
{
    const struct tls_backend *b = c->site->backend;
    while (c->answer_sent < c->answer_bytes || c->body_left > 0) {
        size_t bytes, written = 0;
        const char *piece = next_piece(c, &bytes);
        const enum tls_status status =
            (c->is_early ? b->write_early : b->write)(c->tls, piece, bytes, &written);
        if (status == TLS_STATUS_WANT_WRITE || status == TLS_STATUS_WANT_READ)
            return wait(c, status);
        if (status != TLS_STATUS_OK)
            return ENDS;
        const size_t head = c->answer_bytes - c->answer_sent;
        const size_t of_head = written < head ? written : head;
        c->answer_sent += of_head;
        c->body_left -= written - of_head;
        count(&c->site->counters->body_bytes, written - of_head);
    }
    return end_answer(c);
}

/* ---- requests ---- */

/* Append to the head that is being gathered; one byte over the bound is let in, so that the
 * parser sees that it is too long. */
static void gather(struct server_conn *c, const char *data, size_t n)
{
    if (c->head == NULL)
        c->head = mem_alloc_zeroed(SERVER_SCRATCH_BYTES + 1, 1);
    if (n > SERVER_SCRATCH_BYTES - c->head_bytes)
        n = SERVER_SCRATCH_BYTES - c->head_bytes;
    memcpy(c->head + c->head_bytes, data, n);
    c->head_bytes += n;
}

/* A whole request in data?  Its answer is prepared and what follows it kept. */
static bool take_request(struct server_conn *c, const char *data, size_t n)
{
    struct http_request q;
    const long used = http_request_parse(data, n, &q);
    if (used == 0)
        return false;
    const size_t rest = used > 0 ? n - (size_t)used : 0;
    prepare_answer(c, &q);
    if (data == c->head) {
        memmove(c->head, c->head + n - rest, rest);
        c->head_bytes = rest;
    } else if (rest > 0) {
        gather(c, data + used, rest);
    }
    if (c->head_bytes == 0) {
        free(c->head);
        c->head = NULL;
    }
    return true;
}

static enum progress read_request(struct server_conn *c)
{
    if (c->head_bytes > 0 && take_request(c, c->head, c->head_bytes))
        return GOES_ON;
    size_t n = 0;
    const enum tls_status status =
        c->site->backend->read(c->tls, c->site->scratch, SERVER_SCRATCH_BYTES, &n);
    if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
        return wait(c, status);
    if (status == TLS_STATUS_CLOSED)
        return close_politely(c) ? WAITS : ENDS;
    if (status != TLS_STATUS_OK)
        return ENDS;
    if (c->head_bytes == 0 && take_request(c, c->site->scratch, n))
        return GOES_ON;
    gather(c, c->site->scratch, n);
    return GOES_ON;
}

/* ---- the handshake ---- */

static enum progress read_early(struct server_conn *c)
{
    size_t n = 0;
    const enum tls_status status =
        c->site->backend->read_early(c->tls, c->site->scratch, SERVER_SCRATCH_BYTES, &n);
    if (status == TLS_STATUS_OK) {
        if (!c->has_early)
            count(&c->site->counters->early, 1);
        c->has_early = true;
        gather(c, c->site->scratch, n);
        /* One request is answered at once; what follows it waits for the handshake. */
        c->is_early = c->answer_bytes == 0 && take_request(c, c->head, c->head_bytes);
        return GOES_ON;
    }
    if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
        return wait(c, status);
    if (status != TLS_STATUS_CLOSED)
        return end_handshake(c) ? WAITS : ENDS;
    c->state = SERVER_HANDSHAKE;
    return GOES_ON;
}

static enum progress shake_hands(struct server_conn *c)
{
    const enum tls_status status = c->site->backend->handshake(c->tls);
    if (status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE)
        return wait(c, status);
    if (status != TLS_STATUS_OK)
        return end_handshake(c) ? WAITS : ENDS;
    struct tls_info info;
    c->site->backend->info(c->tls, &info);
    c->has_moved = true;
    count(&c->site->counters->handshakes, 1);
    if (info.is_resumed)
        count(&c->site->counters->resumed, 1);
    if (c->is_close) /* answered ahead */
        return close_politely(c) ? WAITS : ENDS;
    c->state = SERVER_REQUEST;
    return GOES_ON;
}

static enum progress finish_closing(struct server_conn *c)
{
    return wire_flush(&c->wire) == WIRE_BLOCKED ? WAITS : ENDS;
}

bool server_conn_is_waiting(const struct server_conn *c)
{
    return c->state == SERVER_EARLY || c->state == SERVER_HANDSHAKE ||
           c->state == SERVER_REQUEST;
}

bool server_conn_step(struct server_conn *c, bool has_ended, uint64_t now_ns)
{
    static enum progress (*const steps[])(struct server_conn *) = {
        [SERVER_EARLY] = read_early,       [SERVER_HANDSHAKE] = shake_hands,
        [SERVER_REQUEST] = read_request,   [SERVER_ANSWER] = answer,
        [SERVER_CLOSING] = finish_closing,
    };
    enum progress progress;
    const uint64_t sent = c->wire.sent_bytes;
    const size_t backlog = c->wire.backlog_at;
    wire_begin(&c->wire, has_ended);
    do {
        progress = steps[c->state](c);
    } while (progress == GOES_ON);
    /* Bytes that trickle in are none: whoever sends a head or a hello has a time for all of
     * it. */
    if (c->has_moved || (!server_conn_is_waiting(c) &&
                         (sent != c->wire.sent_bytes || backlog != c->wire.backlog_at)))
        c->last_ns = now_ns;
    c->has_moved = false;
    return progress == WAITS;
}
