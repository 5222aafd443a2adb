/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svcb.h - one SVCB or HTTPS record, read strictly.
 *
 * Layer: net (may include base only).  No I/O.
 * Shape: what a TLS client needs to know before its first flight: priority, target, port and
 *   the groups that the server names.  Everything else is checked and dropped.
 * Source: RFC 9460 (SVCB, HTTPS), 2.2 (malformed records), 7 (keys), 8 (mandatory);
 *   draft-ietf-tls-key-share-prediction (key 9, tls-supported-groups).
 * Bounds: nothing behind `length` is read, whatever the bytes say.
 * Threads: any.
 */
#ifndef NET_SVCB_H
#define NET_SVCB_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define SVCB_NAME_SIZE 1025u /* a name of 255 octets, all of them escaped, and its NUL */
#define SVCB_ALIAS 0u        /* the priority of an AliasMode record */
#define SVCB_KEY_GROUPS 9u   /* tls-supported-groups */

struct svcb {
    unsigned priority;
    char target[SVCB_NAME_SIZE]; /* "." : the owner itself; of an alias: no such service */
    unsigned port;               /* 0: none named */
    unsigned foreign_key;        /* a mandatory key that is not known here; 0: none */
    size_t groups;               /* 0: it has no list */
    uint16_t *group;             /* code points in the server's order, owned */
};

/* ERR_FAILED names what is malformed: the record, and by RFC 9460 all of its set, must then
 * not be used; *out holds nothing to free.  The parameters of an alias are not looked at. */
int svcb_read(const uint8_t *rdata, size_t length, struct svcb *out, struct err *e)
    __attribute__((warn_unused_result));
void svcb_free(struct svcb *record); /* what it owns */

#endif
