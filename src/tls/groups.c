/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/groups.h"
#include <assert.h>
#include <string.h>
#include <strings.h>

enum {
    X25519,
    X448,
    SECP256R1,
    SECP384R1,
    SECP521R1,
    FFDHE2048,
    FFDHE3072,
    MLKEM512,
    MLKEM768,
    MLKEM1024,
    SECP256R1MLKEM768,
    X25519MLKEM768,
    SECP384R1MLKEM1024,
    GROUPS,
};

/* clang-format off */
static const struct tls_group table[GROUPS] = {
    /* name, aliases, code, client and server share, hybrid, post-quantum */
    [X25519] = {"X25519", "", 0x001d, 32, 32, false, false},
    [X448] = {"X448", "", 0x001e, 56, 56, false, false},
    [SECP256R1] = {"secp256r1", "P-256 prime256v1", 0x0017, 65, 65, false, false},
    [SECP384R1] = {"secp384r1", "P-384", 0x0018, 97, 97, false, false},
    [SECP521R1] = {"secp521r1", "P-521", 0x0019, 133, 133, false, false},
    [FFDHE2048] = {"ffdhe2048", "", 0x0100, 256, 256, false, false},
    [FFDHE3072] = {"ffdhe3072", "", 0x0101, 384, 384, false, false},
    [MLKEM512] = {"MLKEM512", "", 0x0200, 800, 768, false, true},
    [MLKEM768] = {"MLKEM768", "", 0x0201, 1184, 1088, false, true},
    [MLKEM1024] = {"MLKEM1024", "", 0x0202, 1568, 1568, false, true},
    [SECP256R1MLKEM768] = {"SecP256r1MLKEM768", "", 0x11eb, 1249, 1153, true, true},
    [X25519MLKEM768] = {"X25519MLKEM768", "", 0x11ec, 1216, 1120, true, true},
    [SECP384R1MLKEM1024] = {"SecP384r1MLKEM1024", "", 0x11ed, 1665, 1665, true, true},
};

static const struct tls_group *const all[GROUPS + 1] = {
    &table[X25519],            &table[X448],           &table[SECP256R1],
    &table[SECP384R1],         &table[SECP521R1],      &table[FFDHE2048],
    &table[FFDHE3072],         &table[MLKEM512],       &table[MLKEM768],
    &table[MLKEM1024],         &table[SECP256R1MLKEM768],
    &table[X25519MLKEM768],    &table[SECP384R1MLKEM1024],
    NULL,
};
/* clang-format on */

/* A piece of somebody's text; not terminated. */
struct part {
    const char *text;
    size_t length;
};

static bool part_is(struct part part, const char *name, size_t length)
{
    return part.length == length && strncasecmp(part.text, name, length) == 0;
}

static bool alias_matches(const char *aliases, struct part part)
{
    while (*aliases != '\0') {
        size_t length = strcspn(aliases, " ");
        if (part_is(part, aliases, length))
            return true;
        aliases += length;
        aliases += strspn(aliases, " ");
    }
    return false;
}

static const struct tls_group *find_group(struct part part)
{
    if (part.length == 0)
        return NULL;
    for (size_t i = 0; i < GROUPS; i++)
        if (part_is(part, table[i].name, strlen(table[i].name)) ||
            alias_matches(table[i].aliases, part))
            return &table[i];
    return NULL;
}

const struct tls_group *tls_group_by_name(const char *name)
{
    return find_group((struct part){name, strlen(name)});
}

const struct tls_group *tls_group_by_code(unsigned code)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (table[i].code == code)
            return &table[i];
    return NULL;
}

