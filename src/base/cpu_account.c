/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cgroup.h"
#include "base/clock.h"
#include "base/cpu_internal.h"
#include "base/file.h"
#include "base/text.h"

#define NS_PER_S 1000000000u
#define STAT_LIMIT (4u << 20)             /* the line of interrupts is long on large machines */
#define WATCH_BYTES (64u * CPU_MAX_CORES) /* a line of a core is no longer */
#define PROBE_STEPS 100000                /* about 200 us at 3 GHz: 6 cycles a step */

bool cpu_cgroup_quota(double *cpus_out)
{
    struct cgroup_cpu group;
    cgroup_read_cpu("", &group);
    if (group.has_quota)
        *cpus_out = group.quota_cpus;
    return group.has_quota;
}

static bool is_wanted(const struct cpu_set *set, uint64_t core)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (set->core[i] == core)
            return true;
    return !set;
}

/* The fields behind "cpuN" as far as the kernel writes them; returns how many. */
static size_t read_stat_fields(const char *line, uint64_t *field, size_t most)
{
    size_t n = 0;
    const char *p = line + strspn(line, "cpu");
    while (n < most && (p = file_scan_u64(p, &field[n])) != NULL)
        n++;
    return n;
}

void cpu_parse_stat(const char *text, const struct cpu_set *set, uint64_t ticks_per_s,
                    struct cpu_losses *out)
{
    /* Guest time is part of user. */
    enum { CORE, USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    uint64_t tick_ns = NS_PER_S / ticks_per_s;
    for (const char *line = text; line && strncmp(line, "cpu", 3) == 0;) {
        uint64_t f[FIELDS] = {0};
        bool is_one_core = line[3] != ' ';
        size_t fields = is_one_core ? read_stat_fields(line, f, FIELDS) : 0;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
        if (fields < STEAL || !is_wanted(set, f[CORE]))
            continue;
        out->has_busy = true;
        out->has_steal = fields == FIELDS;
        out->busy_ns += (f[USER] + f[NICE] + f[SYSTEM] + f[IRQ] + f[SOFTIRQ]) * tick_ns;
        out->softirq_ns += f[SOFTIRQ] * tick_ns;
        out->steal_ns += f[STEAL] * tick_ns;
    }
}

void cpu_read_losses(const struct cpu_set *set, struct cpu_losses *out)
{
    struct cgroup_cpu group;
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    char *text = file_read_text("", "/proc/stat", STAT_LIMIT);
    *out = (struct cpu_losses){0};
    if (text && ticks_per_s > 0)
        cpu_parse_stat(text, set, (uint64_t)ticks_per_s, out);
    free(text);
    cgroup_read_cpu("", &group);
    out->has_throttled = group.has_throttled;
    out->throttled_ns = group.throttled_ns;
}

bool cpu_parse_run_delay(const char *text, uint64_t *out)
{
    uint64_t on_core, delay, slices;
    if (!file_scan_u64(file_scan_u64(file_scan_u64(text, &on_core), &delay), &slices))
        return false;
    if (on_core == 0 && delay == 0 && slices == 0)
        return false;
    *out = delay;
    return true;
}

static void read_record(const char *schedstat, struct cpu_thread_record *out)
{
    struct rusage usage;
    *out = (struct cpu_thread_record){0};
    if (schedstat != NULL)
        out->has_run_delay = cpu_parse_run_delay(schedstat, &out->run_delay_ns);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        out->voluntary = (uint64_t)usage.ru_nvcsw;
        out->involuntary = (uint64_t)usage.ru_nivcsw;
    }
}

void cpu_read_thread(struct cpu_thread_record *out)
{
    char line[128];
    const bool is_read = file_read_line("", "/proc/thread-self/schedstat", line, sizeof line);
    read_record(is_read ? line : NULL, out);
}

void cpu_watch_open(struct cpu_watch *w)
{
    w->fd_schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    w->fd_stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    w->text = mem_alloc_zeroed(WATCH_BYTES, 1);
}

