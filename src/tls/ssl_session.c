/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "tls/ssl_common.h"

/* The library's new-session callback; 1: the reference is ours now. */
int ssl_session_seen(SSL *ssl, SSL_SESSION *session)
{
    struct tls_conn *conn = ssl_conn_of(ssl);
    SSL_SESSION_free(conn->newest_session);
    conn->newest_session = session;
    return 1;
}

struct tls_session *ssl_session_take(struct tls_conn *conn)
{
    if (conn->newest_session == NULL)
        return NULL;
    struct tls_session *taken = malloc(sizeof(*taken));
    if (taken == NULL)
        return NULL;
    taken->session = conn->newest_session;
    taken->early_data_bytes = conn->ticket_early_bytes;
    taken->lifetime_s = conn->ticket_lifetime_s;
    conn->newest_session = NULL;
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
