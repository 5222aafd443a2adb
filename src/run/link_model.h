/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_model.h - how long a handshake takes by its bytes, the window, the delay and the rate.
 *
 * Layer: run.  Pure: no clock, no measuring.
 * Model: a side's flight of n segments leaves in windows: the initial congestion window
 *   first, twice as many at each acknowledgement.  A window follows the one before it by a
 *   round trip, or without a gap where the line is still sending.  The line takes each
 *   segment's bits at its rate.  Left out: CPU, loss, other connections on the line.
 * Units: ns, bytes.
 * Source: docs/METHOD.md, "What a handshake should take"; RFC 5681 3.1, RFC 6928.
 * Threads: any.
 */
#ifndef RUN_LINK_MODEL_H
#define RUN_LINK_MODEL_H

#include "net/link_spec.h"
#include "result/result.h"

#define LINK_MODEL_INITCWND 10u /* of the kernel: RFC 6928 */

/* One side's flights of a TLS 1.3 handshake, in turn: client, server, client, ... */
struct link_model_flights {
    unsigned count; /* at most 6 */
    double bytes[6];
};

/* From the first byte sent to the last of the last flight received. */
double link_model_ns(const struct link_spec *spec, const struct link_model_flights *flights);

/* From the end of the last of these flights: the request's flight, the client's Finished in
 * front, and the response's, until its last byte is there. */
double link_model_response_ns(const struct link_spec *spec,
                              const struct link_model_flights *flights, double request_bytes,
                              double response_bytes);

/* SYN to connected. */
double link_model_connect_ns(const struct link_spec *spec);

/* The flights of an arm that was measured; count 0: not of TLS 1.3, or nothing was seen. */
void link_model_flights_of(const struct result_arm *arm, struct link_model_flights *out);

#endif
