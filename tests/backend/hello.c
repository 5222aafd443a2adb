/* SPDX-License-Identifier: Apache-2.0 */
#include "hello.h"
#include <string.h>

enum { SERVER_NAME = 0, SUPPORTED_GROUPS = 10, EARLY_DATA = 42, KEY_SHARE = 51 };

struct cursor {
    const uint8_t *at;
    size_t left;
    bool is_bad;
};

static size_t get(struct cursor *c, size_t bytes)
{
    size_t value = 0;
    if (c->left < bytes) {
        c->is_bad = true;
        c->left = 0;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | *c->at++;
    c->left -= bytes;
    return value;
}

static struct cursor sub(struct cursor *c, size_t bytes)
{
    struct cursor part = {c->at, bytes, false};
    if (c->left < bytes) {
        c->is_bad = true;
        part.left = c->left;
    }
    c->at += part.left;
    c->left -= part.left;
    return part;
}

static void read_shares(struct cursor body, struct hello *out)
{
    struct cursor list = sub(&body, get(&body, 2));
    while (list.left > 0 && out->shares < HELLO_SHARES_MAX) {
        out->share[out->shares].group = (unsigned)get(&list, 2);
        out->share[out->shares].bytes = get(&list, 2);
        sub(&list, out->share[out->shares++].bytes);
    }
}

static void read_name(struct cursor body, struct hello *out)
{
    get(&body, 3); /* list length, host_name */
    struct cursor name = sub(&body, get(&body, 2));
    out->has_sni = true;
    if (name.left < sizeof(out->sni))
        memcpy(out->sni, name.at, name.left);
}

bool hello_read(const struct queue *queue, size_t at, struct hello *out)
{
    struct cursor c = {queue->data + at, queue->end - at, false};
    memset(out, 0, sizeof(*out));
    if (get(&c, 1) != 22)
        return false;
    get(&c, 2);
    size_t record = get(&c, 2);
    out->bytes = record + 5;
    struct cursor body = sub(&c, record);
    if (get(&body, 1) != 1)
        return false;
    get(&body, 3 + 2);
    sub(&body, 32);
    sub(&body, get(&body, 1));
    sub(&body, get(&body, 2));
    sub(&body, get(&body, 1));
    struct cursor extensions = sub(&body, get(&body, 2));
    while (extensions.left > 0) {
        size_t type = get(&extensions, 2);
        struct cursor extension = sub(&extensions, get(&extensions, 2));
        if (type == KEY_SHARE)
            read_shares(extension, out);
        else if (type == SERVER_NAME)
            read_name(extension, out);
        else if (type == SUPPORTED_GROUPS)
            out->groups = (unsigned)get(&extension, 2) / 2;
        else if (type == EARLY_DATA)
            out->has_early_data = true;
    }
    return !c.is_bad && !body.is_bad && !extensions.is_bad;
}
