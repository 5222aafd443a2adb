/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - tells over HTTP what a server costs its machine: CPU, waiting, steal, queues.
 *
 * Layer: run (net base).
 * Shape: one thread of its own takes a sample every AGENT_INTERVAL_NS into a ring and
 *   answers GET /v1/sample, /v1/series?since=NS and /v1/host (docs/AGENT.md).
 * Bounds: AGENT_RING rows, then the oldest are overwritten; agent_http.h for the peers.
 * Cost: samples are taken more rarely where they would need more than AGENT_COST_SHARE of
 *   a core, so that the agent does not disturb what it watches.
 * Threads: start and stop from one.
 */
#ifndef RUN_AGENT_H
#define RUN_AGENT_H

#include "base/cpu.h"
#include "net/address.h"
#include "run/agent_watch.h"

#define AGENT_INTERVAL_NS 10000000u
#define AGENT_SCAN_NS 250000000u
#define AGENT_RING 65536u /* a power of two; 11 minutes */
#define AGENT_COST_SHARE 0.01

struct agent_options {
    struct address at;          /* port 0: any, see agent_address */
    int listener;               /* > 0: listens already, the agent's to close; `at` is unused */
    struct agent_target target; /* own_tid is filled in */
    struct cpu_set cores;       /* whose busy time and steal are told; count 0: all allowed */
};

/* "127.0.0.1:9000", "[::1]:9000", ":9000" (loopback, not every address), or with port 0.
 * ERR_USAGE, ERR_SYSTEM as address_parse and address_resolve. */
int agent_parse_address(const char *text, struct address *out, struct err *e)
    __attribute__((warn_unused_result));

struct agent;

/* It answers when this returns.  ERR_USAGE: there is no such process; ERR_SYSTEM: the
 * address is in use, or not ours. */
struct agent *agent_start(const struct agent_options *options, struct err *e)
    __attribute__((warn_unused_result));
const struct address *agent_address(const struct agent *a);
void agent_stop(struct agent *a); /* NULL: nothing */

#endif
