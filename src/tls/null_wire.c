/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null_wire.h"
#include <stdlib.h>
#include <string.h>

#define FILLER 0x5a
#define FIRST_CAPACITY 4096u

void null_writer_free(struct null_writer *w)
{
    free(w->data);
    *w = (struct null_writer){0};
}

/* Room for n more bytes: where to write them, NULL if there is none. */
static uint8_t *extend(struct null_writer *w, size_t n)
{
    if (w->is_bad)
        return NULL;
    if (w->capacity - w->length < n) {
        size_t capacity = w->capacity > 0 ? w->capacity : FIRST_CAPACITY;
        while (capacity - w->length < n)
            capacity *= 2;
        uint8_t *data = realloc(w->data, capacity);
        if (data == NULL) {
            w->is_bad = true;
            return NULL;
        }
        w->data = data;
        w->capacity = capacity;
    }
    w->length += n;
    return w->data + w->length - n;
}

static void store(uint8_t *to, uint64_t value, size_t width)
{
    for (size_t i = width; i-- > 0; value >>= 8)
        to[i] = (uint8_t)value;
}

void null_put(struct null_writer *w, uint64_t value, size_t width)
{
    uint8_t *to = extend(w, width);
    if (to != NULL)
        store(to, value, width);
}

void null_put_bytes(struct null_writer *w, const void *bytes, size_t n)
{
    uint8_t *to = n > 0 ? extend(w, n) : NULL;
    if (to != NULL)
        memcpy(to, bytes, n);
}

void null_put_filler(struct null_writer *w, size_t n)
{
    uint8_t *to = n > 0 ? extend(w, n) : NULL;
    if (to != NULL)
        memset(to, FILLER, n);
}

size_t null_open(struct null_writer *w, size_t width)
{
    null_put(w, 0, width);
    return w->length;
}

void null_close(struct null_writer *w, size_t opened, size_t width)
{
    if (!w->is_bad)
        store(w->data + opened - width, w->length - opened, width);
}
