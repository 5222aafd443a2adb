/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h - what a run found out: plain data between those who measure and those who show.
 *
 * Layer: result (may include stats and base).  No measuring, no formatting.
 * Units: the last word of each name; shares are 0..1.
 * Shape: everything is owned by struct result and freed by result_free.  A real number
 *   that does not exist is NAN (see figure_is_set), a text that does not exist is NULL, a
 *   list that does not exist is empty: all are absent from every output, never 0 or NaN.
 * Schema: "pqc-bench/1"; docs/RESULT.md names each field as JSON has it.
 * Threads: one owner; readers may share a const result.
 */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/host.h"
#include "result/network.h"
#include "result/pairs.h"
#include "result/seen.h"
#include "stats/histogram.h"

#define RESULT_SCHEMA "pqc-bench/1"
enum result_kind { RESULT_KIND_CPU, RESULT_KIND_LOAD, RESULT_KIND_CAPACITY };
#define RESULT_KINDS 3u
const char *result_kind_name(enum result_kind kind); /* "cpu", "load", "capacity" */

/* A measured value with its 95 % interval; low and high are NAN where there is none. */
struct figure {
    double value, low, high;
};
#define FIGURE_ABSENT                                           \
    {                                                           \
        __builtin_nan(""), __builtin_nan(""), __builtin_nan("") \
    }
bool figure_is_set(const struct figure *f);
bool figure_has_interval(const struct figure *f);

struct result_backend {
    char *name, *version, *description;
};
struct result_build {
    char *version, *compiler, *flags, *sanitizer; /* sanitizer NULL: none */
    size_t backends;
    struct result_backend *backend; /* those that took part */
};

/* A fault in a trial that no figure or verdict rests on is left out: the rest may be valid. */
enum result_severity { RESULT_FAULT, RESULT_LEFT_OUT, RESULT_NOTE };
#define RESULT_SEVERITIES 3u
const char *result_severity_name(enum result_severity severity); /* "left-out" */
struct result_problem {
    char *code;     /* METHOD.md: "client-saturated", ... */
    char *arm;      /* NULL: the whole run */
    unsigned trial; /* 1.., 0: the whole arm */
    enum result_severity severity;
    char *message;
};

/* CPU parts of a side's handshake. */
enum result_cpu_part {
    RESULT_CPU_HANDSHAKE, /* from the first to the last call of handshake */
    RESULT_CPU_SETUP,     /* making the connection object */
    RESULT_CPU_TEARDOWN,  /* close_notify, tickets, freeing */
    RESULT_CPU_TOTAL,
};
#define RESULT_CPU_PARTS 4u
const char *result_cpu_part_name(enum result_cpu_part part); /* "setup", ... */

struct result_cpu {
    struct figure us[RESULT_SIDES][RESULT_CPU_PARTS]; /* median over the repeats */
    struct figure min_us[RESULT_SIDES];               /* total: least repeat (value only) */
    struct figure instructions[RESULT_SIDES], cycles[RESULT_SIDES];
    struct figure primitives_us[RESULT_SIDES];    /* sum of the side's primitives */
    struct figure primitives_share[RESULT_SIDES]; /* of total, 0..1 */
};
struct result_primitive {
    enum result_side side;
    char *operation, *subject; /* "keygen", "sign", ...; group or certificate kind */
    unsigned times;            /* per handshake */
    struct figure us;
};

struct result_failure {
    char *phase, *cause; /* "tls", "alert" */
    int code;            /* alert number, errno or 0 */
    bool is_local;       /* ours (fd limit, ports), not the peer's */
    char *detail;        /* first one's text, harmless; may be NULL */
    uint64_t count;
};

/* Why one of the slowest handshakes was slow. */
struct result_slow {
    double at_s;                           /* due time after the trial's measured part began */
    struct figure phase_us[RESULT_PHASES]; /* values only */
    double start_lag_us, run_delay_us, server_run_delay_us, steal_us; /* NAN unknown */
    uint64_t involuntary, retransmits;
    char *cause; /* client-preempted, client-queue, steal, retransmit, server-preempted,
                    server-queue, hrr, unexplained */
};

struct result_trial {
    unsigned index;              /* 1.. in its arm */
    unsigned position;           /* 1.. in the whole run's order */
    double started_s, elapsed_s; /* after the run's start; measured part */
    bool is_valid, is_censored;
    bool is_left_out; /* with its block: in no summary, no comparison; not valid then */
    struct result_tally tally;
    size_t failures;
    struct result_failure *failure;
    /* kind cpu: per handshake of this repeat, median over its handshakes */
    double cpu_us[RESULT_SIDES][RESULT_CPU_PARTS];
    double instructions[RESULT_SIDES], cycles[RESULT_SIDES];
    double work_us[RESULT_SIDES], cpu_per_work[RESULT_SIDES]; /* base/cpu_work.h; its total */
    /* kind load */
    double due_per_s, achieved_per_s;
    struct histogram *latency_ns[RESULT_PHASES]; /* NULL: absent */
    /* The same by how the handshake began; all NULL where every one was full. */
    struct histogram *apart_ns[RESULT_HANDSHAKES][RESULT_PHASES];
    struct histogram *start_lag_ns;
    double side_cpu_us[RESULT_SIDES]; /* CPU of the side per completed handshake */
    double client_busy, server_busy, steal, throttled; /* shares 0..1, NAN unknown */
    double speed_before_ns, speed_after_ns;            /* cpu_speed_probe, worst core */
    uint64_t retransmits, unclean_closes;
    uint64_t oldest_unfinished_ns;
    size_t slow;
    struct result_slow *slowest;
};

