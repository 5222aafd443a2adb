/* SPDX-License-Identifier: Apache-2.0 */
#include "net/address.h"
#include <arpa/inet.h>
#include <assert.h>
#include <netdb.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#define PORT_MAX 65535u
#define LABEL_MAX 63u
#define ACCEPTED "(accepted: HOST:PORT, 192.0.2.1:443, [2001:db8::1]:443)"

static int refuse(const char *text, const char *why, struct err *e)
{
    return err_set(e, ERR_USAGE, "'%.200s': %s " ACCEPTED, text, why);
}

/* ---- parts of a text ---- */

/* Decimal digits only, nothing else; false above PORT_MAX. */
static bool read_port(const char *text, unsigned *out)
{
    unsigned port = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0')
        return false;
    for (; *text != '\0' && port <= PORT_MAX; text++)
        port = port * 10 + (unsigned)(*text - '0');
    *out = port;
    return port <= PORT_MAX;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "ADDRESS" or "ADDRESS%ZONE". */
static bool is_ipv6(const char *host)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    size_t length = strcspn(host, "%");
    const char *zone = host + length;
    if (length >= sizeof(address))
        return false;
    memcpy(address, host, length);
    address[length] = '\0';
    if (inet_pton(AF_INET6, address, &parsed) != 1)
        return false;
    if (*zone == '\0')
        return true;
    size_t zone_length = strlen(zone + 1);
    for (const char *at = zone + 1; *at != '\0'; at++)
        if (!is_letter_or_digit(*at) && strchr("._-@", *at) == NULL)
            return false;
    return zone_length > 0 && zone_length < IF_NAMESIZE;
}

static bool is_ipv4(const char *host)
{
    struct in_addr parsed;
    return inet_pton(AF_INET, host, &parsed) == 1;
}

/* NULL, or what is wrong with a host name. */
static const char *name_fault(const char *host, size_t length)
{
    size_t label = 0, digits = 0;
    if (length > ADDRESS_HOST_MAX)
        return "the name is longer than 253 characters";
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)host[i] >= 0x80)
            return "a name that is not ASCII must be written in its A-label form (xn--...)";
        if (host[i] == '.' && label == 0)
            return "the name has an empty part";
        if (host[i] == '-' && label == 0)
            return "a part of the name begins with '-'";
        if (host[i] != '.' && host[i] != '-' && host[i] != '_' && !is_letter_or_digit(host[i]))
            return "the name has a character that no name has";
        label = host[i] == '.' ? 0 : label + 1;
        digits = host[i] == '.' ? 0 : digits + (host[i] >= '0' && host[i] <= '9');
        if (label > LABEL_MAX)
            return "a part of the name is longer than 63 characters";
    }
    if (label == 0)
        return "the name has an empty part";
    /* A name whose last part is a number would be read as an address in another notation. */
    const char *last = host + length - label;
    if (label == digits || (label > 1 && last[0] == '0' && (last[1] | 0x20) == 'x'))
        return "not an address in four decimal parts";
    return NULL;
}

/* ---- the whole ---- */

/* Cut text into host and port text ("" none). */
static int split(const char *text, struct address_name *out, const char **port, struct err *e)
{
    const char *end, *begin = text;
    const char *colon = strrchr(text, ':');
    if (text[0] == '[') {
        begin = text + 1;
        end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return refuse(text, "']' and perhaps ':PORT' must end the brackets", e);
        *port = end[1] == ':' ? end + 2 : NULL;
    } else if (colon != NULL && strchr(text, ':') == colon) {
        end = colon;
        *port = colon + 1;
    } else {
        end = text + strlen(text);
        *port = NULL;
    }
    size_t length = (size_t)(end - begin);
    if (length >= sizeof(out->host))
        return refuse(text, "the name is longer than 253 characters", e);
    memcpy(out->host, begin, length);
    out->host[length] = '\0';
    return 0;
}

static int check_host(const char *text, enum address_use use, struct address_name *out,
                      struct err *e)
{
    size_t length = strlen(out->host);
    if (is_ipv6(out->host)) {
        out->is_literal = true;
        return 0;
    }
    if (text[0] == '[')
        return refuse(text, "no IPv6 address in the brackets", e);
    if (strchr(out->host, ':') != NULL)
        return refuse(text, "an IPv6 address with a port needs brackets", e);
    if (length == 0 && use == ADDRESS_LISTEN)
        return 0;
    if (length == 0)
        return refuse(text, "no host", e);
    if (is_ipv4(out->host)) {
        out->is_literal = true;
        return 0;
    }
    if (length > 1 && out->host[length - 1] == '.')
        length--;
    const char *fault = name_fault(out->host, length);
    if (fault != NULL)
        return refuse(text, fault, e);
    memcpy(out->server_name, out->host, length);
    out->server_name[length] = '\0';
    return 0;
}

int address_parse(const char *text, enum address_use use, unsigned default_port,
                  struct address_name *out, struct err *e)
{
    const char *port = NULL;
    memset(out, 0, sizeof(*out));
    if (split(text, out, &port, e) != 0 || check_host(text, use, out, e) != 0)
        return -1;
    out->port = default_port;
    if (port == NULL && default_port == 0)
        return refuse(text, "no port", e);
    if (port != NULL && !read_port(port, &out->port))
        return refuse(text, "the port is no number up to 65535", e);
    if (port != NULL && out->port == 0 && use == ADDRESS_CONNECT)
        return refuse(text, "port 0 is nowhere to connect to", e);
    return 0;
}

/* ---- resolving ---- */

