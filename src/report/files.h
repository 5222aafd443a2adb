/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - reports into files, whole or not at all.
 *
 * Layer: report.
 * Errors: ERR_SYSTEM, naming the file.
 * Threads: any.
 */
#ifndef REPORT_FILES_H
#define REPORT_FILES_H

#include "base/err.h"
#include "base/text.h"
#include "result/result.h"

/* Make the directory (its parents must exist) unless it is there, and make and remove a
 * file in it, so that a bad path fails before a run and not after it. */
int report_probe_directory(const char *directory, struct err *e)
    __attribute__((warn_unused_result));

/* Write all of it to a descriptor; a short write is continued.  EPIPE is an error like any
 * other (SIGPIPE is the caller's). */
int report_write_fd(int fd, const struct text *content, struct err *e)
    __attribute__((warn_unused_result));

/* Write content to path: into a new file beside it (never through a link), synced, then
 * renamed over path, so that a reader sees the old file or the whole new one.  A link at
 * path is replaced, not followed.  Mode 0666 less the umask. */
int report_write_file(const char *path, const struct text *content, struct err *e)
    __attribute__((warn_unused_result));

/* result.json and the other formats of r into the directory: result.json, result.txt,
 * result.md, result.csv, report.html. */
int report_write_all(const struct result *r, const char *directory, struct err *e)
    __attribute__((warn_unused_result));

#endif
