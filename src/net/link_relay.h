/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_relay.h - the emulator: packets from one TUN device to the other, in their time.
 *
 * Layer: net, private to link*.c.
 * Shape: one thread in one loop.  A packet is read when the sender's kernel gave it, its fate
 *   and its time are drawn (link_shape), and it is written when that time has come.  A packet
 *   whose time has come already is written at once.
 * Cost: two system calls a packet; nothing is allocated on the way.
 * Threads: one; others read `shared`, see link_flow.h.
 */
#ifndef NET_LINK_RELAY_H
#define NET_LINK_RELAY_H

#include <stdio.h>
#include "net/link.h"
#include "net/link_flow.h"
#include "net/link_netem.h"

/* Memory of several processes. */
struct link_shared {
    struct link_counters counters[LINK_WAYS];
    struct link_flows flows;
};

struct link_relay_options {
    const struct link_spec *spec;
    uint64_t seed;
    int tun_fd[LINK_ENDS];               /* non-blocking */
    struct link_netem *netem[LINK_WAYS]; /* NULL: the relay shapes by itself */
    int control_fd;                      /* the relay ends when its other end is closed */
    FILE *capture;                       /* what the client's device sees, or NULL */
    struct link_shared *shared;
};

/* Until the end.  -1: it could not be set up, or the capture could not be written. */
int link_relay_run(const struct link_relay_options *options, struct err *e)
    __attribute__((warn_unused_result));

#endif
