/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - the options that say where a result goes and how it looks, for every command
 * that makes one.
 *
 * Layer: cli.
 * Shape: a command's struct has a member of struct output_options, and its table the rows
 *   OUTPUT_OPTION_ROWS.
 * Order: files first, standard output last, so that a reader who has seen enough (head)
 *   costs no file.
 * Threads: one owner each.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include "cli/options.h"
#include "report/format.h"
#include "result/result.h"

struct output_options {
    char *directory;             /* NULL: no files */
    char *json, *csv, *markdown; /* "-": standard output; NULL: none */
    bool is_detailed, is_quiet, is_ascii, is_strict;
};

/* table: rows for a command's options; `type` has the member `member`. */
#define OUTPUT_DETAILS_ROW(type, member)                                            \
    {                                                                               \
        .name = "details", .kind = OPTION_SWITCH, .initial = "off",                 \
        .help = "also show the parts of each side, messages and repeats",           \
        .offset = offsetof(type, member.is_detailed), .is_command_line_only = true, \
        .is_without_echo = true                                                     \
    }
#define OUTPUT_ASCII_ROW(type, member)                                                         \
    {                                                                                          \
        .name = "ascii", .kind = OPTION_SWITCH, .initial = "off",                              \
        .help = "draw with ASCII characters alone", .offset = offsetof(type, member.is_ascii), \
        .is_command_line_only = true, .is_without_echo = true                                  \
    }
#define OUTPUT_QUIET_ROW(type, member)                                                      \
    {                                                                                       \
        .name = "quiet", .kind = OPTION_SWITCH, .initial = "off", .letter = 'q',            \
        .help = "no table and no progress line", .offset = offsetof(type, member.is_quiet), \
        .is_command_line_only = true, .is_without_echo = true                               \
    }
#define OUTPUT_STRICT_ROW(type, member)                                     \
    {                                                                       \
        .name = "strict", .kind = OPTION_SWITCH, .initial = "off",          \
        .help = "exit with status 1 if the result is not valid",            \
        .offset = offsetof(type, member.is_strict), .is_without_echo = true \
    }

#define OUTPUT_OPTION_ROWS(type, member)                                                  \
    {.name = "output",                                                                    \
     .kind = OPTION_TEXT,                                                                 \
     .letter = 'o',                                                                       \
     .argument = "DIR",                                                                   \
     .help = "write result.json, .txt, .md and .csv into this directory",                 \
     .unset_note = "no files",                                                            \
     .offset = offsetof(type, member.directory),                                          \
     .is_command_line_only = true,                                                        \
     .is_without_echo = true},                                                            \
        {.name = "json",                                                                  \
         .kind = OPTION_TEXT,                                                             \
         .argument = "FILE",                                                              \
         .help = "write the result as JSON; - is standard output, in place of the table", \
         .offset = offsetof(type, member.json),                                           \
         .is_command_line_only = true,                                                    \
         .is_without_echo = true},                                                        \
        {.name = "csv",                                                                   \
         .kind = OPTION_TEXT,                                                             \
         .argument = "FILE",                                                              \
         .help = "the same as CSV",                                                       \
         .offset = offsetof(type, member.csv),                                            \
         .is_command_line_only = true,                                                    \
         .is_without_echo = true},                                                        \
        {.name = "markdown",                                                              \
         .kind = OPTION_TEXT,                                                             \
         .argument = "FILE",                                                              \
         .help = "the same as Markdown",                                                  \
         .offset = offsetof(type, member.markdown),                                       \
         .is_command_line_only = true,                                                    \
         .is_without_echo = true},                                                        \
        OUTPUT_DETAILS_ROW(type, member), OUTPUT_ASCII_ROW(type, member),                 \
        OUTPUT_QUIET_ROW(type, member), OUTPUT_STRICT_ROW(type, member)

/* How the table on standard output may look. */
struct report_options output_look(const struct output_options *o);

/* Before the run: at most one taker of standard output (ERR_USAGE), the directory made, and
 * every file tried (ERR_SYSTEM). */
int output_prepare(const struct output_options *o, struct err *e)
    __attribute__((warn_unused_result));

/* After it: all files, then standard output.  With is_strict, a result that is not valid is
 * ERR_FAILED naming its first problem (everything has been written). */
int output_show(const struct output_options *o, const struct result *result, struct err *e)
    __attribute__((warn_unused_result));

#endif
