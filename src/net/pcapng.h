/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - IP packets as a file that Wireshark and tshark read.
 *
 * Layer: net (may include base only).
 * Shape: one section, one interface of raw IP packets with times in nanoseconds; each packet
 *   is a block of its own, so that a file that ends early is readable up to there.
 * Source: draft-ietf-opsawg-pcapng; link type 101 (LINKTYPE_RAW) of tcpdump.org.
 * Threads: one owner.
 */
#ifndef NET_PCAPNG_H
#define NET_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* 0, or -1 with errno.  interface: its name, at most 255 bytes. */
int pcapng_begin(FILE *f, const char *interface) __attribute__((warn_unused_result));

/* time_ns: since 1970, UTC; comment: at most 255 bytes, or NULL. */
int pcapng_write(FILE *f, uint64_t time_ns, const void *packet, size_t bytes,
                 const char *comment) __attribute__((warn_unused_result));

#endif
