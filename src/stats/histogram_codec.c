/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/base64.h"
#include "base/text.h"
#include "stats/histogram_layout.h"

#define COOKIE_PLAIN 0x1c849303u      /* version 2 */
#define COOKIE_COMPRESSED 0x1c849304u /* its compressed wrapping */
#define COOKIE_OPTIONS 0xf0u          /* word size, which version 2 does not use */
#define COOKIE_VARINT 0x10u           /* what version 2 writes there */
#define HEADER_BYTES 40
#define WRAPPER_BYTES 8
#define VARINT_BYTES 9 /* the ninth byte holds 8 bits */
#define PLAIN_LIMIT (4u << 20)
#define TEXT_LIMIT (6u << 20)
#define RATIO_ONE 0x3ff0000000000000u /* 1.0 */

static void put_big_endian(struct text *t, uint64_t value, unsigned bytes)
{
    unsigned char out[8];
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
    text_add_bytes(t, out, bytes);
}

static uint64_t get_big_endian(const unsigned char *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | in[i];
    return value;
}

static void put_varint(struct text *t, int64_t value)
{
    uint64_t rest = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    unsigned char out[VARINT_BYTES];
    size_t n = 0;
    while (n < VARINT_BYTES - 1 && rest > 0x7f) {
        out[n++] = (unsigned char)(rest | 0x80);
        rest >>= 7;
    }
    out[n++] = (unsigned char)rest;
    text_add_bytes(t, out, n);
}

/* Counts up to that of the largest value; a run of at least two zeros is one number. */
static void put_counts(struct text *t, const struct histogram *h)
{
    uint64_t low, high, count;
    size_t next = 0; /* the first index that is not written yet */
    for (size_t cursor = 0; histogram_next(h, &cursor, &low, &high, &count);) {
        size_t zeros = cursor - 1 - next;
        if (zeros > 0)
            put_varint(t, zeros > 1 ? -(int64_t)zeros : 0);
        put_varint(t, (int64_t)count);
        next = cursor;
    }
    if (next == 0)
        put_varint(t, 0);
}

/* The smallest 2^k - 1 that holds max, so that other decoders make room enough. */
static uint64_t highest_trackable(const struct histogram *h)
{
    uint64_t max = h->total > 0 ? h->max : 0;
    return UINT64_MAX >> __builtin_clzll(max | (2 * LAYOUT_HALF - 1));
}

static void put_plain(struct text *t, const struct histogram *h)
{
    struct text counts = {0};
    put_counts(&counts, h);
    put_big_endian(t, COOKIE_PLAIN | COOKIE_VARINT, 4);
    put_big_endian(t, counts.length, 4);
    put_big_endian(t, 0, 4); /* normalizing index offset */
    put_big_endian(t, LAYOUT_DIGITS, 4);
    put_big_endian(t, 1, 8); /* lowest discernible value */
    put_big_endian(t, highest_trackable(h), 8);
    put_big_endian(t, RATIO_ONE, 8);
    text_add_bytes(t, counts.data, counts.length);
    text_free(&counts);
}

char *histogram_encode(const struct histogram *h)
{
    struct text plain = {0}, packed = {0};
    put_plain(&plain, h);
    uLongf size = compressBound((uLong)plain.length);
    unsigned char *bytes = mem_alloc_zeroed(size, 1);
    if (compress2(bytes, &size, (const Bytef *)plain.data, (uLong)plain.length,
                  Z_DEFAULT_COMPRESSION) != Z_OK)
        size = 0; /* only without memory; the text then decodes to an error, not a lie */
    put_big_endian(&packed, COOKIE_COMPRESSED | COOKIE_VARINT, 4);
    put_big_endian(&packed, size, 4);
    text_add_bytes(&packed, bytes, size);
    char *text = base64_encode(packed.data, packed.length);
    free(bytes);
    text_free(&packed);
    text_free(&plain);
    return text;
}

static int refuse(struct err *e, const char *why)
{
    return err_set(e, ERR_USAGE, "not a histogram in HdrHistogram's V2 compressed form: %s",
                   why);
}

/* Inflate all of `packed` to the end of *plain; NULL or what is wrong. */
static const char *inflate_whole(const unsigned char *packed, size_t length, struct text *plain)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)length};
    unsigned char chunk[16384];
    int status = Z_OK;
    if (inflateInit(&stream) != Z_OK)
        return "no memory";
    while (status == Z_OK && plain->length <= PLAIN_LIMIT) {
        stream.next_out = chunk;
        stream.avail_out = sizeof chunk;
        status = inflate(&stream, Z_NO_FLUSH);
        text_add_bytes(plain, chunk, sizeof chunk - stream.avail_out);
    }
    bool is_whole = status == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    if (plain->length > PLAIN_LIMIT)
        return "too large";
    return is_whole ? NULL : "the compressed data are damaged";
}

