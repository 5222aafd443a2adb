/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_folder.h - a private temporary folder for what a server that others wrote reads.
 *
 * Layer: run (base only).
 * Shape: in TMPDIR, or /tmp where its name could not stand unquoted in a configuration; for
 *   its owner alone (0700, files 0600).
 * Threads: one owner.
 */
#ifndef RUN_PEER_FOLDER_H
#define RUN_PEER_FOLDER_H

#include <stdint.h>
#include "base/err.h"

#define PEER_FOLDER_BYTES 256u

struct peer_folder {
    char path[PEER_FOLDER_BYTES]; /* "": not made */
};

int peer_folder_make(struct peer_folder *f, struct err *e) __attribute__((warn_unused_result));
void peer_folder_remove(struct peer_folder *f); /* with all that is in it; not made: nothing */

/* Names are relative, and new. */
int peer_folder_write(const struct peer_folder *f, const char *name, const char *text,
                      struct err *e) __attribute__((warn_unused_result));
/* A file of that many bytes 'x'. */
int peer_folder_fill(const struct peer_folder *f, const char *name, uint64_t bytes,
                     struct err *e) __attribute__((warn_unused_result));
int peer_folder_add(const struct peer_folder *f, const char *name, struct err *e)
    __attribute__((warn_unused_result)); /* a folder in it */

#endif
