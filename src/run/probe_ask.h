/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_ask.h - a probe's questions: a hello by hand, or a whole handshake by a library.
 *
 * Layer: run, private to the probe.
 * Threads: one owner.
 */
#ifndef RUN_PROBE_ASK_H
#define RUN_PROBE_ASK_H

#include "run/probe_link.h"
#include "tls/raw_answer.h"
#include "tls/raw_hello.h"

/* One connection, one hello, one answer.  True: *answer is a ServerHello, a
 * HelloRetryRequest or an alert; else *why.  The caller asks probe_may_go_on first. */
bool probe_ask(struct probe *p, const struct raw_hello *hello, struct raw_answer *answer,
               struct probed_failure *why);

/* An alert as a failure: cause "alert", its number and name. */
void probe_fail_alert(struct probed_failure *why, unsigned alert);
void probe_fail_tls(struct probed_failure *why, const struct tls_failure *failure);

/* Which groups, in whose order, and what of a missing share (probe_groups.c). */
void probe_ask_groups(struct probe *p);
/* Is a group taken that the client sent a share for, though the server prefers another? */
void probe_ask_shares(struct probe *p);
/* The versions of TLS. */
void probe_ask_versions(struct probe *p);

/* A whole handshake with these groups (probe_handshake.c). */
void probe_shake(struct probe *p, const char *groups, struct probed_handshake *out);

#endif
