/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - growing the counted lists of struct result.
 *
 * Layer: result, private to it.
 * Shape: the room of a list is the power of two at or above its count, so no capacity is
 *   kept; a list must therefore grow by this function alone.  Amortised O(1).
 */
#ifndef RESULT_LIST_H
#define RESULT_LIST_H

#include <stddef.h>
#include <string.h>
#include "base/text.h"

/* Make room for one more of `size` bytes and zero it; returns the (moved) list and counts
 * the new element in *count. */
static inline void *list_grow(void *list, size_t *count, size_t size)
{
    const size_t n = *count;
    if ((n & (n - 1)) == 0)
        list = mem_resize(list, n == 0 ? 1 : 2 * n, size);
    memset((char *)list + n * size, 0, size);
    *count = n + 1;
    return list;
}

#endif
