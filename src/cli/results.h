/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - results that were written before, by the words of a command line.
 *
 * Layer: cli.
 * Shape: a word is a result.json, a directory that holds one, a directory whose directories
 *   hold one each (in the order of their names), or several of these with commas between.  A
 *   word that names something as it stands is not cut at its commas.
 * Errors: those of json_read_file, with the word.
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stddef.h>
#include "base/err.h"
#include "result/result.h"

#define RESULTS_SIDES_MAX 16u
#define RESULTS_RUNS_MAX 64u /* of one word */

struct results_side {
    char *name; /* the word */
    size_t runs;
    struct result *run[RESULTS_RUNS_MAX];
    char *file[RESULTS_RUNS_MAX];
};
struct results {
    size_t sides;
    struct results_side side[RESULTS_SIDES_MAX];
};

/* Add a side. */
int results_read(struct results *r, const char *word, struct err *e)
    __attribute__((warn_unused_result));
void results_free(struct results *r);

#endif
