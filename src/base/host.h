/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - facts about this machine that a result must carry, and limits that matter.
 *
 * Layer: base.
 * Shape: text fields are "" where unknown; numbers carry a has_ flag where 0 could be
 *   taken for a reading.
 * Source: /proc, /sys, uname(2), clock_getres(2), getrlimit(2).
 */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct host_facts {
    char cpu_model[128];
    char arch[32];
    char kernel[128];  /* release */
    char os[128];      /* PRETTY_NAME of os-release */
    char governor[32]; /* of core 0; "" where cpufreq shows none */
    char turbo[16];    /* "on", "off" or "" */
    char smt[16];      /* "on", "off", "" */
    char clocksource[32];
    char virtualization[32]; /* "kvm", "none", "container", "kvm+container", "" */
    char congestion[32];     /* net.ipv4.tcp_congestion_control */
    char libc[32];
    unsigned cores_online, cores_allowed;
    uint64_t memory_bytes;
    uint64_t clock_resolution_ns; /* as seen, see clock_resolution_seen_ns */
    uint64_t clock_cost_ns;       /* one clock_now_ns */
    uint64_t thread_clock_cost_ns;
    bool has_quota;
    double quota_cpus; /* cgroup CPUs */
    uint64_t file_limit_soft, file_limit_hard;
    unsigned port_low, port_high; /* net.ipv4.ip_local_port_range */
    unsigned listen_backlog_max;  /* net.core.somaxconn */
    /* May this process have them here: /dev/net/tun opened, namespaces made, sch_netem
     * loaded, perf counters opened. */
    bool has_tun, has_user_namespaces, has_net_namespaces, has_netem, has_counters;
};

/* Never fails: what cannot be read stays unknown. Takes a few ms; forks a child that tries
 * the namespaces, so call it before the threads of a measurement start. */
void host_read_facts(struct host_facts *out);

#endif
