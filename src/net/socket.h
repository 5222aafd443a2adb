/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.h - TCP sockets for measuring: non-blocking, no delays, no SIGPIPE, few calls.
 *
 * Layer: net (may include base only).
 * Shape: descriptors are plain ints, non-blocking and close-on-exec; the caller closes them.
 *   Functions of the hot path return -1 with errno and allocate nothing.
 * Counts: a stream counts the bytes that passed through it, both ways.
 * Source: tcp(7), ip(7), socket(7), accept(2); linux/tcp.h for TCP_INFO.
 * Threads: any; a stream has one owner.
 */
#ifndef NET_SOCKET_H
#define NET_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "net/address.h"

/* ---- connecting ---- */

/* Begin to connect with TCP_NODELAY; from: NULL, or a local address with port 0, whose port
 * is then chosen at connect by the whole four-tuple (IP_BIND_ADDRESS_NO_PORT), so that one
 * address serves as many connections to each target as it has ports.  Returns the
 * descriptor (connected, or connecting: writable when done, see socket_error), or -1 with
 * errno.  Three system calls, five with `from`. */
int socket_connect(const struct address *to, const struct address *from);

/* How the connect ended, or what broke the socket: an errno, 0 none.  Clears it. */
int socket_error(int fd);

/* Is it this machine that said no (descriptors, ports, memory, no permission, no such local
 * address), not the peer or the way to it?  For errors of socket_connect. */
bool socket_error_is_local(int error);

/* Close sends a reset at once and leaves no TIME_WAIT; unsent data is lost. */
int socket_reset_on_close(int fd);

/* ---- listening ---- */

struct socket_listen_options {
    int backlog;      /* 0: as much as the system allows */
    bool shares_port; /* SO_REUSEPORT: several listeners, the kernel deals out */
};
/* Listen at `at` (port 0: any); *bound is where, with the port (may be NULL).  Accepted
 * sockets inherit TCP_NODELAY.  -1: ERR_SYSTEM names the address. */
int socket_listen(const struct address *at, const struct socket_listen_options *options,
                  struct address *bound, struct err *e) __attribute__((warn_unused_result));

/* One waiting connection, or -1 with errno (EAGAIN: none).  Connections that broke while
 * they waited are passed over. */
int socket_accept(int listener, struct address *peer); /* peer may be NULL */

enum socket_accepted {
    SOCKET_ACCEPT_ALL,     /* none waits any more */
    SOCKET_ACCEPT_MORE,    /* `limit` were taken, others may wait */
    SOCKET_ACCEPT_STARVED, /* no descriptor or memory: try again later, by a timer and not
                              by an event, or the loop spins */
    SOCKET_ACCEPT_FAILED,  /* errno */
};
/* Take up to `limit` connections; `take` owns each descriptor. */
enum socket_accepted socket_accept_many(int listener, unsigned limit,
                                        void (*take)(void *arg, int fd), void *arg);

int socket_local_address(int fd, struct address *out);
int socket_peer_address(int fd, struct address *out);

/* ---- bytes ---- */

struct socket_stream {
    int fd;
    uint64_t received_bytes, sent_bytes;
};
/* arg: struct socket_stream.  As the two functions below TLS: > 0 bytes, 0 end of stream
 * (recv only), -1 with errno (EAGAIN: would block); no SIGPIPE; EINTR is handled. */
ssize_t socket_recv(void *arg, void *buf, size_t len);
ssize_t socket_send(void *arg, const void *buf, size_t len);

/* ---- what TCP saw ---- */

struct socket_tcp {
    uint32_t rtt_us, rtt_variation_us, rto_us;
    uint32_t send_mss_bytes, window_segments; /* congestion window */
    uint32_t retransmits;                     /* segments, in all */
    uint32_t lost;                            /* segments believed lost now */
    bool has_min_rtt, has_counts;             /* where the kernel tells */
    uint32_t min_rtt_us;
    uint32_t segments_in, segments_out;
    uint64_t bytes_received;                  /* in order; what read() gave or will give */
    uint64_t bytes_sent, bytes_retransmitted; /* payload put on the wire, repeats included */
};
/* TCP_INFO: one system call.  -1 with errno. */
int socket_read_tcp(int fd, struct socket_tcp *out);

#endif
