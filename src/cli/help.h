/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what a person reads about a command, all of it made from the command's table.
 *
 * Layer: cli.
 * Shape: appended to a text that the caller owns: --help in lines of at most 80 columns, a
 *   page for man(1), a completion for bash.
 * Threads: any.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/text.h"
#include "cli/command.h"

void help_add_program(struct text *out);                                /* pqc-bench --help */
void help_add_command(struct text *out, const struct command *command); /* COMMAND --help */

/* An option as --help shows it in its first column: "-o, --output DIR", "--no-primitives". */
void help_add_option_name(struct text *out, const struct option *row);
/* The default, the choices and the range: "default 2000; 1 to 1000000", or nothing. */
void help_add_option_facts(struct text *out, const struct option *row);

/* The keys of an arm with their defaults, as in arm_keys(). */
void help_add_arm_keys(struct text *out);

void manual_add_page(struct text *out);       /* pqc-bench.1 */
void completion_add_script(struct text *out); /* for bash */

/* The program's exit status, as --help and the man page tell it. */
struct help_status {
    const char *status, *meaning;
};
const struct help_status *help_statuses(void); /* status NULL ends */

#endif
