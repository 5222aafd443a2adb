/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - the CPU limits that control groups put on this process.
 *
 * Layer: base.
 * Units: CPUs (quota / period), nanoseconds.
 * Shape: version 2 (cpu.max, cpu.stat) and version 1 (cpu.cfs_quota_us), also mounted side
 *   by side; every level from the process's group up to the mount's root counts.
 * Source: cgroups(7), the kernel's cgroup-v2 document, proc(5) (mountinfo, cgroup).
 * Threads: any.
 */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct cgroup_cpu {
    bool has_quota;
    double quota_cpus; /* the smallest of all levels */
    bool has_throttled;
    uint64_t throttled_ns; /* summed over the levels */
};

/* root as in file.h.  Never fails: what cannot be read is absent. */
void cgroup_read_cpu(const char *root, struct cgroup_cpu *out);

#endif
