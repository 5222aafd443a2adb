/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_link.h - one of a probe's connections, up to where TLS begins, and its bytes.
 *
 * Layer: run, private to the probe.
 * Shape: blocking with a deadline: a call returns when it is done, when the time is up or
 *   when the user wants to end.  What passes is counted by flight: bytes that one side
 *   sends before the other answers.
 * Threads: one owner.
 */
#ifndef RUN_PROBE_LINK_H
#define RUN_PROBE_LINK_H

#include "base/rng.h"
#include "net/socket.h"
#include "run/probe.h"

#define PROBE_ADDRESSES_MAX 8u

/* What the connections of one probe share. */
struct probe {
    const struct probe_options *options;
    const struct probe_target *target;
    struct probed *out;
    const char *server_name;   /* NULL: none */
    size_t addresses, address; /* `address` is the one that answered, if has_address */
    struct address candidate[PROBE_ADDRESSES_MAX];
    bool has_address;
    uint64_t next_ns;       /* earliest start of the next connection */
    unsigned silent_in_row; /* connections that got no answer */
    struct rng rng;
};

struct probe_link {
    struct socket_stream socket; /* fd -1: none */
    const struct probe *probe;
    uint64_t deadline_ns; /* of the step that is running */
    size_t flights;
    struct probed_flight flight[PROBED_FLIGHTS_MAX]; /* what is behind the last is not kept */
};

/* Why nothing more may be asked: the bound, an interrupt, a server that does not answer. */
bool probe_may_go_on(const struct probe *p);

/* Wait for its turn, connect, send the PROXY header, talk until TLS may begin.  -1: *why
 * says it; counted as a connection in any case. */
int probe_link_open(struct probe *p, struct probe_link *link, struct probed_failure *why)
    __attribute__((warn_unused_result));
void probe_link_close(struct probe_link *link);

/* The time for one more answer begins now. */
void probe_link_begin_step(struct probe_link *link);

enum probe_wait { PROBE_READY, PROBE_TIMED_OUT, PROBE_STOPPED };
/* Until the socket may be read (events: POLLIN) or written (POLLOUT). */
enum probe_wait probe_link_wait(const struct probe_link *link, short events);

/* All of it, waiting as needed; -1: *why. */
int probe_link_send(struct probe_link *link, const void *data, size_t length,
                    struct probed_failure *why);
/* At least one byte: their number; 0 end of stream; -1: *why. */
ssize_t probe_link_receive(struct probe_link *link, void *data, size_t room,
                           struct probed_failure *why);
/* Without waiting, for a TLS library. */
struct tls_io probe_link_io(struct probe_link *link);

void probe_fail(struct probed_failure *why, const char *cause, int code, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

#endif
