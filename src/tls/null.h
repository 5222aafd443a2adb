/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null.h - the backend that does no cryptography and takes a known time.
 *
 * Layer: tls.
 * For: the tool's test of itself, and the harness's own cost.  It protects nothing.
 * Shape: TLS 1.3's records, messages and sizes with filler in place of keys, signatures
 *   and ciphertext (no 17 bytes of protection per record); real key share sizes; near real
 *   certificates.  The client's hello carries struct tls_null_work and a counter of its
 *   context's connections.
 * Time: a side that is asked to spin uses, of its thread's CPU clock, what was asked from
 *   its first entry into handshake() until the answer is handed to the transport, time
 *   between calls left out: the client until its Finished, the server until its ServerHello.
 *   What comes before and behind (making, sending, freeing) adds a few us.
 * Delay: of n handshakes of one context, n * delay_share are delayed, give or take two,
 *   spread evenly (a Weyl sequence over the counter).
 * Groups: a server with a list takes the first of its own that the client offers, and asks
 *   for its share by HelloRetryRequest where the client sent none; one without a list has
 *   every group, goes by the client's order and prefers a share that is there.  A client
 *   without a list offers "*X25519MLKEM768:*X25519" and the classical groups.
 * Limits: no resumption, early data, TLS 1.2, tuples or primitives.
 * Threads: as backend.h says.
 */
#ifndef TLS_NULL_H
#define TLS_NULL_H

#include "tls/backend.h"

/* No side spins longer for one handshake, whatever a hello says. */
#define TLS_NULL_SPIN_MAX_NS 1000000000u
#define TLS_NULL_TICKETS_MAX 64u

/* failure().code with TLS_CAUSE_VERIFY. */
enum tls_null_verify { TLS_NULL_VERIFY_ROOT = 1, TLS_NULL_VERIFY_NAME = 2 };

const struct tls_backend *tls_null_backend(void);

#endif
