/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tickets.h - the sessions that one arm and worker may resume, and whose turn it is.
 *
 * Layer: run.
 * Shape: the newest is used first; beyond TICKETS_MAX the oldest is dropped.  A ticket of
 *   TLS 1.3 serves one connection (RFC 8446, C.4), one of TLS 1.2 any number: on a resumed
 *   connection such a server need not send another (RFC 5077, 3.3).
 * Turns: of n connections n * share are to resume, evenly spread, none of them by chance; a
 *   turn without a ticket is not made up for later.
 * Threads: one owner.
 */
#ifndef RUN_TICKETS_H
#define RUN_TICKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tls/backend.h"

#define TICKETS_MAX 64u

struct ticket {
    struct tls_session *session; /* NULL: none */
    uint64_t kept_ns;
    bool serves_many;
};

struct tickets {
    const struct tls_backend *backend;
    double share; /* of connections that resume, 0..1 */
    double credit;
    size_t count;
    struct ticket ticket[TICKETS_MAX]; /* oldest first */
};

void tickets_init(struct tickets *t, const struct tls_backend *backend, double share);
void tickets_fini(struct tickets *t);

/* One more connection: is it its turn to resume? */
bool tickets_take_turn(struct tickets *t);
/* The newest that has not expired, now the caller's; session NULL: none. */
struct ticket tickets_take(struct tickets *t, uint64_t now_ns);
/* Keep one; it is then the pool's. */
void tickets_keep(struct tickets *t, const struct ticket *ticket);
/* After a connection was begun with it: kept again or freed. */
void tickets_done(struct tickets *t, const struct ticket *ticket);

#endif
