/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes as text and back.
 *
 * Layer: base.
 * Shape: the standard alphabet with padding, no line ends.  Decoding is strict: each
 *   sequence of bytes has exactly one text.
 * Source: RFC 4648, section 4.
 * Threads: any.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* The caller frees; no bytes give "". */
char *base64_encode(const void *bytes, size_t length);

/* The bytes, owned by the caller, and their number; NULL where the text is malformed
 * (another character, a wrong length, bits behind the last byte). */
unsigned char *base64_decode(const char *text, size_t *length);

#endif
