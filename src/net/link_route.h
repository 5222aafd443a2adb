/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_route.h - a point-to-point device brought up: address, MTU, route with its metrics.
 *
 * Layer: net, private to link*.c.
 * Scope: the calling thread's network namespace, its loopback device included.
 * Source: rtnetlink(7), RTAX_INITCWND and RTAX_CC_ALGO of linux/rtnetlink.h.
 */
#ifndef NET_LINK_ROUTE_H
#define NET_LINK_ROUTE_H

#include "base/err.h"

struct link_route {
    const char *address, *peer; /* IPv4 */
    unsigned mtu_bytes;
    unsigned initcwnd_packets; /* 0: the kernel's */
    const char *cc;            /* a congestion control's name */
};

/* ERR_UNSUPPORTED: a congestion control that this kernel has not. */
int link_route_set(unsigned device, const struct link_route *route, struct err *e)
    __attribute__((warn_unused_result));

/* The device alone, with this MTU. */
int link_route_bring_up(unsigned device, unsigned mtu_bytes, struct err *e)
    __attribute__((warn_unused_result));

#endif
