/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_spec.h - what a user wants of an emulated link, read from text.
 *
 * Layer: net (may include base only).  No I/O.
 * Form: PROFILE, KEY=VALUE,... or PROFILE,KEY=VALUE,...; a later value replaces an earlier.
 *   rtt sets the delay of both ways to its half.  delay, jitter, loss, burst, rate, queue,
 *   largest and initcwnd hold for both ways, or for one with "up." (client to server) or
 *   "down." in front.  mtu and cc hold for both ends.  The word netem stands for
 *   emulator=netem: netem has no `largest`.
 * Units: ns, bits per second, packets, bytes; loss 0..1.
 * Failures: ERR_USAGE names key, value and what is accepted; callers add the option.
 * Source: of the profiles: docs/NETWORK.md.
 * Threads: any.
 */
#ifndef NET_LINK_SPEC_H
#define NET_LINK_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define LINK_PROFILE_MAX 24u
#define LINK_CC_MAX 16u /* TCP_CA_NAME_MAX */
#define LINK_SPEC_TEXT_MAX 512u
#define LINK_MTU_LEAST 576u
#define LINK_MTU_MOST 9216u
#define LINK_QUEUE_MOST 100000u

enum link_end { LINK_CLIENT, LINK_SERVER };
enum link_way { LINK_UP, LINK_DOWN }; /* client to server; its sender has the same number */
#define LINK_ENDS 2u
#define LINK_WAYS 2u
const char *link_way_name(enum link_way way); /* "up", "down" */

struct link_way_spec {
    uint64_t delay_ns, jitter_ns; /* delay is uniform within +- jitter <= delay */
    double loss;                  /* share of the packets, below 1 */
    double burst_packets;         /* mean length of a loss; 1: independent losses */
    double rate_bits_per_s;       /* 0: no limit */
    unsigned queue_packets;       /* that wait for the rate; >= 1 */
    unsigned largest_bytes;       /* larger packets vanish; 0: the MTU is the only limit */
    unsigned initcwnd_packets;    /* the sender's initial congestion window; 0: the kernel's */
};

struct link_spec {
    char profile[LINK_PROFILE_MAX]; /* "" without one */
    struct link_way_spec way[LINK_WAYS];
    unsigned mtu_bytes;
    char cc[LINK_CC_MAX]; /* congestion control of both ends */
    bool is_netem;        /* the kernel's emulator shapes, not ours */
};

/* The whole of it, defaults filled in.  *out is untouched on failure. */
int link_spec_parse(const char *text, struct link_spec *out, struct err *e)
    __attribute__((warn_unused_result));

/* Every key with its value, as link_spec_parse reads it back; without the profile's name.
 * Returns buf (LINK_SPEC_TEXT_MAX holds any). */
char *link_spec_format(const struct link_spec *spec, char *buf, size_t size);

/* Profile i's name and text; NULL behind the last. */
const char *link_profile_name(size_t i);
const char *link_profile_text(size_t i);

/* Delay of both ways together, without jitter, queue and rate. */
uint64_t link_spec_rtt_ns(const struct link_spec *spec);

#endif
