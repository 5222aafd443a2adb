/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measured.h - what every result carries beside the figures: when, by which command, with
 * which options, built how, on which machine.
 *
 * Layer: cli.
 */
#ifndef CLI_MEASURED_H
#define CLI_MEASURED_H

#include "base/cpu.h"
#include "cli/command.h"
#include "result/result.h"

/* A fresh result with started_at, command, config and build; free with result_free. */
struct result *measured_begin(enum result_kind kind, const struct command_call *call);

/* This machine, in this role; a set of no cores is left out. */
void measured_add_host(struct result *result, const char *role, const struct cpu_set *client,
                       const struct cpu_set *server);

/* Names the signal that ended it, where one did. */
void measured_end(struct result *result, const struct command_context *context);

#endif
