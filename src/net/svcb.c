/* SPDX-License-Identifier: Apache-2.0 */
#include "net/svcb.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/nameser.h>
#include "base/bytes.h"
#include "base/text.h"

#define LABEL_MAX 63u
#define WIRE_NAME_MAX 255u

enum {
    KEY_MANDATORY,
    KEY_ALPN,
    KEY_NO_DEFAULT_ALPN,
    KEY_PORT,
    KEY_IPV4HINT,
    KEY_ECH,
    KEY_IPV6HINT,
    KEY_GROUPS = SVCB_KEY_GROUPS,
    KEY_INVALID = 65535,
};

static int malformed(struct err *e, const char *what)
{
    return err_set(e, ERR_FAILED, "malformed record: %s", what);
}

static int read_target(struct bytes_reader *rest, char *out, struct err *e)
{
    size_t used = 0;
    for (;;) {
        if (used >= rest->left)
            return malformed(e, "its target goes beyond the record");
        size_t label = rest->at[used];
        if (label > LABEL_MAX)
            return malformed(e, "its target is compressed");
        used += 1 + label;
        if (used > WIRE_NAME_MAX)
            return malformed(e, "its target is longer than 255 octets");
        if (label == 0)
            break;
    }
    if (ns_name_ntop(rest->at, out, SVCB_NAME_SIZE) < 0)
        return malformed(e, "its target is no name");
    (void)bytes_get_part(rest, used);
    return 0;
}

static int read_groups(struct bytes_reader value, struct svcb *out, struct err *e)
{
    uint8_t seen[65536 / 8] = {0};
    if (value.left == 0)
        return malformed(e, "tls-supported-groups: an empty list");
    if (value.left % 2 != 0)
        return malformed(e, "tls-supported-groups: half a code point");
    out->group = mem_alloc_zeroed(value.left / 2, sizeof(*out->group));
    while (value.left > 0) {
        unsigned code = (unsigned)bytes_get(&value, 2);
        if (seen[code / 8] >> (code % 8) & 1u)
            return malformed(e, "tls-supported-groups: a code point twice");
        seen[code / 8] |= (uint8_t)(1u << (code % 8));
        out->group[out->groups++] = (uint16_t)code;
    }
    return 0;
}

static int check_alpn(struct bytes_reader value, struct err *e)
{
    if (value.left == 0)
        return malformed(e, "alpn: an empty list");
    while (value.left > 0)
        if (bytes_get_vector(&value, 1).left == 0)
            return malformed(e, "alpn: a protocol of no or too many octets");
    return 0;
}

static int check_hints(struct bytes_reader value, size_t width, const char *what, struct err *e)
{
    return value.left > 0 && value.left % width == 0 ? 0 : malformed(e, what);
}

static int read_value(unsigned key, struct bytes_reader value, struct svcb *out, struct err *e)
{
    switch (key) {
    case KEY_MANDATORY: /* when the other keys are known */
        return 0;
    case KEY_ALPN:
        return check_alpn(value, e);
    case KEY_NO_DEFAULT_ALPN:
        return value.left == 0 ? 0 : malformed(e, "no-default-alpn: has a value");
    case KEY_PORT:
        if (value.left != 2)
            return malformed(e, "port: not two octets");
        out->port = (unsigned)bytes_get(&value, 2);
        return 0;
    case KEY_IPV4HINT:
        return check_hints(value, 4, "ipv4hint: not a list of addresses", e);
    case KEY_IPV6HINT:
        return check_hints(value, 16, "ipv6hint: not a list of addresses", e);
    case KEY_GROUPS:
        return read_groups(value, out, e);
    case KEY_INVALID:
        return malformed(e, "key 65535 is never valid");
    default:
        return 0;
    }
}

/* The next parameter; false behind the last, or where there is only a part of it (is_bad). */
static bool next_parameter(struct bytes_reader *rest, unsigned *key, struct bytes_reader *value)
{
    if (rest->left == 0)
        return false;
    *key = (unsigned)bytes_get(rest, 2);
    *value = bytes_get_vector(rest, 2);
    return !rest->is_bad;
}

static bool find_parameter(struct bytes_reader parameters, unsigned wanted,
                           struct bytes_reader *value)
{
    unsigned key;
    while (next_parameter(&parameters, &key, value))
        if (key == wanted)
            return true;
    return false;
}

/* Keys that may change how a connection is made and that this program can heed. */
static bool is_heeded(unsigned key)
{
    return key == KEY_ALPN || key == KEY_NO_DEFAULT_ALPN || key == KEY_PORT ||
           key == KEY_IPV4HINT || key == KEY_IPV6HINT || key == KEY_GROUPS;
}

static int check_mandatory(struct bytes_reader parameters, struct svcb *out, struct err *e)
{
    struct bytes_reader value, unused;
    unsigned last = 0;
    if (!find_parameter(parameters, KEY_MANDATORY, &value))
        return 0;
    if (value.left == 0 || value.left % 2 != 0)
        return malformed(e, "mandatory: not a list of keys");
    while (value.left > 0) {
        unsigned key = (unsigned)bytes_get(&value, 2);
        if (key <= last) /* 0, mandatory itself, may not stand there either */
            return malformed(e, "mandatory: its keys do not ascend");
        if (!find_parameter(parameters, key, &unused))
            return malformed(e, "mandatory: a key that the record has not");
        if (!is_heeded(key) && out->foreign_key == 0)
            out->foreign_key = key;
        last = key;
    }
    return 0;
}

static int read_parameters(struct bytes_reader parameters, struct svcb *out, struct err *e)
{
    struct bytes_reader rest = parameters, value;
    unsigned key = 0, last = 0;
    bool is_first = true;
    while (next_parameter(&rest, &key, &value)) {
        if (!is_first && key <= last)
            return malformed(e, key == last ? "a key twice" : "its keys do not ascend");
        if (read_value(key, value, out, e) != 0)
            return -1;
        last = key;
        is_first = false;
    }
    if (rest.is_bad)
        return malformed(e, "a parameter goes beyond the record");
    if (find_parameter(parameters, KEY_NO_DEFAULT_ALPN, &value) &&
        !find_parameter(parameters, KEY_ALPN, &value))
        return malformed(e, "no-default-alpn without alpn");
    return check_mandatory(parameters, out, e);
}

int svcb_read(const uint8_t *rdata, size_t length, struct svcb *out, struct err *e)
{
    struct bytes_reader rest = bytes_read(rdata, length);
    memset(out, 0, sizeof(*out));
    if (length < 3)
        return malformed(e, "too short");
    out->priority = (unsigned)bytes_get(&rest, 2);
    if (read_target(&rest, out->target, e) != 0)
        return -1;
    if (out->priority == SVCB_ALIAS || read_parameters(rest, out, e) == 0)
        return 0;
    svcb_free(out);
    return -1;
}

void svcb_free(struct svcb *record)
{
    free(record->group);
    record->group = NULL;
    record->groups = 0;
}
