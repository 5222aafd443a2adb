/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - small text files of /proc and /sys, read whole.
 *
 * Layer: base.
 * Shape: `root` is put in front of the path: "" for this machine, a directory for a copy of
 *   another one (tests).  A file that is missing, unreadable or too long reads as absent.
 * Threads: any.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole file, NUL-terminated, owned by the caller; NULL where it is absent or longer
 * than `limit` bytes. */
char *file_read_text(const char *root, const char *path, size_t limit);

/* Its first line without the newline, into buf; false (and "") where absent or longer. */
bool file_read_line(const char *root, const char *path, char *buf, size_t size);

/* Step over blanks and one unsigned decimal number: the place behind it, NULL where there is
 * no number or it overflows (*out is untouched then), or where p is NULL, so that calls
 * chain over the fields of a line. */
const char *file_scan_u64(const char *p, uint64_t *out);

/* A file that is one unsigned decimal number; *out is untouched on false. */
bool file_read_u64(const char *root, const char *path, uint64_t *out);

/* The number that stands behind `key` at the start of a line ("key 12", "key: 12 kB");
 * *out is untouched on false. */
bool file_find_u64(const char *text, const char *key, uint64_t *out);

/* The text behind "key<separator>" at the start of a line, blanks and the quotes around it
 * left out, cut to size; false (and "") where there is none. */
bool file_find_text(const char *text, const char *key, char separator, char *buf, size_t size);

#endif
