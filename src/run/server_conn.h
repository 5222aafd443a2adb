/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_conn.h - one connection of the embedded server.
 *
 * Layer: run, private to the server.
 * Threads: one owner, its worker.
 */
#ifndef RUN_SERVER_CONN_H
#define RUN_SERVER_CONN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "run/http.h"
#include "run/server.h"
#include "run/wire.h"

#define SERVER_SCRATCH_BYTES (HTTP_HEAD_BYTES_MAX + 16384u)

/* Written by one worker, read by anyone. */
struct server_counters {
    atomic_uint_fast64_t accepted, handshakes, handshakes_failed, resumed, requests, timed_out,
        put_out, accept_paused, body_bytes, early;
};

/* What the connections of one worker and endpoint share. */
struct server_site {
    const struct tls_backend *backend;
    struct tls_context *context;
    bool accepts_early;
    struct server_counters *counters;
    struct wire_buffers *buffers;
    char *scratch; /* SERVER_SCRATCH_BYTES, for one step */
};

enum server_state {
    SERVER_EARLY,
    SERVER_HANDSHAKE,
    SERVER_REQUEST,
    SERVER_ANSWER,
    SERVER_CLOSING,
};

struct server_conn {
    struct server_conn *next, *previous;
    struct server_site *site;
    struct wire wire;
    struct tls_conn *tls; /* NULL: the peer has said nothing yet */
    enum server_state state;
    bool is_close, has_early; /* early data was taken */
    bool has_moved;           /* this step completed a handshake or a request */
    bool is_early;            /* the answer leaves ahead of the client's Finished */
    char *head;               /* a request that is not complete yet, or NULL */
    size_t head_bytes;
    char answer[192]; /* its head */
    size_t answer_bytes, answer_sent;
    uint64_t body_left;
    bool is_ok_body;  /* "OK\n", else filler */
    uint64_t last_ns; /* progress: opened, handshake done, request complete, answer's bytes */
};

/* fd is the connection's from now on. */
void server_conn_open(struct server_conn *c, struct server_site *site, int fd, uint64_t now_ns);
/* Its first bytes are there: before the first step.  TLS takes tens of kB, which one who says
 * nothing shall not cost.  false: no memory, to be closed. */
bool server_conn_begin(struct server_conn *c);
/* It owes us something: a handshake or a request. */
bool server_conn_is_waiting(const struct server_conn *c);
/* true: goes on; false: over, to be closed. */
bool server_conn_step(struct server_conn *c, bool has_ended, uint64_t now_ns);
void server_conn_close(struct server_conn *c);

#endif
