/* SPDX-License-Identifier: Apache-2.0 */
#include "run/first_hello.h"
#include <errno.h>
#include <string.h>

struct sink {
    uint8_t data[HELLO_BYTES_MAX];
    size_t used;
};

static ssize_t no_answer(void *arg, void *buf, size_t len)
{
    (void)arg;
    (void)buf;
    (void)len;
    errno = EAGAIN;
    return -1;
}

static ssize_t keep(void *arg, const void *buf, size_t len)
{
    struct sink *sink = arg;
    size_t n = len < sizeof(sink->data) - sink->used ? len : sizeof(sink->data) - sink->used;
    memcpy(sink->data + sink->used, buf, n);
    sink->used += n;
    return (ssize_t)len;
}

int first_hello(const struct tls_backend *backend, const struct tls_config *config,
                struct hello *out, struct err *e)
{
    struct sink sink = {.used = 0};
    struct tls_config alone = *config;
    const struct tls_connect connect = {.io = {.recv = no_answer, .send = keep, .arg = &sink}};
    alone.verify = alone.verify_name = alone.resume = false;
    alone.early_data_bytes = 0;
    struct tls_context *context = backend->context_new(&alone, e);
    if (context == NULL)
        return -1;
    struct tls_conn *conn = backend->conn_new(context, &connect);
    if (conn != NULL)
        (void)backend->handshake(conn);
    backend->conn_free(conn);
    backend->context_free(context);
    if (hello_read(sink.data, sink.used, out))
        return 0;
    return err_set(e, ERR_FAILED, "%s makes no ClientHello that can be read", backend->name);
}
