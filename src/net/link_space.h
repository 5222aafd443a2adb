/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_space.h - a network namespace with a TUN device in it, and the right to make one.
 *
 * Layer: net, private to link*.c.
 * Shape: the namespaces have no names and no mounts: each is gone with the last descriptor
 *   or process in it.  Nothing outside them changes.
 * Rights: CAP_SYS_ADMIN and CAP_NET_ADMIN, or a user namespace of the process's own in which
 *   it keeps its user and group.
 * Failures: ERR_UNSUPPORTED where the kernel or its settings do not allow it, naming what is
 *   missing.
 * Source: unshare(2), user_namespaces(7), rtnetlink(7), the kernel's
 *   Documentation/networking/tuntap.rst and ip-sysctl.rst.
 */
#ifndef NET_LINK_SPACE_H
#define NET_LINK_SPACE_H

#include <stdbool.h>
#include "base/err.h"
#include "net/link_spec.h"

#define LINK_CLIENT_HOST "198.18.0.1" /* RFC 2544: for benchmarks */
#define LINK_SERVER_HOST "198.18.0.2"

/* Without the rights, the process (which must have one thread) goes into a user namespace
 * and stays there. */
int link_space_gain_rights(struct err *e) __attribute__((warn_unused_result));

/* The calling process goes into a new network namespace: its TUN device, which does not
 * block, and the namespace are given as descriptors. */
int link_space_make(enum link_end end, const struct link_spec *spec, int *tun_fd, int *space_fd,
                    struct err *e) __attribute__((warn_unused_result));

/* The calling process goes into a new network namespace with nothing in it. */
int link_space_make_empty(struct err *e) __attribute__((warn_unused_result));
/* A TUN device, up, without addresses, in the namespace where the process is; its descriptor
 * does not block. */
int link_space_add_device(const char *name, unsigned mtu_bytes, int *tun_fd, unsigned *index,
                          struct err *e) __attribute__((warn_unused_result));

#endif
