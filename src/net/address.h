/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - what a user wrote for an end of a connection, and what it resolves to.
 *
 * Layer: net (may include base only).
 * Forms: HOST, HOST:PORT, [IPV6], [IPV6%ZONE]:PORT, IPV6 alone; to listen also :PORT.
 *   HOST is a name in letters, digits, '-', '_' and '.', at most 253 characters, or an IPv4
 *   address in four decimal parts.  Other notations of IPv4 ("127.1", "0x7f.1") and names
 *   that are not ASCII are refused: what a resolver makes of them is a guess.
 * Failures: ERR_USAGE names the text and what is accepted; callers add the option.
 * Source: RFC 1123 2.1, RFC 3986 3.2.2, RFC 4007 11, RFC 5890 (A-label), RFC 6066 3.
 * Threads: any.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "base/err.h"

#define ADDRESS_HOST_MAX 253u
#define ADDRESS_TEXT_MAX 72u /* "[IPV6%ZONE]:PORT" and its NUL */

enum address_use { ADDRESS_CONNECT, ADDRESS_LISTEN };

/* What was written, taken apart. */
struct address_name {
    char host[ADDRESS_HOST_MAX + 2]; /* for the resolver: a trailing dot is kept; "" listens
                                        on every address */
    char server_name[ADDRESS_HOST_MAX + 1]; /* for SNI: without the dot; "" for an address */
    unsigned port;
    bool is_literal; /* an address, not a name */
};

/* default_port: for a text without one; 0: it must have one.  Port 0 only to listen. */
int address_parse(const char *text, enum address_use use, unsigned default_port,
                  struct address_name *out, struct err *e) __attribute__((warn_unused_result));

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } u;
    socklen_t length; /* 0: none */
};

/* The addresses in the resolver's order, at most `max` (>= 1).  A literal asks nobody; a
 * name may wait for DNS.  ERR_SYSTEM "HOST: Name or service not known". */
int address_resolve(const struct address_name *name, struct address *out, size_t max,
                    size_t *count, struct err *e) __attribute__((warn_unused_result));

/* Both at once, for a text with a port: the first address. */
int address_lookup(const char *text, enum address_use use, struct address *out, struct err *e)
    __attribute__((warn_unused_result));

unsigned address_port(const struct address *a);
void address_set_port(struct address *a, unsigned port);
bool address_is_loopback(const struct address *a);
bool address_same(const struct address *a, const struct address *b); /* port included */
/* "127.0.0.1:443", "[::1]:443"; returns buf (ADDRESS_TEXT_MAX is enough). */
char *address_format(const struct address *a, char *buf, size_t size);

/* Local addresses to connect from: "A" or "A-B", literals of one family, A <= B, at most
 * 65536 of them.  For more connections than one address has ports. */
#define ADDRESS_RANGE_MAX 65536u
struct address_range {
    struct address first; /* port 0 */
    uint32_t count;
};
int address_parse_range(const char *text, struct address_range *out, struct err *e)
    __attribute__((warn_unused_result));
/* i < count. */
void address_of_range(const struct address_range *range, uint32_t i, struct address *out);

#endif
