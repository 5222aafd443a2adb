/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/host_internal.h"

#define FILE_LIMIT (4u << 20)
#define CLOCK_ROUNDS 1001

struct pair {
    const char *key, *name;
};

/* Copy, cut to size. */
static void put(char *buf, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size)
        length = size - 1;
    memcpy(buf, text, length);
    buf[length] = '\0';
}

static bool path_exists(const char *root, const char *path)
{
    char full[4096];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    return length > 0 && (size_t)length < sizeof full && access(full, F_OK) == 0;
}

/* ARM cores have no model name in /proc/cpuinfo, only the numbers of their identification
 * register (implementer and part, Arm's and the vendors' public lists). */
static const char *arm_core_name(const char *implementer, const char *part)
{
    static const struct pair cores[] = {
        {"0x41/0xd03", "Arm Cortex-A53"},
        {"0x41/0xd05", "Arm Cortex-A55"},
        {"0x41/0xd07", "Arm Cortex-A57"},
        {"0x41/0xd08", "Arm Cortex-A72"},
        {"0x41/0xd0b", "Arm Cortex-A76"},
        {"0x41/0xd0c", "Arm Neoverse-N1"},
        {"0x41/0xd40", "Arm Neoverse-V1"},
        {"0x41/0xd49", "Arm Neoverse-N2"},
        {"0x41/0xd4f", "Arm Neoverse-V2"},
        {"0x41/0xd83", "Arm Neoverse-V3AE"},
        {"0x41/0xd84", "Arm Neoverse-V3"},
        {"0x41/0xd8e", "Arm Neoverse-N3"},
        {"0xc0/0xac3", "Ampere-1"},
        {"0xc0/0xac4", "Ampere-1A"},
        {"0x61/0x022", "Apple M1 (Icestorm)"},
        {"0x61/0x023", "Apple M1 (Firestorm)"},
    };
    char both[64];
    snprintf(both, sizeof both, "%.24s/%.24s", implementer, part);
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++)
        if (strcmp(cores[i].key, both) == 0)
            return cores[i].name;
    return NULL;
}

void host_parse_cpu_model(const char *cpuinfo, char *buf, size_t size)
{
    static const char *const keys[] = {"model name", "cpu model", "cpu", "uarch", "Model"};
    char implementer[32], part[32];
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (file_find_text(cpuinfo, keys[i], ':', buf, size))
            return;
    if (!file_find_text(cpuinfo, "CPU implementer", ':', implementer, sizeof implementer) ||
        !file_find_text(cpuinfo, "CPU part", ':', part, sizeof part))
        return;
    const char *name = arm_core_name(implementer, part);
    if (name)
        put(buf, size, name);
    else
        snprintf(buf, size, "ARM implementer %s part %s", implementer, part);
}

static void read_cpu_model(const char *root, struct host_facts *out)
{
    char *cpuinfo = file_read_text(root, "/proc/cpuinfo", FILE_LIMIT);
    if (cpuinfo)
        host_parse_cpu_model(cpuinfo, out->cpu_model, sizeof out->cpu_model);
    free(cpuinfo);
}

static void read_os(const char *root, struct host_facts *out)
{
    char *text = file_read_text(root, "/etc/os-release", FILE_LIMIT);
    if (!text)
        text = file_read_text(root, "/usr/lib/os-release", FILE_LIMIT);
    if (text)
        file_find_text(text, "PRETTY_NAME", '=', out->os, sizeof out->os);
    free(text);
}

