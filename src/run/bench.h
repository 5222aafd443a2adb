/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - in-process handshakes: CPU and bytes of each side, per arm.
 *
 * Layer: run (may include result tls net stats base).
 * Method: a full client and a full server on two threads joined by an in-memory duplex
 *   ring; thread CPU time around the TLS calls only.  A repeat runs all arms in turns of a
 *   few handshakes, turns in random order, so that all arms see the same minutes; the
 *   first repeat is dropped.  See docs/METHOD.md.
 * Units: ns inside, us in the result.
 */
#ifndef RUN_BENCH_H
#define RUN_BENCH_H

#include <signal.h>
#include <stdint.h>
#include "base/cpu.h"
#include "run/arm.h"

/* What is going on, for the progress line; called from the caller's thread. */
struct run_progress {
    void (*report)(void *arg, const char *step, double done, double left_s);
    void *arg;
};

/* Called between trials, in the caller's thread, when the result holds what is finished so far
 * (figures of the whole run are still absent).  What it writes costs no trial anything. */
struct run_keep {
    void (*keep)(void *arg); /* NULL: none */
    void *arg;
};

struct bench_options {
    const struct arm_list *arms;
    const struct tls_backends *backends;
    unsigned handshakes; /* per arm and repeat, >= 1 */
    unsigned repeats;    /* kept ones, >= 1; one more is run first and dropped */
    uint64_t seed;
    struct cpu_set client_cores, server_cores; /* first core of each is used */
    uint64_t timeout_ns;                       /* of one handshake */
    bool without_primitives;
    const volatile sig_atomic_t *stop; /* signal number once the user wants to end */
    struct run_progress progress;      /* report may be NULL */
    struct run_keep keep;
};

/* Runs and fills `result` (arms, comparisons, problems, accounts; not command, config,
 * host).  A stop keeps finished repeats and marks the result interrupted; fewer than one
 * finished repeat is ERR_FAILED.  A handshake that fails is counted and named; an arm none
 * of whose handshakes completed is ERR_FAILED. */
int bench_run(const struct bench_options *options, struct result *result, struct err *e)
    __attribute__((warn_unused_result));

#endif
