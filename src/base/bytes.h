/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - big-endian numbers and vectors of a wire format, read and written within bounds.
 *
 * Layer: base.  No allocation.
 * Shape: a reader never leaves its bytes: once something is missing it is bad, has nothing
 *   left, and gives 0 and empty parts.  A writer never leaves its room: what does not fit makes
 * it full, and it then takes nothing more; `length` never exceeds `room`. Source: the
 * presentation language of RFC 8446, 3. Threads: one owner each.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes_reader {
    const uint8_t *at;
    size_t left;
    bool is_bad;
};

struct bytes_reader bytes_read(const void *data, size_t length);
uint64_t bytes_get(struct bytes_reader *r, size_t width); /* a number of 1..8 bytes */
/* The next n bytes as a reader of their own, bad where they are not there. */
struct bytes_reader bytes_get_part(struct bytes_reader *r, size_t n);
/* The same behind their count, a number of `width` bytes. */
struct bytes_reader bytes_get_vector(struct bytes_reader *r, size_t width);

struct bytes_writer {
    uint8_t *data;
    size_t length, room;
    bool is_full;
};

struct bytes_writer bytes_write(void *data, size_t room);
void bytes_put(struct bytes_writer *w, size_t value, size_t width);
void bytes_put_data(struct bytes_writer *w, const void *data, size_t n);
/* A vector whose length follows from what is put until bytes_close with the same mark. */
size_t bytes_open(struct bytes_writer *w, size_t width);
void bytes_close(struct bytes_writer *w, size_t mark, size_t width);

#endif
