/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on stderr while long work runs, if stderr is a terminal.
 *
 * Layer: cli.
 * Shape: "cpu: repeat 2 of 5, 34 %, 12 s left"; written over itself at most 5 times a
 *   second, wiped at the end.
 * Threads: one owner; progress_report is called on the owner's thread.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "run/bench.h"

struct progress {
    const char *title; /* outlives this */
    bool is_on;
    uint64_t shown_ns; /* when the line was written last; 0 never */
    size_t columns;    /* that the line takes up */
};

void progress_init(struct progress *p, const char *title, bool is_wanted);
void progress_end(struct progress *p); /* wipes the line */

/* For the benches; its report has the signature of run_progress.report. */
struct run_progress progress_hook(struct progress *p);

/* The line itself, for tests: into buf, at most `columns` long.  done 0..1, or NAN; left_s
 * NAN where unknown. */
char *progress_line(const struct progress *p, const char *step, double done, double left_s,
                    char *buf, size_t size);

#endif
