/* SPDX-License-Identifier: Apache-2.0 */
/* How a prediction is written: off, dns, dns:SCHEME, or the server's list. */
#include <ctype.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "run/predict.h"
#include "tls/groups.h"

#define ACCEPTED "off, dns, dns:SCHEME, or code points and names of groups joined by ','"
#define SCHEME_MAX 32u

static int refuse(const char *value, const char *why, struct err *e)
{
    struct text shown = {0};
    text_add_harmless(&shown, value);
    err_set(e, ERR_USAGE, "'%.120s': %s (accepted: " ACCEPTED ")", text_str(&shown), why);
    text_free(&shown);
    return -1;
}

static int read_code(const char *list, const char *item, uint16_t *out, struct err *e)
{
    const struct tls_group *group = tls_group_by_name(item);
    uint64_t code = 0;
    if (item[0] == '\0')
        return refuse(list, "an empty part", e);
    if (group != NULL) {
        *out = (uint16_t)group->code;
        return 0;
    }
    if (strspn(item, "0123456789") != strlen(item))
        return refuse(list, "an unknown group in it", e);
    if (units_parse_count(item, 0, UINT16_MAX, &code, NULL) != 0)
        return refuse(list, "a code point above 65535", e);
    *out = (uint16_t)code;
    return 0;
}

int predict_read_list(const char *text, uint16_t out[PREDICT_LIST_MAX], size_t *count,
                      struct err *e)
{
    char item[TLS_GROUPS_NAME_MAX];
    *count = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        if (n >= sizeof(item))
            return refuse(text, "an unknown group in it", e);
        memcpy(item, at, n);
        item[n] = '\0';
        if (*count == PREDICT_LIST_MAX)
            return refuse(text, "more than 128 groups", e);
        if (read_code(text, item, &out[*count], e) != 0)
            return -1;
        for (size_t i = 0; i < *count; i++)
            if (out[i] == out[*count])
                return refuse(text, "a group twice", e);
        (*count)++;
        at += n;
        if (*at == '\0')
            return 0;
    }
}

static bool is_scheme(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n > SCHEME_MAX || !isalpha((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '-')
            return false;
    return true;
}

bool predict_is_dns(const char *value)
{
    return strncmp(value, "dns", 3) == 0 && (value[3] == '\0' || value[3] == ':');
}

int predict_check(const char *value, struct err *e)
{
    uint16_t list[PREDICT_LIST_MAX];
    size_t count;
    if (strcmp(value, "off") == 0)
        return 0;
    if (strlen(value) > ARM_TEXT_MAX)
        return refuse(value, "longer than 255 characters", e);
    if (!predict_is_dns(value))
        return predict_read_list(value, list, &count, e);
    if (value[3] == ':' && !is_scheme(value + 4))
        return refuse(value, "no scheme", e);
    return 0;
}
