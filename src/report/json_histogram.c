/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_histogram.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define NS_PER_US 1000.0
#define BYTES_EACH 1024u      /* without its counts */
#define BYTES_PER_POWER 8192u /* of the counts of one power of two */

/* The row's figure as ns in [low, high]; `otherwise` where it has none. */
static uint64_t nearest_ns(double us, uint64_t low, uint64_t high, uint64_t otherwise)
{
    const double ns = round(us * NS_PER_US);
    if (isnan(ns))
        return otherwise;
    if (ns <= (double)low)
        return low;
    return ns >= (double)high ? high : (uint64_t)ns;
}

/* The same counts in our own buckets' middles, whatever precision they came in, with the
 * outermost values where the row says. */
static struct histogram *rebuild(const struct histogram *h, const struct place *row)
{
    struct histogram *again = histogram_new();
    uint64_t low, high = 0, count, min = 0, last_low = 0;
    for (size_t cursor = 0; histogram_next(h, &cursor, &low, &high, &count);) {
        if (histogram_count(again) == 0)
            min = nearest_ns(field_number(row, "min"), low, high, low);
        histogram_record_many(again, low + (high - low) / 2, count);
        last_low = low;
    }
    if (histogram_count(again) == 0)
        return again;
    uint64_t max = nearest_ns(field_number(row, "max"), last_low, high, high);
    if (max < min)
        max = min;
    const bool lies_inside = histogram_set_extremes(again, min, max);
    assert(lies_inside);
    return again;
}

static size_t memory_of(const struct histogram *h)
{
    size_t bytes = BYTES_EACH;
    uint64_t low, high, count, power_end = 0;
    for (size_t cursor = 0; histogram_next(h, &cursor, &low, &high, &count);) {
        if (low < power_end)
            continue;
        power_end = UINT64_C(2) << (63 - __builtin_clzll(low | 1023));
        bytes += BYTES_PER_POWER;
    }
    return bytes;
}

struct histogram *json_histogram_read(const struct place *histograms, const char *name,
                                      const struct place *row)
{
    struct err e = ERR_INIT;
    const struct place place = {
        .reader = histograms->reader, .above = histograms, .name = name};
    const char *encoded = field_text(histograms, name);
    if (encoded == NULL)
        return NULL;
    struct histogram *coarse = histogram_decode(encoded, &e);
    if (coarse == NULL) {
        field_fail(&place, e.text);
        return NULL;
    }
    struct reader *reader = histograms->reader;
    struct histogram *h = NULL;
    const size_t memory = memory_of(coarse);
    if (memory > reader->histogram_bytes_left) {
        field_fail(&place, "too large in all");
    } else {
        reader->histogram_bytes_left -= memory;
        h = rebuild(coarse, row);
    }
    histogram_free(coarse);
    return h;
}
