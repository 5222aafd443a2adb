/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_turn.h - a few handshakes of one arm on the thread pair, measured.
 *
 * Layer: run, private to the in-process benchmark.
 * Method: CLOCK_THREAD_CPUTIME_ID around the TLS calls only; waiting, waking the other side,
 *   meeting it and counting lie outside.  The cost of reading the clock is subtracted from
 *   each pair of readings.  One more pair of barriers a handshake keeps the sides together:
 *   all is quiet before the ring is reset, both are done before the bytes are counted.
 * Units: ns, bytes.
 * Hot path: no allocation of ours, no lock, no print.
 * Threads: pair_job; the turn belongs to the two threads while it runs.
 */
#ifndef RUN_BENCH_TURN_H
#define RUN_BENCH_TURN_H

#include "base/cpu.h"
#include "run/arm.h"
#include "run/bench_seen.h"
#include "run/hello.h"
#include "run/pair.h"

#define TURN_HANDSHAKES_MAX 64u
#define TURN_TIMEOUTS_MAX 3u /* in a row; the turn then ends early */
#define BENCH_SERVER_NAME "localhost"

enum bench_part { BENCH_SETUP, BENCH_HANDSHAKE, BENCH_TEARDOWN };
#define BENCH_PARTS 3u

/* CPU of one side of one handshake. */
struct bench_sample {
    uint64_t ns[BENCH_PARTS];
    uint64_t instructions, cycles; /* 0 without counters */
};

/* Only where messages are watched. */
struct bench_watch {
    struct result_bytes messages; /* by type; all else in it stays empty */
    char group[SEEN_NAME_SIZE];   /* negotiated most often, "" none */
    char cipher[SEEN_NAME_SIZE];  /* the same of the cipher suite */
    bool has_hello;
    struct hello hello;                     /* of the last handshake */
    uint8_t stream[HELLO_BYTES_MAX + 512u]; /* what the client sent first */
    size_t stream_bytes;
    uint8_t times[2][256]; /* messages by direction and type in this handshake */
};

/* What an arm needs to be run; contexts made by the side that uses them. */
struct bench_lane {
    const struct arm_plan *plan;
    struct tls_context *context[2];
    struct tls_session *session; /* client's newest; NULL: none */
    double resume_credit;        /* of a session that is to be offered at 1 */
};

enum bench_outcome { BENCH_COMPLETED, BENCH_FAILED, BENCH_TIMED_OUT };

struct bench_turn {
    struct bench_lane *lane;
    struct duplex *duplex;
    unsigned handshakes; /* 1..TURN_HANDSHAKES_MAX */
    uint64_t timeout_ns, clock_cost_ns;
    const struct cpu_counters *counters[2]; /* NULL: none */
    struct bench_watch *watch;              /* NULL: messages are not watched */
    bool never_resumes;                     /* a warm-up: every handshake is full */

    /* Out. */
    unsigned done; /* handshakes that were begun */
    bool is_stalled;
    bool is_complete[TURN_HANDSHAKES_MAX];
    struct bench_sample sample[2][TURN_HANDSHAKES_MAX]; /* also of those that failed */
    uint64_t metered_ns[2]; /* CPU inside the library, kept apart from the samples */
    struct seen seen;
    /* Between the sides, written before a meeting and read behind it. */
    enum bench_outcome outcome[2];
    struct tls_failure failure[2];
    struct duplex_counts counts;
};

/* pair_job; arg: struct bench_turn, its inputs set and all else zero. */
void bench_turn_run(struct pair *p, enum duplex_side side, void *arg);

#endif
