/* SPDX-License-Identifier: Apache-2.0 */
/*
 * across.h - what comparing results with each other found out, as plain data.
 *
 * Layer: result (may include stats base).
 * Units: in each row's unit; changes and ratios as shares, 0.05 is 5 % more.
 * Shape: side 0 is the reference; every other side is compared with it.  A side is one result
 *   or several of the same.  Everything is owned by struct across.  NAN, NULL and empty lists
 *   are absent, as in result.h.
 * Threads: one owner; readers may share a const one.
 */
#ifndef RESULT_ACROSS_H
#define RESULT_ACROSS_H

#include <stdbool.h>
#include <stddef.h>
#include "result/result.h"

#define ACROSS_SIDES_MAX 16u
#define ACROSS_RUNS_MAX 64u /* of one side */

struct across_side {
    char *name; /* as it was given */
    size_t runs;
    char **file; /* one a run */
    char *started_at, *version, *cpu_model, *arch;
    unsigned interrupted, invalid; /* runs */
    double work_us; /* the host's fixed piece of work, median over repeats; NAN unknown */
};

/* One thing in which a side's circumstances differ from the reference's. */
struct across_fact {
    size_t side;          /* 0: runs of the reference among themselves */
    char *subject;        /* "host", "build", "library", "option", "link", "arm" */
    char *arm;            /* NULL unless the subject is an arm */
    char *name;           /* "cpu_model" */
    char *before, *after; /* NULL: absent */
    bool forbids;         /* comparing makes no sense unless the user says so */
};

struct across_row {
    size_t side;
    char *arm;   /* of the reference; NULL: the change that all arms have in common */
    char *other; /* its name in the side, where it is another one; else NULL */
    char *metric, *unit;
    bool is_main;   /* a word is due; the others are there to be looked at */
    bool is_scaled; /* by the host's speed, told by its fixed piece of work */
    struct figure before,
        after;            /* as measured; the mean over a side's runs; intervals absent */
    double measured;      /* change of these two; NAN for a row of all arms */
    struct figure change; /* with 95 % interval */
    double noise_floor;   /* what the control's own shift shows; NAN without one */
    enum result_verdict verdict;
};

/* "pq:cpu_us.server > +5%" and what became of it. */
struct across_limit {
    char *text;
    size_t rows;     /* it was held against */
    size_t broken;   /* in so many rows the whole interval lies beyond */
    size_t unjudged; /* rows without interval, or withheld */
    size_t worst;    /* index of the row that is farthest beyond; broken > 0 */
};

struct across {
    enum result_kind kind;
    double run_deviation; /* what runs of one build are taken to differ by, a share */
    bool is_forced;       /* although a fact forbids it */
    size_t sides;
    struct across_side *side;
    size_t facts, rows, limits, left;
    struct across_fact *fact;
    struct across_row *row;
    struct across_limit *limit;
    char **unmatched; /* "pq (in after.json)": arms that have no counterpart */
};

struct across *across_new(void);
void across_free(struct across *a); /* NULL: nothing */

/* Building; the pointers stay valid until the next add to the same list. */
struct across_side *across_add_side(struct across *a, const char *name);
void across_add_file(struct across_side *side, const char *path);
struct across_fact *across_add_fact(struct across *a);
struct across_row *across_add_row(struct across *a); /* figures absent, inconclusive */
struct across_limit *across_add_limit(struct across *a, const char *text);
void across_add_unmatched(struct across *a, const char *text);

/* The first fact that forbids the comparison; NULL: none. */
const struct across_fact *across_forbidding(const struct across *a);
/* Is a difference named anywhere among the rows that get a word? */
bool across_is_different(const struct across *a, size_t side);

#endif
