/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - finds and loads the TLS backends that are installed.
 *
 * Layer: tls.
 * Shape: modules are files "pqc-bench-tls-*.so" beside the program (<exe dir>/modules);
 *   where there is none, in the installed directory, found from the program's own place
 *   (<exe dir>/../lib/pqc-bench, or what the build was configured for).  No environment
 *   variable and no current directory is consulted.  Loaded modules stay loaded.
 * Names: an arm may say "openssl" (the newest version), "openssl-3.5" or
 *   "openssl-3.5.7" (prefix at a dot), "aws-lc", "null".
 * Threads: load once at start; then read-only.
 */
#ifndef TLS_LOADER_H
#define TLS_LOADER_H

#include "tls/backend.h"

struct tls_backends {
    size_t count;
    const struct tls_backend **backend; /* name, then version descending (3.10 before 3.9) */
    char **path;                        /* of the module, in the same order */
};

/* Load all modules.  A module that does not load is reported in `warnings` (may be NULL;
 * text for a person, one line each, malloc'd) and left out.  Fails if none loads. */
int tls_backends_load(struct tls_backends *out, char **warnings, struct err *e)
    __attribute__((warn_unused_result));
/* The same from directories of the caller's choice (NULL-terminated): the first of them
 * that holds any module, whether it loads or not. */
int tls_backends_load_from(const char *const *directories, struct tls_backends *out,
                           char **warnings, struct err *e) __attribute__((warn_unused_result));
void tls_backends_free(struct tls_backends *backends);

/* NULL and ERR_USAGE, listing what is installed, where nothing matches.  NULL or "" gives
 * the default: the newest OpenSSL of the long-term series TLS_OPENSSL_LTS (what servers in the
 * field run, so that figures compare), else the newest OpenSSL, else the first that is not
 * null; where null is all there is, it must be asked for by name (ERR_UNSUPPORTED). */
#define TLS_OPENSSL_LTS "3.5"
const struct tls_backend *tls_backends_find(const struct tls_backends *backends,
                                            const char *name, struct err *e);

/* Numbers in versions compare as numbers, a suffix behind '-' comes before none: < 0, 0 or
 * > 0 as in strcmp.  3.9 < 3.10-beta1 < 3.10 < 3.10.1. */
int tls_version_compare(const char *a, const char *b);

/* "openssl-3.5.7" into buf, cut to size; returns buf. */
char *tls_backend_full_name(const struct tls_backend *backend, char *buf, size_t size);

#endif
