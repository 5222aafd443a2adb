/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the embedded TLS target: HTTP/1.1 over TLS, one thread a core.
 *
 * Layer: run.
 * Shape: every worker has its own listener (SO_REUSEPORT), TLS contexts and connections;
 *   nothing is shared but counters that others read.  GET / answers "OK\n", GET /bytes/N
 *   answers N bytes; keep-alive unless the client says close.
 *   Tickets are sealed with one key, so that each worker takes those of the others.  What
 *   anti-replay keeps of early data is one worker's, which serves such an endpoint alone.
 * Endpoints: one process serves several configurations, each on a port of its own, so that
 *   arms that need different ones are still measured on the same server.
 * Bounds: a request head of HTTP_HEAD_BYTES_MAX; SERVER_TIMEOUT_NS for a handshake and for a
 *   request, however slowly their bytes trickle, and without a byte of an answer leaving, and
 *   a connection ends.  At the descriptor limit, or with SERVER_CONNS_MAX, those who have
 *   owed the rest of a handshake or a request for SERVER_PATIENCE_NS end, oldest first; where
 *   there is none the server stops accepting for a moment, and clients wait in the backlog.
 * Threads: start and stop from one; totals and samples from any.
 */
#ifndef RUN_SERVER_H
#define RUN_SERVER_H

#include <stdint.h>
#include "base/cpu.h"
#include "net/address.h"
#include "run/sampler.h"
#include "tls/backend.h"

#define SERVER_ENDPOINTS_MAX 64u
#define SERVER_TIMEOUT_NS 30000000000u
#define SERVER_PATIENCE_NS 1000000000u
#define SERVER_CONNS_MAX 12288u /* of each worker; some 50 kB each once they speak */
#define SERVER_BODY_MAX_BYTES (UINT64_C(1) << 30)

struct server_endpoint {
    const struct tls_backend *backend;
    const struct tls_config *config; /* with identity; read during start only */
    struct address address;          /* port 0: chosen, see server_port */
};

struct server_options {
    const struct server_endpoint *endpoint;
    size_t endpoints;     /* 1..SERVER_ENDPOINTS_MAX */
    struct cpu_set cores; /* one worker each, pinned; count 0: one worker, not pinned */
    uint64_t timeout_ns;  /* 0: SERVER_TIMEOUT_NS */
};

struct server;

/* All workers listen when this returns. */
struct server *server_start(const struct server_options *options, struct err *e)
    __attribute__((warn_unused_result));
void server_stop(struct server *s); /* open connections are closed; NULL: nothing */

unsigned server_port(const struct server *s, size_t endpoint);
size_t server_workers(const struct server *s);

struct server_totals {
    uint64_t accepted, handshakes, handshakes_failed, resumed, requests, timed_out;
    uint64_t put_out;       /* ended because others came */
    uint64_t accept_paused; /* times nobody more could be let in */
    uint64_t body_bytes;
    uint64_t early;  /* connections whose early data was taken */
    uint64_t cpu_ns; /* of the workers' threads */
    uint64_t at_ns;
};
void server_read_totals(struct server *s, struct server_totals *out);
/* As sampler_keep, of every worker. */
void server_keep_samples(struct server *s, uint64_t from_ns);
/* As sampler_copy, of one worker. */
struct sample *server_copy_samples(struct server *s, size_t worker, uint64_t since_ns,
                                   size_t *count, struct sample *kept);

#endif
