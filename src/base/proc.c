/* SPDX-License-Identifier: Apache-2.0 */
#include "base/proc.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/cpu_internal.h"
#include "base/file.h"

#define FILE_LIMIT 65536u
#define TASKS_SUMMED 4096u
#define NS_PER_S 1000000000u
#define NUMBER_DIGITS_MAX 9u

static uint64_t ticks_to_ns(uint64_t ticks)
{
    const long per_s = sysconf(_SC_CLK_TCK);
    return ticks * (NS_PER_S / (uint64_t)(per_s > 0 ? per_s : 100));
}

/* The fields behind the name.  The name itself may hold blanks and brackets: the last ')'
 * ends it. */
static bool parse_fields(const char *p, struct proc_stat *out)
{
    enum { PARENT, UTIME = 10, STIME, CUTIME, CSTIME, THREADS = 16, START = 18, FIELDS };
    uint64_t field[FIELDS] = {0};
    if (p[0] != ' ' || p[1] == '\0' || p[2] != ' ')
        return false;
    out->state = p[1];
    p += 2;
    for (size_t i = 0; i < FIELDS; i++) {
        p += strspn(p, " ");
        p += *p == '-'; /* tpgid, nice: not ours */
        if ((p = file_scan_u64(p, &field[i])) == NULL)
            return false;
    }
    out->parent = (pid_t)field[PARENT];
    out->cpu_ns = ticks_to_ns(field[UTIME] + field[STIME]);
    out->reaped_ns = ticks_to_ns(field[CUTIME] + field[CSTIME]);
    out->threads = field[THREADS];
    out->started_ticks = field[START];
    return true;
}

bool proc_read_stat(const char *root, pid_t pid, struct proc_stat *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *text = file_read_text(root, path, FILE_LIMIT);
    const char *open = text ? strchr(text, '(') : NULL;
    const char *close = text ? strrchr(text, ')') : NULL;
    bool is_read = false;
    *out = (struct proc_stat){.pid = pid};
    if (open && close && close > open) {
        snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
        is_read = parse_fields(close + 1, out);
    }
    free(text);
    return is_read;
}

bool proc_is_named(const struct proc_stat *p, const char *wanted)
{
    if (strlen(wanted) <= PROC_COMMAND_BYTES_MAX)
        return strcmp(p->name, wanted) == 0;
    return strlen(p->name) == PROC_COMMAND_BYTES_MAX &&
           strncmp(p->name, wanted, PROC_COMMAND_BYTES_MAX) == 0;
}

/* A name of digits only, as a number; 0 otherwise. */
static pid_t number_of(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > NUMBER_DIGITS_MAX || name[digits] != '\0')
        return 0;
    return (pid_t)strtol(name, NULL, 10);
}

static size_t list_numbers(const char *root, const char *path, pid_t *out, size_t max)
{
    char full[PATH_MAX];
    const int length = snprintf(full, sizeof full, "%s%s", root, path);
    DIR *d = length > 0 && (size_t)length < sizeof full ? opendir(full) : NULL;
    size_t n = 0;
    const struct dirent *entry;
    while (d && n < max && (entry = readdir(d)) != NULL)
        if ((out[n] = number_of(entry->d_name)) > 0)
            n++;
    if (d)
        closedir(d);
    return n;
}

size_t proc_list_processes(const char *root, pid_t *out, size_t max)
{
    return list_numbers(root, "/proc", out, max);
}

size_t proc_list_threads(const char *root, pid_t pid, pid_t *out, size_t max)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return list_numbers(root, path, out, max);
}

static bool sum_threads(const char *root, pid_t pid, uint64_t *ns)
{
    static _Thread_local pid_t tid[TASKS_SUMMED];
    const size_t n = proc_list_threads(root, pid, tid, TASKS_SUMMED);
    struct proc_thread t;
    uint64_t sum = 0;
    bool has_any = false;
    for (size_t i = 0; i < n; i++)
        if (proc_read_thread(root, pid, tid[i], &t)) {
            sum += t.cpu_ns;
            has_any = true;
        }
    if (has_any)
        *ns = sum;
    return has_any;
}

bool proc_read_cpu(const char *root, pid_t pid, uint64_t *ns)
{
    clockid_t clock;
    struct timespec t;
    struct proc_stat stat;
    if (root[0] == '\0' && clock_getcpuclockid(pid, &clock) == 0 &&
        clock_gettime(clock, &t) == 0) {
        *ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
        return true;
    }
    if (sum_threads(root, pid, ns))
        return true;
    if (!proc_read_stat(root, pid, &stat))
        return false;
    *ns = stat.cpu_ns;
    return true;
}

bool proc_read_thread(const char *root, pid_t pid, pid_t tid, struct proc_thread *out)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    return file_read_line(root, path, line, sizeof line) &&
           cpu_parse_run_delay(line, &out->run_delay_ns) &&
           file_scan_u64(line, &out->cpu_ns) != NULL;
}

bool proc_read_switches(const char *root, pid_t pid, pid_t tid, uint64_t *voluntary,
                        uint64_t *involuntary)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    char *text = file_read_text(root, path, FILE_LIMIT);
    const bool is_read = text && file_find_u64(text, "voluntary_ctxt_switches", voluntary) &&
                         file_find_u64(text, "nonvoluntary_ctxt_switches", involuntary);
    free(text);
    return is_read;
}

/* The number below `name` in the pair of lines "TcpExt: names", "TcpExt: numbers". */
static bool find_below(const char *names, const char *numbers, const char *name, uint64_t *out)
{
    const size_t length = strlen(name);
    while (*names != '\0' && *names != '\n' && *numbers != '\0' && *numbers != '\n') {
        names += strspn(names, " ");
        numbers += strspn(numbers, " ");
        const size_t word = strcspn(names, " \n");
        if (word == length && strncmp(names, name, length) == 0)
            return file_scan_u64(numbers, out) != NULL;
        names += word;
        numbers += strcspn(numbers, " \n");
    }
    return false;
}

bool proc_read_listen(const char *root, pid_t pid, uint64_t *overflows, uint64_t *drops)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/net/netstat", (int)pid);
    char *text = file_read_text(root, path, FILE_LIMIT);
    const char *names = text ? strstr(text, "TcpExt:") : NULL;
    const char *numbers = names ? strstr(names + 1, "\nTcpExt:") : NULL;
    const bool is_read = numbers &&
                         find_below(names, numbers + 1, "ListenOverflows", overflows) &&
                         find_below(names, numbers + 1, "ListenDrops", drops);
    free(text);
    return is_read;
}
