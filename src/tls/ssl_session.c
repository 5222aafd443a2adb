/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "tls/ssl_common.h"

/* The library's new-session callback; 1: the reference is ours now. */
int ssl_session_seen(SSL *ssl, SSL_SESSION *session)
{
    struct tls_conn *conn = ssl_conn_of(ssl);
    if (conn->sessions == SESSIONS_KEPT) {
        SSL_SESSION_free(conn->session[0].session);
        memmove(&conn->session[0], &conn->session[1],
                (SESSIONS_KEPT - 1) * sizeof(conn->session[0]));
        conn->sessions--;
    }
    /* Its message was seen just before. */
    conn->session[conn->sessions++] =
        (struct tls_session){session, conn->ticket_early_bytes, conn->ticket_lifetime_s};
    return 1;
}

struct tls_session *ssl_session_take(struct tls_conn *conn)
{
    if (conn->sessions == 0)
        return NULL;
    struct tls_session *taken = malloc(sizeof(*taken));
    if (taken != NULL)
        *taken = conn->session[--conn->sessions];
    return taken;
}

void ssl_session_free(struct tls_session *session)
{
    if (session == NULL)
        return;
    SSL_SESSION_free(session->session);
    free(session);
}

uint32_t ssl_session_early_data_bytes(const struct tls_session *session)
{
    return session->early_data_bytes;
}

uint32_t ssl_session_lifetime_s(const struct tls_session *session)
{
    return session->lifetime_s;
}
