/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - numbers with units, read strictly and written plainly.
 *
 * Layer: base.  Locale-independent: the decimal separator is always a dot.
 * Shape: the whole text must be a number (digits, or digits, a dot and digits) and a known
 *   unit; no sign, no blanks, no exponent, no nan, inf, hex or overflow.  Nothing is rounded
 *   into range silently: "0.5ns" is refused.
 * Failures: ERR_USAGE, the text naming the value and what is accepted; callers
 *   add the option's name with err_add_context.  *out is untouched on failure.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* Duration: NUMBER with ns, us, ms, s, m, h; the unit is required unless 0.
 * Result in nanoseconds, at most 10^18 (about 31 years).  "1.5s", "250ms". */
int units_parse_duration_ns(const char *text, uint64_t *out, struct err *e)
    __attribute__((warn_unused_result));

/* Rate per second: NUMBER, NUMBER/s, NUMBER/m, NUMBER/h, A/B/s ("1/3/s" and "1/3":
 * one in three seconds), with k or M behind the number ("50k/s").  From 1e-9 (one in the
 * longest duration) to 1e9 (one a nanosecond). */
int units_parse_rate_per_s(const char *text, double *out, struct err *e)
    __attribute__((warn_unused_result));

/* Bytes: NUMBER with B, k, kB (1000), KiB (1024), M, MB, MiB, GB, GiB; none = bytes.  A whole
 * number of bytes ("1.5KiB" is), 0 to 2^63-1. */
int units_parse_bytes(const char *text, uint64_t *out, struct err *e)
    __attribute__((warn_unused_result));

/* Bits per second: NUMBER with bit, kbit, mbit, gbit (1000-based), any case; the unit is
 * required.  > 0, at most 10^15. */
int units_parse_bits_per_s(const char *text, double *out, struct err *e)
    __attribute__((warn_unused_result));

/* Count: decimal digits with optional k (1000) or M, in [low, high]. */
int units_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out,
                      struct err *e) __attribute__((warn_unused_result));

/* Share: 0..1 as "0.9" or "90%". */
int units_parse_share(const char *text, double *out, struct err *e)
    __attribute__((warn_unused_result));

/* A finite number without unit, locale-independent, strict. */
int units_parse_number(const char *text, double *out, struct err *e)
    __attribute__((warn_unused_result));

/* "on|off|yes|no|true|false" -> bool as int 0/1. */
int units_parse_switch(const char *text, int *out, struct err *e)
    __attribute__((warn_unused_result));

/* Text for a person, into buf (always terminated; returns buf; 32 bytes hold any): "1.5 s",
 * "250 ms", "17.3 us"; at most three significant digits; minutes ("1.5 min") from 60 s on,
 * hours from 60 min on. */
char *units_format_duration(uint64_t ns, char *buf, size_t size);

/* A whole number with the largest unit that divides it, which units_parse_duration_ns reads
 * back: "1500ms", "30s", "5m", "0s".  For the config echo; 32 bytes hold any. */
char *units_format_duration_exact(uint64_t ns, char *buf, size_t size);

/* Shortest decimal text that reads back to the same double; "17.25", never "nan"
 * (precondition: finite).  32 bytes hold any.  From 1e-9 to below 1e21 it is written without
 * exponent, as units_parse_number reads it; beyond that as "1.5e21" or "1e-10". */
char *units_format_number(double value, char *buf, size_t size);

#endif
