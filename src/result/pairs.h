/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - ordered name = value pairs, kept as the text the user could have typed.
 *
 * Layer: result; part of result.h, which says who owns what and what absent is.
 * Threads: one owner.
 */
#ifndef RESULT_PAIRS_H
#define RESULT_PAIRS_H

#include <stddef.h>

struct result_pair {
    char *name, *value;
};
struct result_pairs {
    size_t count;
    struct result_pair *pair;
};

/* Copied.  A name that is there already gets the new value in its old place. */
void pairs_add(struct result_pairs *pairs, const char *name, const char *value);
const char *pairs_find(const struct result_pairs *pairs, const char *name); /* NULL: none */
void pairs_free(struct result_pairs *pairs);

#endif
