/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_flow.h - what of each TCP connection crossed a link: round trips, flights, segments.
 *
 * Layer: net (may include base only).  No I/O, no clock.
 * Shape: one place for each port of the client, whose address is the only one; a new
 *   connection's SYN empties it.  Packets that are not TCP over IPv4 are passed over.
 * Round trips: counted by cause, not by time.  What the client sends is of round r, where r
 *   round trips are over; what the server sends after receiving that is of round r too; when
 *   it arrives, r + 1 are over.  So a segment that had to wait for the acknowledgement of
 *   others counts, whatever the congestion control is.
 * Flight: the segments with data of one side in one round.
 * Retransmit: a segment with SYN or data before the highest that the side has sent.
 *   Timeout: a retransmit of a SYN, or after the sender's silence of a round trip and the
 *   least retransmission timeout, 200 ms; probes of the tail that took as long included.
 * Source: RFC 9293 3.1, RFC 791 3.1; TCP_RTO_MIN of the kernel's include/net/tcp.h.
 * Threads: one writer.  Readers, of other processes too, see a connection's counts once they
 *   got by a system call what was counted.
 */
#ifndef NET_LINK_FLOW_H
#define NET_LINK_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "net/link_spec.h"

#define LINK_FLOWS 65536u
#define LINK_FLIGHTS 4u /* whose times are kept */

/* By way, LINK_UP and LINK_DOWN; retransmits and timeouts are of that way's sender. */
struct link_flow {
    uint64_t last_sent_ns[LINK_WAYS];
    uint64_t began_ns;                           /* its SYN */
    uint32_t flight_us[LINK_WAYS][LINK_FLIGHTS]; /* after that: a flight's first segment */
    uint32_t end_sequence[LINK_WAYS];
    uint32_t first_sequence; /* of the client's SYN */
    uint32_t payload_bytes[LINK_WAYS];
    uint16_t server_port;
    uint16_t segments[LINK_WAYS], data_segments[LINK_WAYS], flights[LINK_WAYS];
    uint16_t retransmits[LINK_WAYS], timeouts[LINK_WAYS], dropped[LINK_WAYS];
    uint8_t round[LINK_WAYS]; /* of what the side sends next: the client's is the number of
                                 round trips that are over */
    uint8_t flight_round[LINK_WAYS];
    uint8_t generation;
    bool is_used, has_sent[LINK_WAYS];
};

struct link_flows {
    uint64_t timeout_ns; /* silence before a timeout */
    struct link_flow flow[LINK_FLOWS];
};

/* All zeros is empty; rtt_ns: of the link. */
void link_flows_init(struct link_flows *f, uint64_t rtt_ns);

/* A packet comes to the link.  Returns a mark that is to come with it where it arrives. */
uint16_t link_flow_sent(struct link_flows *f, enum link_way way, const void *packet,
                        size_t bytes, uint64_t now_ns, bool is_dropped);
void link_flow_arrived(struct link_flows *f, enum link_way way, const void *packet,
                       size_t bytes, uint16_t mark);
/* The packet of that mark, from or to this port of the client's, was lost after all. */
void link_flow_lost(struct link_flows *f, enum link_way way, uint16_t client_port,
                    uint16_t mark);
/* The client's port of a packet; 0: of no TCP segment. */
uint16_t link_flow_port(enum link_way way, const void *packet, size_t bytes);

#endif
