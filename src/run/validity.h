/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validity.h - may this trial be believed?  Each answer is a code, an arm and a trial.
 *
 * Layer: run.  Pure: facts in, problems in the result out.
 * Units: shares 0..1; unknown numbers are NAN and raise nothing.
 * Source: docs/METHOD.md, "When a trial is not valid"; the limits stand below.
 */
#ifndef RUN_VALIDITY_H
#define RUN_VALIDITY_H

#include <stdbool.h>
#include "base/host.h"
#include "result/result.h"

#define VALIDITY_CLIENT_BUSY_MAX 0.80
#define VALIDITY_SERVER_BUSY_MAX 0.95
#define VALIDITY_LAG_MIN_NS 100000.0 /* start lag p99: this, or the share of tls p50 */
#define VALIDITY_LAG_SHARE_OF_TLS 0.05
#define VALIDITY_STARTED_MIN 0.99
#define VALIDITY_ERRORS_MAX 0.001
#define VALIDITY_STEAL_MAX 0.01
#define VALIDITY_RESUMED_MIN 0.90 /* of the handshakes that were to resume */
#define VALIDITY_SPEED_CHANGE_MAX 0.10
#define VALIDITY_CLOCK_COST_MAX_NS 1000u
#define VALIDITY_CLOCK_RESOLUTION_MAX_NS 1000u

/* What one trial of one arm saw that struct result_trial does not hold. */
struct validity_trial {
    const char *arm;
    const struct result_trial *trial; /* complete; in the result */
    double busiest_worker;            /* share of the measured part */
    double lag_allowed_ns; /* start lag p99 that does no harm, beside the limits above; 0 */
    unsigned max_in_flight;
    uint64_t held_back;                   /* arrivals that waited for a place in flight */
    const struct result_negotiated *seen; /* of this trial */
    const char *groups;                   /* offered; "" or DEFAULT-ish lists: not checked */
    bool expects_resumption, expects_early;
};
/* Adds what is wrong: client-saturated, server-saturated, errors, wrong-group,
 * unexpected-hrr, unexpected-resumption, not-resumed, no-early-data, steal, throttled,
 * speed-changed.  An arrival that waits because max_in_flight connections are out waits for the
 * server: that is server-saturated unless a worker was busy as well. */
void validity_check_trial(const struct validity_trial *v, struct result *result);

struct validity_run {
    bool shares_cores;     /* client and server on one core */
    bool is_over_loopback; /* note: no segments, windows, delay */
    const struct host_facts *host;
};
/* shared-cores, clock, loopback-hides-network; and speed-changed for the trials whose speed
 * differs from the median of all trials. */
void validity_check_run(const struct validity_run *v, struct result *result);

/* Was a HelloRetryRequest to be expected?  Yes where the list chooses its shares itself
 * ('*') and leaves some groups without. */
bool validity_expects_hrr(const char *groups);

#endif
