/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - one measured connection: connect, TLS, request, response, close.
 *
 * Layer: run.
 * Shape: a state machine; each state is one function that is called when the socket may be
 *   read or written and either waits on or goes to the next.  The request leaves in the
 *   client's last flight, behind Finished.  The connection is over as soon as the last byte
 *   of the response is there; it is then counted in its arm's shard and can be used again.
 *   An early request may be answered ahead of the server's ticket: then it stays for that,
 *   uncounted.
 * Times: CLOCK_MONOTONIC ns.  tcp: connect() called -> writable.  tls: before the send of
 *   the first ClientHello byte -> handshake complete here.  ttfb, ttlb: handshake complete
 *   (the request follows at once) -> first, last byte of the response; a request that was
 *   accepted as early data left with the ClientHello, and they count from there.  response:
 *   due -> last byte.
 * Threads: one owner, its worker.
 */
#ifndef RUN_CONN_H
#define RUN_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "net/address.h"
#include "net/link.h"
#include "run/http.h"
#include "run/shard.h"
#include "run/tickets.h"
#include "run/wire.h"
#include "tls/backend.h"

enum conn_close { CONN_CLOSE_FIN, CONN_CLOSE_RST };

/* What the connections of one arm and one worker share. */
struct conn_arm {
    const struct tls_backend *backend;
    struct tls_context *context;
    struct address target;
    const char *server_name; /* NULL: no SNI */
    const char *request;
    size_t request_bytes;
    bool wants_early;
    struct tickets tickets;
    struct shard shard;
} __attribute__((aligned(64))); /* no two workers write to one cache line */

/* What all connections of a worker share. */
struct conn_setting {
    enum conn_close close;
    const struct address_range *sources; /* taken in turn; NULL: the kernel's choice */
    uint64_t next_source;
    struct wire_buffers *buffers;
    const struct link *link;   /* what the connections cross; NULL: none */
    FILE *key_log;             /* TLS secrets in the NSS format, or NULL */
    uint64_t measured_from_ns; /* earlier due times are warm-up and not counted */
    void (*on_record)(void *arg, unsigned arm, const struct shard_record *r); /* or NULL */
    void *record_arg;
};

enum conn_state {
    CONN_STATE_IDLE,
    CONN_STATE_CONNECTING,
    CONN_STATE_HANDSHAKE,
    CONN_STATE_REQUEST,
    CONN_STATE_RESPONSE,
    CONN_STATE_TICKETS, /* counted; waits for what it may resume with */
};

struct conn {
    struct conn *next, *previous; /* of the worker's lists */
    struct conn_setting *setting;
    struct conn_arm *arm;
    unsigned arm_index;
    enum conn_state state;
    struct wire wire;
    struct tls_conn *tls;
    struct http_response response;
    size_t request_sent, early_sent;
    uint64_t due_ns, start_ns, connected_ns, secured_ns, first_byte_ns, end_ns;
    bool is_hrr, is_resumed, is_unclean;
    bool is_resume_turn, has_offered; /* its turn to resume; had a session for it */
    enum tls_version version;
    enum tls_early_data early;
    uint64_t ticket_bytes;
    /* over a link */
    unsigned port;
    struct shard_network network;
};

enum conn_step {
    CONN_WAITS, /* step again when the socket's state changes */
    CONN_OVER,  /* counted and closed; the struct may be used again */
};

/* Begin: the socket is made and connect() called.  CONN_OVER: it failed at once (and is
 * counted).  On CONN_WAITS c->wire.socket.fd is to be watched, for reading and writing, edges.
 */
enum conn_step conn_start(struct conn *c, struct conn_setting *setting, struct conn_arm *arm,
                          uint64_t due_ns, uint64_t now_ns);
/* has_ended: the event said hang-up or error, has_error: error. */
enum conn_step conn_step(struct conn *c, bool has_ended, bool has_error);
/* This machine could not go on with it (errno): counted as failed, closed. */
enum conn_step conn_fail_local(struct conn *c, int error);
/* The timeout has passed: counted as timed out, closed. */
void conn_time_out(struct conn *c, uint64_t now_ns);
/* The run is over: counted as unfinished, closed. */
void conn_abandon(struct conn *c, uint64_t now_ns);

void conn_arm_fini(struct conn_arm *arm); /* sessions, context, shard */

#endif
