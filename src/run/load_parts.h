/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_parts.h - what the files of the load benchmark share.
 *
 * Layer: run, private to load*.c.
 */
#ifndef RUN_LOAD_PARTS_H
#define RUN_LOAD_PARTS_H

#include <stdatomic.h>
#include "run/child.h"
#include "run/load.h"
#include "run/worker.h"

#define LOAD_REQUEST_BYTES 1024u

/* Handshakes of one worker for --samples: filled in the loop, written after the trial. */
struct load_records {
    struct shard_record *record;
    unsigned *arm;
    size_t count, capacity;
};

struct load {
    const struct load_options *options;
    struct result *result;
    struct arm_plan *plan; /* one per arm */
    struct endpoint_list *endpoints;
    struct child child;
    bool has_child;
    struct conn_address target[ARMS_MAX];
    char server_name[256];
    char host[300]; /* for Host: */
    char request[ARMS_MAX][LOAD_REQUEST_BYTES];
    size_t workers;
    struct worker *worker;
    struct load_records *records; /* one per worker, or NULL */
    atomic_bool cancel;
    uint64_t began_ns;
    unsigned position; /* trials run */
    size_t steps;      /* runs planned */
};

/* ---- load_setup.c ---- */
int load_set_up(struct load *l, struct err *e) __attribute__((warn_unused_result));
void load_take_down(struct load *l);

/* ---- load_trial.c ---- */
/* What one run left, for filling in trials. */
struct load_window {
    uint64_t start_ns, measured_ns, end_ns, over_ns; /* schedule, measured part, its end, last
                                                        connection over */
    struct server_totals server_before, server_after;
    bool has_server;
    struct cpu_losses client_before, client_after, server_losses_before, server_losses_after;
    double speed_before_ns, speed_after_ns;
    size_t server_workers;
    struct sample **server_samples; /* by worker */
    size_t *server_sample_count;
    struct sample **client_samples;
    size_t *client_sample_count;
};
/* One run of the workers.  Returns 0, -1 with an error, or 1: stopped, nothing counts. */
int load_run_once(struct load *l, const struct worker_plan *plan, const char *step,
                  struct load_window *out, struct err *e) __attribute__((warn_unused_result));
void load_window_fini(struct load *l, struct load_window *w);

/* The trial of one arm out of what the workers' shards hold. */
void load_fill_trial(struct load *l, unsigned arm, const struct load_window *w,
                     double due_per_s);

/* ---- load_slow.c ---- */
void load_fill_slowest(struct load *l, unsigned arm, const struct load_window *w,
                       struct result_trial *trial);
void load_write_samples(struct load *l, const struct load_window *w);

#endif
