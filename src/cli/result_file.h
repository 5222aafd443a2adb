/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_file.h - a result that was written before, as a command's operand names it.
 *
 * Layer: cli.
 * Shape: a file, or a directory, which stands for the result.json in it.
 * Threads: any.
 */
#ifndef CLI_RESULT_FILE_H
#define CLI_RESULT_FILE_H

#include "base/err.h"
#include "result/result.h"

/* Free with result_free; NULL: as json_read_file says. */
struct result *result_file_read(const char *path, struct err *e);

#endif
