/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - growing strings, and strangers' text made harmless.
 *
 * Layer: base.
 * Shape: struct text owns a NUL-terminated buffer; zero-initialised is empty.  Running
 *   out of memory ends the process with a message (it cannot be recovered usefully).
 * Threads: one owner each.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* NULL while empty; see text_str */
    size_t length, capacity;
};

void text_free(struct text *t);
const char *text_str(const struct text *t); /* never NULL */
char *text_take(struct text *t);            /* the buffer, owned by the caller; t is empty */
void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *bytes, size_t n);
/* printf with the C locale's numbers whatever the process's locale is. */
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Allocation that ends the process when memory is out; n * size is checked. */
void *mem_alloc_zeroed(size_t n, size_t size);
void *mem_resize(void *old, size_t n, size_t size);
char *mem_copy_string(const char *s); /* NULL gives NULL */

/* Append what a stranger sent so that a terminal cannot be driven by it: bytes below
 * 0x20, 0x7f, C1 controls and invalid UTF-8 become \xNN; bidirectional controls too. */
void text_add_harmless(struct text *t, const char *s);
/* Columns a terminal needs for valid UTF-8 (one per code point; enough for our tables). */
size_t text_columns(const char *s);
/* Case-insensitive ASCII comparison; "X25519mlkem768" equals "x25519MLKEM768". */
bool text_same_name(const char *a, const char *b);

#endif
