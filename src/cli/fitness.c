/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fitness.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define STEAL_MOST 0.01
#define BUSY_MOST 0.10
#define SPREAD_MOST 0.05
#define CLOCK_COST_MOST_NS 200u
#define CLOCK_RESOLUTION_MOST_NS 1000u
#define FILES_LEAST 4096u
#define PORTS_LEAST 20000u
#define BACKLOG_LEAST 1024u

const char *fitness_level_name(enum fitness_level level)
{
    static const char *const names[FITNESS_LEVELS] = {"fault", "warning", "note"};
    return names[level];
}

__attribute__((format(printf, 5, 6))) static void add(struct findings *out,
                                                      enum fitness_level level,
                                                      const char *code, const char *advice,
                                                      const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    out->finding = mem_resize(out->finding, out->count + 1, sizeof *out->finding);
    out->finding[out->count++] = (struct finding){.level = level,
                                                  .code = code,
                                                  .what = mem_copy_string(what),
                                                  .advice = mem_copy_string(advice)};
}

static void judge_backends(const struct fitness_input *in, struct findings *out)
{
    if (in->backends == 0)
        add(out, FITNESS_FAULT, "backends",
            "run tools/deps and build again, or install the modules beside the program",
            "no TLS library to measure: no module pqc-bench-tls-*.so but the null backend "
            "was found");
    if (in->is_sanitized)
        add(out, FITNESS_WARNING, "sanitizer", "build without -Db_sanitize",
            "this program was built with a sanitizer: it takes several times longer");
}

static void judge_cores(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    if (host->cores_allowed == 1)
        add(out, FITNESS_FAULT, "shared-cores",
            "use a machine with 2 cores or more, or widen the affinity mask (taskset)",
            "1 core: client and server would take time from each other");
    else if (in->has_shared_cores)
        add(out, FITNESS_WARNING, "shared-cores",
            "choose --client-cores and --server-cores on different physical cores, or switch "
            "SMT off: echo off > /sys/devices/system/cpu/smt/control",
            "client and server share a physical core (SMT): work on one slows the other");
}

static void judge_quota(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    bool is_short = host->has_quota && host->quota_cpus < 2;
    if (is_short)
        add(out, host->quota_cpus < 1 ? FITNESS_FAULT : FITNESS_WARNING, "throttled",
            "give the container or the service 2 CPUs or more, or no limit (cpu.max, "
            "docker --cpus, CPUQuota=)",
            "the cgroup allows %.3g CPUs: the kernel stops us when they are used up",
            host->quota_cpus);
    else if (host->has_quota)
        add(out, FITNESS_NOTE, "throttled", "none needed up to that many cores",
            "the cgroup allows %.3g CPUs", host->quota_cpus);
    if (in->throttled > 0)
        add(out, FITNESS_WARNING, "throttled", "raise the cgroup's CPU limit",
            "the kernel throttled this cgroup during %.0f %% of the last second",
            in->throttled * 100);
}

