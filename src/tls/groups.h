/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - named groups and the list syntax of OpenSSL 3.5, parsed once for all backends.
 *
 * Layer: tls.
 * Shape: "A:B" list in order of preference; "A/B" ends a tuple (server only); "*A" sends a
 *   key share; "?A" is left out where unknown; "-A" removes; DEFAULT stands for the
 *   library's list.  No '*' at all: a share for the first only.  Blanks around a part do
 *   not count.  Prefixes in any order, each once; names without case.
 * Bounds: at most TLS_GROUPS_MAX parts, names shorter than TLS_GROUPS_NAME_MAX; nothing is
 *   allocated.
 * Source: IANA TLS Supported Groups; OpenSSL SSL_CTX_set1_groups_list(3); FIPS 203;
 *   draft-ietf-tls-ecdhe-mlkem.
 * Threads: any (static tables).
 */
#ifndef TLS_GROUPS_H
#define TLS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

struct tls_group {
    const char *name;    /* canonical: "X25519", "secp256r1", "X25519MLKEM768" */
    const char *aliases; /* space-separated: "P-256 prime256v1" or "" */
    unsigned code;       /* NamedGroup */
    unsigned client_share_bytes, server_share_bytes;
    bool is_hybrid, is_post_quantum;
};

/* By name or alias, without case; NULL if unknown. */
const struct tls_group *tls_group_by_name(const char *name);
const struct tls_group *tls_group_by_code(unsigned code);
const struct tls_group *const *tls_group_all(void); /* NULL-terminated */

#define TLS_GROUPS_MAX 32u
#define TLS_GROUPS_NAME_MAX 64u
#define TLS_GROUPS_SHARES_MAX 4u

struct tls_group_entry {
    const struct tls_group *group; /* NULL: unknown name behind '?' */
    bool has_share, is_optional;
    unsigned tuple; /* 0, 1, ... by '/'; tuples without a known group are not counted */
};
struct tls_group_list {
    size_t count;
    struct tls_group_entry entry[TLS_GROUPS_MAX];
    size_t shares;   /* number with a share: those marked, else 1; 0 with is_default alone */
    unsigned tuples; /* with a known group in them */
    bool is_default; /* contains the DEFAULT keyword: `entry` holds only what the text adds */
};

/* ERR_USAGE names the list, the offending part and what is accepted.  Refused besides bad
 * syntax: "", only unknown names, everything removed again, duplicates, more than 4 shares,
 * "*-A".  *out is undefined on failure. */
int tls_groups_parse(const char *text, struct tls_group_list *out, struct err *e)
    __attribute__((warn_unused_result));

/* Keep what a backend has: `supported` is its NULL-terminated list of canonical names.
 * Optional groups that it lacks go, unknown ones too, and shares and tuples are counted
 * anew.  ERR_UNSUPPORTED "group MLKEM512: not supported by WHO" for a mandatory one, and
 * when nothing is left.  A list with DEFAULT may become empty. */
int tls_groups_restrict(struct tls_group_list *list, const char *const *supported,
                        const char *who, struct err *e) __attribute__((warn_unused_result));

#endif
