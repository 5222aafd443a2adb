/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - which groups and key shares a ClientHello on the wire carries.
 *
 * Layer: run.  No I/O, no allocation.
 * For: an arm is never labelled by what was asked for: the keys that a client really makes
 *   before its first flight are read from that flight.
 * Source: RFC 8446, 4.1.2 (ClientHello), 4.2.7 (supported_groups), 4.2.8 (key_share), 5.1
 * (records). Bounds: nothing behind `length` is read, whatever the bytes say. Threads: any.
 */
#ifndef RUN_HELLO_H
#define RUN_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELLO_SHARES_MAX 8u
#define HELLO_GROUPS_MAX 64u
#define HELLO_BYTES_MAX 16384u

struct hello {
    size_t record_bytes; /* the records that hold it, headers included */
    unsigned shares;     /* entries of key_share; 0 without the extension (TLS 1.2) */
    unsigned share[HELLO_SHARES_MAX]; /* NamedGroup of each; further ones are not kept */
    unsigned groups;                  /* entries of supported_groups */
    unsigned group[HELLO_GROUPS_MAX]; /* as share */
};

/* `stream`: what a client sent from its first byte on.  False: it does not begin with a
 * whole, well-formed ClientHello of at most HELLO_BYTES_MAX bytes; *out is then empty. */
bool hello_read(const uint8_t *stream, size_t length, struct hello *out);

#endif