struct result_arm {
    char *name;
    struct result_pairs spec;
    struct result_pairs prediction; /* key share prediction: source, server, share, reason */
    char *client_backend, *server_backend; /* "openssl-3.5.7" */
    struct result_negotiated negotiated;
    struct result_bytes bytes;
    struct result_network network;
    struct result_cpu cpu;
    size_t primitives, trials;
    struct result_primitive *primitive;
    struct result_trial *trial;
};

/* Differences are paired by block; they need not be value - baseline_value. */
enum result_verdict {
    RESULT_VERDICT_SLOWER,
    RESULT_VERDICT_FASTER, /* of times */
    RESULT_VERDICT_MORE,
    RESULT_VERDICT_FEWER, /* of counts: bytes */
    RESULT_VERDICT_SAME,  /* no difference beyond noise */
    RESULT_VERDICT_INCONCLUSIVE,
    RESULT_VERDICT_WITHHELD, /* a trial it rests on is not valid */
};
#define RESULT_VERDICTS 7u
/* "slower", "faster", "no-difference", "inconclusive", "withheld" */
const char *result_verdict_name(enum result_verdict verdict);
struct result_comparison {
    char *baseline, *arm, *metric;
    double baseline_value;
    struct figure value;      /* of the arm; interval absent */
    struct figure difference; /* with interval */
    struct figure ratio;      /* value / baseline_value, with interval where derived */
    double confidence;
    double noise_floor; /* largest difference the control could explain; NAN without one */
    enum result_verdict verdict;
    double settle_s; /* inconclusive: how long a run might settle it; NAN unknown */
};

struct result {
    enum result_kind kind;
    char *started_at;
    double elapsed_s;
    size_t command_words;
    char **command;
    struct result_pairs config; /* every option with its value, defaults included */
    struct result_pairs link;   /* every key of the emulated link; empty: there was none */
    struct result_link_way link_way[RESULT_SIDES]; /* by its sender */
    struct result_build build;
    size_t hosts;
    struct result_host {
        char *role; /* "client", "server", "both" */
        struct host_facts facts;
        char *client_cores, *server_cores; /* "1", "0" */
        /* The client's clock less this one, and how far that may be off; NAN unknown. */
        double clock_offset_ns, clock_error_ns;
    } * host;
    /* A server that others wrote and this run started; NULL: none. */
    struct {
        char *name, *version, *tls_library; /* "nginx", "1.26.3", "openssl-3.5.9" */
    } server;
    bool is_valid;
    size_t problems;
    struct result_problem *problem;
    bool is_interrupted;
    char *interrupted_by; /* "SIGINT" */
    uint64_t seed;
    /* The measuring's own accounts (cpu): process CPU, what was reported, the rest. */
    double process_cpu_s, reported_cpu_s, harness_cpu_s;
    double clock_cost_ns; /* subtracted from every CPU reading */
    size_t arms, comparisons;
    struct result_arm *arm;
    struct result_comparison *comparison;
    struct capacity *capacity; /* result/capacity.h; NULL: of another kind */
};

struct result *result_new(enum result_kind kind); /* valid, empty, every figure absent */
void result_free(struct result *r);               /* NULL: nothing */

/* Building. Names and values are copied.  Pointers from *_add stay valid until the next add
 * to the same list, which grows by these functions only.  Text members are replaced with
 * result_set_text, which frees what was there; value may be NULL. */
void result_set_text(char **member, const char *value);
void result_add_command_word(struct result *r, const char *word);
struct result_arm *result_add_arm(struct result *r, const char *name);
struct result_arm *result_find_arm(const struct result *r, const char *name); /* or NULL */
/* index is the next one; position 0 until set; valid; figures absent, counts 0 */
struct result_trial *arm_add_trial(struct result_arm *arm);
struct result_trial *arm_find_trial(const struct result_arm *arm, unsigned index); /* or NULL */
struct result_primitive *arm_add_primitive(struct result_arm *arm);                /* times 1 */
struct result_comparison *result_add_comparison(struct result *r);       /* confidence 0.95 */
struct result_host *result_add_host(struct result *r, const char *role); /* facts unknown */
void result_add_backend(struct result *r, const char *name, const char *version,
                        const char *description); /* once per name and version */
/* Severity FAULT makes the result not valid, and the trial, if named: that of the arm, or,
 * with arm NULL, of every arm.  arm NULL: the whole run; trial 0: the whole arm. */
void result_add_problem(struct result *r, enum result_severity severity, const char *code,
                        const char *arm, unsigned trial, const char *message);
/* The trials of this index are left out with their faults; valid again without others. */
void result_leave_out(struct result *r, unsigned index);
/* Are its handshakes told apart by sort?  Not where every one was full. */
bool trial_is_split(const struct result_trial *trial);
/* Those of one sort; NULL: none.  Without a split all are full. */
const struct histogram *trial_latency_of(const struct result_trial *trial,
                                         enum result_handshake handshake,
                                         enum result_phase phase);
/* Merges by (phase, cause, code, is_local). detail may be NULL; it is made harmless. */
void trial_add_failure(struct result_trial *trial, const struct result_failure *f);
struct result_slow *trial_add_slow(struct result_trial *trial); /* figures absent, cause NULL */

/* Every identity that must hold in any result, also in one read from a file: numbers are
 * finite, tallies add up, intervals and ranges are ordered, counts agree (a latency has at
 * most as many samples as there were completed, the groups add up to the handshakes), names
 * are unique and not empty, references lead somewhere, counts and the seed fit in JSON
 * (seed < 2^53).  -1 with the first broken one, as ERR_FAILED.  The writers assert it. */
int result_check(const struct result *r, struct err *e) __attribute__((warn_unused_result));

#endif
