/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - a second's look at the cores that a measurement would use.
 *
 * Layer: cli.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <signal.h>
#include <stdint.h>
#include "cli/fitness.h"

/* Watch the allowed cores for about `duration_ns` (ends early when *stop is not 0) and fill
 * steal, throttled, busy, speed_spread and has_shared_cores.  Sleeps most of the time. */
void watch_cores(uint64_t duration_ns, const volatile sig_atomic_t *stop,
                 struct fitness_input *out);

#endif
