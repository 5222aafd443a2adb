/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed.h - what a probe found out, as text, JSON and CSV.
 *
 * Layer: report.
 * Shape: appends to a text and cannot fail; what a server chose to say is made harmless.
 *   JSON: "schema": "pqc-bench-probe/1", docs/PROBE.md has its fields.  CSV: one row per
 *   fact, RFC 4180.
 * Threads: any.
 */
#ifndef REPORT_PROBED_H
#define REPORT_PROBED_H

#include "report/format.h"
#include "result/probed.h"

struct probed_list {
    const struct probed *probed;
    size_t count;
    const char *started_at; /* RFC 3339; NULL: absent */
};

void probed_add_text(const struct probed_list *list, struct text *out,
                     const struct report_options *options);
void probed_add_json(const struct probed_list *list, struct text *out);
void probed_add_csv(const struct probed_list *list, struct text *out);

/* "post-quantum: yes, X25519MLKEM768, no extra round trip". */
void probed_add_verdict(const struct probed *p, struct text *out);
/* The i-th thing to change, or false where there are no more. */
bool probed_add_advice(const struct probed *p, size_t i, struct text *out);
/* The groups in the syntax of --groups where the order is the server's: ':' where a share of
 * the next is taken, '/' where it is asked for the one before; else with ", " between. */
void probed_add_groups(const struct probed_groups *groups, struct text *out);
/* The DNS record that this server should publish, as lines of a zone file: with the key's name
 * and in the generic form (draft-ietf-tls-key-share-prediction).  False, and a comment, where
 * there is nothing to publish. */
bool probed_add_record(const struct probed *p, struct text *out);
/* "the server sent alert 40 (handshake_failure)", harmless. */
void probed_add_failure(const struct probed_failure *failure, struct text *out);

#endif
