/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include <string.h>

struct bytes_reader bytes_read(const void *data, size_t length)
{
    return (struct bytes_reader){data, length, false};
}

static bool have(struct bytes_reader *r, size_t n)
{
    if (!r->is_bad && r->left >= n)
        return true;
    r->is_bad = true;
    r->left = 0;
    return false;
}

uint64_t bytes_get(struct bytes_reader *r, size_t width)
{
    uint64_t value = 0;
    if (!have(r, width))
        return 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | r->at[i];
    r->at += width;
    r->left -= width;
    return value;
}

struct bytes_reader bytes_get_part(struct bytes_reader *r, size_t n)
{
    if (!have(r, n))
        return (struct bytes_reader){r->at, 0, true};
    struct bytes_reader part = {r->at, n, false};
    r->at += n;
    r->left -= n;
    return part;
}

struct bytes_reader bytes_get_vector(struct bytes_reader *r, size_t width)
{
    const size_t n = (size_t)bytes_get(r, width);
    return bytes_get_part(r, n);
}

struct bytes_writer bytes_write(void *data, size_t room)
{
    return (struct bytes_writer){data, 0, room, false};
}

static bool has_room(struct bytes_writer *w, size_t n)
{
    if (w->is_full || w->room - w->length < n)
        w->is_full = true;
    return !w->is_full;
}

static void store(uint8_t *at, size_t value, size_t width)
{
    for (size_t i = width; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

void bytes_put(struct bytes_writer *w, size_t value, size_t width)
{
    if (!has_room(w, width))
        return;
    store(w->data + w->length, value, width);
    w->length += width;
}

void bytes_put_data(struct bytes_writer *w, const void *data, size_t n)
{
    if (!has_room(w, n) || n == 0)
        return;
    memcpy(w->data + w->length, data, n);
    w->length += n;
}

size_t bytes_open(struct bytes_writer *w, size_t width)
{
    size_t mark = w->length;
    bytes_put(w, 0, width);
    return mark;
}

void bytes_close(struct bytes_writer *w, size_t mark, size_t width)
{
    if (!w->is_full)
        store(w->data + mark, w->length - mark - width, width);
}
