/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_find.h - from what the user typed to a scenario file.
 *
 * Layer: cli.
 */
#ifndef CLI_SCENARIO_FIND_H
#define CLI_SCENARIO_FIND_H

#include "base/err.h"

/* A path ("-": standard input) as it is; a bare name also among the scenarios that stand
 * beside the program, built or installed.  malloc'd; NULL with ERR_USAGE, which names the
 * scenarios that are there. */
char *scenario_find(const char *typed, struct err *e) __attribute__((warn_unused_result));

/* "scenarios/quick.ini" -> "quick", fit for a directory's name; malloc'd. */
char *scenario_name(const char *path);

#endif
