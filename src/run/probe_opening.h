/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_opening.h - what is said on a connection before TLS: PROXY header, STARTTLS.
 *
 * Layer: run, private to the probe.
 * Bounds: a server's line of at most 1024 bytes, 100 lines; what comes behind the answer
 *   that opens TLS is refused, as it would be taken for TLS.
 * Source: see probe.h.
 * Threads: one owner.
 */
#ifndef RUN_PROBE_OPENING_H
#define RUN_PROBE_OPENING_H

#include "run/probe_link.h"

int probe_opening_run(struct probe_link *link, const struct probe_options *options,
                      struct probed_failure *why) __attribute__((warn_unused_result));

/* The PROXY header for a connection from -> to, of one family, into out (at least 128
 * bytes).  Returns its length. */
size_t probe_proxy_header(unsigned version, const struct address *from,
                          const struct address *to, uint8_t *out, size_t room);

#endif
