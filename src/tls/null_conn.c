/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null_conn.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALERT_WARNING 1u
#define ALERT_FATAL 2u
#define MESSAGE_HEADER 4u

enum tls_status null_fail(struct tls_conn *conn, enum tls_cause cause, int code,
                          const char *format, ...)
{
    va_list args;
    conn->state = NULL_STATE_FAILED;
    conn->failure.cause = cause;
    conn->failure.code = code;
    va_start(args, format);
    vsnprintf(conn->failure.detail, sizeof(conn->failure.detail), format, args);
    va_end(args);
    return TLS_STATUS_FAILED;
}

enum tls_status null_refuse(struct tls_conn *conn, enum null_alert alert, const char *why)
{
    null_queue_alert(conn, ALERT_FATAL, alert);
    (void)null_flush(conn);
    return null_fail(conn, TLS_CAUSE_ALERT_SENT, (int)alert, "%s", why);
}

/* ---- sending ---- */

void null_queue(struct tls_conn *conn, enum null_record type, const void *data, size_t n)
{
    const uint8_t *at = data;
    do {
        size_t part = n < NULL_RECORD_SENT_MAX ? n : NULL_RECORD_SENT_MAX;
        null_put(&conn->sending, type, 1);
        null_put(&conn->sending, TLS_VERSION_12, 2); /* legacy_record_version */
        null_put(&conn->sending, part, 2);
        null_put_bytes(&conn->sending, at, part);
        at += part;
        n -= part;
    } while (n > 0);
}

void null_queue_change_cipher_spec(struct tls_conn *conn)
{
    null_queue(conn, NULL_RECORD_CHANGE_CIPHER_SPEC, "\1", 1);
}

void null_queue_alert(struct tls_conn *conn, unsigned level, enum null_alert alert)
{
    uint8_t body[2] = {(uint8_t)level, (uint8_t)alert};
    null_queue(conn, NULL_RECORD_ALERT, body, sizeof(body));
}

enum tls_status null_flush(struct tls_conn *conn)
{
    struct null_writer *w = &conn->sending;
    if (w->is_bad)
        return null_fail(conn, TLS_CAUSE_LOCAL, 0, "out of memory");
    while (conn->sent < w->length) {
        ssize_t n = conn->io.send(conn->io.arg, w->data + conn->sent, w->length - conn->sent);
        if (n > 0) {
            conn->sent += (size_t)n;
        } else if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK) {
            return TLS_STATUS_WANT_WRITE;
        } else if (errno != EINTR) {
            return null_fail(conn, TLS_CAUSE_IO, errno, "send: %s", strerror(errno));
        }
    }
    w->length = 0;
    conn->sent = 0;
    return TLS_STATUS_OK;
}

struct null_writer *null_message_begin(struct tls_conn *conn, enum null_message type)
{
    struct null_writer *w = &conn->context->scratch;
    w->length = 0;
    null_put(w, type, 1);
    (void)null_open(w, 3);
    return w;
}

void null_message_end(struct tls_conn *conn, enum null_message seen_as)
{
    struct null_writer *w = &conn->context->scratch;
    null_close(w, MESSAGE_HEADER, 3);
    if (w->is_bad) {
        conn->sending.is_bad = true; /* the flush that follows tells */
        return;
    }
    null_queue(conn, NULL_RECORD_HANDSHAKE, w->data, w->length);
    null_observe(conn, TLS_SENT, seen_as, w->length - MESSAGE_HEADER);
}

void null_observe(struct tls_conn *conn, enum tls_direction direction, unsigned type,
                  size_t body_bytes)
{
    if (conn->observer.message != NULL)
        conn->observer.message(conn->observer.arg, direction, type,
                               body_bytes + MESSAGE_HEADER);
}

/* ---- receiving ---- */

struct record {
    unsigned type;
    const uint8_t *data;
    size_t length;
};

static enum tls_status receive_more(struct tls_conn *conn)
{
    if (conn->rx_start == conn->rx_end) {
        conn->rx_start = conn->rx_end = 0;
    } else if (conn->rx_start > 0 && conn->rx_end == sizeof(conn->rx)) {
        memmove(conn->rx, conn->rx + conn->rx_start, conn->rx_end - conn->rx_start);
        conn->rx_end -= conn->rx_start;
        conn->rx_start = 0;
    }
    for (;;) {
        ssize_t n = conn->io.recv(conn->io.arg, conn->rx + conn->rx_end,
                                  sizeof(conn->rx) - conn->rx_end);
        if (n > 0) {
            conn->rx_end += (size_t)n;
            return TLS_STATUS_OK;
        }
        if (n == 0)
            return null_fail(conn, TLS_CAUSE_EOF, 0, "end of stream%s",
                             conn->rx_end > conn->rx_start ? " inside a record" : "");
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return TLS_STATUS_WANT_READ;
        if (errno != EINTR)
            return null_fail(conn, TLS_CAUSE_IO, errno, "recv: %s", strerror(errno));
    }
}

