/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - one row per option: argv, scenario key, --help, man page, completion, echo.
 *
 * Layer: cli.
 * Shape: a command's settings are a plain struct; each row names one member by its offset
 *   and says how its text is read (kind, range).  The table ends with a row whose name is
 *   NULL.  Nothing about an option is written anywhere else.
 * Units: durations ns, bytes bytes, rates per second, shares 0..1.
 * Threads: one owner each.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "result/result.h"

#define OPTIONS_MAX 64u /* rows of one command */

/* What the member is, in brackets. */
enum option_kind {
    OPTION_DURATION, /* uint64_t, ns; "250ms" */
    OPTION_RATE,     /* double, per second; "300", "1/3/s" */
    OPTION_BYTES,    /* uint64_t; "1MiB" */
    OPTION_BITS,     /* double, per second; "10mbit" */
    OPTION_COUNT,    /* uint64_t; "2k" */
    OPTION_SHARE,    /* double, 0..1; "0.9", "90%" */
    OPTION_NUMBER,   /* double */
    OPTION_SWITCH,   /* bool; --x, --no-x, --x=off */
    OPTION_TEXT,     /* char *, owned; NULL: not given and no default */
    OPTION_CHOICE,   /* unsigned, index into `choices` */
    OPTION_LIST,     /* struct option_list; may be repeated, the first replaces the default */
    OPTION_CORES,    /* struct cpu_set; count 0: not given */
};
#define OPTION_KINDS 12u
const char *option_kind_name(enum option_kind kind); /* "duration", ... */

struct option_list {
    size_t count;
    char **item; /* owned */
};

struct option {
    const char *name;     /* "client-cores" */
    const char *argument; /* "LIST", for --help; NULL for a switch */
    const char *initial;  /* default as the user would type it; NULL: none (member zero) */
    const char *help;     /* one line without full stop */
    enum option_kind kind;
    size_t offset;          /* of the member in the command's struct */
    double low, high;       /* kinds with a range, in the member's unit; both 0: the kind's */
    const char *choices;    /* OPTION_CHOICE: "trial|connection" */
    const char *unset_note; /* what happens without a default: "chosen afresh" */
    /* TEXT and LIST: further check of one value; ERR_USAGE without the option's name. */
    int (*check)(const char *value, struct err *e);
    char letter;               /* short form, 0 none */
    bool is_command_line_only; /* not a scenario key */
    bool is_without_echo;      /* says where to show, not what to measure */
};

/* A command's settings while they are being collected. */
struct options {
    const struct option *rows;
    void *values; /* the command's struct, owned by the caller */
    bool is_given[OPTIONS_MAX];
};

/* Every member at its default; *values is overwritten, its size is the caller's matter and
 * it must be zeroed.  A default that its own row refuses is a bug (assert). */
void options_init(struct options *o, const struct option *rows, void *values);
void options_fini(struct options *o); /* frees what the members own */

/* By name; NULL if there is none. */
const struct option *options_find(const struct option *rows, const char *name);
bool options_is_given(const struct options *o, const char *name);

/* Read one value into its member.  ERR_USAGE says what is wrong with the value and what is
 * accepted, without the option's name; the member is then untouched. */
int options_set(struct options *o, const struct option *row, const char *value, struct err *e)
    __attribute__((warn_unused_result));

/* As if the option had not been given; the member keeps its value until the next set (which
 * then begins a list anew). */
void options_forget(struct options *o, const struct option *row);

/* Every row that has a value, as text that options_set accepts; the items of a list as
 * "arm.1", "arm.2". */
void options_echo(const struct options *o, struct result_pairs *out);

#endif