void cpu_watch_close(struct cpu_watch *w)
{
    if (w->fd_schedstat >= 0)
        close(w->fd_schedstat);
    if (w->fd_stat >= 0)
        close(w->fd_stat);
    free(w->text);
    *w = (struct cpu_watch){-1, -1, NULL};
}

/* The whole lines of the file's beginning; NULL: it can't be read. */
static const char *read_again(int fd, char *text, size_t size)
{
    const ssize_t n = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    char *end = strrchr(text, '\n');
    if (end != NULL)
        end[1] = '\0';
    return end != NULL ? text : NULL;
}

void cpu_watch_thread(const struct cpu_watch *w, struct cpu_thread_record *out)
{
    char line[128];
    read_record(read_again(w->fd_schedstat, line, sizeof line), out);
}

bool cpu_watch_steal(const struct cpu_watch *w, const struct cpu_set *set, uint64_t *steal_ns)
{
    struct cpu_losses losses = {0};
    const long ticks_per_s = sysconf(_SC_CLK_TCK);
    const char *text = read_again(w->fd_stat, w->text, WATCH_BYTES);
    if (text != NULL && ticks_per_s > 0)
        cpu_parse_stat(text, set, (uint64_t)ticks_per_s, &losses);
    if (losses.has_steal)
        *steal_ns = losses.steal_ns;
    return losses.has_steal;
}

static int open_counter(uint64_t event, int group, bool is_user_only)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = event,
        .exclude_kernel = is_user_only,
        .exclude_hv = 1,
        .read_format =
            PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

bool cpu_counters_open(struct cpu_counters *c)
{
    for (int is_user_only = 0; is_user_only <= 1; is_user_only++) {
        c->is_user_only = is_user_only;
        c->fd_cycles = -1;
        c->fd_instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1, is_user_only);
        if (c->fd_instructions < 0)
            continue;
        c->fd_cycles = open_counter(PERF_COUNT_HW_CPU_CYCLES, c->fd_instructions, is_user_only);
        if (c->fd_cycles >= 0)
            return true;
        cpu_counters_close(c);
    }
    return false;
}

bool cpu_counters_read(const struct cpu_counters *c, struct cpu_counts *out)
{
    struct {
        uint64_t count, enabled_ns, running_ns, instructions, cycles;
    } group;
    ssize_t n = read(c->fd_instructions, &group, sizeof group);
    if (n != (ssize_t)sizeof group || group.running_ns == 0)
        return false;
    /* Others may use the counters too: then they run a part of the time. */
    double share = (double)group.enabled_ns / (double)group.running_ns;
    bool is_whole = group.enabled_ns == group.running_ns;
    out->instructions =
        is_whole ? group.instructions : (uint64_t)((double)group.instructions * share);
    out->cycles = is_whole ? group.cycles : (uint64_t)((double)group.cycles * share);
    return true;
}

void cpu_counters_close(struct cpu_counters *c)
{
    if (c->fd_cycles >= 0)
        close(c->fd_cycles);
    if (c->fd_instructions >= 0)
        close(c->fd_instructions);
    c->fd_cycles = c->fd_instructions = -1;
}

/* Every step needs the one before it, so no core can overlap them; the empty asm keeps
 * the compiler from working them out. */
static uint64_t work(uint64_t x)
{
    for (int i = 0; i < PROBE_STEPS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        x ^= x >> 29;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

uint64_t cpu_speed_probe_ns(unsigned rounds)
{
    assert(rounds >= 1);
    uint64_t best = UINT64_MAX;
    uint64_t x = 1;
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t start = clock_thread_cpu_ns();
        x = work(x);
        uint64_t spent = clock_thread_cpu_ns() - start;
        if (spent < best)
            best = spent;
    }
    __asm__ volatile("" : : "r"(x));
    return best;
}
