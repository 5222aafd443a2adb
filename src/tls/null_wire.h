/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null_wire.h - writing TLS's length-prefixed fields, for the null backend.
 *
 * Layer: tls.
 * Shape: a writer grows; out of memory it is bad and takes nothing more, which is checked
 *   once, at the end.  Reading is base/bytes.h's.
 * Source: RFC 8446, section 3.
 * Threads: one owner each.
 */
#ifndef TLS_NULL_WIRE_H
#define TLS_NULL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct null_writer {
    uint8_t *data;
    size_t length, capacity;
    bool is_bad;
};

void null_writer_free(struct null_writer *w);
void null_put(struct null_writer *w, uint64_t value, size_t width);
void null_put_bytes(struct null_writer *w, const void *bytes, size_t n);
void null_put_filler(struct null_writer *w, size_t n); /* stands for what would be random */
/* Begin a vector with `width` length bytes; close it with what open returned. */
size_t null_open(struct null_writer *w, size_t width);
void null_close(struct null_writer *w, size_t opened, size_t width);

#endif
