/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - nginx or HAProxy as a child of this process, serving what endpoints say.
 *
 * Layer: run.
 * Shape: the sockets are opened here, on free ports, and inherited, so that no
 *   port can be taken by another in between.  Configuration, certificates and keys are in a
 *   private temporary folder (peer_folder.h), which is gone after the stop.  One process, or
 *   several where endpoints differ in what such a process has one of (peer_config_assign);
 *   each is a process group of its own, is asked to end when this one dies, and takes its
 *   workers with it.  All are children of this process, which has no others.
 * Threads: one owner, the process's main thread (the kernel ties the child to the thread).
 */
#ifndef RUN_PEER_H
#define RUN_PEER_H

#include "base/cpu.h"
#include "run/endpoint.h"
#include "run/peer_config.h"

struct peer_options {
    const struct peer_program *program;
    const struct endpoint *endpoint; /* initialised: configuration, identity, address */
    size_t endpoints;
    const uint64_t *payload_bytes;
    size_t payloads;
    struct cpu_set cores; /* one worker each; count 0: one worker on any core */
};

struct peer;

/* It answers on every port when this returns.  ERR_FAILED: it did not start; the text has
 * what it said. */
struct peer *peer_start(const struct peer_options *options, struct err *e)
    __attribute__((warn_unused_result));
void peer_stop(struct peer *p); /* NULL: nothing */

unsigned peer_port(const struct peer *p, size_t endpoint);

#endif