/* Looks at as much of a record's header as is there. */
static bool is_record_header(const uint8_t *at, size_t there)
{
    bool is_type =
        there < 1 || (at[0] >= NULL_RECORD_CHANGE_CIPHER_SPEC && at[0] <= NULL_RECORD_DATA);
    bool is_version = there < 2 || at[1] == 3;
    bool is_length =
        there < NULL_RECORD_HEADER || ((size_t)at[3] << 8 | at[4]) <= NULL_RECORD_TAKEN_MAX;
    return is_type && is_version && is_length;
}

static enum tls_status record_next(struct tls_conn *conn, struct record *out)
{
    for (;;) {
        const uint8_t *at = conn->rx + conn->rx_start;
        size_t there = conn->rx_end - conn->rx_start;
        if (!is_record_header(at, there) && conn->is_any_record_seen)
            return null_fail(conn, TLS_CAUSE_PROTOCOL, 0, "a malformed record");
        if (!is_record_header(at, there))
            return null_fail(conn, TLS_CAUSE_NOT_TLS, 0, "the peer sent: %.*s",
                             (int)(there < 100 ? there : 100), (const char *)at);
        if (there >= NULL_RECORD_HEADER) {
            out->type = at[0];
            out->data = at + NULL_RECORD_HEADER;
            out->length = (size_t)at[3] << 8 | at[4];
            if (there - NULL_RECORD_HEADER >= out->length) {
                conn->rx_start += NULL_RECORD_HEADER + out->length;
                conn->is_any_record_seen = true;
                return TLS_STATUS_OK;
            }
        }
        enum tls_status status = receive_more(conn);
        if (status != TLS_STATUS_OK)
            return status;
    }
}

/* A record that brought nothing; too many in a row would keep us busy for ever. */
static enum tls_status idle(struct tls_conn *conn)
{
    if (++conn->idle_records <= NULL_IDLE_RECORDS_MAX)
        return TLS_STATUS_OK;
    return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE, "too many empty records");
}

static enum tls_status take_alert(struct tls_conn *conn, const struct record *record)
{
    if (record->length != 2)
        return null_refuse(conn, NULL_ALERT_DECODE_ERROR, "a malformed alert");
    unsigned level = record->data[0], alert = record->data[1];
    if (alert == NULL_ALERT_CLOSE_NOTIFY)
        return TLS_STATUS_CLOSED;
    if (level == ALERT_WARNING)
        return idle(conn);
    return null_fail(conn,
                     alert == NULL_ALERT_PROTOCOL_VERSION ? TLS_CAUSE_VERSION
                                                          : TLS_CAUSE_ALERT_RECEIVED,
                     (int)alert, "the peer sent alert %u", alert);
}

/* Handshake bytes, to be cut into messages. */
static enum tls_status take_handshake(struct tls_conn *conn, const struct record *record)
{
    struct null_writer *w = &conn->messages;
    if (record->length == 0)
        return idle(conn);
    conn->idle_records = 0;
    if (conn->consumed > 0) {
        w->length -= conn->consumed;
        memmove(w->data, w->data + conn->consumed, w->length);
        conn->consumed = 0;
    }
    null_put_bytes(w, record->data, record->length);
    return w->is_bad ? null_fail(conn, TLS_CAUSE_LOCAL, 0, "out of memory") : TLS_STATUS_OK;
}

/* Anything but application data. */
static enum tls_status take_record(struct tls_conn *conn, const struct record *record)
{
    switch (record->type) {
    case NULL_RECORD_HANDSHAKE:
        return take_handshake(conn, record);
    case NULL_RECORD_ALERT:
        return take_alert(conn, record);
    case NULL_RECORD_CHANGE_CIPHER_SPEC:
        return idle(conn);
    default:
        return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE,
                           "application data inside the handshake (no null backend there?)");
    }
}

