/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - finds and loads the TLS backends that are installed.
 *
 * Layer: tls.
 * Shape: modules are files "pqc-bench-tls-*.so" beside the program (<exe dir>/modules) or
 *   in <exe dir>/../lib/pqc-bench.  No environment variable and no current directory is
 *   consulted.  Loaded modules stay loaded.
 * Names: an arm may say "openssl" (the newest version), "openssl-3.5" or
 *   "openssl-3.5.7" (prefix at a dot), "aws-lc", "null".
 * Threads: load once at start; then read-only.
 */
#ifndef TLS_LOADER_H
#define TLS_LOADER_H

#include "tls/backend.h"

struct tls_backends {
    size_t count;
    const struct tls_backend **backend; /* name, then version descending */
    char **path;
};

/* Load all modules.  A module that does not load is reported in `warnings` (may be NULL;
 * text for a person, one line each, malloc'd) and left out.  Fails if none loads. */
int tls_backends_load(struct tls_backends *out, char **warnings, struct err *e)
    __attribute__((warn_unused_result));
void tls_backends_free(struct tls_backends *backends);

/* ERR_USAGE, listing what is installed. NULL or "" gives the default: newest openssl,
 * else the first that is not null. */
const struct tls_backend *tls_backends_find(const struct tls_backends *backends,
                                            const char *name, struct err *e);

/* "openssl-3.5.7" into buf; returns buf. */
char *tls_backend_full_name(const struct tls_backend *backend, char *buf, size_t size);

#endif
