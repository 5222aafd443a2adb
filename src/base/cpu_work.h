/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_work.h - a fixed piece of work of the kind that a handshake is, to be timed beside it.
 *
 * Layer: base.
 * Units: nanoseconds of the calling thread's CPU time.
 * Shape: products of 256-bit numbers, and scattered reads and writes in memory that the first
 *   and in memory that the second cache cannot hold; about 0.2 ms.  A neighbour that shares a
 *   core's units or its caches slows this as it slows a handshake, while cpu_speed_probe_ns,
 *   a chain of dependent steps, sees the clock rate alone.
 * Threads: one owner each.
 */
#ifndef BASE_CPU_WORK_H
#define BASE_CPU_WORK_H

#include <stdint.h>

struct cpu_work;

struct cpu_work *cpu_work_new(void);
void cpu_work_free(struct cpu_work *work); /* NULL: nothing */

/* Done once; it takes what the other caches hold away. */
uint64_t cpu_work_probe_ns(struct cpu_work *work);

#endif
