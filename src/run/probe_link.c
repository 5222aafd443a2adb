/* SPDX-License-Identifier: Apache-2.0 */
#include "run/probe_link.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "run/probe_opening.h"

#define SILENT_IN_ROW_MAX 3u
#define STOP_POLL_MS 100
#define MS_NS 1000000u
#define SECOND_NS 1e9

void probe_fail(struct probed_failure *why, const char *cause, int code, const char *format,
                ...)
{
    va_list args;
    snprintf(why->cause, sizeof why->cause, "%s", cause);
    why->code = code;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
}

static void fail_errno(struct probed_failure *why, const char *cause, int error)
{
    char text[64];
    probe_fail(why, cause, error, "%s", strerror_r(error, text, sizeof text));
}

static bool is_stopped(const struct probe *p)
{
    return p->options->stop != NULL && *p->options->stop != 0;
}

bool probe_may_go_on(const struct probe *p)
{
    return !is_stopped(p) && p->out->connections < p->options->connections_max &&
           p->silent_in_row < SILENT_IN_ROW_MAX;
}

void probe_link_begin_step(struct probe_link *link)
{
    link->deadline_ns = clock_now_ns() + link->probe->options->timeout_ns;
}

/* In slices: a signal ends a wait of the main thread alone. */
enum probe_wait probe_link_wait(const struct probe_link *link, short events)
{
    for (;;) {
        struct pollfd fd = {.fd = link->socket.fd, .events = events};
        uint64_t now_ns = clock_now_ns();
        if (is_stopped(link->probe))
            return PROBE_STOPPED;
        if (now_ns >= link->deadline_ns)
            return PROBE_TIMED_OUT;
        uint64_t left_ms = (link->deadline_ns - now_ns) / MS_NS + 1;
        if (poll(&fd, 1, left_ms < STOP_POLL_MS ? (int)left_ms : STOP_POLL_MS) > 0)
            return PROBE_READY;
    }
}

static int wait_or_fail(const struct probe_link *link, short events, const char *doing,
                        struct probed_failure *why)
{
    switch (probe_link_wait(link, events)) {
    case PROBE_READY:
        return 0;
    case PROBE_TIMED_OUT:
        probe_fail(why, "timeout", 0, "no answer in time while %s", doing);
        return -1;
    case PROBE_STOPPED:
        break;
    }
    probe_fail(why, "stopped", 0, "interrupted");
    return -1;
}

/* ---- bytes, counted by flight ---- */

static void count_bytes(struct probe_link *link, enum result_side sender, size_t bytes)
{
    if (bytes == 0)
        return;
    if (link->flights == 0 || link->flight[link->flights - 1].sender != sender) {
        if (link->flights == PROBED_FLIGHTS_MAX)
            return;
        link->flight[link->flights++] = (struct probed_flight){.sender = sender};
    }
    link->flight[link->flights - 1].bytes += bytes;
}

static ssize_t take(void *arg, void *data, size_t room)
{
    struct probe_link *link = arg;
    ssize_t n = socket_recv(&link->socket, data, room);
    if (n > 0)
        count_bytes(link, RESULT_SERVER, (size_t)n);
    return n;
}

static ssize_t give(void *arg, const void *data, size_t length)
{
    struct probe_link *link = arg;
    ssize_t n = socket_send(&link->socket, data, length);
    if (n > 0)
        count_bytes(link, RESULT_CLIENT, (size_t)n);
    return n;
}

struct tls_io probe_link_io(struct probe_link *link)
{
    return (struct tls_io){.recv = take, .send = give, .arg = link};
}

int probe_link_send(struct probe_link *link, const void *data, size_t length,
                    struct probed_failure *why)
{
    const char *at = data;
    while (length > 0) {
        ssize_t n = give(link, at, length);
        if (n < 0 && errno != EAGAIN) {
            fail_errno(why, "closed", errno);
            return -1;
        }
        if (n < 0 && wait_or_fail(link, POLLOUT, "sending", why) != 0)
            return -1;
        if (n > 0) {
            at += n;
            length -= (size_t)n;
        }
    }
    return 0;
}

ssize_t probe_link_receive(struct probe_link *link, void *data, size_t room,
                           struct probed_failure *why)
{
    for (;;) {
        ssize_t n = take(link, data, room);
        if (n >= 0)
            return n;
        if (errno != EAGAIN) {
            fail_errno(why, "closed", errno);
            return -1;
        }
        if (wait_or_fail(link, POLLIN, "waiting for the server", why) != 0)
            return -1;
    }
}

/* ---- connecting ---- */

static int connect_to(struct probe *p, struct probe_link *link, const struct address *to,
                      struct probed_failure *why)
{
    uint64_t start_ns = clock_now_ns();
    link->socket = (struct socket_stream){.fd = socket_connect(to, NULL)};
    if (link->socket.fd < 0) {
        fail_errno(why, "tcp", errno);
        return -1;
    }
    probe_link_begin_step(link);
    int error = 0;
    if (wait_or_fail(link, POLLOUT, "connecting", why) == 0) {
        error = socket_error(link->socket.fd);
        if (error == 0) {
            if (p->out->connect_ns == 0)
                p->out->connect_ns = clock_now_ns() - start_ns;
            return 0;
        }
        fail_errno(why, "tcp", error);
    }
    probe_link_close(link);
    return -1;
}

/* The addresses in turn until one answers; then that one alone. */
static int connect_any(struct probe *p, struct probe_link *link, struct probed_failure *why)
{
    if (p->has_address)
        return connect_to(p, link, &p->candidate[p->address], why);
    for (size_t i = 0; i < p->addresses; i++) {
        if (i > 0 && !probe_may_go_on(p))
            break;
        p->out->connections += i > 0;
        if (connect_to(p, link, &p->candidate[i], why) != 0)
            continue;
        p->address = i;
        p->has_address = true;
        address_format(&p->candidate[i], p->out->address, sizeof p->out->address);
        return 0;
    }
    return -1;
}

static void wait_for_turn(struct probe *p)
{
    uint64_t now_ns = clock_now_ns();
    while (now_ns < p->next_ns && !is_stopped(p)) {
        uint64_t slice_ns = now_ns + (uint64_t)STOP_POLL_MS * MS_NS;
        (void)clock_sleep_until_ns(slice_ns < p->next_ns ? slice_ns : p->next_ns);
        now_ns = clock_now_ns();
    }
    p->next_ns = now_ns + (uint64_t)(SECOND_NS / p->options->rate_per_s);
}

int probe_link_open(struct probe *p, struct probe_link *link, struct probed_failure *why)
{
    link->probe = p;
    link->socket = (struct socket_stream){.fd = -1};
    link->flights = 0;
    wait_for_turn(p);
    p->out->connections++;
    p->silent_in_row++;
    if (connect_any(p, link, why) != 0)
        return -1;
    if (probe_opening_run(link, p->options, why) != 0) {
        probe_link_close(link);
        return -1;
    }
    link->flights = 0;
    return 0;
}

void probe_link_close(struct probe_link *link)
{
    if (link->socket.fd >= 0)
        close(link->socket.fd);
    link->socket.fd = -1;
}
