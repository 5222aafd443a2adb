/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_program.h - servers that others wrote: where one is, and what it says of itself.
 *
 * Layer: run (base only).
 * Shape: a program that was named, else the one tools/deps --peers put into the cache
 *   (current/NAME-ARCH names the entry), else the first in PATH or the usual folders for
 *   daemons.  Whichever it is must be new enough, and run with an OpenSSL that has
 *   X25519MLKEM768 (3.5 or newer).
 * Threads: any; it forks.
 */
#ifndef RUN_PEER_PROGRAM_H
#define RUN_PEER_PROGRAM_H

#include <stdbool.h>
#include "base/err.h"

#define PEER_PATH_BYTES 1024u

/* In the order of the words of load --server. */
enum peer_kind { PEER_NONE, PEER_NGINX, PEER_HAPROXY };
#define PEER_KINDS 3u
const char *peer_name(enum peer_kind kind); /* "nginx", "haproxy"; PEER_NONE: "embedded" */

/* Parts of nginx that want a folder each, where they were built in. */
enum peer_module {
    PEER_MODULE_PROXY = 1,
    PEER_MODULE_FASTCGI = 2,
    PEER_MODULE_UWSGI = 4,
    PEER_MODULE_SCGI = 8
};

struct peer_program {
    enum peer_kind kind;
    char path[PEER_PATH_BYTES];
    char version[32];     /* "1.26.3" */
    char tls_version[32]; /* of the OpenSSL it runs with: "3.5.9" */
    unsigned modules;     /* nginx: enum peer_module */
};

/* `file` NULL: look for it.  ERR_USAGE: none found, or it is no such program; ERR_UNSUPPORTED:
 * too old, or its OpenSSL is. */
int peer_find(enum peer_kind kind, const char *file, struct peer_program *out, struct err *e)
    __attribute__((warn_unused_result));

/* What `nginx -V` or `haproxy -vv` printed; path is left alone.  Errors as above. */
int peer_read_version(enum peer_kind kind, const char *text, struct peer_program *out,
                      struct err *e) __attribute__((warn_unused_result));

#endif
