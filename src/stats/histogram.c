/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "stats/histogram_layout.h"
#include "stats/sample.h"

struct histogram *histogram_new(void)
{
    return mem_alloc_zeroed(1, sizeof(struct histogram));
}

void histogram_free(struct histogram *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < LAYOUT_CHUNKS; i++)
        free(h->chunk[i]);
    free(h);
}

void histogram_reset(struct histogram *h)
{
    for (size_t i = 0; i < LAYOUT_CHUNKS; i++)
        if (h->chunk[i])
            memset(h->chunk[i], 0, LAYOUT_HALF * sizeof *h->chunk[i]);
    h->total = 0;
    h->sum = 0;
}

static uint64_t *chunk_of(struct histogram *h, size_t number)
{
    if (__builtin_expect(!h->chunk[number], 0))
        h->chunk[number] = mem_alloc_zeroed(LAYOUT_HALF, sizeof *h->chunk[number]);
    return h->chunk[number];
}

uint64_t *layout_counter(struct histogram *h, size_t index)
{
    return &chunk_of(h, index / LAYOUT_HALF)[index % LAYOUT_HALF];
}

void histogram_reserve(struct histogram *h, uint64_t highest)
{
    assert(highest <= INT64_MAX);
    for (size_t i = 0; i <= layout_index(highest) / LAYOUT_HALF; i++)
        chunk_of(h, i);
}

/* The counts, extremes and sum of `count` values, count >= 1, in [min, max]. */
static void add_totals(struct histogram *h, uint64_t count, uint64_t min, uint64_t max,
                       histogram_sum sum)
{
    assert(count <= INT64_MAX - h->total);
    if (h->total == 0 || min < h->min)
        h->min = min;
    if (h->total == 0 || max > h->max)
        h->max = max;
    h->total += count;
    h->sum += sum;
}

void histogram_record(struct histogram *h, uint64_t value)
{
    histogram_record_many(h, value, 1);
}

void histogram_record_many(struct histogram *h, uint64_t value, uint64_t count)
{
    assert(value <= INT64_MAX);
    if (count == 0)
        return;
    add_totals(h, count, value, value, (histogram_sum)value * count);
    *layout_counter(h, layout_index(value)) += count;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->total == 0)
        return;
    add_totals(into, from->total, from->min, from->max, from->sum);
    for (size_t i = 0; i < LAYOUT_CHUNKS; i++) {
        if (!from->chunk[i])
            continue;
        uint64_t *counts = chunk_of(into, i);
        for (size_t j = 0; j < LAYOUT_HALF; j++)
            counts[j] += from->chunk[i][j];
    }
}

bool histogram_equal(const struct histogram *a, const struct histogram *b)
{
    static const uint64_t nothing[LAYOUT_HALF];
    if (a->total != b->total)
        return false;
    for (size_t i = 0; i < LAYOUT_CHUNKS; i++) {
        const uint64_t *x = a->chunk[i] ? a->chunk[i] : nothing;
        const uint64_t *y = b->chunk[i] ? b->chunk[i] : nothing;
        if (x != y && memcmp(x, y, sizeof nothing) != 0)
            return false;
    }
    return true;
}

uint64_t histogram_count(const struct histogram *h)
{
    return h->total;
}

uint64_t histogram_min(const struct histogram *h)
{
    assert(h->total > 0);
    return h->min;
}

uint64_t histogram_max(const struct histogram *h)
{
    assert(h->total > 0);
    return h->max;
}

double histogram_mean(const struct histogram *h)
{
    assert(h->total > 0);
    uint64_t whole = (uint64_t)(h->sum / h->total);
    uint64_t rest = (uint64_t)(h->sum % h->total);
    return (double)whole + (double)rest / (double)h->total;
}

bool histogram_set_extremes(struct histogram *h, uint64_t min, uint64_t max)
{
    if (h->total == 0 || min > max || max > INT64_MAX ||
        layout_index(min) != layout_index(h->min) || layout_index(max) != layout_index(h->max))
        return false;
    h->min = min;
    h->max = max;
    return true;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
    assert(h->total > 0 && q >= 0 && q <= 1);
    uint64_t rank = sample_rank(q, h->total);
    uint64_t passed = 0, low, high = h->max, count;
    for (size_t cursor = 0; passed < rank && histogram_next(h, &cursor, &low, &high, &count);)
        passed += count;
    return high < h->max ? high : h->max;
}

bool histogram_next(const struct histogram *h, size_t *cursor, uint64_t *low, uint64_t *high,
                    uint64_t *count)
{
    for (size_t i = *cursor; i < (size_t)LAYOUT_CHUNKS * LAYOUT_HALF; i++) {
        const uint64_t *counts = h->chunk[i / LAYOUT_HALF];
        if (!counts) {
            i |= LAYOUT_HALF - 1; /* on to the next chunk */
            continue;
        }
        if (counts[i % LAYOUT_HALF] == 0)
            continue;
        unsigned shift;
        *low = layout_low(i, LAYOUT_MAGNITUDE, 0, &shift);
        *high = *low + (((uint64_t)1 << shift) - 1);
        *count = counts[i % LAYOUT_HALF];
        *cursor = i + 1;
        return true;
    }
    *cursor = (size_t)LAYOUT_CHUNKS * LAYOUT_HALF;
    return false;
}
