/* SPDX-License-Identifier: Apache-2.0 */
#include "run/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"

void wire_init(struct wire *w, int fd, struct wire_buffers *buffers)
{
    memset(w, 0, sizeof(*w));
    w->socket.fd = fd;
    w->buffers = buffers;
    w->may_read = true;
}

static void drop_backlog(struct wire *w)
{
    free(w->backlog);
    w->backlog = NULL;
    w->backlog_at = w->backlog_end = 0;
}

static void drop_kept(struct wire *w)
{
    free(w->kept);
    w->kept = NULL;
    w->kept_at = w->kept_end = 0;
}

void wire_fini(struct wire *w)
{
    drop_backlog(w);
    drop_kept(w);
}

bool wire_has_backlog(const struct wire *w)
{
    return w->backlog_at < w->backlog_end;
}

static int fill(struct wire *w)
{
    struct wire_buffers *b = w->buffers;
    if (w->step_in_bytes >= WIRE_STEP_BYTES) {
        w->is_cut = true;
        w->may_read = false;
        errno = EAGAIN;
        return -1;
    }
    const ssize_t n = socket_recv(&w->socket, b->in, sizeof(b->in));
    if (n < 0) {
        if (errno != EAGAIN && w->error == 0)
            w->error = errno;
        w->may_read = false;
        return -1;
    }
    w->is_at_end = n == 0;
    w->step_in_bytes += (size_t)n;
    /* A short read leaves nothing behind but, perhaps, the end that the event told of. */
    w->may_read = (size_t)n == sizeof(b->in) || w->has_ended;
    b->in_at = 0;
    b->in_end = (size_t)n;
    return 0;
}

static ssize_t take_kept(struct wire *w, void *buf, size_t len)
{
    const size_t left = w->kept_end - w->kept_at, n = len < left ? len : left;
    memcpy(buf, w->kept + w->kept_at, n);
    w->kept_at += n;
    w->received_bytes += n;
    if (w->kept_at == w->kept_end)
        drop_kept(w);
    return (ssize_t)n;
}

static ssize_t take(void *arg, void *buf, size_t len)
{
    struct wire *w = arg;
    struct wire_buffers *b = w->buffers;
    if (w->kept != NULL)
        return take_kept(w, buf, len);
    if (b->in_at == b->in_end) {
        if (w->is_at_end)
            return 0;
        if (!w->may_read) {
            errno = EAGAIN;
            return -1;
        }
        if (fill(w) != 0)
            return -1;
    }
    const size_t left = b->in_end - b->in_at, n = len < left ? len : left;
    memcpy(buf, b->in + b->in_at, n);
    b->in_at += n;
    w->received_bytes += n;
    return (ssize_t)n;
}

/* Bytes sent, 0 where the socket is full, -1 on failure. */
static ssize_t send_some(struct wire *w, const char *data, size_t len)
{
    if (w->first_send_ns == 0) {
        w->first_send_ns = clock_now_ns();
        w->first_flight_bytes = len;
    }
    if (w->step_out_bytes >= WIRE_STEP_BYTES) {
        w->is_cut = true;
        return 0;
    }
    const ssize_t n = socket_send(&w->socket, data, len);
    if (n >= 0) {
        w->step_out_bytes += (size_t)n;
        return n;
    }
    if (errno == EAGAIN)
        return 0;
    if (w->error == 0)
        w->error = errno;
    w->is_failed = true;
    return -1;
}

static enum wire_state flush_backlog(struct wire *w)
{
    while (wire_has_backlog(w)) {
        const ssize_t n =
            send_some(w, w->backlog + w->backlog_at, w->backlog_end - w->backlog_at);
        if (n <= 0)
            return n < 0 ? WIRE_FAILED : WIRE_BLOCKED;
        w->backlog_at += (size_t)n;
    }
    drop_backlog(w);
    return WIRE_CLEAR;
}

/* What the socket did not take moves to memory of the wire's own. */
static void keep_backlog(struct wire *w, const char *data, size_t len)
{
    w->backlog = mem_alloc_zeroed(len, 1);
    memcpy(w->backlog, data, len);
    w->backlog_at = 0;
    w->backlog_end = len;
}

/* What TLS has not asked for yet waits behind what is kept already. */
static void keep_input(struct wire *w)
{
    struct wire_buffers *b = w->buffers;
    const size_t n = b->in_end - b->in_at;
    if (n == 0)
        return;
    const size_t held = w->kept_end - w->kept_at;
    char *kept = mem_alloc_zeroed(held + n, 1);
    if (held > 0)
        memcpy(kept, w->kept + w->kept_at, held);
    memcpy(kept + held, b->in + b->in_at, n);
    drop_kept(w);
    w->kept = kept;
    w->kept_end = held + n;
    b->in_at = b->in_end = 0;
}

static enum wire_state flush_output(struct wire *w)
{
    struct wire_buffers *b = w->buffers;
    size_t at = 0;
    if (w->is_failed)
        return WIRE_FAILED;
    const enum wire_state state = flush_backlog(w);
    if (state == WIRE_FAILED || b->out_end == 0)
        return state;
    while (state == WIRE_CLEAR && at < b->out_end) {
        const ssize_t n = send_some(w, b->out + at, b->out_end - at);
        if (n < 0)
            return WIRE_FAILED;
        if (n == 0)
            break;
        at += (size_t)n;
    }
    if (at < b->out_end)
        keep_backlog(w, b->out + at, b->out_end - at);
    b->out_end = 0;
    return wire_has_backlog(w) ? WIRE_BLOCKED : WIRE_CLEAR;
}

enum wire_state wire_flush(struct wire *w)
{
    keep_input(w);
    return flush_output(w);
}

static ssize_t give(void *arg, const void *buf, size_t len)
{
    struct wire *w = arg;
    struct wire_buffers *b = w->buffers;
    if (wire_has_backlog(w) || w->is_failed ||
        (b->out_end == sizeof(b->out) && flush_output(w) != WIRE_CLEAR)) {
        errno = w->is_failed ? w->error : EAGAIN;
        return -1;
    }
    const size_t room = sizeof(b->out) - b->out_end, n = len < room ? len : room;
    memcpy(b->out + b->out_end, buf, n);
    b->out_end += n;
    w->sent_bytes += n;
    return (ssize_t)n;
}

struct tls_io wire_io(struct wire *w)
{
    return (struct tls_io){.recv = take, .send = give, .arg = w};
}

void wire_begin(struct wire *w, bool has_ended)
{
    w->buffers->in_at = w->buffers->in_end = w->buffers->out_end = 0;
    w->may_read = true;
    w->has_ended = has_ended;
    w->is_cut = false;
    w->step_in_bytes = w->step_out_bytes = 0;
}
