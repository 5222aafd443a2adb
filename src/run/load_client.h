/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_client.h - which TLS library makes the handshakes of a load.
 *
 * Layer: run.
 * Shape: a generator should cost less than the server that it measures, so where no arm names
 *   a client's library, all arms get the cheapest one installed that can do every one of them:
 *   one and the same, for arms are compared.  The server keeps the default library.
 * Threads: one owner.
 */
#ifndef RUN_LOAD_CLIENT_H
#define RUN_LOAD_CLIENT_H

#include "run/arm.h"

/* Sets backend, and for the embedded server server-backend where it follows the client's; arms
 * that cannot all be done by a cheaper library, or of which one names its own, stay as they
 * are. */
void load_choose_client(struct arm_list *arms, bool is_embedded,
                        const struct tls_backends *backends);

#endif