int address_resolve(const struct address_name *name, struct address *out, size_t max,
                    size_t *count, struct err *e)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (name->host[0] == '\0' ? AI_PASSIVE : 0) |
                    (name->is_literal ? AI_NUMERICHOST : 0),
    };
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", name->port);
    int error = getaddrinfo(name->host[0] != '\0' ? name->host : NULL, port, &hints, &found);
    /* A hosts file has its names without the dot. */
    if (error == EAI_NONAME && !name->is_literal && name->host[0] != '\0' &&
        strcmp(name->host, name->server_name) != 0)
        error = getaddrinfo(name->server_name, port, &hints, &found);
    if (error == EAI_SYSTEM)
        return err_set_errno(e, "%s", name->host);
    if (error != 0)
        return err_set(e, ERR_SYSTEM, "%s: %s", name->host, gai_strerror(error));
    *count = 0;
    for (const struct addrinfo *at = found; at != NULL && *count < max; at = at->ai_next) {
        if (at->ai_addrlen > sizeof(out->u))
            continue;
        struct address *a = &out[(*count)++];
        memset(a, 0, sizeof(*a));
        memcpy(&a->u, at->ai_addr, at->ai_addrlen);
        a->length = at->ai_addrlen;
    }
    freeaddrinfo(found);
    return *count > 0 ? 0 : err_set(e, ERR_SYSTEM, "%s: no address", name->host);
}

int address_lookup(const char *text, enum address_use use, struct address *out, struct err *e)
{
    struct address_name name;
    size_t count;
    if (address_parse(text, use, 0, &name, e) != 0)
        return -1;
    return address_resolve(&name, out, 1, &count, e);
}

/* ---- addresses ---- */

unsigned address_port(const struct address *a)
{
    return ntohs(a->u.any.sa_family == AF_INET6 ? a->u.v6.sin6_port : a->u.v4.sin_port);
}

void address_set_port(struct address *a, unsigned port)
{
    if (a->u.any.sa_family == AF_INET6)
        a->u.v6.sin6_port = htons((uint16_t)port);
    else
        a->u.v4.sin_port = htons((uint16_t)port);
}

bool address_is_loopback(const struct address *a)
{
    if (a->u.any.sa_family != AF_INET6)
        return ntohl(a->u.v4.sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *v6 = &a->u.v6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

bool address_same(const struct address *a, const struct address *b)
{
    if (a->u.any.sa_family != b->u.any.sa_family || address_port(a) != address_port(b))
        return false;
    if (a->u.any.sa_family != AF_INET6)
        return a->u.v4.sin_addr.s_addr == b->u.v4.sin_addr.s_addr;
    return IN6_ARE_ADDR_EQUAL(&a->u.v6.sin6_addr, &b->u.v6.sin6_addr) &&
           a->u.v6.sin6_scope_id == b->u.v6.sin6_scope_id;
}

char *address_format(const struct address *a, char *buf, size_t size)
{
    char host[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE] = "?";
    bool is_v6 = a->u.any.sa_family == AF_INET6;
    if (a->length > 0)
        (void)getnameinfo(&a->u.any, a->length, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
    snprintf(buf, size, is_v6 ? "[%s]:%u" : "%s:%u", host, address_port(a));
    return buf;
}

/* ---- ranges ---- */

/* A literal without port, at `text` up to its end. */
static int parse_literal(const char *text, size_t length, struct address *out, struct err *e)
{
    struct address_name name = {.is_literal = true};
    size_t count;
    if (length < sizeof(name.host)) {
        memcpy(name.host, text, length);
        name.host[length] = '\0';
    }
    if (!is_ipv4(name.host) && !is_ipv6(name.host))
        return err_set(e, ERR_USAGE,
                       "'%.*s' is no address (accepted: 192.0.2.1, 2001:db8::1, or a range "
                       "127.0.0.2-127.0.0.9)",
                       length < 200 ? (int)length : 200, text);
    return address_resolve(&name, out, 1, &count, e);
}

/* The last four bytes as a number: a range does not go beyond them. */
static uint8_t *low_bytes(struct address *a)
{
    return a->u.any.sa_family == AF_INET6 ? &a->u.v6.sin6_addr.s6_addr[12]
                                          : (uint8_t *)&a->u.v4.sin_addr.s_addr;
}

static uint32_t low_part(const struct address *a)
{
    struct address copy = *a;
    uint32_t value;
    memcpy(&value, low_bytes(&copy), sizeof(value));
    return ntohl(value);
}

static void set_low_part(struct address *a, uint32_t value)
{
    value = htonl(value);
    memcpy(low_bytes(a), &value, sizeof(value));
}

int address_parse_range(const char *text, struct address_range *out, struct err *e)
{
    struct address last;
    size_t length = strcspn(text, "-");
    if (parse_literal(text, length, &out->first, e) != 0)
        return -1;
    out->count = 1;
    if (text[length] == '\0')
        return 0;
    if (parse_literal(text + length + 1, strlen(text + length + 1), &last, e) != 0)
        return -1;
    uint32_t low = low_part(&out->first), high = low_part(&last);
    struct address start = last;
    set_low_part(&start, low);
    if (!address_same(&start, &out->first) || high < low || high - low >= ADDRESS_RANGE_MAX)
        return err_set(
            e, ERR_USAGE,
            "'%.200s' is no range (accepted: two addresses of one network, the lower "
            "first, at most %u)",
            text, ADDRESS_RANGE_MAX);
    out->count = high - low + 1;
    return 0;
}

void address_of_range(const struct address_range *range, uint32_t i, struct address *out)
{
    assert(i < range->count);
    *out = range->first;
    set_low_part(out, low_part(out) + i);
}
