/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_model.h - how long a handshake takes by its bytes, the window, the delay and the rate.
 *
 * Layer: result (may include base only).  Pure: no clock, no measuring.
 * Model: a side's flight of n segments leaves in windows: the initial congestion window
 *   first, twice as many at each acknowledgement.  A window follows the one before it by a
 *   round trip, or without a gap where the line is still sending.  The line takes each
 *   segment's bits at its rate.  Left out: CPU, loss, other connections on the line.
 * Units: ns, bytes.
 * Source: docs/METHOD.md, "What a handshake should take"; RFC 5681 3.1, RFC 6928.
 * Threads: any.
 */
#ifndef RESULT_LINK_MODEL_H
#define RESULT_LINK_MODEL_H

#include "result/result.h"

#define LINK_MODEL_INITCWND 10u       /* of the kernel: RFC 6928 */
#define LINK_MODEL_HEAD_BYTES 52u     /* of a segment: IPv4, TCP and its timestamps */
#define LINK_MODEL_RETRY_BYTES 99u    /* HelloRetryRequest, and change_cipher_spec behind it */
#define LINK_MODEL_FINISHED_BYTES 80u /* the client's last flight of a handshake */

/* A way, by its sender; delay without jitter, queue and rate. */
struct link_model_way {
    double delay_ns;
    double rate_bits_per_s;    /* 0: no limit */
    unsigned initcwnd_packets; /* 0: the kernel's */
};
struct link_model_line {
    struct link_model_way way[RESULT_SIDES];
    unsigned mtu_bytes; /* more than LINK_MODEL_HEAD_BYTES */
};

/* One side's flights of a TLS 1.3 handshake, in turn: client, server, client, ... */
struct link_model_flights {
    unsigned count; /* at most 6 */
    double bytes[6];
};

/* From the first byte sent to the last of the last flight received. */
double link_model_ns(const struct link_model_line *line,
                     const struct link_model_flights *flights);

/* From the end of the last of these flights: the request's flight, the client's Finished in
 * front, and the response's, until its last byte is there. */
double link_model_response_ns(const struct link_model_line *line,
                              const struct link_model_flights *flights, double request_bytes,
                              double response_bytes);

/* SYN to connected. */
double link_model_connect_ns(const struct link_model_line *line);

/* The flights of an arm that was measured; count 0: not of TLS 1.3, or nothing was seen. */
void link_model_flights_of(const struct result_arm *arm, struct link_model_flights *out);

#endif
