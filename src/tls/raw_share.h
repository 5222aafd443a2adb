/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_share.h - a well-formed public key for a ClientHello that goes no further.
 *
 * Layer: tls; for raw_hello.c, which says where from and what they are good for.
 * Threads: any.
 */
#ifndef TLS_RAW_SHARE_H
#define TLS_RAW_SHARE_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/rng.h"

void raw_put_random(struct bytes_writer *w, struct rng *rng, size_t n);
bool raw_share_exists(unsigned group);
/* Appends the key alone.  False: none for this group. */
bool raw_share_put(unsigned group, struct rng *rng, struct bytes_writer *w);

#endif
