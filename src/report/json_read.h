/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.h - a result from the JSON that report_add_json wrote, or a stranger.
 *
 * Layer: report.
 * Shape: every field's type and range is checked, unknown fields are ignored, a field that
 *   is missing is absent.  What was read holds result_check, and writing it again gives the
 *   same bytes that were read, if this version wrote them.
 * Bounds: at most JSON_READ_MAX_BYTES of text, lists of at most JSON_READ_MAX_ITEMS and
 *   JSON_READ_MAX_ITEMS_IN_ALL of them, histograms as histogram_decode bounds them and
 *   JSON_READ_MAX_HISTOGRAM_BYTES of those.
 * Errors: one line that names the place: "arms[1].trials[0].tally.failed: not a whole
 *   number".  ERR_USAGE: not a result; ERR_SYSTEM: the file cannot be read.
 * Threads: any.
 */
#ifndef REPORT_JSON_READ_H
#define REPORT_JSON_READ_H

#include <stddef.h>
#include "base/err.h"
#include "result/result.h"

#define JSON_READ_MAX_BYTES (64u << 20)
#define JSON_READ_MAX_ITEMS 4096u
#define JSON_READ_MAX_ITEMS_IN_ALL (256u << 10)
#define JSON_READ_MAX_HISTOGRAM_BYTES (512u << 20)

/* NULL and e on failure; the caller frees the result. */
struct result *json_read_text(const char *text, size_t length, struct err *e)
    __attribute__((warn_unused_result));

/* The same from a file, "-" for standard input; e names it. */
struct result *json_read_file(const char *path, struct err *e)
    __attribute__((warn_unused_result));

#endif
