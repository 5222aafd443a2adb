/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fitness.h - is this machine fit to measure on, and what would make it so?
 *
 * Layer: cli.
 * Shape: pure: what was seen goes in, findings come out, worst first.
 * Threads: any.
 */
#ifndef CLI_FITNESS_H
#define CLI_FITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/host.h"

enum fitness_level {
    FITNESS_FAULT,   /* results would be worthless */
    FITNESS_WARNING, /* results are noisier or smaller than they need be */
    FITNESS_NOTE,    /* good to know; something cannot be had here */
};
#define FITNESS_LEVELS 3u
const char *fitness_level_name(enum fitness_level level); /* "fault", "warning", "note" */

/* What was seen: facts, and a second's watching of the cores. */
struct fitness_input {
    struct host_facts host;
    size_t backends;               /* TLS libraries that loaded, the null backend not counted */
    bool is_sanitized;             /* the program was built with a sanitizer */
    bool has_shared_cores;         /* client and server would share a physical core */
    const char *link_problem;      /* why --link cannot be had here; NULL: it can */
    const char *netem_problem;     /* the same of --link netem */
    double steal, throttled, busy; /* shares of the second, NAN unknown; busy: by others */
    double speed_spread; /* slowest probe against the fastest, 0.1: 10 % slower; NAN unknown */
};

struct finding {
    enum fitness_level level;
    const char *code;    /* "clock", as in a result's validity where there is one */
    char *what, *advice; /* owned */
};
struct findings {
    size_t count;
    struct finding *finding;
};

void fitness_judge(const struct fitness_input *in, struct findings *out);
void findings_free(struct findings *findings);
bool findings_has_fault(const struct findings *findings);

#endif
