/* SPDX-License-Identifier: Apache-2.0 */
#include "pump.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int other(int side)
{
    return side == CLIENT ? SERVER : CLIENT;
}

static void queue_add(struct queue *queue, const void *data, size_t bytes)
{
    if (queue->end + bytes > queue->capacity) {
        queue->capacity = 2 * (queue->end + bytes);
        queue->data = realloc(queue->data, queue->capacity);
        assert(queue->data != NULL);
    }
    memcpy(queue->data + queue->end, data, bytes);
    queue->end += bytes;
}

static ssize_t fail_with(int error)
{
    errno = error;
    return -1;
}

static ssize_t end_send(void *arg, const void *buf, size_t len)
{
    struct end *end = arg;
    struct queue *queue = &end->pump->to[other(end->side)];
    if (queue->send_errno != 0)
        return fail_with(queue->send_errno);
    if (queue->send_blocks > 0) {
        queue->send_blocks--;
        return fail_with(EAGAIN);
    }
    queue_add(queue, buf, len);
    queue->total_bytes += len;
    queue->sends++;
    return (ssize_t)len;
}

static ssize_t end_recv(void *arg, void *buf, size_t len)
{
    struct end *end = arg;
    struct queue *queue = &end->pump->to[end->side];
    size_t limit = queue->end;
    if (queue->visible_bytes > 0 && queue->visible_bytes < limit)
        limit = queue->visible_bytes;
    size_t bytes = limit > queue->begin ? limit - queue->begin : 0;
    if (bytes == 0 && queue->recv_errno != 0)
        return fail_with(queue->recv_errno);
    if (bytes == 0)
        return queue->is_closed ? 0 : fail_with(EAGAIN);
    bytes = bytes < len ? bytes : len;
    if (queue->recv_max > 0 && bytes > queue->recv_max)
        bytes = queue->recv_max;
    memcpy(buf, queue->data + queue->begin, bytes);
    queue->begin += bytes;
    return (ssize_t)bytes;
}

static void end_message(void *arg, enum tls_direction direction, unsigned type, size_t bytes)
{
    struct end *end = arg;
    struct seen *seen = &end->pump->seen[end->side];
    assert(seen->count < MESSAGES_MAX);
    seen->message[seen->count].direction = direction;
    seen->message[seen->count].type = type;
    seen->message[seen->count++].bytes = bytes;
}

static void end_key_log(void *arg, const char *line)
{
    struct end *end = arg;
    struct seen *seen = &end->pump->seen[end->side];
    seen->key_lines++;
    snprintf(seen->key_line, sizeof(seen->key_line), "%s", line);
}

void pump_init(struct pump *pump, const struct tls_backend *client,
               const struct tls_backend *server)
{
    memset(pump, 0, sizeof(*pump));
    pump->backend[CLIENT] = client;
    pump->backend[SERVER] = server;
    for (int side = 0; side < SIDES; side++)
        pump->end[side] = (struct end){pump, side};
}

void pump_fini(struct pump *pump)
{
    for (int side = 0; side < SIDES; side++) {
        if (pump->backend[side] != NULL)
            pump->backend[side]->conn_free(pump->conn[side]);
        free(pump->to[side].data);
    }
    memset(pump, 0, sizeof(*pump));
}

struct tls_io pump_io(struct pump *pump, int side)
{
    return (struct tls_io){.recv = end_recv, .send = end_send, .arg = &pump->end[side]};
}

struct tls_observer pump_observer(struct pump *pump, int side, bool with_key_log)
{
    return (struct tls_observer){.message = end_message,
                                 .key_log = with_key_log ? end_key_log : NULL,
                                 .arg = &pump->end[side]};
}

bool pump_connect_as(struct pump *pump, int side, struct tls_context *context,
                     struct tls_connect c)
{
    c.io = pump_io(pump, side);
    pump->conn[side] = pump->backend[side]->conn_new(context, &c);
    pump->status[side] = TLS_STATUS_WANT_READ;
    return pump->conn[side] != NULL;
}

bool pump_connect(struct pump *pump, struct tls_context *client, struct tls_context *server,
                  const char *name, struct tls_session *session)
{
    struct tls_context *context[SIDES] = {client, server};
    for (int side = 0; side < SIDES; side++) {
        struct tls_connect c = {
            .observer = pump_observer(pump, side, false),
            .server_name = side == CLIENT ? name : NULL,
            .session = side == CLIENT ? session : NULL,
        };
        if (context[side] != NULL && !pump_connect_as(pump, side, context[side], c))
            return false;
    }
    return true;
}

static bool is_over(enum tls_status status)
{
    return status == TLS_STATUS_OK || status == TLS_STATUS_FAILED ||
           status == TLS_STATUS_CLOSED;
}

enum tls_status pump_turn(struct pump *pump, int side)
{
    if (pump->conn[side] != NULL && !is_over(pump->status[side]))
        pump->status[side] = pump->backend[side]->handshake(pump->conn[side]);
    return pump->status[side];
}

/* Grows with everything that gets ahead, blocked sends too. */
static size_t moved(const struct pump *pump)
{
    size_t sum = 0;
    for (int side = 0; side < SIDES; side++)
        sum += pump->to[side].total_bytes + pump->to[side].begin - pump->to[side].send_blocks;
    return sum;
}

bool pump_handshake(struct pump *pump)
{
    size_t before;
    do {
        before = moved(pump);
        pump_turn(pump, CLIENT);
        pump_turn(pump, SERVER);
    } while (moved(pump) != before);
    return pump->status[CLIENT] == TLS_STATUS_OK && pump->status[SERVER] == TLS_STATUS_OK;
}

void pump_close(struct pump *pump, int side)
{
    pump->to[other(side)].is_closed = true;
}

void pump_inject(struct pump *pump, int side, const void *data, size_t bytes)
{
    queue_add(&pump->to[side], data, bytes);
}

size_t pump_read_all(struct pump *pump, int side, uint8_t *buf, size_t size,
                     enum tls_status *status)
{
    size_t total = 0;
    while (total < size) {
        size_t count = 0;
        *status =
            pump->backend[side]->read(pump->conn[side], buf + total, size - total, &count);
        if (*status != TLS_STATUS_OK)
            break;
        total += count;
    }
    return total;
}

bool pump_write_all(struct pump *pump, int side, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        size_t count = 0;
        if (pump->backend[side]->write(pump->conn[side], at, bytes, &count) != TLS_STATUS_OK)
            return false;
        at += count;
        bytes -= count;
    }
    return true;
}
