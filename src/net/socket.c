/* SPDX-License-Identifier: Apache-2.0 */
#include "net/socket.h"
#include <errno.h>
#include <linux/tcp.h>
#include <string.h>
#include <unistd.h>

#define SOCKET_TYPE (SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value));
}

/* Close without losing the errno that is to be told. */
static int close_failed(int fd)
{
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int bind_source(int fd, const struct address *from)
{
    /* IPPROTO_IP's option holds for IPv6 sockets as well. */
    (void)set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    return bind(fd, &from->u.any, from->length);
}

int socket_connect(const struct address *to, const struct address *from)
{
    int fd = socket(to->u.any.sa_family, SOCKET_TYPE, IPPROTO_TCP);
    if (fd < 0)
        return -1;
    if (set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) != 0 ||
        (from != NULL && bind_source(fd, from) != 0))
        return close_failed(fd);
    if (connect(fd, &to->u.any, to->length) != 0 && errno != EINPROGRESS && errno != EINTR)
        return close_failed(fd);
    return fd;
}

int socket_error(int fd)
{
    int error = 0;
    socklen_t length = sizeof(error);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

bool socket_error_is_local(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EAGAIN:        /* connect: no local port left (ip(7)) */
    case EADDRNOTAVAIL: /* the same, or no such local address */
    case EADDRINUSE:
    case EACCES:
    case EPERM: /* a local firewall rule */
    case EAFNOSUPPORT:
    case EINVAL:
        return true;
    default:
        return false;
    }
}

int socket_reset_on_close(int fd)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

/* ---- listening ---- */

static int prepare_listener(int fd, const struct address *at,
                            const struct socket_listen_options *options)
{
    if (set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) != 0 ||
        set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) != 0)
        return -1;
    if (options->shares_port && set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) != 0)
        return -1;
    if (bind(fd, &at->u.any, at->length) != 0)
        return -1;
    /* The kernel cuts the backlog to net.core.somaxconn. */
    return listen(fd, options->backlog > 0 ? options->backlog : INT32_MAX);
}

int socket_listen(const struct address *at, const struct socket_listen_options *options,
                  struct address *bound, struct err *e)
{
    char text[ADDRESS_TEXT_MAX];
    int fd = socket(at->u.any.sa_family, SOCKET_TYPE, IPPROTO_TCP);
    if (fd < 0 || prepare_listener(fd, at, options) != 0 ||
        (bound != NULL && socket_local_address(fd, bound) != 0)) {
        err_set_errno(e, "listen at %s", address_format(at, text, sizeof(text)));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* accept(2): errors of the connection that waited, to be treated like EAGAIN by retrying. */
static bool is_passed_over(int error)
{
    switch (error) {
    case EINTR:
    case ECONNABORTED:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

int socket_accept(int listener, struct address *peer)
{
    for (;;) {
        socklen_t length = sizeof(peer->u);
        int fd = accept4(listener, peer != NULL ? &peer->u.any : NULL,
                         peer != NULL ? &length : NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && peer != NULL)
            peer->length = length;
        if (fd >= 0 || !is_passed_over(errno))
            return fd;
    }
}

enum socket_accepted socket_accept_many(int listener, unsigned limit,
                                        void (*take)(void *arg, int fd), void *arg)
{
    for (unsigned i = 0; i < limit; i++) {
        int fd = socket_accept(listener, NULL);
        if (fd >= 0)
            take(arg, fd);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return SOCKET_ACCEPT_ALL;
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            return SOCKET_ACCEPT_STARVED;
        else
            return SOCKET_ACCEPT_FAILED;
    }
    return SOCKET_ACCEPT_MORE;
}

int socket_local_address(int fd, struct address *out)
{
    out->length = sizeof(out->u);
    return getsockname(fd, &out->u.any, &out->length);
}

int socket_peer_address(int fd, struct address *out)
{
    out->length = sizeof(out->u);
    return getpeername(fd, &out->u.any, &out->length);
}

/* ---- bytes ---- */

ssize_t socket_recv(void *arg, void *buf, size_t len)
{
    struct socket_stream *s = arg;
    ssize_t n;
    do {
        n = recv(s->fd, buf, len, 0);
    } while (n < 0 && errno == EINTR);
    if (n > 0)
        s->received_bytes += (uint64_t)n;
    return n;
}

ssize_t socket_send(void *arg, const void *buf, size_t len)
{
    struct socket_stream *s = arg;
    ssize_t n;
    do {
        n = send(s->fd, buf, len, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n > 0)
        s->sent_bytes += (uint64_t)n;
    return n;
}

/* ---- what TCP saw ---- */

int socket_read_tcp(int fd, struct socket_tcp *out)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);
    memset(&info, 0, sizeof(info));
    memset(out, 0, sizeof(*out));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return -1;
    out->rtt_us = info.tcpi_rtt;
    out->rtt_variation_us = info.tcpi_rttvar;
    out->rto_us = info.tcpi_rto;
    out->send_mss_bytes = info.tcpi_snd_mss;
    out->window_segments = info.tcpi_snd_cwnd;
    out->retransmits = info.tcpi_total_retrans;
    out->lost = info.tcpi_lost;
    out->segments_in = info.tcpi_segs_in;
    out->segments_out = info.tcpi_segs_out;
    out->bytes_received = info.tcpi_bytes_received;
    out->bytes_sent = info.tcpi_bytes_sent;
    out->bytes_retransmitted = info.tcpi_bytes_retrans;
    /* An older kernel fills less; min_rtt is ~0 before the first sample. */
    out->has_min_rtt =
        length >= offsetof(struct tcp_info, tcpi_min_rtt) + sizeof(info.tcpi_min_rtt) &&
        info.tcpi_min_rtt != UINT32_MAX;
    out->min_rtt_us = out->has_min_rtt ? info.tcpi_min_rtt : 0;
    out->has_counts = length >= offsetof(struct tcp_info, tcpi_bytes_retrans) +
                                    sizeof(info.tcpi_bytes_retrans);
    return 0;
}
