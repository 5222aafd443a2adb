/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity.h - the highest rate of arrivals that holds an objective, arm against arm.
 *
 * Layer: run (may include result tls net stats base).
 * Method: docs/METHOD.md, "Capacity".  Rounds of short open-loop trials ("probes"), one of
 *   each arm that is still searched for, in random order; each at the rate that its arm's
 *   search asks for (capacity_search.h).
 * Units: rates per second, ns, shares.
 */
#ifndef RUN_CAPACITY_H
#define RUN_CAPACITY_H

#include "result/capacity.h"
#include "run/load.h"

#define CAPACITY_FAILURES_LIMIT 0.001 /* where the objectives say nothing of failures */
#define CAPACITY_LAG_SHARE 0.10       /* of the tightest limit: start lag that does no harm */

struct capacity_options {
    /* What a probe is: duration, warm-up, grace, target, cores, seed, progress; its rate,
     * trials, interleave and calibration are not looked at. */
    struct load_options load;
    const struct capacity_objective *objective; /* at least one of latency */
    size_t objectives;
    double least_per_s, most_per_s; /* rates that may be probed; 0 < least < most */
    double precision;               /* stop at an interval of this half width, as a share */
    uint64_t budget_ns;             /* no probe begins that would end behind it */
};

/* "p99=10ms", "response.p50=2ms", "failures=0.5%" -> an objective; ERR_USAGE with the value
 * and what is accepted. */
int capacity_objective_parse(const char *text, struct capacity_objective *out, struct err *e)
    __attribute__((warn_unused_result));

/* Fills arms, trials, capacity, comparisons, problems.  A stop keeps the probes that are done
 * and marks the result interrupted.  ERR_FAILED: no probe was finished, or no handshake
 * completed; the result then still holds what was seen. */
int capacity_run(const struct capacity_options *options, struct result *result, struct err *e)
    __attribute__((warn_unused_result));

#endif
