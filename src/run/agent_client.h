/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_client.h - asks an agent; how its clock stands to ours.
 *
 * Layer: run (net base).
 * Units: ns; agent time + offset = our time.
 * Shape: each function opens a connection, asks, and closes it.  Blocking, at most
 *   AGENT_CLIENT_TIMEOUT_NS for each answer; answers beyond AGENT_ANSWER_MAX_BYTES are
 *   refused.
 * Method: an exchange's offset is the middle of asking and getting less the agent's time;
 *   the truth is at most half the round trip off.  Of several the one with the shortest
 *   round trip counts (Cristian 1989).
 * Failures: ERR_SYSTEM: not reached, or lost; ERR_FAILED: it is no agent.
 * Threads: any.
 */
#ifndef RUN_AGENT_CLIENT_H
#define RUN_AGENT_CLIENT_H

#include "net/address.h"
#include "run/agent_message.h"

#define AGENT_CLIENT_TIMEOUT_NS 2000000000u
#define AGENT_ANSWER_MAX_BYTES (4u << 20)
#define AGENT_EXCHANGES 8u

struct agent_clock {
    uint64_t at_ns;    /* ours, when it was read */
    int64_t offset_ns; /* ours less the agent's */
    uint64_t error_ns; /* at most so far off */
};

/* The first of the addresses that accepts. */
int agent_client_find(const char *text, struct address *out, struct err *e)
    __attribute__((warn_unused_result));

/* A reading, and the clocks by AGENT_EXCHANGES exchanges on one connection. */
int agent_client_read(const struct address *at, struct agent_reading *out,
                      struct agent_clock *clock, struct err *e)
    __attribute__((warn_unused_result));
int agent_client_read_host(const struct address *at, struct host_facts *out, struct err *e)
    __attribute__((warn_unused_result));

/* All rows after `since_ns` (agent's clock); the caller frees *rows, also after a failure. */
int agent_client_read_series(const struct address *at, uint64_t since_ns,
                             struct agent_row **rows, size_t *count, struct err *e)
    __attribute__((warn_unused_result));

/* Agent time as ours, between two readings of the clocks on the line through both. */
uint64_t agent_clock_ours(const struct agent_clock *a, const struct agent_clock *b,
                          uint64_t agent_ns);

#endif
