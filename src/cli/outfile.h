/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - where results go: tried before the run, written whole after it.
 *
 * Layer: cli.
 * Shape: a path, or "-" for standard output.  A regular file appears whole or not at all
 *   (written beside its place, then renamed); a device or a pipe is written as it is.
 * Failures: ERR_SYSTEM with the path in front.
 */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include <stdbool.h>
#include "base/err.h"
#include "base/text.h"

bool outfile_is_stdout(const char *path);
/* Standard output, a pipe or a device: what is written there cannot be replaced. */
bool outfile_is_stream(const char *path);

/* Could the file be written?  Nothing is left behind, nothing there is changed. */
int outfile_probe(const char *path, struct err *e) __attribute__((warn_unused_result));

int outfile_write(const char *path, const struct text *content, struct err *e)
    __attribute__((warn_unused_result));

/* mkdir -p. */
int outfile_make_directory(const char *path, struct err *e) __attribute__((warn_unused_result));

/* "DIR/NAME", malloc'd. */
char *outfile_join(const char *directory, const char *name);

#endif