static void read_cpu_switches(const char *root, struct host_facts *out)
{
    uint64_t value;
    file_read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor,
                   sizeof out->governor);
    if (file_read_u64(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", &value))
        put(out->turbo, sizeof out->turbo, value ? "off" : "on");
    else if (file_read_u64(root, "/sys/devices/system/cpu/cpufreq/boost", &value))
        put(out->turbo, sizeof out->turbo, value ? "on" : "off");
    if (file_read_u64(root, "/sys/devices/system/cpu/smt/active", &value))
        put(out->smt, sizeof out->smt, value ? "on" : "off");
}

static void read_limits(const char *root, struct host_facts *out)
{
    char line[64];
    uint64_t value, low, high;
    char *meminfo = file_read_text(root, "/proc/meminfo", FILE_LIMIT);
    if (meminfo && file_find_u64(meminfo, "MemTotal", &value))
        out->memory_bytes = value * 1024;
    free(meminfo);
    file_read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                   out->clocksource, sizeof out->clocksource);
    file_read_line(root, "/proc/sys/net/ipv4/tcp_congestion_control", out->congestion,
                   sizeof out->congestion);
    if (file_read_line(root, "/proc/sys/net/ipv4/ip_local_port_range", line, sizeof line) &&
        file_scan_u64(file_scan_u64(line, &low), &high) && low <= high && high <= 65535) {
        out->port_low = (unsigned)low;
        out->port_high = (unsigned)high;
    }
    if (file_read_u64(root, "/proc/sys/net/core/somaxconn", &value) && value <= UINT32_MAX)
        out->listen_backlog_max = (unsigned)value;
}

/* sch_netem is loaded, built in, or there to be loaded. */
static bool has_netem(const char *root, const char *release)
{
    static const char *const lists[] = {"modules.builtin", "modules.dep"};
    bool is_found = path_exists(root, "/sys/module/sch_netem");
    for (size_t i = 0; i < 2 && !is_found; i++) {
        char path[256];
        snprintf(path, sizeof path, "/lib/modules/%s/%s", release, lists[i]);
        char *text = file_read_text(root, path, FILE_LIMIT);
        is_found = text && strstr(text, "/sch_netem.ko");
        free(text);
    }
    return is_found;
}

static bool is_container(const char *root)
{
    char line[64];
    return path_exists(root, "/.dockerenv") || path_exists(root, "/run/.containerenv") ||
           file_read_line(root, "/run/systemd/container", line, sizeof line);
}

/* The hypervisor as files tell it: Xen's own directory, the device tree (ARM, POWER), or
 * the firmware's product name. */
static void read_hypervisor_files(const char *root, char *buf, size_t size)
{
    static const struct pair products[] = {
        {"KVM", "kvm"},           {"QEMU", "qemu"},   {"VMware", "vmware"},
        {"VirtualBox", "oracle"}, {"Xen", "xen"},     {"Virtual Machine", "microsoft"},
        {"Google", "kvm"},        {"Bochs", "bochs"}, {"Parallels", "parallels"},
    };
    char line[128];
    if (file_read_line(root, "/sys/hypervisor/type", buf, size))
        return;
    if (file_read_line(root, "/proc/device-tree/hypervisor/compatible", line, sizeof line)) {
        put(buf, size, strstr(line, "kvm") ? "kvm" : strstr(line, "xen") ? "xen" : line);
        return;
    }
    if (!file_read_line(root, "/sys/class/dmi/id/product_name", line, sizeof line))
        return;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        if (strstr(line, products[i].key)) {
            put(buf, size, products[i].name);
            return;
        }
    /* EC2's products are named after sizes, of which only the .metal ones are bare. */
    bool is_ec2 = file_read_line(root, "/sys/class/dmi/id/sys_vendor", buf, size) &&
                  strcmp(buf, "Amazon EC2") == 0;
    put(buf, size, is_ec2 && !strstr(line, "metal") ? "kvm" : "none");
}

static void mark_container(struct host_facts *out)
{
    char *buf = out->virtualization;
    size_t size = sizeof out->virtualization;
    if (buf[0] == '\0' || strcmp(buf, "none") == 0)
        put(buf, size, "container");
    else if (!strstr(buf, "container"))
        snprintf(buf + strlen(buf), size - strlen(buf), "+container");
}

static void read_virtualization(const char *root, struct host_facts *out)
{
    if (out->virtualization[0] == '\0')
        read_hypervisor_files(root, out->virtualization, sizeof out->virtualization);
    if (is_container(root))
        mark_container(out);
}

