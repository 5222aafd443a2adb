/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - a connected socket below TLS with as few system calls as can be.
 *
 * Layer: run (tls, net and base).
 * Shape: what TLS sends during one step is gathered and leaves in one send when the step
 *   ends, so that Finished and request, or tickets and answer, share a segment; what arrives
 *   is taken in one large recv and handed out as TLS asks.  After a recv that filled less
 *   than the buffer the next one is answered with EAGAIN without asking the kernel, until
 *   the next event: with edge-triggered epoll that is safe, but for an end of stream that
 *   came in the same event, which the caller passes on (wire_begin).
 * Buffers: one pair per thread, used by one wire at a time, within a step.  A step ends with
 *   wire_flush: output that the socket did not take and input that TLS did not ask for are
 *   then kept in memory of the wire's own, which is rare.
 * Bound: a step moves WIRE_STEP_BYTES each way at most, so that a peer that sends or reads
 *   without end holds up nobody else: then is_cut, and the caller steps again soon.
 * Threads: one owner each.
 */
#ifndef RUN_WIRE_H
#define RUN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "net/socket.h"
#include "tls/backend.h"

#define WIRE_BUFFER_BYTES 65536u
#define WIRE_STEP_BYTES (4 * WIRE_BUFFER_BYTES)

struct wire_buffers {
    size_t in_at, in_end, out_end;
    char in[WIRE_BUFFER_BYTES], out[WIRE_BUFFER_BYTES];
};

struct wire {
    struct socket_stream socket; /* fd -1: none */
    struct wire_buffers *buffers;
    char *backlog; /* NULL: none */
    size_t backlog_at, backlog_end;
    char *kept; /* input of an earlier step; NULL: none */
    size_t kept_at, kept_end;
    bool may_read;  /* the kernel may have more for us */
    bool has_ended; /* the event told of an end of stream */
    bool is_at_end; /* end of stream seen */
    bool is_cut;    /* the step ended early: there may be more to read or room to send, and no
                       event will tell */
    size_t step_in_bytes, step_out_bytes;
    bool is_failed;                      /* a send failed; error says how */
    int error;                           /* errno of the first failed recv or send, 0 none */
    uint64_t sent_bytes, received_bytes; /* by TLS; queued output included */
    uint64_t first_send_ns;              /* before the first send, 0 none yet */
    size_t first_flight_bytes;           /* what it held */
};

void wire_init(struct wire *w, int fd, struct wire_buffers *buffers);
void wire_fini(struct wire *w); /* frees what is kept; the descriptor is the caller's */
struct tls_io wire_io(struct wire *w);

/* A step begins.  has_ended: the event says that the peer's stream ended or broke; also true
 * where there is no event, behind a step that was cut. */
void wire_begin(struct wire *w, bool has_ended);

enum wire_state {
    WIRE_CLEAR,   /* nothing waits to be sent */
    WIRE_BLOCKED, /* something does: step again when the socket is writable */
    WIRE_FAILED,  /* see error */
};
/* The step ends: send what was gathered.  The wire may be used on in the same step. */
enum wire_state wire_flush(struct wire *w);
bool wire_has_backlog(const struct wire *w);

#endif
