/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - one thread's event loop: descriptors by epoll, one-shot timers at absolute times.
 *
 * Layer: net (may include base only).
 * Units: CLOCK_MONOTONIC ns, uint64_t.
 * Shape: watches and timers are structs inside the caller's objects: nothing is allocated
 *   after loop_new but the timers' array when it grows (loop_reserve_timers).  A timer never
 *   fires early; timers fire in order of their times, equal ones in the order they were set.
 *   Due timers are looked at before each descriptor's callback, so that a timer waits for
 *   one callback at most, not for a batch.
 * Few system calls: with LOOP_EDGES a connection is added once, while it connects, and
 *   leaves by being closed: one epoll_ctl in its life.
 * Precision: a long wait is cut in parts, see wait.h.  Where the call is missing
 *   (Linux < 5.11) a timerfd stands in.  The slack of the thread that runs the loop is set
 *   to 1 ns.
 * Source: epoll(7), epoll_pwait2(2), timerfd_create(2), PR_SET_TIMERSLACK(2const).
 * Threads: one owner; loop_wake alone may be called from any thread or signal handler.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include "base/err.h"

/* The callback must go on until EAGAIN: an edge is told once. */
#define LOOP_EDGES ((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLRDHUP) | (uint32_t)EPOLLET)
#define LOOP_NEVER UINT64_MAX

struct loop; /* opaque */

/* A descriptor that is watched.  `ready` and `arg` are the caller's to set; the rest is the
 * loop's.  In `ready` any watch may be added or removed and any object freed, this one
 * included. */
struct loop_watch {
    void (*ready)(void *arg, uint32_t events); /* EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP ... */
    void *arg;
    int fd;
};

/* A timer.  Zero-initialised but for `fire` and `arg` it is not set. */
struct loop_timer {
    void (*fire)(void *arg, uint64_t now_ns);
    void *arg;
    uint64_t at_ns;
    size_t place;   /* 0: not set */
    bool is_prompt; /* with poll_early; one timer of a loop may be */
};

struct loop_options {
    bool spin;           /* poll instead of sleeping: a core at 100 %, the least lag; a
                               signal does not end the wait */
    bool poll_early;     /* the last moments before the prompt timer are polled, as many as
                               the kernel's wake-ups turn out to be late, see wait.h */
    bool without_pwait2; /* use the timerfd, as on an old kernel */
};

/* NULL: descriptors are out (ERR_SYSTEM).  options NULL: all off. */
struct loop *loop_new(const struct loop_options *options, struct err *e);
/* Closes no descriptor of the caller's and touches no watch or timer: they may be gone
 * already; a timer still set must be zeroed before another loop gets it.  NULL: nothing. */
void loop_free(struct loop *loop);

/* Watch fd for `events` (epoll's bits).  0, or -1 with errno.  The watch stays where it is
 * until it is removed. */
int loop_add(struct loop *loop, struct loop_watch *watch, int fd, uint32_t events)
    __attribute__((warn_unused_result));
int loop_modify(struct loop *loop, struct loop_watch *watch, uint32_t events)
    __attribute__((warn_unused_result));
/* No callback comes any more.  remove: the descriptor stays open, one system call.  forget:
 * the caller closes it next, no system call. */
void loop_remove(struct loop *loop, struct loop_watch *watch);
void loop_forget(struct loop *loop, struct loop_watch *watch);

/* Set, or set anew, to an absolute time; one in the past fires at the next chance.  A timer
 * that is set in a timer's callback waits for a descriptor's callback or the next round, so
 * that none starves the descriptors.  O(log n). */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t at_ns);
void loop_timer_stop(struct loop *loop, struct loop_timer *timer); /* not set: nothing */
bool loop_timer_is_set(const struct loop_timer *timer);
/* LOOP_NEVER: none is set. */
uint64_t loop_next_timer_ns(const struct loop *loop);
/* Room for n timers at once, so that none is allocated later. */
void loop_reserve_timers(struct loop *loop, size_t n);

/* Wait for a descriptor, a timer, a wake or the deadline (LOOP_NEVER: none; one in the past:
 * look only), and run what is due.  Returns the number of callbacks, 0 at the deadline, a
 * wake or a signal; -1 with errno if epoll fails.  Not from a callback. */
int loop_run_once(struct loop *loop, uint64_t deadline_ns) __attribute__((warn_unused_result));

/* The running or the next loop_run_once returns soon. */
void loop_wake(struct loop *loop);

/* In a callback: the time, as read when its turn came; no system call. */
uint64_t loop_now_ns(const struct loop *loop);

/* Time spent waiting (or polling in vain), in all; the rest of the time the loop was busy. */
uint64_t loop_waited_ns(const struct loop *loop);
/* The thread's CPU time that went into polling: no work, and part of the time waited.  With
 * `spin` it is not measured: 0. */
uint64_t loop_polled_cpu_ns(const struct loop *loop);

#endif
