/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_parts.h - what the files of the load benchmark, and of the search for a capacity that
 * is made of its trials, share.
 *
 * Layer: run, private to load*.c and capacity.c.
 */
#ifndef RUN_LOAD_PARTS_H
#define RUN_LOAD_PARTS_H

#include <stdatomic.h>
#include "run/agent.h"
#include "run/agent_client.h"
#include "net/link.h"
#include "run/child.h"
#include "run/load.h"
#include "run/worker.h"

#define LOAD_REQUEST_BYTES 1024u

/* Independent streams of the run's seed. */
enum load_stream {
    LOAD_STREAM_ORDER,
    LOAD_STREAM_ARRIVALS,
    LOAD_STREAM_TURNS,
    LOAD_STREAM_COMPARE,
    LOAD_STREAM_LINK,
    LOAD_STREAM_PROBES,
};

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
    struct link *link;          /* NULL: none */
    bool has_child, has_agent;  /* the child may be someone else's server, which has an agent */
    struct arm_list *peer_arms; /* for it: the arms, with its TLS library at the server */
    struct address agent;
    struct address target[ARMS_MAX];
    char server_name[256];
    char host[300]; /* for Host: */
    char request[ARMS_MAX][LOAD_REQUEST_BYTES];
    size_t workers;
    struct worker *worker;
    struct load_records *records; /* one per worker, or NULL */
    atomic_bool cancel;
    uint64_t began_ns;
    double lag_allowed_ns; /* start lag that does no harm whatever tls takes; 0: none */
    unsigned position;     /* trials run */
    size_t steps;          /* runs planned */
};

/* Has it counters and samples of its own? */
static inline bool load_is_embedded(const struct load *l)
{
    return l->has_child && l->options->peer == NULL;
}

/* ---- load.c ---- */
/* A run of the workers that counts: a trial of one arm, or of every arm where they take turns.
 * 0, -1 with an error, or 1: stopped, and there is no trial. */
struct load_turn {
    double rate_per_s; /* of all arms together */
    unsigned block;    /* turns of one block meet the same arrivals */
    unsigned arm;
    const char *step; /* for the progress line */
};
int load_run_turn(struct load *l, const struct load_turn *turn, struct err *e)
    __attribute__((warn_unused_result));
/* As fast as it goes for a second, with a few connections open; counts in no trial. */
struct load_flood {
    double completed_per_s;
    double generator_per_s; /* by what a handshake cost the client then, the highest rate at
                               which no worker is busier than valid trials allow; NAN: none */
};
int load_flood(struct load *l, unsigned arm, struct load_flood *out, struct err *e)
    __attribute__((warn_unused_result));
/* The result so far, to whoever keeps it. */
void load_keep(struct load *l);
/* Marks the result: an error ended the run, which holds what was finished until then. */
void load_end_early(struct load *l, const struct err *why);
/* The run's own problems, the link's account and the time, into the result. */
void load_conclude(struct load *l);
/* ERR_FAILED: no trial was finished, or no handshake completed. */
int load_check_outcome(const struct load *l, struct err *e) __attribute__((warn_unused_result));

/* ---- load_setup.c ---- */
int load_set_up(struct load *l, struct err *e) __attribute__((warn_unused_result));
void load_take_down(struct load *l);
bool load_shares_cores(const struct load_options *o); /* client and server have one in common */
/* Zeroed, aligned for the shards in them, to be freed; NULL: no memory (errno). */
struct conn_arm *load_new_arms(size_t count) __attribute__((warn_unused_result));
/* Arm i as planned, against the run's target. */
int load_make_arm(struct load *l, size_t i, const struct arm_plan *plan, struct conn_arm *out,
                  struct err *e) __attribute__((warn_unused_result));

/* ---- load_client.c ---- */
/* Where the client of the first arm is not the usual library: what its handshakes take with
 * either, as a note.  0, -1 with an error, or 1: stopped. */
int load_compare_clients(struct load *l, struct err *e) __attribute__((warn_unused_result));

/* ---- load_link.c: without a link each of these does nothing ---- */
int load_link_open(struct load *l, uint64_t seed, struct err *e)
    __attribute__((warn_unused_result));
/* What crossed it, and whether it kept its times, into the result. */
void load_link_fill(struct load *l);
int load_link_close(struct load *l, struct err *e) __attribute__((warn_unused_result));

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
    struct sample *server_first, *client_first; /* by worker: as the measured part began */
    /* What the agent said; has_agent: all of it. */
    bool has_agent;
    struct agent_reading agent_before, agent_after;
    struct agent_clock agent_clock_before, agent_clock_after;
    struct agent_row *agent_row; /* in our time once the trial is over */
    size_t agent_rows;
    uint64_t agent_fetched_ns;
    const char *agent_problem; /* a code, or NULL */
    char agent_message[256];
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

/* ---- load_agent.c: without an agent each of these does nothing ---- */
/* Fills in the second host of the result. */
int load_agent_find(struct load *l, struct err *e) __attribute__((warn_unused_result));
/* The one of our own child, on this host. */
int load_agent_adopt(struct load *l, struct err *e) __attribute__((warn_unused_result));
/* Around a run, and now and then in it.  An agent that is lost becomes a problem of the
 * trial, whose figures are then absent. */
void load_agent_before(struct load *l, struct load_window *w);
void load_agent_watch(struct load *l, struct load_window *w);
void load_agent_after(struct load *l, struct load_window *w);
void load_agent_fill_machine(const struct load_window *w, struct result_trial *t);
void load_agent_fill_cpu(const struct load_window *w, struct result_trial *t);
/* Mean of the agent's cores, 0..1; false: not known. */
bool load_agent_steal(const struct load_window *w, double *share, double *cores);
void load_agent_add_problems(struct load *l, const struct load_window *w, const char *arm,
                             unsigned trial);
void load_agent_window_fini(struct load_window *w);

#endif
