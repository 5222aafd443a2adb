/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_message.h - what the agent says, as structs and as JSON, both ways.
 *
 * Layer: run.
 * Units: ns of the agent's CLOCK_MONOTONIC; totals, to be subtracted.
 * Shape: docs/AGENT.md.  Reading is strict: a member of another kind, a number below 0 or
 *   beyond 2^63-1, a series that is not in order of time are refused; members that are not
 *   known are passed over, those that may be absent read as AGENT_UNKNOWN.
 * Threads: any.
 */
#ifndef RUN_AGENT_MESSAGE_H
#define RUN_AGENT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/host.h"
#include "base/text.h"

#define AGENT_SCHEMA "pqc-bench-agent/1"
#define AGENT_UNKNOWN UINT64_MAX
#define AGENT_LABEL_BYTES 96u
#define AGENT_SERIES_MAX 4096u /* rows of one answer */

/* One reading of everything. */
struct agent_reading {
    char label[AGENT_LABEL_BYTES]; /* what is watched: "nginx", "pid 71", "self" */
    bool is_present;               /* a process of it is there */
    uint64_t at_ns;
    /* AGENT_UNKNOWN: not known here.  Of the processes: */
    uint64_t processes, threads, cpu_ns, run_delay_ns, voluntary, involuntary;
    /* of the machine: */
    uint64_t cores, busy_ns, steal_ns, softirq_ns, listen_overflows, listen_drops;
};

/* One row of the series. */
struct agent_row {
    uint64_t at_ns;
    uint64_t cpu_ns, run_delay_ns; /* of the processes; delay AGENT_UNKNOWN: not known */
    uint64_t thread_cpu_ns;        /* of the busiest thread, tick by tick */
    uint64_t thread_delay_ns;      /* of the one that waited longest; may be unknown */
    uint64_t away_ns;              /* the same, and time for which all were stopped */
    uint64_t steal_ns;             /* of the cores; may be unknown */
    uint64_t active_threads;
};

void agent_write_reading(const struct agent_reading *r, struct text *out);
void agent_write_series(const struct agent_row *row, size_t count, bool is_whole,
                        struct text *out);
void agent_write_host(const struct host_facts *f, struct text *out);

/* data need not end in NUL.  ERR_FAILED says what is wrong. */
int agent_read_reading(const char *data, size_t bytes, struct agent_reading *out, struct err *e)
    __attribute__((warn_unused_result));
/* One answer's rows.  after_ns and row (room for AGENT_SERIES_MAX) are the caller's: all rows
 * must be later; a failure leaves count 0. */
struct agent_series {
    uint64_t after_ns;
    struct agent_row *row;
    size_t count;
    bool is_whole; /* no newer row was there */
};
int agent_read_series(const char *data, size_t bytes, struct agent_series *series,
                      struct err *e) __attribute__((warn_unused_result));
/* Texts are made harmless. */
int agent_read_host(const char *data, size_t bytes, struct host_facts *out, struct err *e)
    __attribute__((warn_unused_result));

#endif
