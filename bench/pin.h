/* SPDX-License-Identifier: Apache-2.0 */
/* pin.h - the calling thread on one core; where that fails it says so and goes on. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <sched.h>
#include <stdio.h>

static inline void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("core");
}

#endif
