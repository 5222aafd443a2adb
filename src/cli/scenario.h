/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - a scenario file as commands that are ready to run.
 *
 * Layer: cli.
 * Shape: [scenario] title, description, source; [cpu] or [cpu NAME]: run that command, its
 *   keys are its options; [arm NAME]: an arm of every section that runs; [cpu arm NAME]: of
 *   the cpu sections alone.  Arms keep the order of the file, a section's own `arm` keys
 *   come last; without any the command's default arms are used.
 * Errors: "FILE:LINE: KEY: what is wrong with the value"; nothing unknown is let through,
 *   nothing given is left unused.
 * Threads: one owner each.
 */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include <stddef.h>
#include "cli/command.h"
#include "cli/inifile.h"

#define SCENARIO_STEPS_MAX 64u

struct scenario_step {
    char *label; /* the section's name, "cpu" or "cpu tls13"; call.title is the same */
    char *slug;  /* fit for a directory: "cpu-tls13" */
    struct command_call call;
};
struct scenario {
    char *title, *description, *source; /* NULL where not given */
    size_t steps;                       /* at least one, in the order of the file */
    struct scenario_step *step;
};

int scenario_build(const struct inifile *file, const struct command_context *context,
                   struct scenario *out, struct err *e) __attribute__((warn_unused_result));

void scenario_free(struct scenario *s);

/* "KEY=VALUE" or "SECTION.KEY=VALUE" laid over every step that knows the key; arms are
 * replaced, not added to.  ERR_USAGE where no step knows it. */
int scenario_override(struct scenario *s, const char *setting, struct err *e)
    __attribute__((warn_unused_result));

#endif
