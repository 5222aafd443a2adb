/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - an emulated link between two network namespaces of this process's own.
 *
 * Layer: net (may include base only).
 * Shape: a child process makes two namespaces with a TUN device in each and carries every
 *   packet from one to the other with delay, rate, queue and loss (link_spec.h).  Threads
 *   and processes enter an end before they make sockets.  Without the rights of root the
 *   caller goes into a user namespace of its own (and stays in it, as the same user).
 * Life: the child ends when the link is closed, when its owner is killed, whatever way; the
 *   namespaces have no names and are gone with the last process in them.  Nothing of the
 *   host's network changes.
 * Units: ns, bytes, packets.
 * Failures: ERR_UNSUPPORTED names what this machine lacks.
 * Source: tun of the kernel's Documentation/networking/tuntap.rst, namespaces(7), setns(2).
 * Threads: open and close from one thread that outlives the link and, where user namespaces
 *   are needed, is the only one at that time; enter and the readers from any.
 */
#ifndef NET_LINK_H
#define NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "net/link_flow.h"
#include "net/link_spec.h"

struct link; /* opaque */

struct link_options {
    const struct link_spec *spec;
    uint64_t seed;       /* of losses and jitter */
    const char *capture; /* pcapng file of what the client's end saw, or NULL */
};

/* Lateness: 2^i us at most for bucket i, in powers of two. */
#define LINK_LATE_BUCKETS 24u

/* Of one way, since the link is there. */
struct link_counters {
    uint64_t packets, bytes; /* that came to it; IP bytes */
    uint64_t delivered, lost, queue_full, too_large, overflow;
    uint64_t late_max_ns; /* written later than due */
    uint64_t late[LINK_LATE_BUCKETS];
};

/* NULL: with an error. */
struct link *link_open(const struct link_options *options, struct err *e);
/* And wait for the child.  0, or -1 if it had died before, or not written all of the capture.
 * NULL: nothing, 0. */
int link_close(struct link *link, struct err *e);

/* 0, or -1 if its process has ended: what was sent since did not arrive. */
int link_check(const struct link *link, struct err *e) __attribute__((warn_unused_result));

/* The calling thread's sockets, and those of processes it makes, are from now on at this
 * end.  Safe between fork and exec. */
int link_enter(const struct link *link, enum link_end end, struct err *e)
    __attribute__((warn_unused_result));

const char *link_host(enum link_end end); /* its IPv4 address */
const struct link_spec *link_get_spec(const struct link *link);

void link_read_counters(const struct link *link, struct link_counters out[LINK_WAYS]);
/* Largest lateness of the share q (0..1] of the packets, as the bucket's upper end;
 * 0: no packets. */
uint64_t link_late_ns(const struct link_counters *c, double q);
/* The newest connection from this port of the client's. */
void link_read_flow(const struct link *link, unsigned client_port, struct link_flow *out);

/* Can this user make links here, or such that the kernel's netem shapes?  Tries it in a
 * process of its own. */
int link_probe(bool is_netem, struct err *e) __attribute__((warn_unused_result));

#endif
