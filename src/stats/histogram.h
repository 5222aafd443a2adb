/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h - log-linear histogram of unsigned 64-bit values, mergeable exactly.
 *
 * Layer: stats (may include base only).  No I/O, no clock, no globals.
 * Units: the caller's (we record nanoseconds).
 * Shape: HdrHistogram's buckets for lowest discernible value 1 and 3 significant
 *   decimal digits: 2048 linear sub-buckets, then 1024 a power of two, so a value of the
 *   histogram stands for values that differ from it by less than 1/1000.  Every uint64 up
 *   to 2^63-1 has a bucket: nothing is clipped (larger values are asserted against, and so
 *   are more than 2^63-1 values).  Counts grow by chunks of 8 KiB on demand, one a power of
 *   two, so an empty histogram is small and a full one has 432 KiB.
 * Source: HdrHistogram (Tene), bucket scheme; nearest-rank quantile (Hyndman & Fan 1996,
 *   type 1).
 * Threads: one writer each; merge after the writers have stopped.
 */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct histogram;

struct histogram *histogram_new(void);
void histogram_free(struct histogram *h);  /* NULL is fine */
void histogram_reset(struct histogram *h); /* empty again; keeps its memory */

/* Make room for values up to `highest` now, so that recording them allocates nothing. */
void histogram_reserve(struct histogram *h, uint64_t highest);

/* Hot path: O(1), no allocation once the magnitude of the value has been seen or reserved. */
void histogram_record(struct histogram *h, uint64_t value);
void histogram_record_many(struct histogram *h, uint64_t value, uint64_t count);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The same counts in the same buckets. */
bool histogram_equal(const struct histogram *a, const struct histogram *b);

uint64_t histogram_count(const struct histogram *h);
/* Exact smallest and largest recorded value and exact sum-based mean where this object
 * recorded them itself or merged them from such; after decoding, the lower end of the lowest
 * bucket, the upper end of the highest, and the mean of the buckets' middles.  Precondition:
 * count > 0. */
uint64_t histogram_min(const struct histogram *h);
uint64_t histogram_max(const struct histogram *h);
double histogram_mean(const struct histogram *h);

/* Put back the exact extremes of a decoded histogram, known from elsewhere.  False, and
 * nothing is changed, where they do not lie in its lowest and highest bucket. */
bool histogram_set_extremes(struct histogram *h, uint64_t min, uint64_t max)
    __attribute__((warn_unused_result));

/* Nearest-rank quantile, q in [0, 1]: the highest value equivalent to the bucket of rank
 * max(1, ceil(q * count)) (sample_rank), never above histogram_max, never below histogram_min.
 * Precondition: count > 0. */
uint64_t histogram_quantile(const struct histogram *h, double q);

/* Walk the non-empty buckets in ascending order. Start with *cursor = 0; false at end. */
bool histogram_next(const struct histogram *h, size_t *cursor, uint64_t *low, uint64_t *high,
                    uint64_t *count);

/* HdrHistogram V2 compressed encoding, base64 (cookie 0x1c849304 outside, 0x1c849303
 * inside, zlib, ZigZag LEB128 counts, runs of zeros negative).  The caller frees.  Empty
 * input gives a text too.  The exact extremes and sum are not part of the format. */
char *histogram_encode(const struct histogram *h);

/* Decode what any HdrHistogram wrote with 1..5 digits and lowest discernible >= 1.
 * Histograms of another precision are re-binned by the upper end of each bucket (counts are
 * kept to the last one, quantiles stay within 1/1000 of what the writer would say).
 * Bounded: hostile input costs at most a few tens of MiB for some tens of ms and is refused
 * by ERR_USAGE, with NULL. */
struct histogram *histogram_decode(const char *base64, struct err *e)
    __attribute__((warn_unused_result));

#endif
