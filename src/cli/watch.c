/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch.h"
#include <math.h>
#include "base/clock.h"
#include "base/cpu.h"

#define PROBE_EVERY_NS 100000000u /* our own part of `busy` stays below 1 % of a core */
#define PROBE_ROUNDS 3u

struct speed {
    uint64_t fastest_ns, slowest_ns;
};

static void probe_speed(struct speed *speed)
{
    uint64_t probe_ns = cpu_speed_probe_ns(PROBE_ROUNDS);
    if (speed->fastest_ns == 0 || probe_ns < speed->fastest_ns)
        speed->fastest_ns = probe_ns;
    if (probe_ns > speed->slowest_ns)
        speed->slowest_ns = probe_ns;
}

static double share_of(uint64_t before, uint64_t after, double whole)
{
    double part = after > before ? (double)(after - before) : 0;
    return part < whole ? part / whole : 1;
}

void watch_cores(uint64_t duration_ns, const volatile sig_atomic_t *stop,
                 struct fitness_input *out)
{
    struct cpu_set allowed, client, server;
    struct cpu_losses before, after;
    struct speed speed = {0};
    cpu_allowed(&allowed);
    uint64_t start = clock_now_ns();
    cpu_read_losses(&allowed, &before);
    for (uint64_t at = 0; at < duration_ns && *stop == 0; at += PROBE_EVERY_NS) {
        probe_speed(&speed);
        (void)clock_sleep_until_ns(start + at + PROBE_EVERY_NS);
    }
    cpu_read_losses(&allowed, &after);
    double elapsed = (double)(clock_now_ns() - start), all = elapsed * (double)allowed.count;
    out->steal = out->throttled = out->busy = out->speed_spread = NAN;
    if (before.has_steal && after.has_steal)
        out->steal = share_of(before.steal_ns, after.steal_ns, all);
    if (before.has_throttled && after.has_throttled)
        out->throttled = share_of(before.throttled_ns, after.throttled_ns, elapsed);
    if (before.has_busy && after.has_busy)
        out->busy = share_of(before.busy_ns, after.busy_ns, all);
    if (speed.fastest_ns > 0)
        out->speed_spread = (double)speed.slowest_ns / (double)speed.fastest_ns - 1;
    out->has_shared_cores =
        cpu_split(&allowed, &client, &server) && cpu_share_physical_core(&client, &server);
}
