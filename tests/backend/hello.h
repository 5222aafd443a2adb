/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - a ClientHello as it went over the wire, read by an eye of our own.
 *
 * Layer: tests.
 * Source: RFC 8446, 4.1.2 and 4.2.8.
 */
#ifndef TESTS_BACKEND_HELLO_H
#define TESTS_BACKEND_HELLO_H

#include "pump.h"

#define HELLO_SHARES_MAX 8u

struct hello {
    size_t bytes; /* the record, header included */
    unsigned shares;
    struct {
        unsigned group;
        size_t bytes;
    } share[HELLO_SHARES_MAX];
    bool has_sni, has_early_data;
    char sni[256];
    unsigned groups; /* in supported_groups */
};

/* The ClientHello record that begins at `at` of what the client sent. */
bool hello_read(const struct queue *queue, size_t at, struct hello *out);

#endif
