/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_seen.h - what the measuring client saw of an arm's handshakes, counted without
 * allocation.
 *
 * Layer: run, private to the in-process benchmark.
 * Shape: fixed room: names beyond SEEN_NAMES_MAX are counted as "other", failures beyond
 *   SEEN_FAILURES_MAX with the last one.
 * Threads: one writer; read and merged while no job runs.
 */
#ifndef RUN_BENCH_SEEN_H
#define RUN_BENCH_SEEN_H

#include "result/result.h"
#include "tls/backend.h"
#include "tls/ring.h"

#define SEEN_NAMES_MAX 8u
#define SEEN_NAME_SIZE 48u
#define SEEN_FAILURES_MAX 8u

struct seen_names {
    unsigned used;
    struct {
        char name[SEEN_NAME_SIZE];
        uint64_t count;
    } entry[SEEN_NAMES_MAX];
};

struct seen_failure {
    struct tls_failure failure;
    enum duplex_side side; /* the end that says so */
    bool is_timeout;
    uint64_t count;
};

struct seen {
    uint64_t completed, failed, timed_out;
    uint64_t hrr, hrr_for_a_share_sent; /* the second: the group's share was in the hello */
    uint64_t resumed, asked, offered;   /* sessions; turns to resume, sessions there */
    uint64_t early_accepted, early_rejected;
    struct seen_names group, cipher, signature, version;
    struct result_range handshake[RESULT_SIDES], tickets, client_hello, server_flight,
        round_trips;
    unsigned flights;
    struct result_flight flight[DUPLEX_FLIGHTS_MAX];
    unsigned failures;
    struct seen_failure failure[SEEN_FAILURES_MAX];
};

void seen_reset(struct seen *s);
void seen_merge(struct seen *into, const struct seen *from);

/* One completed handshake.  `counts` as of both ends done; `has_early_data`: the first
 * flight holds more than the ClientHello. */
void seen_add(struct seen *s, const struct tls_info *info, const struct duplex_counts *counts,
              bool has_early_data);
void seen_add_failure(struct seen *s, const struct tls_failure *failure, enum duplex_side side,
                      bool is_timeout);

/* The name of the largest count, NULL where nothing was counted. */
const char *seen_most(const struct seen_names *names);

/* Into the arm (negotiated and bytes, adding to what is there) / the trial's tally and
 * failures; scheduled is what the repeat should have made. */
void seen_to_arm(const struct seen *s, struct result_arm *arm);
void seen_to_trial(const struct seen *s, uint64_t scheduled, struct result_trial *trial);

#endif
