/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - two in-memory byte streams that join a client and a server on two threads.
 *
 * Layer: tls.
 * Shape: one producer and one consumer per direction; lock-free but for sleeping: an end
 *   that has nothing to read waits on a futex until bytes, an end of stream or a deadline
 *   come.  A flight is the run of bytes one side sends until the other side sends.
 * Counts: bytes per direction and per flight, exact, at this transport.
 * Cost: about 40 instructions and the copy per call; no system call but to sleep and to
 *   wake a sleeper.
 * Threads: each end belongs to one thread; reset only when both are quiet.
 */
#ifndef TLS_RING_H
#define TLS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tls/backend.h"

#define DUPLEX_FLIGHTS_MAX 16u

enum duplex_side { DUPLEX_CLIENT, DUPLEX_SERVER };

struct duplex; /* opaque; both directions */

/* capacity_bytes: a power of two, per direction; a flight may exceed it (the writer then
 * gets EAGAIN and must wait for room).  NULL: out of memory. */
struct duplex *duplex_new(size_t capacity_bytes);
void duplex_free(struct duplex *d);
void duplex_reset(struct duplex *d); /* empty, open, counts 0 */

/* Wakes put off: send and recv leave a sleeping peer asleep until this end waits, closes or
 * calls duplex_flush, so that the system call is not part of a TLS call's CPU time and one
 * flight wakes once.  Off at first; kept by reset; set while both ends are quiet. */
void duplex_defer_wakes(struct duplex *d, bool is_deferred);
/* Wake the peer if it sleeps and something of ours lets it go on. */
void duplex_flush(struct duplex *d, enum duplex_side side);

/* The tls_io of an end; non-blocking.  recv: 0 at the end of stream, EAGAIN when empty.
 * send: EAGAIN when full, EPIPE after this end's close, and when full after the peer's. */
struct tls_io duplex_io(struct duplex *d, enum duplex_side side);

/* Wait until the end can read (bytes or end of stream) / write (room, or an error to be
 * told), at most until the CLOCK_MONOTONIC deadline (UINT64_MAX: for ever); false on
 * timeout.  Both flush first. */
bool duplex_wait_readable(struct duplex *d, enum duplex_side side, uint64_t deadline_ns);
bool duplex_wait_writable(struct duplex *d, enum duplex_side side, uint64_t deadline_ns);

/* End of stream for the other side, behind what was sent; nothing can be sent afterwards.
 * The other direction stays open. */
void duplex_close(struct duplex *d, enum duplex_side side);

struct duplex_counts {
    uint64_t sent_bytes[2]; /* by duplex_side of the sender */
    unsigned flights;       /* in order of sending, client's first */
    struct {
        enum duplex_side sender;
        uint64_t bytes;
    } flight[DUPLEX_FLIGHTS_MAX]; /* further ones are added to the last */
};
/* Both threads must be quiet, or the caller accept a moment's view. */
void duplex_read_counts(const struct duplex *d, struct duplex_counts *out);

#endif
