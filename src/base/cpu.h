/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - cores: which ones this process may use, pinning, and what took time from it.
 *
 * Layer: base.
 * Units: nanoseconds of CPU or wall time, counts.  A counter that this kernel does not
 *   offer is absent: has_... is false, never 0.
 * Source: sched(7), proc(5) (/proc/stat, /proc/PID/schedstat), cgroups(7),
 *   perf_event_open(2).
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

#define CPU_MAX_CORES 1024

/* A set of cores by kernel number, ascending. */
struct cpu_set {
    size_t count;
    unsigned short core[CPU_MAX_CORES];
};

void cpu_allowed(struct cpu_set *out); /* the caller's affinity mask; count >= 1 */

/* "0-3,8" -> set, ascending, each core once; ERR_USAGE on malformed or not allowed cores;
 * *out is untouched on failure. */
int cpu_parse_list(const char *text, struct cpu_set *out, struct err *e)
    __attribute__((warn_unused_result));
char *cpu_format_list(const struct cpu_set *set, char *buf, size_t size);

/* Split the allowed cores (count >= 1) between client and server so that they share none
 * where two exist: server gets the lower half, client the upper and the odd one.  The
 * hardware threads of one physical core stay on one side unless there is only one such
 * core.  Returns true if they are disjoint, false when there is only one core (both get
 * it). */
bool cpu_split(const struct cpu_set *allowed, struct cpu_set *client, struct cpu_set *server);

/* True where a thread of one set and a thread of the other belong to the same physical
 * core (or are the same): work on one slows the other.  Where the topology is not shown,
 * every core counts as physical.  Reads /sys: some ms on large machines. */
bool cpu_share_physical_core(const struct cpu_set *a, const struct cpu_set *b);

/* Pin the calling thread to one core / to a set. */
int cpu_pin_thread(unsigned core, struct err *e) __attribute__((warn_unused_result));
int cpu_pin_thread_to_set(const struct cpu_set *set, struct err *e)
    __attribute__((warn_unused_result));

/* CPUs that the cgroup's quota (v2 cpu.max, v1 cpu.cfs_quota_us) leaves: quota/period,
 * the smallest on the path to the root.  Returns false where there is no quota. */
bool cpu_cgroup_quota(double *cpus_out);

/* Time taken from us, as running totals; subtract two readings.  /proc/stat counts in ticks
 * of 10 ms: over a window of 1 s a reading is good to 1 %. */
struct cpu_losses {
    bool has_busy, has_steal, has_throttled;
    uint64_t steal_ns;     /* stolen by the hypervisor, summed over the cores of the set */
    uint64_t throttled_ns; /* cgroup cpu.stat, summed from our group up to the root */
    uint64_t softirq_ns;   /* of the set's cores; with busy_ns */
    uint64_t busy_ns;      /* user+nice+system+irq+softirq of the set's cores */
};
/* set NULL: all cores.  Not for the hot path: it reads and parses several files. */
void cpu_read_losses(const struct cpu_set *set, struct cpu_losses *out);

/* The calling thread's scheduling record. */
struct cpu_thread_record {
    bool has_run_delay;
    uint64_t run_delay_ns;           /* waited runnable: /proc/thread-self/schedstat field 2 */
    uint64_t voluntary, involuntary; /* context switches (getrusage RUSAGE_THREAD) */
};
void cpu_read_thread(struct cpu_thread_record *out);

/* The same of the thread that opened it, and the steal of cores, for one that looks often:
 * the files stay open, a look is one pread and allocates nothing.  Fails by fields that stay
 * absent. */
struct cpu_watch {
    int fd_schedstat, fd_stat;
    char *text;
};
void cpu_watch_open(struct cpu_watch *w);
void cpu_watch_close(struct cpu_watch *w);
void cpu_watch_thread(const struct cpu_watch *w, struct cpu_thread_record *out);
bool cpu_watch_steal(const struct cpu_watch *w, const struct cpu_set *set, uint64_t *steal_ns);

/* Hardware counters of the calling thread (instructions, cycles; user + kernel where
 * permitted, else user), running from open on.  cpu_counters_open returns false where the
 * kernel or the machine counts none; then read must not be called (close may be).
 * cpu_counters_read returns false where the counters got no turn on the hardware; where
 * they got a part of the time the counts are scaled up to the whole.  One system call. */
struct cpu_counters {
    int fd_instructions, fd_cycles;
    bool is_user_only;
};
struct cpu_counts {
    uint64_t instructions, cycles;
};
bool cpu_counters_open(struct cpu_counters *c);
bool cpu_counters_read(const struct cpu_counters *c, struct cpu_counts *out);
void cpu_counters_close(struct cpu_counters *c);

/* CPU time of a fixed piece of integer work on the calling thread, nanoseconds: the best of
 * `rounds` (>= 1) runs of about 200 us, every step of which waits for the one before it.
 * Two readings on the same core tell whether its speed changed in between (shared hosts
 * slow down without showing steal). */
uint64_t cpu_speed_probe_ns(unsigned rounds);

#endif
