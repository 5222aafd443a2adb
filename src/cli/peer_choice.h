/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_choice.h - the options that say which server a command starts, the same for each.
 *
 * Layer: cli.
 * Shape: a command has a struct peer_choice among its values and PEER_CHOICE_ROWS in its
 *   table.
 * Threads: any; they start the program to ask for its version.
 */
#ifndef CLI_PEER_CHOICE_H
#define CLI_PEER_CHOICE_H

#include "cli/options.h"
#include "run/peer_config.h"

struct peer_choice {
    unsigned server; /* enum peer_kind; PEER_NONE: the embedded server */
    char *program;   /* NULL: looked for */
};

/* table: rows for a command's options */
#define PEER_CHOICE_ROWS(type, at)                                                             \
    {.name = "server",                                                                         \
     .kind = OPTION_CHOICE,                                                                    \
     .argument = "NAME",                                                                       \
     .initial = "embedded",                                                                    \
     .help = "without --target: the server to start; nginx (1.26 or newer) and haproxy (3.0) " \
             "as tools/deps --peers installs them, or from PATH, with OpenSSL 3.5 or newer",   \
     .choices = "embedded|nginx|haproxy",                                                      \
     .offset = offsetof(type, at) + offsetof(struct peer_choice, server)},                     \
    {                                                                                          \
        .name = "server-program", .kind = OPTION_TEXT, .argument = "FILE",                     \
        .help = "the program of --server nginx or haproxy",                                    \
        .unset_note = "looked for in the cache of tools/deps, then in PATH",                   \
        .offset = offsetof(type, at) + offsetof(struct peer_choice, program)                   \
    }

/* Can the arms be served by it, and is it there?  target: NULL, or what is measured instead.
 * ERR_USAGE, ERR_UNSUPPORTED with the option's name, or the arm's. */
int peer_choice_check(const struct peer_choice *c, const char *target,
                      const struct arm_list *arms, struct err *e)
    __attribute__((warn_unused_result));

/* out->kind PEER_NONE: the embedded server, or a target.  Errors as above. */
int peer_choice_find(const struct peer_choice *c, struct peer_program *out, struct err *e)
    __attribute__((warn_unused_result));

#endif
