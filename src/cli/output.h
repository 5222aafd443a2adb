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
    char *directory;                           /* NULL: no files */
    char *json, *csv, *markdown, *html, *hlog; /* "-": standard output; NULL: none */
    bool is_detailed, is_quiet, is_ascii, is_strict;
};

/* table: rows for a command's options; `at` is the offset of the command's member of struct
 * output_options. */
#define OUTPUT_LOOK_AT(at, member) \
    .offset = (at) + offsetof(struct output_options, member), .is_without_echo = true
#define OUTPUT_DETAILS_ROW(at)                                            \
    {                                                                     \
        .name = "details", .kind = OPTION_SWITCH, .initial = "off",       \
        .help = "also show the parts of each side, messages and repeats", \
        .is_command_line_only = true, OUTPUT_LOOK_AT(at, is_detailed)     \
    }
#define OUTPUT_ASCII_ROW(at)                                                      \
    {                                                                             \
        .name = "ascii", .kind = OPTION_SWITCH, .initial = "off",                 \
        .help = "draw with ASCII characters alone", .is_command_line_only = true, \
        OUTPUT_LOOK_AT(at, is_ascii)                                              \
    }
#define OUTPUT_QUIET_ROW(at)                                                     \
    {                                                                            \
        .name = "quiet", .kind = OPTION_SWITCH, .initial = "off", .letter = 'q', \
        .help = "no table and no progress line", .is_command_line_only = true,   \
        OUTPUT_LOOK_AT(at, is_quiet)                                             \
    }
#define OUTPUT_STRICT_ROW(at)                                                                  \
    {                                                                                          \
        .name = "strict", .kind = OPTION_SWITCH, .initial = "off",                             \
        .help = "exit with status 1 if the result is not valid", OUTPUT_LOOK_AT(at, is_strict) \
    }
#define OUTPUT_FILE_ROW(option, text, at, member)                                  \
    {                                                                              \
        .name = (option), .kind = OPTION_TEXT, .argument = "FILE", .help = (text), \
        .is_command_line_only = true, OUTPUT_LOOK_AT(at, member)                   \
    }
#define OUTPUT_ROWS_AT(at)                                                                   \
    {.name = "output",                                                                       \
     .kind = OPTION_TEXT,                                                                    \
     .letter = 'o',                                                                          \
     .argument = "DIR",                                                                      \
     .help = "write result.json, .txt, .md, .csv and report.html into this directory",       \
     .unset_note = "no files",                                                               \
     .is_command_line_only = true,                                                           \
     OUTPUT_LOOK_AT(at, directory)},                                                         \
        OUTPUT_FILE_ROW(                                                                     \
            "json", "write the result as JSON; - is standard output, in place of the table", \
            at, json),                                                                       \
        OUTPUT_FILE_ROW("csv", "the same as CSV", at, csv),                                  \
        OUTPUT_FILE_ROW("markdown", "the same as Markdown", at, markdown),                   \
        OUTPUT_FILE_ROW("html", "the same as a page with charts, in one file", at, html),    \
        OUTPUT_FILE_ROW("hlog", "the histograms as a log of HdrHistogram", at, hlog),        \
        OUTPUT_DETAILS_ROW(at), OUTPUT_ASCII_ROW(at), OUTPUT_QUIET_ROW(at),                  \
        OUTPUT_STRICT_ROW(at)
/* All of them, for a command's struct `type` with its member `member`. */
#define OUTPUT_OPTION_ROWS(type, member) OUTPUT_ROWS_AT(offsetof(type, member))

/* How the table on standard output may look. */
struct report_options output_look(const struct output_options *o);

/* Before the run: at most one taker of standard output (ERR_USAGE), the directory made, and
 * every file tried (ERR_SYSTEM). */
int output_prepare(const struct output_options *o, struct err *e)
    __attribute__((warn_unused_result));

/* After it: all files, then standard output; a file that cannot be written (ERR_SYSTEM) keeps
 * none of the others back, and without another JSON the result is saved where temporary files
 * go, which the error names.  With is_strict, a result that is not valid is
 * ERR_FAILED naming its first problem (everything has been written). */
int output_show(const struct output_options *o, const struct result *result, struct err *e)
    __attribute__((warn_unused_result));

#endif
