/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <openssl/x509_vfy.h>
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

#define ALERTS_END (SSL_AD_REASON_OFFSET + 256)
#define RECORD_TYPE_MIN 20
#define RECORD_TYPE_MAX 24

void ssl_queue_clear(void)
{
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

/* Error codes fit in 32 bits; the families differ in the type they come in. */
static uint32_t first_error(void)
{
    return (uint32_t)ERR_peek_error();
}

static const char *reason_text(uint32_t code)
{
    const char *text = code != 0 ? ERR_reason_error_string(code) : NULL;
    return text != NULL ? text : "";
}

int ssl_err(struct err *e, enum err_kind kind, const char *what)
{
    const char *reason = reason_text((uint32_t)ERR_peek_last_error());
    err_set(e, kind, "%s: %s", what, reason[0] != '\0' ? reason : "refused by the library");
    ERR_clear_error();
    return -1;
}

static void set_failure(struct tls_conn *conn, enum tls_cause cause, int code,
                        const char *detail)
{
    conn->failure.cause = cause;
    conn->failure.code = code;
    snprintf(conn->failure.detail, sizeof(conn->failure.detail), "%s", detail);
}

/* Whatever the library made of it: does what came first look like a TLS record? */
static bool is_not_tls(const struct tls_conn *conn)
{
    if (conn->saw_handshake || conn->head_bytes == 0)
        return false;
    if (conn->head[0] < RECORD_TYPE_MIN || conn->head[0] > RECORD_TYPE_MAX)
        return true;
    return conn->head_bytes > 1 && conn->head[1] != 3;
}

static void fail_not_tls(struct tls_conn *conn, const char *reason)
{
    char shown[4 * RECORD_HEADER_BYTES + 1];
    size_t at = 0;
    for (unsigned i = 0; i < conn->head_bytes; i++) {
        uint8_t c = conn->head[i];
        bool is_plain = c >= 0x20 && c < 0x7f;
        at += (size_t)(is_plain ? snprintf(shown + at, sizeof(shown) - at, "%c", c)
                                : snprintf(shown + at, sizeof(shown) - at, "\\x%02x", c));
    }
    char detail[sizeof(conn->failure.detail)];
    snprintf(detail, sizeof(detail), "the peer does not speak TLS: it began with \"%s\"%s%s",
             shown, reason[0] != '\0' ? ": " : "", reason);
    set_failure(conn, TLS_CAUSE_NOT_TLS, 0, detail);
}

static void fail_alert(struct tls_conn *conn, enum tls_cause cause, int alert,
                       const char *reason)
{
    char detail[sizeof(conn->failure.detail)];
    const char *name = SSL_alert_desc_string_long(alert);
    if (cause == TLS_CAUSE_ALERT_RECEIVED)
        snprintf(detail, sizeof(detail), "the peer sent alert %d: %s", alert, name);
    else
        snprintf(detail, sizeof(detail), "%s (alert %d sent: %s)", reason, alert, name);
    set_failure(conn, alert == ALERT_PROTOCOL_VERSION ? TLS_CAUSE_VERSION : cause, alert,
                detail);
}

static void add_hint(struct tls_conn *conn)
{
    char *detail = conn->failure.detail;
    size_t length = strlen(detail), room = sizeof(conn->failure.detail) - length;
    if (conn->context->hint != NULL)
        snprintf(detail + length, room, " (%s)", conn->context->hint);
}

static void fail_verify(struct tls_conn *conn)
{
    long result = SSL_get_verify_result(conn->ssl);
    set_failure(conn, TLS_CAUSE_VERIFY, (int)result, X509_verify_cert_error_string(result));
}

/* A Certificate message over SSL_CTX_set_max_cert_list: the reader must learn the limit. */
static void fail_too_large(struct tls_conn *conn, const char *reason)
{
    char detail[sizeof(conn->failure.detail)];
    snprintf(detail, sizeof(detail),
             "%s: this library takes a message, like a certificate chain, of at most %ld "
             "bytes",
             reason, (long)SSL_CTX_get_max_cert_list(SSL_get_SSL_CTX(conn->ssl)));
    set_failure(conn, TLS_CAUSE_ALERT_SENT, conn->alert_sent, detail);
}

/* The library's first complaint, when the transport and the peer are not to blame. */
static void fail_by_reason(struct tls_conn *conn, uint32_t code)
{
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    const char *text = reason_text(code);
    if (reason != 0 && library_is_version_reason(reason))
        set_failure(conn, TLS_CAUSE_VERSION,
                    conn->alert_sent == ALERT_NONE ? 0 : conn->alert_sent, text);
    else if (reason == SSL_R_EXCESSIVE_MESSAGE_SIZE && conn->alert_sent != ALERT_NONE)
        fail_too_large(conn, text);
    else if (conn->alert_sent != ALERT_NONE)
        fail_alert(conn, TLS_CAUSE_ALERT_SENT, conn->alert_sent, text);
    else if (reason != 0)
        set_failure(conn, TLS_CAUSE_PROTOCOL, 0, text);
    else
        set_failure(conn, TLS_CAUSE_LOCAL, 0, text[0] != '\0' ? text : "the library failed");
}

enum tls_status ssl_fail(struct tls_conn *conn)
{
    uint32_t code = first_error();
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    if (conn->was_downgraded) /* must fail (RFC 8446, D.3); how differs by library */
        set_failure(conn, TLS_CAUSE_VERSION, 0,
                    "early data was sent, and the server chose TLS 1.2");
    else if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
        fail_verify(conn);
    else if (reason > SSL_AD_REASON_OFFSET && reason < ALERTS_END)
        fail_alert(conn, TLS_CAUSE_ALERT_RECEIVED, reason - SSL_AD_REASON_OFFSET, "");
    else if (is_not_tls(conn))
        fail_not_tls(conn, reason_text(code));
    else if (conn->io_errno != 0)
        set_failure(conn, TLS_CAUSE_IO, conn->io_errno, strerror(conn->io_errno));
    else if (conn->is_eof)
        set_failure(conn, TLS_CAUSE_EOF, 0, "the stream ended without close_notify");
    else
        fail_by_reason(conn, code);
    if ((conn->failure.cause == TLS_CAUSE_ALERT_RECEIVED &&
         conn->failure.code == SSL_AD_HANDSHAKE_FAILURE) ||
        reason == SSL_R_BAD_ECC_CERT)
        add_hint(conn);
    ERR_clear_error();
    return TLS_STATUS_FAILED;
}

enum tls_status ssl_status(struct tls_conn *conn, int ret)
{
    switch (SSL_get_error(conn->ssl, ret)) {
    case SSL_ERROR_WANT_READ:
        ssl_queue_clear();
        return TLS_STATUS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        ssl_queue_clear();
        return TLS_STATUS_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        ssl_queue_clear();
        return TLS_STATUS_CLOSED;
    default:
        return ssl_fail(conn);
    }
}

void ssl_conn_failure(const struct tls_conn *conn, struct tls_failure *out)
{
    *out = conn->failure;
}
