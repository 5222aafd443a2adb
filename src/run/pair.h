/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h - two pinned threads, a client's and a server's, that do jobs together.
 *
 * Layer: run, private to the in-process benchmark.
 * Shape: the owner starts one job on both (or one of them) and waits for it; inside a job
 *   the two meet at barriers.  A thread without a job sleeps.
 * Threads: new, start, wait, free: the owner's thread only; meet: from inside jobs.
 */
#ifndef RUN_PAIR_H
#define RUN_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "tls/ring.h"

struct pair; /* opaque */

/* What a thread does; `side` says which of the two it is. */
typedef void pair_job(struct pair *p, enum duplex_side side, void *arg);

/* Both threads run and are pinned; the cores may be the same.  NULL: ERR_SYSTEM or what
 * pinning says. */
struct pair *pair_new(unsigned client_core, unsigned server_core, struct err *e);
void pair_free(struct pair *p); /* no job may run; NULL: nothing */

/* Start job(p, side, arg) on both threads, or on the one of `only` (DUPLEX_CLIENT or
 * DUPLEX_SERVER; -1: both).  The job before must be done. */
void pair_start(struct pair *p, pair_job *job, void *arg, int only);

/* Wait until the job is done, at most until the CLOCK_MONOTONIC deadline.  True: done, and
 * all that the threads wrote is visible. */
bool pair_wait(struct pair *p, uint64_t deadline_ns);

/* Wait for the other thread, which must come here too.  The one that comes last runs
 * last(arg) (may be NULL) before either goes on.  No allocation; two system calls at most. */
void pair_meet(struct pair *p, void (*last)(void *arg), void *arg);

/* CPU time that the thread has used since it was made. */
uint64_t pair_cpu_ns(const struct pair *p, enum duplex_side side);

#endif
