/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns.h - SVCB and HTTPS records of a name, asked of a resolver.
 *
 * Layer: net (may include base only).
 * Shape: the C library's resolver moves the messages (UDP, TCP where an answer is cut, its
 *   checks of address, id and question); here the query gets an unpredictable id and EDNS0,
 *   and the answer is read strictly: only records of the name that was asked for, or of one
 *   that it leads to by CNAME or AliasMode, at most DNS_STEPS_MAX of them.
 * Source: RFC 1035, RFC 6891 (EDNS0), RFC 9460.
 * Threads: any; a lookup blocks.
 */
#ifndef NET_DNS_H
#define NET_DNS_H

#include <stdbool.h>
#include "net/address.h"
#include "net/svcb.h"

#define DNS_STEPS_MAX 8u
#define DNS_RECORDS_MAX 64u

enum dns_type { DNS_SVCB = 64, DNS_HTTPS = 65 };

struct dns_answer {
    char name[SVCB_NAME_SIZE]; /* whose records they are, or where it ended */
    bool is_elsewhere;         /* `name` has to be asked for: it stands not in this answer */
    size_t records;            /* ServiceMode, in order of priority; 0: see `reason` */
    struct svcb record[DNS_RECORDS_MAX];
    char reason[160]; /* why there is none: "no such name"; harmless text */
};

/* One message against its question.  ERR_FAILED: it is no answer to it, or says that the
 * resolver failed.  Records that RFC 9460 forbids to use are a reason, not an error. */
int dns_answer_read(const uint8_t *message, size_t length, const char *name, enum dns_type type,
                    struct dns_answer *out, struct err *e) __attribute__((warn_unused_result));
void dns_answer_free(struct dns_answer *answer); /* what it owns */

/* `resolver` NULL: those of the system.  Waits at most some seconds for each of them.
 * ERR_FAILED where none answers in a way that can be used. */
int dns_lookup(const struct address *resolver, const char *name, enum dns_type type,
               struct dns_answer *out, struct err *e) __attribute__((warn_unused_result));

/* What to ask for: HOST for HTTPS at port 443, else "_PORT._SCHEME.HOST" ("https" with NULL).
 * ERR_USAGE where that is too long. */
int dns_service_name(const char *host, unsigned port, const char *scheme, char *out,
                     size_t size, struct err *e) __attribute__((warn_unused_result));

#endif
