/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowest.h - why one of the slowest handshakes was slow.
 *
 * Layer: run.  Pure.
 * Units: ns; NAN unknown.
 * Method: what a handshake took beyond the arm's typical one is its excess.  Each possible
 *   cause has explained at most as much of the handshake's window as was measured for it;
 *   the first, in the order of enum slow_cause, that explains SLOW_SHARE of the excess is
 *   the cause.  What nothing explains is called unexplained: that is an answer too.
 */
#ifndef RUN_SLOWEST_H
#define RUN_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

#define SLOW_SHARE 0.5

enum slow_cause {
    SLOW_STEAL,            /* the hypervisor ran something else */
    SLOW_CLIENT_PREEMPTED, /* our worker could run, or should have, and did not */
    SLOW_SERVER_PREEMPTED, /* the server's did not */
    SLOW_RETRANSMIT,       /* TCP sent something again */
    SLOW_CLIENT_QUEUE,     /* our worker was busy with other connections */
    SLOW_SERVER_QUEUE,     /* the server's was */
    SLOW_HRR,              /* a HelloRetryRequest, where it is not the rule */
    SLOW_UNEXPLAINED,
};
#define SLOW_CAUSES 8u
const char *slow_cause_name(enum slow_cause cause); /* "client-preempted", ... */

/* All of one handshake's window, from due to last byte. */
struct slow_facts {
    double response_ns;    /* the window */
    double typical_ns;     /* the arm's median response in this trial */
    double steal_ns;       /* of both sides' cores */
    double client_away_ns; /* the worker wanted to run and did not: run delay, stopped */
    double server_away_ns; /* the same of the server's workers */
    double client_busy_ns; /* CPU the worker spent in the window */
    double server_busy_ns; /* CPU of the busiest server worker in the window */
    double typical_client_busy_ns, typical_server_busy_ns; /* CPU of one handshake */
    double start_lag_ns;
    uint64_t retransmits;
    bool is_hrr, is_hrr_usual;
};
enum slow_cause slow_cause_of(const struct slow_facts *f);

#endif
