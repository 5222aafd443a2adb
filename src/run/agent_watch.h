/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_watch.h - running totals of a group of processes, some of which come and go.
 *
 * Layer: run (base only).
 * Units: ns; totals that never fall, so that two readings are subtracted.
 * Shape: the group is this process, or a process with its descendants, or all processes of
 *   one name.  A scan finds who belongs to it; a tick reads those that are known.
 *   A process that ends keeps the CPU time of the last tick in the total; what it used
 *   after that, and what children used that no scan saw, comes from its parent (time of
 *   children waited for) where the parent belongs to the group.
 * Bounds: AGENT_PROCESSES_MAX, AGENT_THREADS_MAX; those beyond are not counted (threads:
 *   only in what is told per thread).
 * Cost: a tick about 5 us for each thread, a scan about 15 us for each process there is.
 * Threads: one owner.
 */
#ifndef RUN_AGENT_WATCH_H
#define RUN_AGENT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

#define AGENT_PROCESSES_MAX 1024u
#define AGENT_THREADS_MAX 4096u

struct agent_target {
    pid_t pid;           /* > 0: this process and its descendants */
    bool without_itself; /* of pid: its descendants alone */
    const char *name;    /* not NULL: all processes so named; outlives the watch */
    pid_t own_tid;       /* with neither: this process but for this thread */
};

struct agent_process {
    pid_t pid, parent;
    uint64_t started_ticks;
    uint64_t cpu_ns, reaped_ns, reaped_from_ns;
    bool is_there, is_stopped;
};

struct agent_thread {
    pid_t pid, tid;
    uint64_t cpu_ns, run_delay_ns; /* last reading */
    uint64_t since_ns;             /* CPU when the present round of counting began */
    bool is_there, is_new;
};

struct agent_totals {
    size_t processes, threads; /* 0 processes: none is there */
    size_t active_threads;     /* used a hundredth of a core in the second before */
    uint64_t cpu_ns;           /* of all, user + system */
    bool has_thread_times;     /* false: the kernel keeps none of the following */
    uint64_t run_delay_ns;     /* of all; from the watch's beginning */
    /* The largest of all threads, tick by tick: what the busiest one used, what the one
     * that waited longest waited. */
    uint64_t thread_cpu_ns, thread_delay_ns;
    bool is_stopped; /* every process is, by a signal or a debugger */
};

struct agent_watch {
    const char *root;
    struct agent_target target;
    struct agent_process *process;
    struct agent_thread *thread;
    size_t processes, threads, hint;
    bool has_scanned;
    uint64_t gone_orphan_ns, gone_child_ns, gone_reaped_ns;
    uint64_t active_from_ns;
    struct agent_totals totals;
};

/* root as in file.h.  ERR_USAGE: no such process. */
int agent_watch_init(struct agent_watch *w, const char *root, const struct agent_target *target,
                     struct err *e) __attribute__((warn_unused_result));
void agent_watch_fini(struct agent_watch *w);

/* Who belongs to it, and which threads they have. */
void agent_watch_scan(struct agent_watch *w);
/* Read those that are known; the result stands in w->totals. */
void agent_watch_tick(struct agent_watch *w, uint64_t now_ns);

/* Context switches of the threads that live now. */
void agent_watch_switches(const struct agent_watch *w, uint64_t *voluntary,
                          uint64_t *involuntary);
/* A process of the group, for its network namespace; this one where none is there. */
pid_t agent_watch_any(const struct agent_watch *w);

#endif
