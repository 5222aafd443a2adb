/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc.h - other processes: which there are, what CPU they used, what they waited for.
 *
 * Layer: base.
 * Units: nanoseconds; counts.
 * Shape: root as in file.h.  Nothing is kept between calls.  A process that is gone, or a
 *   file that is malformed, reads as absent (false, 0 entries).
 * Source: proc(5) (/proc/PID/stat, /proc/PID/task/TID/schedstat and status,
 *   /proc/PID/net/netstat), clock_getcpuclockid(3).
 * Threads: any.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_NAME_BYTES 64u        /* kernel threads have longer names than 15 bytes */
#define PROC_COMMAND_BYTES_MAX 15u /* a program's: the kernel cuts the rest */

struct proc_stat {
    pid_t pid, parent;
    char name[PROC_NAME_BYTES];
    char state;         /* 'R', 'S', 'T', 'Z', ... */
    uint64_t cpu_ns;    /* user + system, dead threads included; ticks of 10 ms */
    uint64_t reaped_ns; /* of children that it has waited for, and of theirs */
    uint64_t threads;
    uint64_t started_ticks; /* with the pid it names a process for ever */
};
bool proc_read_stat(const char *root, pid_t pid, struct proc_stat *out);

/* Does the kernel's name for a program (cut) stand for `wanted`? */
bool proc_is_named(const struct proc_stat *p, const char *wanted);

/* Numbers of the directory "/proc" (processes) or "/proc/PID/task" (threads), at most `max`,
 * in no order.  Returns how many. */
size_t proc_list_processes(const char *root, pid_t *out, size_t max);
size_t proc_list_threads(const char *root, pid_t pid, pid_t *out, size_t max);

/* User + system CPU time, dead threads included, to the nanosecond: the process's CPU clock
 * where root is this machine; else (and where there is no such clock) the sum over its
 * living threads' schedstat, and where the kernel keeps none, ticks.  false: gone. */
bool proc_read_cpu(const char *root, pid_t pid, uint64_t *ns);

/* A thread's time on a core and waiting for one, from schedstat: the time on the core is
 * brought up to date at ticks of the scheduler.  false: gone, or the kernel keeps none. */
struct proc_thread {
    uint64_t cpu_ns, run_delay_ns;
};
bool proc_read_thread(const char *root, pid_t pid, pid_t tid, struct proc_thread *out);
bool proc_read_switches(const char *root, pid_t pid, pid_t tid, uint64_t *voluntary,
                        uint64_t *involuntary);

/* Connections that a full accept queue refused, and all that listeners dropped, in the
 * network namespace of `pid` since it was made (TcpExt ListenOverflows, ListenDrops). */
bool proc_read_listen(const char *root, pid_t pid, uint64_t *overflows, uint64_t *drops);

#endif
