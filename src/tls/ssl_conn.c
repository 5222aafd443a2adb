/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/x509_vfy.h>
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

#define NAME_BYTES 256u

static bool is_address(const char *name)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* SNI takes DNS names alone, without the trailing dot (RFC 6066, 3). */
static bool use_name(struct tls_conn *conn, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(conn->ssl);
    if (is_address(name))
        return !conn->context->verify_name || X509_VERIFY_PARAM_set1_ip_asc(param, name);
    char host[NAME_BYTES];
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length == 0 || length >= sizeof(host))
        return false;
    memcpy(host, name, length);
    host[length] = '\0';
    return SSL_set_tlsext_host_name(conn->ssl, host) &&
           (!conn->context->verify_name || X509_VERIFY_PARAM_set1_host(param, host, length));
}

static void key_logged(const SSL *ssl, const char *line)
{
    struct tls_conn *conn = ssl_conn_of(ssl);
    if (conn->observer.key_log != NULL)
        conn->observer.key_log(conn->observer.arg, line);
}

static bool conn_setup(struct tls_conn *conn, const struct tls_connect *c)
{
    struct tls_context *context = conn->context;
    conn->ssl = SSL_new(context->ctx);
    if (conn->ssl == NULL)
        return false;
    if (c->observer.key_log != NULL && context->key_loggers++ == 0)
        SSL_CTX_set_keylog_callback(context->ctx, key_logged);
    BIO *bio = ssl_bio_new(context->bio_method, conn);
    if (bio == NULL)
        return false;
    SSL_set_bio(conn->ssl, bio, bio);
    SSL_set_msg_callback_arg(conn->ssl, conn);
    if (context->role == TLS_ROLE_SERVER) {
        SSL_set_accept_state(conn->ssl);
        return library_conn_prepare(conn, NULL);
    }
    SSL_set_connect_state(conn->ssl);
    return (c->server_name == NULL || use_name(conn, c->server_name)) &&
           library_conn_prepare(conn, c->session);
}

struct tls_conn *ssl_conn_new(struct tls_context *context, const struct tls_connect *c)
{
    ssl_queue_clear();
    struct tls_conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL)
        return NULL;
    conn->context = context;
    conn->io = c->io;
    conn->observer = c->observer;
    conn->alert_received = conn->alert_sent = ALERT_NONE;
    if (!conn_setup(conn, c)) {
        ssl_conn_free(conn);
        conn = NULL;
    }
    ssl_queue_clear();
    return conn;
}

void ssl_conn_free(struct tls_conn *conn)
{
    if (conn == NULL)
        return;
    /* A connection that is freed without close_notify would take its session with it. */
    if (conn->is_complete)
        SSL_set_shutdown(conn->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    if (conn->ssl != NULL && conn->observer.key_log != NULL &&
        --conn->context->key_loggers == 0)
        SSL_CTX_set_keylog_callback(conn->context->ctx, NULL);
    SSL_free(conn->ssl);
    while (conn->sessions > 0)
        SSL_SESSION_free(conn->session[--conn->sessions].session);
    free(conn);
}

static int clamp_length(size_t len)
{
    return len > INT_MAX ? INT_MAX : (int)len;
}

enum tls_status ssl_conn_read(struct tls_conn *conn, void *buf, size_t len, size_t *count)
{
    ssl_queue_clear();
    int got = SSL_read(conn->ssl, buf, clamp_length(len));
    if (got <= 0)
        return ssl_status(conn, got);
    *count = (size_t)got;
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

enum tls_status ssl_conn_write(struct tls_conn *conn, const void *buf, size_t len,
                               size_t *count)
{
    ssl_queue_clear();
    int sent = SSL_write(conn->ssl, buf, clamp_length(len));
    if (sent <= 0)
        return ssl_status(conn, sent);
    *count = (size_t)sent;
    ssl_queue_clear();
    return TLS_STATUS_OK;
}

enum tls_status ssl_conn_shutdown(struct tls_conn *conn)
{
    ssl_queue_clear();
    int ret = SSL_shutdown(conn->ssl);
    enum tls_status status = ret < 0 ? ssl_status(conn, ret) : TLS_STATUS_OK;
    ssl_queue_clear();
    /* Called again, it looks for the peer's close_notify, which is not asked for. */
    return status == TLS_STATUS_WANT_READ || status == TLS_STATUS_CLOSED ? TLS_STATUS_OK
                                                                         : status;
}
