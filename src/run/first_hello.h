/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_hello.h - the ClientHello that a library makes, without a peer.
 *
 * Layer: run.
 * For: what DEFAULT stands for only the library knows; its own hello tells.
 * Threads: any.
 */
#ifndef RUN_FIRST_HELLO_H
#define RUN_FIRST_HELLO_H

#include "run/hello.h"
#include "tls/backend.h"

/* config: a client's; roots, sessions and early data do not count.  ERR_FAILED where the
 * library makes none. */
int first_hello(const struct tls_backend *backend, const struct tls_config *config,
                struct hello *out, struct err *e) __attribute__((warn_unused_result));

#endif