void host_read_files(const char *root, struct host_facts *out)
{
    struct cgroup_cpu group;
    read_cpu_model(root, out);
    read_os(root, out);
    read_cpu_switches(root, out);
    read_limits(root, out);
    read_virtualization(root, out);
    cgroup_read_cpu(root, &group);
    out->has_quota = group.has_quota;
    out->quota_cpus = group.quota_cpus;
    out->has_netem = has_netem(root, out->kernel);
}

/* What the processor itself says of a hypervisor; "" where it has no way to say. */
static void ask_processor(char *buf, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
    static const struct pair signatures[] = {
        {"KVMKVMKVM", "kvm"},     {"Microsoft Hv", "microsoft"}, {"VMwareVMware", "vmware"},
        {"XenVMMXenVMM", "xen"},  {"TCGTCGTCGTCG", "qemu"},      {"VBoxVBoxVBox", "oracle"},
        {"ACRNACRNACRN", "acrn"}, {"bhyve bhyve ", "bhyve"},
    };
    unsigned a, b, c, d, id[3];
    char name[13] = "";
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return;
    if (!(c & (1u << 31))) {
        put(buf, size, "none");
        return;
    }
    __cpuid(0x40000000, a, id[0], id[1], id[2]);
    memcpy(name, id, 12);
    put(buf, size, "other");
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (strcmp(name, signatures[i].key) == 0)
            put(buf, size, signatures[i].name);
#else
    (void)buf;
    (void)size;
#endif
}

enum { NAMESPACE_USER = 1, NAMESPACE_NET = 2 };

/* Whether this process may have namespaces of its own: only trying tells, in a child. */
static unsigned try_namespaces(void)
{
    int status = 0;
    pid_t waited;
    pid_t child = fork();
    if (child == 0) {
        int got = unshare(CLONE_NEWNET) == 0 ? NAMESPACE_NET : 0;
        if (unshare(CLONE_NEWUSER) == 0)
            got |= NAMESPACE_USER;
        if (!(got & NAMESPACE_NET) && unshare(CLONE_NEWNET) == 0)
            got |= NAMESPACE_NET;
        _exit(got);
    }
    do
        waited = child > 0 ? waitpid(child, &status, 0) : child;
    while (waited < 0 && child > 0 && errno == EINTR);
    if (waited <= 0 || !WIFEXITED(status))
        return 0;
    return (unsigned)WEXITSTATUS(status);
}

static void ask_system(struct host_facts *out)
{
    struct utsname name;
    struct rlimit files;
    struct cpu_set allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (uname(&name) == 0) {
        put(out->arch, sizeof out->arch, name.machine);
        put(out->kernel, sizeof out->kernel, name.release);
    }
#ifdef _CS_GNU_LIBC_VERSION
    confstr(_CS_GNU_LIBC_VERSION, out->libc, sizeof out->libc);
#endif
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        out->file_limit_soft = files.rlim_cur;
        out->file_limit_hard = files.rlim_max;
    }
    cpu_allowed(&allowed);
    out->cores_allowed = (unsigned)allowed.count;
    out->cores_online = online > 0 ? (unsigned)online : out->cores_allowed;
}

static void try_features(struct host_facts *out)
{
    struct cpu_counters counters;
    unsigned namespaces = try_namespaces();
    out->has_user_namespaces = (namespaces & NAMESPACE_USER) != 0;
    out->has_net_namespaces = (namespaces & NAMESPACE_NET) != 0;
    out->has_tun = access("/dev/net/tun", R_OK | W_OK) == 0;
    out->has_counters = cpu_counters_open(&counters);
    if (out->has_counters)
        cpu_counters_close(&counters);
    out->clock_resolution_ns = clock_resolution_seen_ns(CLOCK_ROUNDS);
    out->clock_cost_ns = clock_now_cost_ns(CLOCK_ROUNDS);
    out->thread_clock_cost_ns = clock_thread_cpu_cost_ns(CLOCK_ROUNDS);
}

void host_read_facts(struct host_facts *out)
{
    *out = (struct host_facts){0};
    ask_system(out);
    ask_processor(out->virtualization, sizeof out->virtualization);
    host_read_files("", out);
    try_features(out);
}
