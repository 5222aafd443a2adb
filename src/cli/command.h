/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what a subcommand is to main, to --help, to the man page and to scenarios.
 *
 * Layer: cli.
 * Shape: one const struct command per cmd_*.c, listed once, in commands.c.  A command whose
 *   `section` is set can be a section of a scenario file: it takes no operands, has the
 *   rows of output.h, and its keys are its option rows.
 * Errors: run returns -1 and fills e; only main prints.  What is shown goes to stdout
 *   through stdio; main flushes it and answers for a failed write.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include "cli/options.h"
#include "tls/loader.h"

/* What every command of one process shares. */
struct command_context {
    size_t words; /* what the user typed, "pqc-bench" first, for the result */
    char **word;
    const struct tls_backends *backends; /* loaded; count 0 where none was found ... */
    const struct err *backends_error;    /* ... and why */
    const volatile sig_atomic_t *stop;   /* signal number once the user wants to end */
};

/* One run of a command, its options already read. */
struct command_call {
    const struct command *command;
    const struct command_context *context;
    struct options options; /* options.values is the command's struct */
    size_t operands;
    char **operand;
    const char *title; /* of the scenario's section, or NULL */
};

struct command {
    const char *name, *summary; /* one line without full stop */
    const char *operands;       /* "FILE...", NULL: none accepted */
    size_t operands_min, operands_max;
    const struct option *options; /* NULL name ends */
    size_t values_size;           /* of the command's struct */
    const char *section;          /* scenario section, "cpu"; NULL: not in scenarios */
    const char *const *examples;  /* command lines, NULL-terminated */
    const char *details;          /* paragraphs for --help and man page, or NULL */
    /* Is what was asked for possible, as far as can be told without running?  May be NULL. */
    int (*check)(struct command_call *call, struct err *e);
    int (*run)(struct command_call *call, struct err *e);
};

const struct command *const *command_all(void); /* NULL-terminated, in the order of --help */
const struct command *command_find(const char *name);
/* The command whose scenario section this is; NULL: none. */
const struct command *command_find_section(const char *section);

/* check, where there is one, and run. */
int command_call_run(struct command_call *call, struct err *e)
    __attribute__((warn_unused_result));

/* -1 and the loader's error where no TLS backend is there. */
int command_need_backends(const struct command_call *call, struct err *e)
    __attribute__((warn_unused_result));

/* call->options.values made and at its defaults / freed. */
void command_call_init(struct command_call *call, const struct command *command,
                       const struct command_context *context);
void command_call_fini(struct command_call *call);

extern const struct command cmd_capacity, cmd_compare, cmd_cpu, cmd_doctor, cmd_list, cmd_load,
    cmd_plan, cmd_probe, cmd_report, cmd_run, cmd_serve;

#endif