const struct tls_group *const *tls_group_all(void)
{
    return all;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct part trim(struct part part)
{
    while (part.length > 0 && is_blank(part.text[0])) {
        part.text++;
        part.length--;
    }
    while (part.length > 0 && is_blank(part.text[part.length - 1]))
        part.length--;
    return part;
}

/* "PREFIXES NAME" of one part, before it is known what it means for the list. */
struct item {
    struct part whole, name;
    bool has_share, is_optional, is_removal, is_default;
    const struct tls_group *group;
};

static int refuse(const char *list, struct part part, const char *why, struct err *e)
{
    int shown = part.length > 40 ? 40 : (int)part.length;
    return err_set(e, ERR_USAGE,
                   "groups '%.200s': '%.*s%s': %s (accepted: names of groups joined by ':' or "
                   "'/', each with '*' to send a share, '?' if it may be unknown or '-' to "
                   "remove it)",
                   list, shown, part.text, part.length > 40 ? "..." : "", why);
}

static int item_read(const char *list, struct part part, struct item *out, struct err *e)
{
    memset(out, 0, sizeof(*out));
    part = trim(part);
    out->whole = part;
    if (part.length == 0)
        return refuse(list, part, "an empty part", e);
    while (part.length > 0 && strchr("*?-", part.text[0]) != NULL) {
        bool *flag = part.text[0] == '*'   ? &out->has_share
                     : part.text[0] == '?' ? &out->is_optional
                                           : &out->is_removal;
        if (*flag)
            return refuse(list, out->whole, "the same prefix twice", e);
        *flag = true;
        part.text++;
        part.length--;
    }
    out->name = part;
    if (part.length == 0)
        return refuse(list, out->whole, "a prefix without a name", e);
    if (part.length >= TLS_GROUPS_NAME_MAX)
        return refuse(list, out->whole, "the name is too long", e);
    if (out->is_removal && out->has_share)
        return refuse(list, out->whole, "'*' and '-' exclude each other", e);
    out->is_default = part_is(part, "DEFAULT", strlen("DEFAULT"));
    if (out->is_default && (out->is_optional || out->is_removal))
        return refuse(list, out->whole, "DEFAULT takes no '?' and no '-'", e);
    out->group = find_group(part);
    if (out->group == NULL && !out->is_optional && !out->is_default)
        return refuse(list, out->whole, "unknown group", e);
    return 0;
}

static size_t find_entry(const struct tls_group_list *list, const struct tls_group *group)
{
    size_t i = 0;
    while (i < list->count && list->entry[i].group != group)
        i++;
    return i;
}

static void remove_entry(struct tls_group_list *list, size_t i)
{
    list->count--;
    memmove(&list->entry[i], &list->entry[i + 1], (list->count - i) * sizeof(list->entry[0]));
}

/* `entry` gets the tuple's number by '/'; settle() closes the gaps. */
static int item_apply(const char *text, const struct item *item, unsigned tuple,
                      struct tls_group_list *list, struct err *e)
{
    if (item->is_default) {
        if (list->is_default)
            return refuse(text, item->whole, "DEFAULT twice", e);
        list->is_default = true;
        return 0;
    }
    size_t at = item->group == NULL ? list->count : find_entry(list, item->group);
    if (item->is_removal) {
        if (at < list->count)
            remove_entry(list, at);
        return 0;
    }
    if (at < list->count)
        return refuse(text, item->whole, "named twice", e);
    if (list->count == TLS_GROUPS_MAX)
        return refuse(text, item->whole, "more than 32 groups", e);
    list->entry[list->count++] = (struct tls_group_entry){
        .group = item->group,
        .has_share = item->has_share,
        .is_optional = item->is_optional,
        .tuple = tuple,
    };
    return 0;
}

/* Number the tuples that hold a known group and count the shares.  Returns how many groups
 * are known. */
static size_t settle(struct tls_group_list *list)
{
    size_t known = 0;
    struct tls_group_entry *first = NULL;
    unsigned last_tuple = 0;
    list->shares = 0;
    list->tuples = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct tls_group_entry *entry = &list->entry[i];
        if (entry->group == NULL) {
            entry->tuple = list->tuples > 0 ? list->tuples - 1 : 0;
            continue;
        }
        if (known++ == 0)
            first = entry;
        if (list->tuples == 0 || entry->tuple != last_tuple)
            list->tuples++;
        last_tuple = entry->tuple;
        entry->tuple = list->tuples - 1;
        list->shares += entry->has_share;
    }
    if (list->shares == 0 && first != NULL && !list->is_default) {
        first->has_share = true;
        list->shares = 1;
    }
    return known;
}

static int check_whole(const char *text, struct tls_group_list *list, struct err *e)
{
    struct part whole = {text, strlen(text)};
    size_t known = settle(list);
    if (known == 0 && list->count > 0 && !list->is_default)
        return refuse(text, whole, "no known group in it", e);
    if (known == 0 && !list->is_default)
        return refuse(text, whole, "every group is removed again", e);
    if (list->shares > TLS_GROUPS_SHARES_MAX)
        return refuse(text, whole, "more than 4 groups with a share", e);
    return 0;
}

int tls_groups_parse(const char *text, struct tls_group_list *out, struct err *e)
{
    assert(text != NULL && out != NULL);
    memset(out, 0, sizeof(*out));
    unsigned tuple = 0;
    for (const char *at = text;; at++) {
        struct item item;
        struct part part = {at, strcspn(at, ":/")};
        if (item_read(text, part, &item, e) != 0 || item_apply(text, &item, tuple, out, e) != 0)
            return -1;
        at += part.length;
        if (*at == '\0')
            break;
        tuple += *at == '/';
    }
    return check_whole(text, out, e);
}

static bool is_in(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcasecmp(*names, name) == 0)
            return true;
    return false;
}

int tls_groups_restrict(struct tls_group_list *list, const char *const *supported,
                        const char *who, struct err *e)
{
    for (size_t i = 0; i < list->count;) {
        const struct tls_group_entry *entry = &list->entry[i];
        if (entry->group != NULL && is_in(supported, entry->group->name)) {
            i++;
        } else if (entry->group == NULL || entry->is_optional) {
            remove_entry(list, i);
        } else {
            return err_set(e, ERR_UNSUPPORTED, "group %s: not supported by %s",
                           entry->group->name, who);
        }
    }
    if (settle(list) == 0 && !list->is_default)
        return err_set(e, ERR_UNSUPPORTED, "groups: %s supports none of the list", who);
    return 0;
}
