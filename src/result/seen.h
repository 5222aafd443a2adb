/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - what was seen of an arm's handshakes: how they began and ended, groups, bytes.
 *
 * Layer: result; part of result.h, which says who owns what and what absent is.
 * Units: bytes and counts.
 * Shape: ranges and lists that merge: of workers, of trials, of machines.
 * Source: RFC 8446 B.3 for the messages' types.
 * Threads: one owner; merge after the writers have stopped.
 */
#ifndef RESULT_SEEN_H
#define RESULT_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum result_side { RESULT_CLIENT, RESULT_SERVER };
#define RESULT_SIDES 2u
const char *result_side_name(enum result_side side); /* "client", "server" */

/* Smallest, mean and largest of a count that may vary from handshake to handshake. */
struct result_range {
    uint64_t count; /* handshakes it was seen in; 0: absent */
    uint64_t min, max;
    double mean;
};
void range_add(struct result_range *r, uint64_t value);
void range_merge(struct result_range *into, const struct result_range *from);

/* What a new connection may send before it waits: the initial congestion window, ten segments
 * of Ethernet's 1448 bytes (RFC 6928; 12 bytes of timestamps). */
#define RESULT_WINDOW_BYTES 14480u

struct result_message {
    enum result_side sender;
    unsigned type;  /* HandshakeType; 6 HelloRetryRequest */
    unsigned index; /* 0 first of its type in a handshake, 1 second (ClientHello after HRR) */
    struct result_range bytes;
};
struct result_flight {
    enum result_side sender;
    struct result_range bytes;
};
struct result_bytes {
    struct result_range handshake[RESULT_SIDES]; /* all of one side until both are done */
    struct result_range tickets;                 /* server, after the handshake */
    struct result_range client_hello;            /* the first, as a record with its header */
    struct result_range server_flight;           /* the server's last flight of the handshake */
    struct result_range round_trips; /* client waits for the server, until the client may send
                                        data: 1 for TLS 1.3, 2 with HRR or TLS 1.2 */
    size_t messages, flights;
    struct result_message *message;
    struct result_flight *flight;
};

enum result_phase {
    RESULT_PHASE_TCP,
    RESULT_PHASE_TLS,
    RESULT_PHASE_TTFB,
    RESULT_PHASE_TTLB,
    RESULT_PHASE_RESPONSE, /* from the scheduled start to the last byte */
};
#define RESULT_PHASES 5u
/* "tcp", "tls", "ttfb", "ttlb", "response" */
const char *result_phase_name(enum result_phase phase);

/* How a handshake began. */
enum result_handshake {
    RESULT_HANDSHAKE_FULL,
    RESULT_HANDSHAKE_RESUMED,
    RESULT_HANDSHAKE_EARLY, /* resumed, and its early data was accepted */
};
#define RESULT_HANDSHAKES 3u
/* "full", "resumed", "early_data" */
const char *result_handshake_name(enum result_handshake handshake);

struct result_count {
    char *name;
    uint64_t count;
};
/* What the measuring client saw, over all counted handshakes of the arm. */
struct result_negotiated {
    char *group, *cipher, *signature, *tls; /* of the largest count */
    uint64_t handshakes, hrr, resumed, early_data_accepted, early_data_rejected;
    /* Handshakes whose turn it was to resume, and those that had a session to offer. */
    uint64_t resume_asked, resume_offered;
    size_t groups;
    struct result_count *group_count; /* every group seen, largest first */
};

/* scheduled = completed + failed + timed_out + unfinished + not_started */
struct result_tally {
    uint64_t scheduled, completed, failed, timed_out, unfinished, not_started;
};
bool tally_holds(const struct result_tally *t);
void tally_add(struct result_tally *into, const struct result_tally *from);

/* count more handshakes with this group: adds to n->handshakes as well.  NULL: no group was
 * negotiated (RSA key transport, PSK alone), counted as "none".  Case is not told apart. */
void negotiated_add(struct result_negotiated *n, const char *group, uint64_t count);
void negotiated_merge(struct result_negotiated *into, const struct result_negotiated *from);
void bytes_add_message(struct result_bytes *b, enum result_side sender, unsigned type,
                       unsigned index, uint64_t bytes);
/* position 0.. in the handshake; all flights at one position have the same sender. */
void bytes_add_flight(struct result_bytes *b, unsigned position, enum result_side sender,
                      uint64_t bytes);
void bytes_merge(struct result_bytes *into, const struct result_bytes *from);
void bytes_free(struct result_bytes *b);           /* what it owns, not b */
void negotiated_free(struct result_negotiated *n); /* the same */

/* Handshake message's name: "ClientHello"; "type 77" into buf for unknown ones. */
const char *result_message_name(unsigned type, char *buf, size_t size);

#endif
