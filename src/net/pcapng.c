/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pcapng.h"

#include <string.h>

#define TEXT_MOST 255u
#define SECTION_BLOCK 0x0a0d0d0au
#define INTERFACE_BLOCK 1u
#define PACKET_BLOCK 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_RAW 101u
#define OPTION_COMMENT 1u
#define OPTION_IF_NAME 2u
#define OPTION_IF_TSRESOL 9u
#define RESOLUTION_NS 9u

static size_t padded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* An option, or nothing where it has no value. */
struct option_text {
    uint16_t code;
    const char *value;
    size_t bytes;
};

static struct option_text text_option(uint16_t code, const char *value)
{
    return (struct option_text){code, value, value == NULL ? 0 : strnlen(value, TEXT_MOST)};
}

static uint32_t option_bytes(const struct option_text *o)
{
    return o->value == NULL ? 0 : (uint32_t)(4 + padded(o->bytes));
}

static void write_padded(FILE *f, const void *data, size_t bytes)
{
    static const char zeros[4];
    fwrite(data, 1, bytes, f);
    fwrite(zeros, 1, padded(bytes) - bytes, f);
}

static void write_option(FILE *f, const struct option_text *o)
{
    const uint16_t head[2] = {o->code, (uint16_t)o->bytes};
    if (o->value == NULL)
        return;
    fwrite(head, sizeof(head), 1, f);
    write_padded(f, o->value, o->bytes);
}

static void end_options(FILE *f)
{
    const uint16_t end[2] = {0, 0};
    fwrite(end, sizeof(end), 1, f);
}

static int outcome(FILE *f)
{
    return ferror(f) ? -1 : 0;
}

int pcapng_begin(FILE *f, const char *interface)
{
    /* Length of the section: not known, all ones. */
    const uint32_t section[] = {SECTION_BLOCK, 28, BYTE_ORDER_MAGIC, 1, UINT32_MAX,
                                UINT32_MAX,    28};
    const char resolution = RESOLUTION_NS;
    const struct option_text name = text_option(OPTION_IF_NAME, interface),
                             unit = {OPTION_IF_TSRESOL, &resolution, 1};
    const uint32_t length = 16 + option_bytes(&name) + option_bytes(&unit) + 4 + 4;
    const uint32_t head[] = {INTERFACE_BLOCK, length, LINKTYPE_RAW, 0};
    fwrite(section, sizeof(section), 1, f);
    fwrite(head, sizeof(head), 1, f);
    write_option(f, &name);
    write_option(f, &unit);
    end_options(f);
    fwrite(&length, sizeof(length), 1, f);
    return outcome(f);
}

int pcapng_write(FILE *f, uint64_t time_ns, const void *packet, size_t bytes,
                 const char *comment)
{
    const struct option_text note = text_option(OPTION_COMMENT, comment);
    const uint32_t options = comment == NULL ? 0 : option_bytes(&note) + 4;
    const uint32_t length = (uint32_t)(28 + padded(bytes) + options + 4);
    const uint32_t head[] = {
        PACKET_BLOCK,    length,         0, (uint32_t)(time_ns >> 32), (uint32_t)time_ns,
        (uint32_t)bytes, (uint32_t)bytes};
    fwrite(head, sizeof(head), 1, f);
    write_padded(f, packet, bytes);
    write_option(f, &note);
    if (comment != NULL)
        end_options(f);
    fwrite(&length, sizeof(length), 1, f);
    return outcome(f);
}
