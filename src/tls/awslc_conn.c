/* SPDX-License-Identifier: Apache-2.0 */
/* AWS-LC: handshake, sessions and early data of a connection. */
#include <limits.h>
#include "tls/ssl_library.h"

bool library_conn_prepare(struct tls_conn *conn, const struct tls_session *session)
{
    /* A client of this library announces early data whenever its session allows it. Ours
     * does so once write_early was called, as OpenSSL's does. */
    if (conn->context->role == TLS_ROLE_CLIENT)
        SSL_set_early_data_enabled(conn->ssl, 0);
    /* Sessions do not change by being used: no copy is needed. */
    return session == NULL || SSL_set_session(conn->ssl, session->session) == 1;
}

static void note_outcome(struct tls_conn *conn)
{
    conn->is_complete = true;
    if (SSL_early_data_accepted(conn->ssl))
        conn->early_data = TLS_EARLY_ACCEPTED;
    else if (conn->early_was_offered)
        conn->early_data = TLS_EARLY_REJECTED;
}

/* SSL_do_handshake, over a refusal of early data; its answer. */
static int drive(struct tls_conn *conn)
{
    int ret = SSL_do_handshake(conn->ssl);
    if (ret <= 0 && SSL_get_error(conn->ssl, ret) == SSL_ERROR_EARLY_DATA_REJECTED) {
        ERR_clear_error();
        SSL_reset_early_data_reject(conn->ssl);
        ret = SSL_do_handshake(conn->ssl);
    }
    return ret;
}

enum tls_status library_handshake(struct tls_conn *conn)
{
    ssl_queue_clear();
    /* With early data the library says "done" once it may be written or read; the next
     * call goes on to the real end. */
    do {
        int ret = drive(conn);
        if (ret != 1)
            return ssl_status(conn, ret);
    } while (SSL_in_early_data(conn->ssl));
    note_outcome(conn);
    /* Tickets would wait for the first write; an empty one sends them, as OpenSSL does. */
    if (conn->context->has_tickets) {
        int ret = SSL_write(conn->ssl, "", 0);
        if (ret < 0)
            return ssl_status(conn, ret);
    }
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

static int clamp_length(size_t len)
{
    return len > INT_MAX ? INT_MAX : (int)len;
}

enum tls_status library_write_early(struct tls_conn *conn, const void *buf, size_t len,
                                    size_t *count)
{
    ssl_queue_clear();
    if (!SSL_in_early_data(conn->ssl)) {
        if (conn->context->role == TLS_ROLE_SERVER)
            return ssl_fail(conn);
        SSL_set_early_data_enabled(conn->ssl, 1);
        conn->early_was_offered = true;
        int ret = SSL_do_handshake(conn->ssl);
        /* Anything but early data here: the session does not allow it. */
        if (ret != 1 || !SSL_in_early_data(conn->ssl))
            return ssl_fail(conn);
    }
    int sent = SSL_write(conn->ssl, buf, clamp_length(len));
    if (sent <= 0)
        return ssl_status(conn, sent);
    *count = (size_t)sent;
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

/* SSL_peek may have gone past the end of early data: what it then found is not ours. */
static enum tls_status read_accepted(struct tls_conn *conn, void *buf, size_t len,
                                     size_t *count)
{
    char first;
    int ret = SSL_peek(conn->ssl, &first, 1);
    if (!SSL_in_early_data(conn->ssl)) {
        enum tls_status status = ret > 0 ? TLS_STATUS_OK : ssl_status(conn, ret);
        return status == TLS_STATUS_FAILED ? status : TLS_STATUS_CLOSED;
    }
    if (ret <= 0)
        return ssl_status(conn, ret);
    ret = SSL_read(conn->ssl, buf, clamp_length(len));
    if (ret <= 0)
        return ssl_status(conn, ret);
    *count = (size_t)ret;
    return TLS_STATUS_OK;
}

enum tls_status library_read_early(struct tls_conn *conn, void *buf, size_t len, size_t *count)
{
    if (conn->context->early_data_bytes == 0)
        return TLS_STATUS_CLOSED;
    ssl_queue_clear();
    if (!SSL_in_early_data(conn->ssl)) {
        int ret = SSL_do_handshake(conn->ssl);
        enum tls_status status = ret == 1 ? TLS_STATUS_OK : ssl_status(conn, ret);
        if (status == TLS_STATUS_FAILED)
            return status;
        /* The ClientHello was read, and there is no early data in this connection. */
        if (!SSL_in_early_data(conn->ssl))
            return status == TLS_STATUS_OK || conn->saw_handshake ? TLS_STATUS_CLOSED : status;
    }
    enum tls_status status = read_accepted(conn, buf, len, count);
    ssl_queue_clear();
    return status;
}
