/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump.h - a client and a server of a backend, joined by two queues in one thread.
 *
 * Layer: tests.
 * Shape: each direction is one growing queue; what is sent is counted there.  A test may
 *   limit how much one recv gives, hold bytes back, put bytes in by hand, or make the
 *   transport block or fail.
 * Threads: one pump per thread.
 */
#ifndef TESTS_BACKEND_PUMP_H
#define TESTS_BACKEND_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tls/backend.h"

enum { CLIENT, SERVER, SIDES };

struct queue {
    uint8_t *data;
    size_t begin, end, capacity;
    size_t total_bytes, sends;  /* ever sent into it, and in how many calls */
    size_t recv_max;            /* bytes one recv gives at most; 0: all */
    size_t visible_bytes;       /* of all that was sent, how much can be read yet; 0: all */
    unsigned send_blocks;       /* so many sends answer EAGAIN first */
    bool is_closed;             /* an end of stream follows what is in it */
    int send_errno, recv_errno; /* != 0: send, recv fails with it */
};

#define MESSAGES_MAX 64u

/* What an observer saw at one end. */
struct seen {
    unsigned count;
    struct {
        enum tls_direction direction;
        unsigned type;
        size_t bytes;
    } message[MESSAGES_MAX];
    unsigned key_lines;
    char key_line[256]; /* the last one */
};

struct pump {
    const struct tls_backend *backend[SIDES];
    struct queue to[SIDES]; /* to[SERVER]: what the client sent */
    struct end {
        struct pump *pump;
        int side;
    } end[SIDES];
    struct tls_conn *conn[SIDES];
    struct seen seen[SIDES];
    enum tls_status status[SIDES]; /* of the last handshake call */
};

/* A pump whose ends have no connection yet. */
void pump_init(struct pump *pump, const struct tls_backend *client,
               const struct tls_backend *server);
void pump_fini(struct pump *pump); /* frees the connections too */

struct tls_io pump_io(struct pump *pump, int side);
struct tls_observer pump_observer(struct pump *pump, int side, bool with_key_log);

/* Connections over both contexts (NULL: none at that side). name and session may be NULL. */
bool pump_connect(struct pump *pump, struct tls_context *client, struct tls_context *server,
                  const char *name, struct tls_session *session);

/* As pump_connect, but what each end watches is the caller's choice. */
bool pump_connect_as(struct pump *pump, int side, struct tls_context *context,
                     struct tls_connect c);

/* Drive both handshakes until neither moves any more; true: both are complete. */
bool pump_handshake(struct pump *pump);
/* One more turn for one side. */
enum tls_status pump_turn(struct pump *pump, int side);
/* An end of stream from that side. */
void pump_close(struct pump *pump, int side);
/* Bytes put into the stream towards that side by hand. */
void pump_inject(struct pump *pump, int side, const void *data, size_t bytes);

/* Read until WANT_READ or an end; the bytes' number, *status the last answer. */
size_t pump_read_all(struct pump *pump, int side, uint8_t *buf, size_t size,
                     enum tls_status *status);
/* Write it all; false: the backend would not. */
bool pump_write_all(struct pump *pump, int side, const void *data, size_t bytes);

#endif
