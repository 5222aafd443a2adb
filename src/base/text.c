/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clocale.h"
#include "base/text.h"

#define FIRST_CAPACITY 64

__attribute__((noreturn)) static void end_out_of_memory(void)
{
    static const char message[] = "pqc-bench: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(1);
}

void *mem_alloc_zeroed(size_t n, size_t size)
{
    bool is_empty = n == 0 || size == 0;
    void *memory = is_empty ? calloc(1, 1) : calloc(n, size);
    if (!memory)
        end_out_of_memory();
    return memory;
}

void *mem_resize(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
        end_out_of_memory();
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        end_out_of_memory();
    return memory;
}

char *mem_copy_string(const char *s)
{
    if (!s)
        return NULL;
    size_t bytes = strlen(s) + 1;
    return memcpy(mem_resize(NULL, bytes, 1), s, bytes);
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}

const char *text_str(const struct text *t)
{
    return t->data ? t->data : "";
}

char *text_take(struct text *t)
{
    char *data = t->data ? t->data : mem_copy_string("");
    *t = (struct text){0};
    return data;
}

/* Room for n more bytes and the NUL. */
static void reserve(struct text *t, size_t n)
{
    if (n >= PTRDIFF_MAX - t->length)
        end_out_of_memory();
    size_t needed = t->length + n + 1;
    if (needed <= t->capacity)
        return;
    size_t capacity = t->capacity ? t->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    t->data = mem_resize(t->data, capacity, 1);
    t->capacity = capacity;
}

void text_add_bytes(struct text *t, const void *bytes, size_t n)
{
    reserve(t, n);
    if (n > 0)
        memcpy(t->data + t->length, bytes, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_add_bytes(t, s, strlen(s));
}

void text_addf(struct text *t, const char *format, ...)
{
    struct clocale locale;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    clocale_enter(&locale);
    int wanted = vsnprintf(NULL, 0, format, args);
    if (wanted > 0) {
        reserve(t, (size_t)wanted);
        vsnprintf(t->data + t->length, (size_t)wanted + 1, format, again);
        t->length += (size_t)wanted;
    }
    clocale_leave(&locale);
    va_end(again);
    va_end(args);
}

/* Bytes of the UTF-8 sequence at s, its code point in *point; 0 where it is invalid
 * (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t decode_utf8(const unsigned char *s, uint32_t *point)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80             ? 1
                    : (s[0] & 0xe0) == 0xc0 ? 2
                    : (s[0] & 0xf0) == 0xe0 ? 3
                    : (s[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length == 0)
        return 0;
    uint32_t value = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) { /* a NUL ends the loop: it is no continuation */
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        value = (value << 6) | (s[i] & 0x3f);
    }
    if (value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *point = value;
    return length;
}

static bool is_harmful(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) ||      /* C0, DEL, C1 */
           point == 0x061c || point == 0x200e || point == 0x200f || /* marks */
           (point >= 0x2028 && point <= 0x202e) || /* line ends, embeddings, overrides */
           (point >= 0x2066 && point <= 0x2069);   /* isolates */
}

void text_add_harmless(struct text *t, const char *s)
{
    const unsigned char *byte = (const unsigned char *)s;
    reserve(t, strlen(s));
    while (*byte) {
        uint32_t point = 0;
        size_t length = decode_utf8(byte, &point);
        bool is_escaped = length == 0 || is_harmful(point);
        if (length == 0)
            length = 1;
        if (!is_escaped)
            text_add_bytes(t, byte, length);
        for (size_t i = 0; is_escaped && i < length; i++)
            text_addf(t, "\\x%02x", byte[i]);
        byte += length;
    }
    t->data[t->length] = '\0';
}

size_t text_columns(const char *s)
{
    size_t columns = 0;
    for (; *s; s++)
        columns += ((unsigned char)*s & 0xc0) != 0x80;
    return columns;
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool text_same_name(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}
