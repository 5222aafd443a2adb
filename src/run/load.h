/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - the open-loop benchmark: fresh connections at a fixed rate, latency per arm.
 *
 * Layer: run (may include result tls net stats base).
 * Method: docs/METHOD.md, "Time and load" and "Comparing".  Each block runs every arm once,
 *   in random order; or, interleaved by connection, all arms take turns within one trial.
 *   Warm-up comes before the measured part of each trial and is dropped by due time.
 * Units: ns and per second inside, us in the result.
 */
#ifndef RUN_LOAD_H
#define RUN_LOAD_H

#include <signal.h>
#include <stdio.h>
#include "base/cpu.h"
#include "net/link_spec.h"
#include "run/arm.h"
#include "run/bench.h"
#include "run/conn.h"
#include "run/peer_program.h"
#include "run/schedule.h"

/* What a line of samples has more of where there is a link. */
#define LOAD_NETWORK_COLUMNS                                                         \
    "tcp_round_trips,tls_round_trips,client_flights,server_flights,client_segments," \
    "server_segments,client_retransmits,server_retransmits,client_timeouts,"         \
    "server_timeouts,client_dropped,server_dropped,client_flight_us,server_flight_us"

enum load_interleave { LOAD_INTERLEAVE_TRIAL, LOAD_INTERLEAVE_CONNECTION };

struct load_options {
    const struct arm_list *arms;
    const struct tls_backends *backends;
    double rate_per_s; /* arrivals at the server, of all arms together */
    enum schedule_kind arrivals;
    uint64_t duration_ns; /* measured part of a trial */
    uint64_t warmup_ns, grace_ns, timeout_ns;
    unsigned trials; /* of each arm, >= 1 */
    enum load_interleave interleave;
    unsigned workers; /* 0: one for each client core */
    bool is_spinning;
    unsigned max_in_flight; /* of all workers, >= workers */
    enum conn_close close;
    const struct address_range *sources; /* local, in turn; NULL: the kernel's choice */
    const char *target;                  /* "HOST:PORT"; NULL: the embedded server */
    const char *agent;                   /* "HOST:PORT" beside an external target; NULL: none */
    const struct peer_program *peer;     /* without a target: started instead of the embedded
                                            server; arms are checked (peer_check_arm) */
    const char *server_name;             /* SNI; NULL: the target's name, "": none */
    const char *path;      /* NULL: "/", or "/bytes/N" for an arm with a payload */
    const char *roots_pem; /* external target; NULL: verify against nothing, so refused */
    const char *program;   /* of the embedded server; NULL: this one */
    bool is_uncalibrated;
    FILE *samples;                /* every handshake as CSV, or NULL */
    const struct link_spec *link; /* between client and embedded server; NULL: loopback */
    const char *capture;          /* pcapng file of what crosses the link, or NULL */
    FILE *key_log;                /* the clients' TLS secrets, or NULL */
    uint64_t seed;
    struct cpu_set client_cores, server_cores;
    const volatile sig_atomic_t *stop;
    struct run_progress progress;
    struct run_keep keep; /* the sample file is as whole as the result then */
};

/* Fills arms, trials, comparisons, problems.  A stop keeps finished trials and marks the
 * result interrupted; so does an error between them (problem "ended-early", by "an error"),
 * which is returned all the same.  None finished, or not one completed handshake, is
 * ERR_FAILED: the result then still holds what was seen. */
int load_run(const struct load_options *options, struct result *result, struct err *e)
    __attribute__((warn_unused_result));
bool load_has_trials(const struct result *r); /* of any arm: there is something to show */

#endif