/* OK: *out is a whole message.  WANT_READ: more bytes are needed. */
static enum tls_status cut_message(struct tls_conn *conn, struct null_message_in *out)
{
    struct bytes_reader r = {.at = conn->messages.data + conn->consumed,
                             .left = conn->messages.length - conn->consumed};
    if (r.left < MESSAGE_HEADER)
        return TLS_STATUS_WANT_READ;
    out->type = (unsigned)bytes_get(&r, 1);
    size_t length = (size_t)bytes_get(&r, 3);
    size_t limit = out->type == NULL_CLIENT_HELLO ? NULL_HELLO_MAX : NULL_MESSAGE_MAX;
    if (conn->context->role == TLS_ROLE_SERVER)
        limit = NULL_HELLO_MAX;
    if (length > limit) {
        char why[100];
        snprintf(why, sizeof(why), "a handshake message of %zu bytes, the limit is %zu", length,
                 limit);
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER, why);
    }
    if (r.left < length)
        return TLS_STATUS_WANT_READ;
    out->body = bytes_get_part(&r, length);
    conn->consumed += MESSAGE_HEADER + length;
    return TLS_STATUS_OK;
}

enum tls_status null_message_next(struct tls_conn *conn, struct null_message_in *out)
{
    for (;;) {
        struct record record;
        enum tls_status status = conn->messages.length > conn->consumed ? cut_message(conn, out)
                                                                        : TLS_STATUS_WANT_READ;
        if (status != TLS_STATUS_WANT_READ)
            return status;
        status = record_next(conn, &record);
        if (status == TLS_STATUS_OK)
            status = take_record(conn, &record);
        if (status != TLS_STATUS_OK)
            return status;
    }
}

/* ---- after the handshake ---- */

static enum tls_status not_now(struct tls_conn *conn)
{
    if (conn->state == NULL_STATE_FAILED)
        return TLS_STATUS_FAILED;
    return null_fail(conn, TLS_CAUSE_LOCAL, 0, "used before the handshake or after shutdown");
}

static enum tls_status take_later_messages(struct tls_conn *conn)
{
    struct null_message_in message = {0};
    while (conn->messages.length > conn->consumed) {
        enum tls_status status = cut_message(conn, &message);
        if (status == TLS_STATUS_WANT_READ)
            return TLS_STATUS_OK;
        if (status != TLS_STATUS_OK)
            return status;
        if (message.type != NULL_NEW_SESSION_TICKET || conn->context->role != TLS_ROLE_CLIENT)
            return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE,
                               "a handshake message after the handshake");
        null_observe(conn, TLS_RECEIVED, message.type, message.body.left);
    }
    return TLS_STATUS_OK;
}

static size_t take_data(struct tls_conn *conn, void *buf, size_t len)
{
    size_t n = len < conn->data_left ? len : conn->data_left;
    memcpy(buf, conn->rx + conn->rx_start, n);
    conn->rx_start += n;
    conn->data_left -= n;
    conn->idle_records = 0;
    return n;
}

enum tls_status null_read(struct tls_conn *conn, void *buf, size_t len, size_t *count)
{
    *count = 0;
    if (conn->state != NULL_STATE_DONE)
        return not_now(conn);
    while (conn->data_left == 0) {
        struct record record = {0};
        enum tls_status status = take_later_messages(conn);
        if (status == TLS_STATUS_OK)
            status = record_next(conn, &record);
        if (status != TLS_STATUS_OK)
            return status;
        if (record.type == NULL_RECORD_DATA && record.length > 0) {
            conn->data_left = record.length;
            conn->rx_start -= record.length; /* is read from where it lies */
        } else if (record.type == NULL_RECORD_DATA) {
            status = idle(conn);
        } else {
            status = take_record(conn, &record);
        }
        if (status != TLS_STATUS_OK)
            return status;
    }
    *count = take_data(conn, buf, len);
    return TLS_STATUS_OK;
}

enum tls_status null_write(struct tls_conn *conn, const void *buf, size_t len, size_t *count)
{
    *count = 0;
    if (conn->state != NULL_STATE_DONE || conn->is_shut)
        return not_now(conn);
    if (conn->written == 0) {
        enum tls_status status = null_flush(conn);
        if (status != TLS_STATUS_OK || len == 0)
            return status;
        conn->written = len < NULL_RECORD_SENT_MAX ? len : NULL_RECORD_SENT_MAX;
        null_queue(conn, NULL_RECORD_DATA, buf, conn->written);
    }
    enum tls_status status = null_flush(conn);
    if (status == TLS_STATUS_OK) {
        *count = conn->written;
        conn->written = 0;
    }
    return status;
}

enum tls_status null_shutdown(struct tls_conn *conn)
{
    if (conn->state == NULL_STATE_FAILED)
        return TLS_STATUS_FAILED;
    if (!conn->is_shut)
        null_queue_alert(conn, ALERT_WARNING, NULL_ALERT_CLOSE_NOTIFY);
    conn->is_shut = true;
    return null_flush(conn);
}
