/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the clocks: one monotonic clock, thread and process CPU time, wall stamp.
 *
 * Layer: base.
 * Units: nanoseconds, uint64_t.  CPU time is user + system.
 * Threads: any.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t clock_now_ns(void);         /* CLOCK_MONOTONIC */
uint64_t clock_thread_cpu_ns(void);  /* CLOCK_THREAD_CPUTIME_ID of the caller */
uint64_t clock_process_cpu_ns(void); /* CLOCK_PROCESS_CPUTIME_ID */

/* Wall time as "2026-01-02T03:04:05Z" (UTC, RFC 3339); only to stamp a start. */
char *clock_wall_stamp(char *buf, size_t size);

/* Cost of one clock_thread_cpu_ns call, as seen in the difference of two calls with
 * nothing between: median of `rounds` (>= 1) pairs, nanoseconds. */
uint64_t clock_thread_cpu_cost_ns(unsigned rounds);
/* The same for clock_now_ns. */
uint64_t clock_now_cost_ns(unsigned rounds);

/* Resolution of CLOCK_MONOTONIC as it behaves: the smallest step seen above 0 in
 * `rounds` (>= 2) successive readings. */
uint64_t clock_resolution_seen_ns(unsigned rounds);

/* Sleep until the absolute monotonic time, unless it has passed.  Returns early, with
 * -1, when a signal arrives. */
int clock_sleep_until_ns(uint64_t deadline_ns);

/* Busy-wait on the monotonic clock / on the caller's own CPU time. */
void clock_spin_until_ns(uint64_t deadline_ns);
void clock_spin_cpu_ns(uint64_t duration_ns);

#endif
