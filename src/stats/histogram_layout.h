/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram_layout.h - the buckets of HdrHistogram, and what is inside struct histogram.
 *
 * Layer: stats, used by stats alone.
 * Shape: counts stand in one array, ascending.  Its first 2^magnitude places are
 *   2^unit wide; from there each power of two has 2^(magnitude - 1) places, twice as wide
 *   as those before.
 * Source: HdrHistogram (Tene), AbstractHistogram.
 */
#ifndef STATS_HISTOGRAM_LAYOUT_H
#define STATS_HISTOGRAM_LAYOUT_H

#include "stats/histogram.h"

__extension__ typedef unsigned __int128 histogram_sum;

#define LAYOUT_DIGITS 3
#define LAYOUT_MAGNITUDE 11                        /* 2^11 >= 2 * 10^3 */
#define LAYOUT_HALF (1u << (LAYOUT_MAGNITUDE - 1)) /* places a power of two */
#define LAYOUT_CHUNKS 54                           /* 2 + 63 - 11 */

struct histogram {
    uint64_t total, min, max; /* min and max hold only where total > 0 */
    histogram_sum sum;
    uint64_t *chunk[LAYOUT_CHUNKS]; /* LAYOUT_HALF counts each, NULL where all are 0 */
};

/* Our own layout: magnitude 11, unit 0.  Value below 2^63. */
static inline size_t layout_index(uint64_t value)
{
    unsigned shift = (unsigned)(64 - LAYOUT_MAGNITUDE) -
                     (unsigned)__builtin_clzll(value | (2 * LAYOUT_HALF - 1));
    return (size_t)shift * LAYOUT_HALF + (size_t)(value >> shift);
}

/* Any layout.  The caller keeps the index so low that the value fits 63 bits. */
static inline uint64_t layout_low(size_t index, unsigned magnitude, unsigned unit,
                                  unsigned *shift)
{
    size_t half = (size_t)1 << (magnitude - 1);
    size_t power = index < 2 * half ? 0 : index / half - 1;
    *shift = (unsigned)power + unit;
    return (uint64_t)(index - power * half) << *shift;
}

/* The counter of an index, its chunk made where it is not there yet. */
uint64_t *layout_counter(struct histogram *h, size_t index);

#endif
