/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_hello.h - a ClientHello written by hand, to ask what a server would do.
 *
 * Layer: tls.  No I/O, no cryptography.
 * For: a library offers only groups that it has, and makes keys for what it offers.  A
 *   server that is asked for its choice alone needs neither: it answers any well-formed hello
 *   with a ServerHello, a HelloRetryRequest or an alert (raw_answer.h), and that is the
 *   end of it.
 * Shares: well-formed public keys that nobody knows a secret of, or whose secret everybody
 *   knows (the base point of a curve); no key is ever agreed on with them.
 * Source: RFC 8446 4.1.2 and 4.2, RFC 7685 (padding), RFC 6066 3 (server_name), RFC 7919;
 *   SEC 2 (base points); FIPS 203 7.2 (a key's coefficients are below 3329);
 *   draft-ietf-tls-ecdhe-mlkem (order of the parts).
 * Threads: any.
 */
#ifndef TLS_RAW_HELLO_H
#define TLS_RAW_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/rng.h"

#define RAW_HELLO_GROUPS_MAX 48u
#define RAW_HELLO_SHARES_MAX 4u
#define RAW_HELLO_BYTES_MAX 16384u

struct raw_hello {
    size_t groups; /* at most RAW_HELLO_GROUPS_MAX */
    unsigned group[RAW_HELLO_GROUPS_MAX];
    size_t shares; /* none: the server is asked to name a group */
    unsigned share[RAW_HELLO_SHARES_MAX];
    bool offers_12, offers_13; /* at least one */
    const char *server_name;   /* NULL: none */
    size_t record_bytes;       /* pad up to this size, header included; smaller: no padding */
};

/* Can a share be made for this group? */
bool raw_hello_has_share(unsigned group);

/* One record with the whole hello.  Returns its length; 0: a share cannot be made, or it
 * does not fit. */
size_t raw_hello_write(const struct raw_hello *hello, struct rng *rng, uint8_t *out,
                       size_t room);

#endif
