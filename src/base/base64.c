/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/base64.h"
#include "base/text.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t length)
{
    const unsigned char *in = bytes;
    assert(length < PTRDIFF_MAX / 2);
    char *text = mem_alloc_zeroed((length + 2) / 3 * 4 + 1, 1);
    char *out = text;
    for (; length > 0; out += 4) {
        size_t n = length < 3 ? length : 3;
        uint32_t group = (uint32_t)in[0] << 16;
        if (n > 1)
            group |= (uint32_t)in[1] << 8;
        if (n > 2)
            group |= in[2];
        out[0] = alphabet[group >> 18];
        out[1] = alphabet[(group >> 12) & 63];
        out[2] = n > 1 ? alphabet[(group >> 6) & 63] : '=';
        out[3] = n > 2 ? alphabet[group & 63] : '=';
        in += n;
        length -= n;
    }
    return text;
}

/* The 6 bits of a character; 64 where it is not of the alphabet. */
static uint32_t bits_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* Four characters of which the last `padding` are '='; false where one is foreign or bits
 * are set that stand for no byte. */
static bool decode_group(const char *text, size_t padding, unsigned char *out)
{
    uint32_t group = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t bits = i < 4 - padding ? bits_of(text[i]) : 0;
        if (bits > 63)
            return false;
        group = group << 6 | bits;
    }
    for (size_t i = 0; i < 3 - padding; i++)
        out[i] = (unsigned char)(group >> (16 - 8 * i));
    return (group & ((1u << 8 * padding) - 1)) == 0;
}

unsigned char *base64_decode(const char *text, size_t *length)
{
    size_t characters = strlen(text);
    size_t padding = 0;
    if (characters % 4 != 0)
        return NULL;
    while (padding < 2 && characters > 0 && text[characters - 1 - padding] == '=')
        padding++;
    unsigned char *bytes = mem_alloc_zeroed(characters / 4 * 3 + 1, 1);
    for (size_t i = 0; i < characters; i += 4) {
        size_t missing = i + 4 == characters ? padding : 0;
        if (!decode_group(text + i, missing, bytes + i / 4 * 3)) {
            free(bytes);
            return NULL;
        }
    }
    *length = characters / 4 * 3 - padding;
    return bytes;
}
