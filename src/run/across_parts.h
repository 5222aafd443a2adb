/* SPDX-License-Identifier: Apache-2.0 */
/*
 * across_parts.h - what the parts of comparing results share.
 *
 * Layer: run, private to across*.c.
 */
#ifndef RUN_ACROSS_PARTS_H
#define RUN_ACROSS_PARTS_H

#include "run/across.h"
#include "stats/between.h"

/* One arm of the reference with its counterparts; NULL where there is none. */
struct across_arm {
    const struct result_arm *reference;
    const char *other[ACROSS_SIDES_MAX]; /* its name there, where it is matched in all runs */
    const struct result_arm *of[ACROSS_SIDES_MAX][ACROSS_RUNS_MAX];
};
struct across_arms {
    size_t count;
    struct across_arm *arm;
};

/* across_match.c */
int across_match(const struct across_options *o, struct across_arms *out, struct err *e)
    __attribute__((warn_unused_result));
void across_arms_free(struct across_arms *arms);
/* The same settings, but for the baseline's name. */
bool across_same_spec(const struct result_pairs *a, const struct result_pairs *b);
/* The arm that this one is compared with in its own run; NULL: it is a baseline. */
const struct result_arm *across_baseline(const struct result *r, const struct result_arm *arm);
/* A copy of its baseline. */
bool across_is_control(const struct result *r, const struct result_arm *arm);

/* across_facts.c */
void across_find_facts(const struct across_options *o, const struct across_arms *arms,
                       struct across *a);

/* What a run says of one metric of an arm. */
struct across_reading {
    bool is_set, is_valid;
    double shown;           /* as measured, in the metric's unit */
    struct between_run run; /* what is compared: a logarithm, or for counts the value */
};

/* How a metric behaves from run to run. */
enum across_nature {
    ACROSS_TIME,  /* grows with all that slows the host */
    ACROSS_RATIO, /* of an arm to its baseline in the same run: the host cancels */
    ACROSS_COUNT, /* counted: the host does not matter */
};
struct across_metric {
    char name[64];
    const char *unit;
    enum across_nature nature;
    unsigned kinds; /* bit 1 << enum result_kind */
    bool is_main;
    double times;                     /* of the expected deviation from run to run */
    unsigned what, side, part, field; /* the reader's own */
};
/* The index-th metric; false behind the last.  across_metrics.c */
bool across_metric_at(size_t index, struct across_metric *out);
/* is_scaled: in units of the work timed beside it. */
struct across_reading across_read(const struct result *r, const struct result_arm *arm,
                                  const struct across_metric *m, bool is_scaled);
bool across_can_scale(const struct result_arm *arm, const struct across_metric *m);

#endif
