/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poller.h - wait for edges on descriptors until an absolute time.
 *
 * Layer: run (net and base only).
 * Shape: a descriptor is added once, edge-triggered, for reading and writing, and leaves by
 *   being closed: one epoll_ctl per connection.  With spin the wait polls instead of
 *   sleeping.  A long wait is cut in parts, see net/wait.h.
 * Units: CLOCK_MONOTONIC ns.
 * Threads: one owner each.
 */
#ifndef RUN_POLLER_H
#define RUN_POLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include "base/err.h"

#define POLLER_EVENTS 128

struct poller {
    int fd;
    bool is_spinning;
    uint64_t waited_ns; /* in all */
    struct epoll_event event[POLLER_EVENTS];
};

int poller_init(struct poller *p, bool is_spinning, struct err *e)
    __attribute__((warn_unused_result));
void poller_fini(struct poller *p);

/* events: EPOLLIN and so on; EPOLLET where wanted.  0, or -1 with errno. */
int poller_add(struct poller *p, int fd, uint32_t events, void *data)
    __attribute__((warn_unused_result));

/* Returns the number of events in p->event, 0 once deadline_ns has passed or a signal came.
 * *now_ns: the time after the wait. */
int poller_wait(struct poller *p, uint64_t deadline_ns, uint64_t *now_ns);

#endif
