/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "tls/ssl_common.h"

static bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static int bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static int bio_write(BIO *bio, const char *buf, int len)
{
    struct tls_conn *conn = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (len <= 0)
        return 0;
    ssize_t sent = conn->io.send(conn->io.arg, buf, (size_t)len);
    if (sent > 0)
        return (int)sent;
    if (would_block(errno))
        BIO_set_retry_write(bio);
    else
        conn->io_errno = errno;
    return -1;
}

/* The first bytes tell whether the peer speaks TLS at all. */
static void keep_head(struct tls_conn *conn, const char *buf, size_t count)
{
    for (size_t i = 0; i < count && conn->head_bytes < sizeof(conn->head); i++)
        conn->head[conn->head_bytes++] = (uint8_t)buf[i];
}

static int bio_read(BIO *bio, char *buf, int len)
{
    struct tls_conn *conn = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (len <= 0)
        return 0;
    ssize_t got = conn->io.recv(conn->io.arg, buf, (size_t)len);
    if (got > 0) {
        if (conn->head_bytes < sizeof(conn->head))
            keep_head(conn, buf, (size_t)got);
        return (int)got;
    }
    if (got == 0) {
        conn->is_eof = true;
        return 0;
    }
    if (would_block(errno))
        BIO_set_retry_read(bio);
    else
        conn->io_errno = errno;
    return -1;
}

static long bio_ctrl(BIO *bio, int command, long larg, void *parg)
{
    (void)larg;
    (void)parg;
    const struct tls_conn *conn = BIO_get_data(bio);
    if (command == BIO_CTRL_FLUSH)
        return 1; /* what was sent is with the transport already */
    if (command == BIO_CTRL_EOF)
        return conn != NULL && conn->is_eof;
    return 0;
}

BIO_METHOD *ssl_bio_method_new(void)
{
    /* No BIO_get_new_index: there are 127 of them, and nothing searches for this type. */
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tls_io");
    if (method == NULL)
        return NULL;
    if (!BIO_meth_set_create(method, bio_create) || !BIO_meth_set_write(method, bio_write) ||
        !BIO_meth_set_read(method, bio_read) || !BIO_meth_set_ctrl(method, bio_ctrl)) {
        BIO_meth_free(method);
        return NULL;
    }
    return method;
}

BIO *ssl_bio_new(BIO_METHOD *method, struct tls_conn *conn)
{
    BIO *bio = BIO_new(method);
    if (bio != NULL)
        BIO_set_data(bio, conn);
    return bio;
}

struct tls_conn *ssl_conn_of(const SSL *ssl)
{
    return BIO_get_data(SSL_get_rbio(ssl));
}
