/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_codes.h - every NamedGroup that a TLS 1.3 server may know, whether a library of ours
 * has it or not.
 *
 * Layer: tls.
 * For: asking a server what it accepts.  groups.h has the groups that we can measure.
 * Source: IANA TLS Supported Groups as of 2025; the last two are drafts that were deployed
 *   and whose code points are obsolete.
 * Threads: any (static table).
 */
#ifndef TLS_GROUP_CODES_H
#define TLS_GROUP_CODES_H

#include <stdbool.h>
#include <stddef.h>

enum group_kind {
    GROUP_CLASSICAL,
    GROUP_HYBRID,       /* classical and post-quantum together */
    GROUP_POST_QUANTUM, /* ML-KEM alone */
};

struct group_code {
    unsigned code; /* NamedGroup */
    const char *name;
    enum group_kind kind;
    bool is_obsolete; /* a draft's */
};

#define GROUP_CODES_MAX 40u
const struct group_code *group_codes(size_t *count);     /* at most GROUP_CODES_MAX */
const struct group_code *group_code_find(unsigned code); /* NULL: not in the table */
/* "X25519", "0x4a4a" for one that is not in the table; returns buf (16 hold any number). */
const char *group_code_name(unsigned code, char *buf, size_t size);

#endif
