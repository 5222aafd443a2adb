/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h - what one worker counted of one arm in one trial.
 *
 * Layer: run.
 * Shape: written by one thread without locks, merged into a trial after the threads have
 *   stopped.  Full, resumed and early-data handshakes have histograms of their own; their
 *   sum is the trial's.  Histograms keep the memory of earlier trials (reset, not freed), so
 * that a value's first allocation happens in the warm-up at the latest. Units: ns. Threads: one
 * writer.
 */
#ifndef RUN_SHARD_H
#define RUN_SHARD_H

#include <stdbool.h>
#include <stdint.h>
#include "net/link_flow.h"
#include "result/result.h"
#include "stats/histogram.h"

#define SHARD_FAILURES 48u /* kinds; further kinds are added to the last, "other" */
#define SHARD_GROUPS 16u
#define SHARD_SLOWEST 32u
#define SHARD_DETAIL 120u

enum conn_phase { CONN_TCP, CONN_TLS, CONN_REQUEST, CONN_RESPONSE };
const char *conn_phase_name(enum conn_phase phase); /* "tcp", "tls", "request", "response" */

struct shard_failure {
    enum conn_phase phase;
    const char *cause; /* a literal */
    int code;
    bool is_local;
    char detail[SHARD_DETAIL]; /* the first one's */
    uint64_t count;
};

/* What crossed the link, by sender; see result/network.h. */
struct shard_network {
    unsigned tcp_round_trips, tls_round_trips;
    unsigned flights[RESULT_SIDES], segments[RESULT_SIDES]; /* until the handshake was done */
    uint32_t flight_us[RESULT_SIDES][LINK_FLIGHTS];         /* after the SYN came to the link */
    uint64_t later_bytes[RESULT_SIDES]; /* of TLS, from there to the last of the response */
    unsigned retransmits[RESULT_SIDES], timeouts[RESULT_SIDES], dropped[RESULT_SIDES];
};

/* One handshake as it was, for the slowest and the samples file. */
struct shard_record {
    uint64_t due_ns, end_ns;          /* CLOCK_MONOTONIC */
    uint64_t phase_ns[RESULT_PHASES]; /* UINT64_MAX: no such phase */
    uint64_t start_lag_ns;
    uint32_t retransmits;
    bool is_hrr, is_resumed, has_network;
    enum result_handshake handshake;
    struct shard_network network;
};

struct shard {
    struct result_tally tally; /* scheduled is counted by what ended or did not */
    struct histogram *latency_ns[RESULT_HANDSHAKES][RESULT_PHASES], *start_lag_ns;
    uint64_t hrr, resume_asked, resume_offered, resumed, early_accepted, early_rejected;
    struct result_range tickets; /* bytes of a connection's tickets, with record headers */
    uint64_t last_end_ns;        /* of the recorded ones */
    uint64_t retransmits, unclean_closes, held_back, oldest_unfinished_ns;
    const char *group[SHARD_GROUPS]; /* the library's string, which outlives the run */
    uint64_t group_count[SHARD_GROUPS];
    struct result_network network;                             /* of the recorded ones */
    struct result_range client_hello, handshake[RESULT_SIDES]; /* bytes */
    char cipher[64], signature[64], version[8];                /* of the last handshake */
    struct shard_failure failure[SHARD_FAILURES];
    unsigned failures, slow;                    /* used */
    struct shard_record slowest[SHARD_SLOWEST]; /* a min-heap by response */
};

void shard_init(struct shard *s);
void shard_fini(struct shard *s);
void shard_reset(struct shard *s);

/* Hot path: O(kinds), no allocation. */
void shard_count_failure(struct shard *s, const struct shard_failure *f);
void shard_count_group(struct shard *s, const char *group);
/* Of a finished handshake, with record headers: the first flight (0: not alone), all sent, all
 * received. */
void shard_count_bytes(struct shard *s, uint64_t client_hello_bytes, uint64_t client_bytes,
                       uint64_t server_bytes);
/* Records the phases that there are, and keeps the slowest by response, or by the sum of
 * its phases where there is none. */
void shard_record(struct shard *s, const struct shard_record *r);

/* Add to a trial and its negotiation counts; not the slowest, whose causes take more. */
void shard_merge(const struct shard *s, struct result_trial *trial,
                 struct result_negotiated *seen, struct result_bytes *bytes);

#endif
