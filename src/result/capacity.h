/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity.h - the highest rate that each arm holds an objective at, and the probes that say
 * so.
 *
 * Layer: result; part of result.h, which says who owns what and what absent is.
 * Shape: a probe is a trial of its arm (result_arm.trial) under a second heading: what it was
 *   for, and how it came out.  Its rate, latencies and problems stand in the trial.
 * Units: rates per second, latencies us, shares 0..1.
 * Source: docs/METHOD.md, "Capacity".
 */
#ifndef RESULT_CAPACITY_H
#define RESULT_CAPACITY_H

#include "base/err.h"
#include "result/result.h"

/* What a probe must keep: a share of the latencies of one phase below a limit, or the
 * failures. */
struct capacity_objective {
    bool is_failures;
    enum result_phase phase; /* TLS or RESPONSE */
    double quantile;         /* 0..1 */
    double limit;            /* us, or a share */
};
#define CAPACITY_OBJECTIVES_MAX 8u
/* "tls.p99", "response.p99.9", "failures" into buf; returns buf. */
char *capacity_objective_name(const struct capacity_objective *o, char *buf, size_t size);
/* What a trial says of it, in the limit's unit; NAN where it says nothing. */
double capacity_objective_value(const struct capacity_objective *o,
                                const struct result_trial *trial);

/* What ends the arm first. */
enum capacity_limit {
    CAPACITY_LIMIT_UNKNOWN, /* the search was not finished */
    CAPACITY_LIMIT_SERVER_CPU,
    CAPACITY_LIMIT_LINK,
    CAPACITY_LIMIT_BACKLOG,  /* arrivals wait, though no core and no line is seen to be full */
    CAPACITY_LIMIT_LATENCY,  /* the objective, before anything is full */
    CAPACITY_LIMIT_FAILURES, /* the share of failures */
    CAPACITY_LIMIT_CLIENT,   /* the generator: nothing is known of what is above */
    CAPACITY_LIMIT_MAX_RATE, /* the highest rate that may be probed holds */
    CAPACITY_LIMIT_MIN_RATE, /* the lowest does not */
};
#define CAPACITY_LIMITS 9u
const char *capacity_limit_name(enum capacity_limit limit); /* "server-cpu", ... */

enum capacity_held { CAPACITY_PROBE_HELD, CAPACITY_PROBE_BROKE, CAPACITY_PROBE_VOID };
#define CAPACITY_HELDS 3u
const char *capacity_held_name(enum capacity_held held); /* "held", "broke", "void" */

struct capacity_probe {
    unsigned arm, trial; /* index of the arm; number of its trial */
    enum capacity_held held;
    double link_busy; /* of its rate, the busier way; NAN: no link, or one without a rate */
};
struct capacity_arm {    /* one for each arm of the result, in its order */
    struct figure per_s; /* absent where it was not found */
    /* The highest rate that held, the lowest that broke, of valid probes; NAN: none. */
    double lower_bound_per_s, upper_bound_per_s;
    enum capacity_limit limited_by;
};
struct capacity {
    size_t objectives;
    struct capacity_objective objective[CAPACITY_OBJECTIVES_MAX];
    double confidence;
    size_t arms, probes;
    struct capacity_arm *arm;
    struct capacity_probe *probe; /* in the order they were made */
};

struct capacity *capacity_new(void);
void capacity_free(struct capacity *c);                        /* NULL: nothing */
struct capacity_arm *capacity_add_arm(struct capacity *c);     /* all absent */
struct capacity_probe *capacity_add_probe(struct capacity *c); /* void */
const struct result_trial *capacity_trial(const struct result *r,
                                          const struct capacity_probe *probe);
/* -1 and the first identity that does not hold: as many arms as the result has, probes lead to
 * trials, no two to one; an interval holds its value; no value where the generator or an
 * edge of the rates was the limit. */
int capacity_check(const struct result *r, struct err *e) __attribute__((warn_unused_result));

#endif
