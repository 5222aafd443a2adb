/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL: handshake, sessions and early data of a connection. */
#include "tls/ssl_library.h"

bool library_conn_prepare(struct tls_conn *conn, const struct tls_session *session)
{
    if (session == NULL)
        return true;
    /* A session object that was used once is changed by it: each use gets a copy. */
    SSL_SESSION *copy = SSL_SESSION_dup(session->session);
    bool ok = copy != NULL && SSL_set_session(conn->ssl, copy) == 1;
    SSL_SESSION_free(copy);
    return ok;
}

static enum tls_early_data early_outcome(const SSL *ssl)
{
    switch (SSL_get_early_data_status(ssl)) {
    case SSL_EARLY_DATA_ACCEPTED:
        return TLS_EARLY_ACCEPTED;
    case SSL_EARLY_DATA_REJECTED:
        return TLS_EARLY_REJECTED;
    default:
        return TLS_EARLY_NONE;
    }
}

enum tls_status library_handshake(struct tls_conn *conn)
{
    ssl_queue_clear();
    int ret = SSL_do_handshake(conn->ssl);
    if (ret != 1)
        return ssl_status(conn, ret);
    conn->is_complete = true;
    if (conn->context->early_data_bytes > 0)
        conn->early_data = early_outcome(conn->ssl);
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

enum tls_status library_write_early(struct tls_conn *conn, const void *buf, size_t len,
                                    size_t *count)
{
    ssl_queue_clear();
    if (conn->context->role == TLS_ROLE_CLIENT)
        conn->early_was_offered = true;
    int ret = SSL_write_early_data(conn->ssl, buf, len, count);
    if (ret != 1)
        return ssl_status(conn, ret);
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

enum tls_status library_read_early(struct tls_conn *conn, void *buf, size_t len, size_t *count)
{
    if (conn->context->early_data_bytes == 0)
        return TLS_STATUS_CLOSED;
    ssl_queue_clear();
    int ret = SSL_read_early_data(conn->ssl, buf, len, count);
    if (ret == SSL_READ_EARLY_DATA_ERROR)
        return ssl_status(conn, 0);
    ssl_queue_clear();
    return ret == SSL_READ_EARLY_DATA_SUCCESS ? TLS_STATUS_OK : TLS_STATUS_CLOSED;
}
