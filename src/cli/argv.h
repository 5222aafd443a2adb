/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argv.h - GNU long options from a command line into a command's settings.
 *
 * Layer: cli.
 * Shape: "--name value", "--name=value", "-o value", "-ovalue"; a switch is "--name",
 *   "--no-name" or "--name=off"; "--" ends the options; options and operands may be mixed.
 *   Names are not abbreviated: a later version could make an abbreviation ambiguous.
 *   Given twice, the later value counts; a list collects.
 * Threads: any.
 */
#ifndef CLI_ARGV_H
#define CLI_ARGV_H

#include <stdbool.h>
#include <stddef.h>
#include "cli/options.h"

struct argv_operands {
    size_t count;
    char **word; /* points into argv; array owned, see argv_operands_free */
    bool wants_help;
};

/* Read argv[0..argc-1] (without the program's and the command's name).  ERR_USAGE begins
 * with the option's name as it was typed ("--rate: ...").  After --help nothing more is
 * read.  Free *out also after a failure. */
int argv_parse(struct options *o, int argc, char **argv, struct argv_operands *out,
               struct err *e) __attribute__((warn_unused_result));
void argv_operands_free(struct argv_operands *operands);

/* The name that was probably meant, or NULL: at most a third of the letters differ. */
const char *argv_nearest_option(const struct option *rows, const char *name);
/* The same over an array of `count` names. */
const char *argv_nearest_name(const char *const *names, size_t count, const char *name);

#endif
