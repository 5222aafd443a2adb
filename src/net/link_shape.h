/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_shape.h - what one way of a link does to each packet: queue, rate, loss, delay.
 *
 * Layer: net (may include base only).  No I/O, no clock: the caller says what time it is.
 * Shape: a line that sends one packet after the other at its rate, a finite queue before it
 *   that drops what comes when it is full, and behind it a loss and a delay.  A packet that
 *   is lost has used the line.  Packets never overtake each other: with jitter one may wait
 *   for the one before it.
 * Loss: independent, or Gilbert-Elliott with all packets lost in the bad state: the mean
 *   length of a loss is burst_packets, the share of lost packets `loss`.
 * Units: CLOCK_MONOTONIC ns, bytes of IP packets.
 * Source: Gilbert 1960, Elliott 1963.
 * Threads: one owner.
 */
#ifndef NET_LINK_SHAPE_H
#define NET_LINK_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/rng.h"
#include "net/link_spec.h"

enum link_fate {
    LINK_PASSED,
    LINK_LOST,       /* by `loss` */
    LINK_QUEUE_FULL, /* by `queue` */
    LINK_TOO_LARGE,  /* by `largest` */
    LINK_OVERFLOW,   /* more under way than there is room for */
};

struct link_shape {
    struct link_way_spec spec;
    struct rng rng;
    bool is_bad;
    double enter_bad, leave_bad; /* probabilities, of each packet */
    uint64_t line_free_ns;       /* when the line has sent what it has */
    uint64_t last_due_ns;
    uint64_t *departure_ns; /* ring of those that wait for the line, or are on it */
    size_t first, waiting, room;
};

void link_shape_init(struct link_shape *s, const struct link_way_spec *spec, uint64_t seed);
void link_shape_fini(struct link_shape *s);

/* A packet comes at `now_ns` (never before the one before it).  *due_ns is when it arrives,
 * where it does: LINK_PASSED.  Cost: O(1), nothing is allocated. */
enum link_fate link_shape_enter(struct link_shape *s, size_t bytes, uint64_t now_ns,
                                uint64_t *due_ns);

#endif
