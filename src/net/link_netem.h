/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_netem.h - one way of a link whose delay, loss, rate and queue are the kernel's netem.
 *
 * Layer: net, private to link*.c.
 * Shape: a TUN device whose queueing discipline is netem.  A packet goes to the device by a
 *   packet socket, through the discipline, and is read from the TUN device when it is due.  A
 *   trailer behind it, which the rate is told not to count, says which one it was: what
 *   packets behind it have overtaken is lost.  With jitter netem lets packets overtake each
 *   other, so there one is lost once its time is over.
 * Set up by: the program tc, since it knows the kernel's units.
 * Failures: ERR_UNSUPPORTED names what is missing: tc, or sch_netem.
 * Source: tc-netem(8), packet(7).
 * Threads: one owner.
 */
#ifndef NET_LINK_NETEM_H
#define NET_LINK_NETEM_H

#include <sys/types.h>
#include "net/link_shape.h"

struct link_netem; /* opaque */

/* What a packet was when it was sent, for whoever hears that it is lost. */
struct link_netem_tag {
    uint16_t mark, port;
};
typedef void link_netem_lost_fn(void *arg, const struct link_netem_tag *tag);

/* Both ways, in a network namespace of their own, which the calling process goes into. */
int link_netem_make(const struct link_spec *spec, struct link_netem *out[LINK_WAYS],
                    struct err *e) __attribute__((warn_unused_result));
void link_netem_free(struct link_netem *n); /* NULL: nothing */
void link_netem_hear(struct link_netem *n, link_netem_lost_fn *lost, void *arg);

/* Readable when a packet is due. */
int link_netem_fd(const struct link_netem *n);
/* PASSED: it is under way; QUEUE_FULL and OVERFLOW: it never will be. */
enum link_fate link_netem_send(struct link_netem *n, const void *packet, size_t bytes,
                               const struct link_netem_tag *tag, uint64_t now_ns);
/* The bytes of a packet that is due; 0: something else was read; -1: nothing there, as
 * read(2) says.  size: at least the MTU and LINK_NETEM_TRAILER_BYTES.  *is_back: it had been
 * told of as lost. */
#define LINK_NETEM_TRAILER_BYTES 12u
ssize_t link_netem_receive(struct link_netem *n, void *packet, size_t size, uint64_t now_ns,
                           uint16_t *mark, bool *is_back);

/* The words behind "tc", ending with NULL, for the device; owned by the caller, as one text
 * with words apart by NUL.  For tests. */
#define LINK_NETEM_WORDS_MAX 40u
struct link_netem_words {
    char text[512];
    char *word[LINK_NETEM_WORDS_MAX + 1];
};
void link_netem_words(const struct link_way_spec *way, unsigned mtu_bytes, const char *device,
                      struct link_netem_words *out);

#endif
