/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lab.h - the in-process benchmark's state, shared by its parts.
 *
 * Layer: run, private to bench*.c.
 * Words: a repeat runs every arm `handshakes` times, in rounds.  At the start of a round
 *   every arm's contexts are made anew, in random order, so that where they lie in memory is
 *   drawn again; then every arm gets one turn, in random order.  So rounds are independent
 *   draws, and equal arms differ by chance alone.
 * Threads: the caller's, but for the jobs it gives to the pair.
 */
#ifndef RUN_BENCH_LAB_H
#define RUN_BENCH_LAB_H

#include "base/rng.h"
#include "run/bench.h"
#include "run/bench_turn.h"

#define BENCH_TURN 40u            /* handshakes of a turn, about */
#define BENCH_WATCHED 20u         /* handshakes per arm whose messages are watched */
#define BENCH_WARM_UP 1u          /* before each turn; also gives a session to resume */
#define BENCH_PRIMITIVE_VISITS 8u /* of each primitive in a repeat, at most */
#define BENCH_ARM_PRIMITIVES_MAX 24u

struct bench_identity {
    const char *kind;
    enum tls_chain chain;
    const struct tls_backend *maker;
    struct tls_identity pem;
};

/* One cryptographic operation, timed on the thread of its side; shared by arms. */
struct bench_primitive {
    const struct tls_backend *backend;
    enum duplex_side side;
    enum tls_primitive what;
    const char *subject; /* static: a group's name or a certificate kind of an arm */
    struct tls_primitive_op *op;
    bool is_absent; /* the library has it not, or it failed */
    unsigned batch; /* runs per reading; 0: not yet known */
    size_t readings, room;
    double *reading_us; /* of the repeat under way */
    size_t repeats;
    double *repeat_us; /* of each kept repeat; NAN: none */
};

/* How much of a primitive an arm's handshake has; `full_only`: not where it resumes. */
struct bench_use {
    size_t primitive;
    unsigned times;
    bool full_only;
};

struct cpu_work; /* base/cpu_work.h */

struct bench_row {
    uint32_t ns[2][BENCH_PARTS];
    uint64_t instructions[2], cycles[2];
};

struct bench_arm {
    struct arm_plan plan;
    struct bench_lane lane;
    const struct bench_identity *identity;
    struct bench_watch *watch;
    size_t uses;
    struct bench_use use[BENCH_ARM_PRIMITIVES_MAX];

    /* The repeat under way. */
    unsigned position; /* of its first turn among the arms, 1.. */
    unsigned begun;    /* handshakes */
    bool is_stalled;
    uint64_t elapsed_ns;
    struct seen now;
    unsigned rows;
    struct bench_row *row; /* completed ones */
    double *round_us[2];   /* median total of each round's turn; NAN: none completed */
    double *work_us[2];    /* the fixed piece of work before that turn; NAN: no turn */

    /* Kept repeats. */
    struct seen kept;
    size_t differences;
    double *difference_us[2]; /* from the baseline, one per round and side */
};

struct bench {
    const struct bench_options *options;
    struct result *result;
    size_t arms, identities, primitives;
    struct bench_arm *arm;
    struct bench_identity *identity;
    struct bench_primitive *primitive;
    struct pair *pair;
    struct duplex *duplex;
    struct cpu_set cores;
    struct rng rng;
    struct cpu_work *work[2];
    struct bench_turn turn; /* the one under way */
    double *scratch;

    uint64_t clock_cost_ns;
    bool has_counters[2];
    struct cpu_counters counters[2];

    unsigned rounds;
    size_t *order;         /* of arms */
    unsigned repeat, kept; /* repeats begun, finished and kept */

    uint64_t started_ns, next_report_ns, measured_ns;
    uint64_t process_before_ns, thread_before_ns;
    uint64_t reported_ns; /* sum of all samples */
    uint64_t metered_ns;  /* the meters' own sum */
    double turns_done, turns_planned;
    char step[64];
};

/* bench_setup.c.  All in untimed set-up. */
int bench_set_up(struct bench *b, struct err *e) __attribute__((warn_unused_result));
void bench_tear_down(struct bench *b);
/* Free all contexts and sessions, make new ones in random order. */
int bench_make_contexts(struct bench *b, struct err *e) __attribute__((warn_unused_result));
/* Run a job, reporting progress while it runs.  only: as pair_start. */
void bench_run_job(struct bench *b, pair_job *job, void *arg, int only);
bool bench_is_stopped(const struct bench *b);

/* bench_repeat.c */
/* Messages, the ClientHello's shares; ERR_FAILED for an arm that completes nothing. */
int bench_watch_all(struct bench *b, struct err *e) __attribute__((warn_unused_result));
/* One repeat; kept in the result unless it is the first or was stopped in the middle. */
int bench_repeat_run(struct bench *b, struct err *e) __attribute__((warn_unused_result));

/* bench_primitives.c */
void bench_primitives_plan(struct bench *b); /* after bench_watch_all */
void bench_primitives_free(struct bench *b);
void bench_primitives_read(struct bench *b);               /* some readings of each */
void bench_primitives_keep(struct bench *b, bool is_kept); /* the repeat's end */
void bench_primitives_summarise(struct bench *b);

/* bench_work.c */
void bench_work_read(struct bench *b, struct bench_arm *a, unsigned round);
void bench_work_keep(struct bench *b, const struct bench_arm *a, struct result_trial *trial);
void bench_work_free(struct bench *b);

/* bench_summary.c */
void bench_summarise(struct bench *b); /* arms' figures and comparisons */

/* bench_problems.c */
struct bench_conditions {
    double started_s, elapsed_s;
    double steal, throttled; /* shares, NAN unknown */
    double speed_before_ns, speed_after_ns;
};
/* Faults and notes of the run's place, its repeats and its arms; before the verdicts. */
void bench_find_problems(struct bench *b);
/* "alert 40 ...: no group in common: client offers ..., server has ..." into buf. */
char *bench_explain_failure(const struct bench_arm *arm, const struct seen *seen, char *buf,
                            size_t size);

#endif