static const char *unpack(const char *base64, struct text *plain)
{
    size_t length;
    if (strnlen(base64, TEXT_LIMIT + 1) > TEXT_LIMIT)
        return "too large";
    unsigned char *packed = base64_decode(base64, &length);
    const char *why = NULL;
    if (!packed)
        return "malformed base64";
    if (length < WRAPPER_BYTES ||
        (get_big_endian(packed, 4) & ~COOKIE_OPTIONS) != COOKIE_COMPRESSED)
        why = "it begins differently";
    else if (get_big_endian(packed + 4, 4) != length - WRAPPER_BYTES)
        why = "it has another length than it says";
    else
        why = inflate_whole(packed + WRAPPER_BYTES, length - WRAPPER_BYTES, plain);
    free(packed);
    return why;
}

/* What the header tells of the buckets. */
struct layout {
    unsigned magnitude, unit;
    size_t places; /* whose values fit 63 bits */
};

static const char *read_header(const struct text *plain, struct layout *out)
{
    static const unsigned magnitudes[] = {0, 5, 8, 11, 15, 18}; /* 2^m >= 2 * 10^digits */
    const unsigned char *in = (const unsigned char *)plain->data;
    if (plain->length < HEADER_BYTES ||
        (get_big_endian(in, 4) & ~COOKIE_OPTIONS) != COOKIE_PLAIN)
        return "its inner part begins differently";
    if (get_big_endian(in + 4, 4) != plain->length - HEADER_BYTES)
        return "its inner part has another length than it says";
    /* The index offset at 8 is of no concern: counts are written in logical order. */
    uint64_t digits = get_big_endian(in + 12, 4);
    uint64_t lowest = get_big_endian(in + 16, 8);
    uint64_t ratio = get_big_endian(in + 32, 8);
    if (digits < 1 || digits > 5)
        return "it has not 1 to 5 significant digits";
    if (lowest < 1 || lowest > INT64_MAX)
        return "its lowest discernible value is not 1 or more";
    if (ratio != RATIO_ONE && ratio > 1) /* the JavaScript implementation writes an integer 1 */
        return "it is one of real numbers";
    out->magnitude = magnitudes[digits];
    out->unit = 63 - (unsigned)__builtin_clzll(lowest);
    if (out->magnitude + out->unit > 62)
        return "its lowest discernible value is too large";
    out->places = (size_t)(63 - out->magnitude - out->unit + 2) << (out->magnitude - 1);
    return NULL;
}

/* One number at *in, which is moved behind it; false where it is cut short. */
static bool get_varint(const unsigned char **in, const unsigned char *end, int64_t *out)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < VARINT_BYTES; i++) {
        if (*in == end)
            return false;
        unsigned char byte = *(*in)++;
        bool is_last = i == VARINT_BYTES - 1;
        value |= (uint64_t)(is_last ? byte : byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            break;
    }
    *out = (int64_t)(value >> 1 ^ (0 - (value & 1)));
    return true;
}

/* `count` values of the place `index` of a layout: into the bucket of the highest of them,
 * so that quantiles stay what the writer would say. */
static bool place(struct histogram *h, const struct layout *l, size_t index, uint64_t count)
{
    unsigned shift;
    uint64_t low = layout_low(index, l->magnitude, l->unit, &shift);
    uint64_t width = (uint64_t)1 << shift;
    if (count > INT64_MAX - h->total)
        return false;
    *layout_counter(h, layout_index(low + (width - 1))) += count;
    if (h->total == 0)
        h->min = low;
    h->max = low + (width - 1);
    h->total += count;
    h->sum += (histogram_sum)(low + width / 2) * count;
    return true;
}

static const char *read_counts(struct histogram *h, const struct layout *l,
                               const struct text *plain)
{
    const unsigned char *in = (const unsigned char *)plain->data + HEADER_BYTES;
    const unsigned char *end = (const unsigned char *)plain->data + plain->length;
    size_t index = 0;
    while (in < end) {
        int64_t number;
        if (!get_varint(&in, end, &number))
            return "a count is cut short";
        /* A negative number is a run of zeros. */
        uint64_t step = number < 0 ? 0 - (uint64_t)number : 1;
        if (step > l->places - index)
            return "it has more counts than values";
        if (number > 0 && !place(h, l, index, (uint64_t)number))
            return "its counts overflow";
        index += step;
    }
    return NULL;
}

struct histogram *histogram_decode(const char *base64, struct err *e)
{
    struct text plain = {0};
    struct layout layout;
    struct histogram *h = histogram_new();
    const char *why = unpack(base64, &plain);
    if (!why)
        why = read_header(&plain, &layout);
    if (!why)
        why = read_counts(h, &layout, &plain);
    text_free(&plain);
    if (why) {
        refuse(e, why);
        histogram_free(h);
        return NULL;
    }
    return h;
}
