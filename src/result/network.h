/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - what of an arm's connections crossed an emulated link, and the link itself.
 *
 * Layer: result; part of result.h, which says who owns what and what absent is.
 * Units: counts of round trips, flights, segments and packets; us.
 * Threads: one owner; merge after the writers have stopped.
 */
#ifndef RESULT_NETWORK_H
#define RESULT_NETWORK_H

#include <stdint.h>
#include "base/err.h"
#include "result/seen.h"

/* Sides are the senders.  Ranges: until the client had completed the handshake, counted in
 * each completed connection; counts: over the whole of these connections. */
struct result_network {
    struct result_range tcp_round_trips, tls_round_trips; /* count 0: there was no link */
    struct result_range flights[RESULT_SIDES], segments[RESULT_SIDES];
    struct result_range later_bytes[RESULT_SIDES]; /* of TLS, from there to the response's last
                                                      byte */
    uint64_t retransmits[RESULT_SIDES];            /* segments sent again */
    uint64_t timeouts[RESULT_SIDES];               /* of them after a timeout, SYNs included */
    uint64_t dropped[RESULT_SIDES];                /* segments that the link dropped */
    double model_tcp_us, model_tls_us, model_ttlb_us; /* by bytes, window, delay and rate,
                                          without CPU and loss; NAN: none */
    uint64_t disturbed; /* connections of which the link dropped any */
};
/* -1 and the first identity that does not hold: ranges are ordered, both round trips are of
 * the same connections, which hold those that were disturbed.  `at`: the arm's place. */
int network_check(const char *at, const struct result_network *n, struct err *e)
    __attribute__((warn_unused_result));
void network_merge(struct result_network *into, const struct result_network *from);

/* One way of the link, over the whole run. */
struct result_link_way {
    uint64_t packets, bytes, lost, queue_full, too_large, overflow;
    double late_p99_us, late_max_us; /* delivered after their time; NAN: no packets */
};

#endif