/* Sources that are read slowly or tick coarsely, and count for nothing here. */
static bool is_bad_clocksource(const char *name)
{
    static const char *const bad[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (strcmp(bad[i], name) == 0)
            return true;
    return false;
}

static void judge_clock(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    const char *advice = "cat /sys/devices/system/clocksource/clocksource0/"
                         "available_clocksource and choose tsc, kvm-clock, hyperv_clocksource_"
                         "tsc_page or arch_sys_counter; see dmesg for why the kernel left it";
    if (is_bad_clocksource(host->clocksource))
        add(out, FITNESS_FAULT, "clock", advice, "the clock source is %s: slow, or too coarse",
            host->clocksource);
    else if (host->clock_resolution_ns > CLOCK_RESOLUTION_MOST_NS)
        add(out, FITNESS_FAULT, "clock", advice, "the clock moves in steps of %llu ns",
            (unsigned long long)host->clock_resolution_ns);
    else if (host->clock_cost_ns > CLOCK_COST_MOST_NS)
        add(out, FITNESS_WARNING, "clock", advice, "reading the clock takes %llu ns",
            (unsigned long long)host->clock_cost_ns);
}

static void judge_speed(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    if (host->governor[0] && strcmp(host->governor, "performance") != 0)
        add(out, FITNESS_WARNING, "governor", "cpupower frequency-set -g performance",
            "the frequency governor is %s: speed follows load", host->governor);
    if (strcmp(host->turbo, "on") == 0)
        add(out, FITNESS_WARNING, "turbo",
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
            "/sys/devices/system/cpu/cpufreq/boost",
            "turbo is on: speed follows temperature and the neighbours' load");
    if (in->speed_spread > SPREAD_MOST)
        add(out, FITNESS_WARNING, "speed-changed",
            "run longer and trust the control arm; better, use a host of your own",
            "the same work took up to %.0f %% longer within a second", in->speed_spread * 100);
    if (host->virtualization[0] && strcmp(host->virtualization, "none") != 0)
        add(out, FITNESS_NOTE, "virtualization",
            "compare arms of one run; compare machines with care",
            "runs in a virtual machine or container (%s)", host->virtualization);
}

static void judge_neighbours(const struct fitness_input *in, struct findings *out)
{
    if (in->steal > STEAL_MOST)
        add(out, FITNESS_WARNING, "steal", "use a larger or a dedicated instance",
            "the hypervisor took %.1f %% of the last second", in->steal * 100);
    if (in->busy > BUSY_MOST)
        add(out, FITNESS_WARNING, "busy", "stop what else runs here (top)",
            "other programs used %.0f %% of these cores in the last second", in->busy * 100);
}

static void judge_limits(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    unsigned ports =
        host->port_high >= host->port_low ? host->port_high - host->port_low + 1 : 0;
    if (host->file_limit_soft > 0 && host->file_limit_soft < FILES_LEAST)
        add(out, FITNESS_WARNING, "file-limit", "ulimit -n 65536",
            "%llu open files allowed: each connection needs one",
            (unsigned long long)host->file_limit_soft);
    if (host->port_high > 0 && ports < PORTS_LEAST)
        add(out, FITNESS_WARNING, "port-range",
            "sysctl -w net.ipv4.ip_local_port_range='1024 65535'",
            "%u local ports: each connection holds one for a minute", ports);
    if (host->listen_backlog_max > 0 && host->listen_backlog_max < BACKLOG_LEAST)
        add(out, FITNESS_WARNING, "backlog", "sysctl -w net.core.somaxconn=4096",
            "a listening socket queues at most %u connections", host->listen_backlog_max);
}

static void judge_features(const struct fitness_input *in, struct findings *out)
{
    const struct host_facts *host = &in->host;
    if (!host->has_tun)
        add(out, FITNESS_NOTE, "tun", "modprobe tun; in a container: --device /dev/net/tun",
            "no TUN device: links cannot be emulated");
    if (!host->has_net_namespaces)
        add(out, FITNESS_NOTE, "namespaces",
            host->has_user_namespaces
                ? "run as root, or in a user namespace (unshare -r)"
                : "run as root, or sysctl -w kernel.unprivileged_userns_clone=1",
            "no network namespaces: links cannot be emulated");
    if (host->has_tun && host->has_net_namespaces && in->link_problem != NULL)
        add(out, FITNESS_NOTE, "link", "see docs/NETWORK.md, \"What it needs\"",
            "links cannot be emulated: %s", in->link_problem);
    if (in->link_problem == NULL && in->netem_problem != NULL)
        add(out, FITNESS_NOTE, "link-netem", "--link without the word netem needs none of it",
            "%s", in->netem_problem);
    if (!host->has_counters)
        add(out, FITNESS_NOTE, "counters",
            "sysctl -w kernel.perf_event_paranoid=1; most virtual machines have none",
            "no hardware counters: instructions and cycles are left out");
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return strcmp(x->code, y->code);
}

void fitness_judge(const struct fitness_input *in, struct findings *out)
{
    *out = (struct findings){0};
    judge_backends(in, out);
    judge_cores(in, out);
    judge_quota(in, out);
    judge_clock(in, out);
    judge_speed(in, out);
    judge_neighbours(in, out);
    judge_limits(in, out);
    judge_features(in, out);
    if (out->count > 0)
        qsort(out->finding, out->count, sizeof *out->finding, compare_findings);
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->finding[i].what);
        free(findings->finding[i].advice);
    }
    free(findings->finding);
    *findings = (struct findings){0};
}

bool findings_has_fault(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->finding[i].level == FITNESS_FAULT)
            return true;
    return false;
}
