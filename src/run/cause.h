/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why a handshake failed, as the word that results carry.
 *
 * Layer: run.
 * Threads: any.
 */
#ifndef RUN_CAUSE_H
#define RUN_CAUSE_H

#include <stdbool.h>
#include "tls/backend.h"

/* "alert" (received), "alert-sent", "verify", "eof", "io", "not-tls", "version",
 * "protocol", "local"; "none". */
const char *cause_name(enum tls_cause cause);
/* Ours, and not the peer's. */
bool cause_is_local(enum tls_cause cause);

/* RFC 8446's name of an alert: "handshake_failure"; NULL where it has none. */
const char *cause_alert_name(int code);

/* One line for a person, without the library's own words: "the server sent alert 40
 * (handshake_failure)".  `who` is the end that saw it, `peer` the other.  Returns buf. */
char *cause_describe(const struct tls_failure *failure, const char *who, const char *peer,
                     char *buf, unsigned size);

#endif
