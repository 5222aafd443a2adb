/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - how long to ask the kernel to sleep so that a wait ends on time.
 *
 * Layer: net (may include base only).  No I/O, no clock.
 * Units: ns.
 * Precision: the kernel lets epoll_pwait2 and the like be late by a thousandth of the
 *   timeout, five for a nice thread, whatever the timer slack.  A long wait is therefore cut
 *   in parts, each of which leaves more to the next than it may be late; the last is short
 *   enough for its lateness not to matter.
 * Source: estimate_accuracy in the kernel's fs/select.c.
 * Threads: any.
 */
#ifndef NET_WAIT_H
#define NET_WAIT_H

#include <stdint.h>

#define WAIT_LONG_NS 5000000u /* not longer: 5 us of lateness at most, 25 for a nice thread */

/* The timeout to ask for when `left_ns` are left: left_ns itself up to WAIT_LONG_NS, above it
 * less by a 128th.  0: 0.  The caller asks again until the time has come. */
uint64_t wait_part_ns(uint64_t left_ns);

/* A core that slept needs time to wake, tens of us in a virtual machine.  Who has to be on
 * time sleeps until this long before, and polls from there.  A step of the estimate: what it
 * was, and how late the sleep just ended.  It rises by WAIT_EARLY_STEP_NS when the sleep was
 * later than the estimate and falls by a 64th of that when not, so that it settles where one
 * sleep of 65 is later; never above WAIT_EARLY_MAX_NS. */
#define WAIT_EARLY_FIRST_NS 50000u
#define WAIT_EARLY_STEP_NS 6400u
#define WAIT_EARLY_MAX_NS 200000u
uint64_t wait_early_ns(uint64_t early_ns, uint64_t late_ns);

#endif
