/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cgroup.h"
#include "base/file.h"

#define FILE_LIMIT (1u << 20)
#define PATH_SIZE (2 * PATH_MAX + 32) /* mount point, group, file name */

/* One hierarchy: where it is mounted, which of its groups the mount shows as its top, and
 * the group that the process is in. */
struct hierarchy {
    bool is_v2, is_mounted, is_member;
    char mount_point[PATH_MAX], mount_root[PATH_MAX], group[PATH_MAX];
};

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += length) {
        bool starts = p == list || p[-1] == ',';
        if (starts && (p[length] == '\0' || p[length] == ','))
            return true;
    }
    return false;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* mountinfo writes blank, tab, newline and backslash as \ooo. */
static void undo_octal(char *path)
{
    char *to = path;
    for (const char *from = path; *from; to++) {
        if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* "36 25 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu" */
static void read_mount_line(char *line, struct hierarchy *h)
{
    char *dash = strstr(line, " - ");
    char type[16], options[256], root[PATH_MAX], point[PATH_MAX];
    if (!dash || h->is_mounted)
        return;
    *dash = '\0';
    if (sscanf(dash + 3, "%15s %*s %255s", type, options) != 2 ||
        sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
        return;
    bool is_ours = h->is_v2 ? strcmp(type, "cgroup2") == 0
                            : strcmp(type, "cgroup") == 0 && has_word(options, "cpu");
    if (is_ours) {
        undo_octal(root);
        undo_octal(point);
        memcpy(h->mount_root, root, sizeof root);
        memcpy(h->mount_point, point, sizeof point);
        h->is_mounted = true;
    }
    *dash = ' ';
}

/* "0::/user.slice" (version 2) or "5:cpu,cpuacct:/docker/ab" (version 1) */
static void read_group_line(char *line, struct hierarchy *h)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || h->is_member)
        return;
    *path = '\0';
    bool is_ours = h->is_v2 ? strcmp(line, "0:") == 0 : has_word(controllers + 1, "cpu");
    *path = ':';
    if (is_ours) {
        snprintf(h->group, sizeof h->group, "%s", path + 1);
        h->is_member = true;
    }
}

static void for_each_line(const char *root, const char *path,
                          void (*read_line)(char *, struct hierarchy *), struct hierarchy *h)
{
    char *text = file_read_text(root, path, FILE_LIMIT);
    char *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n")) != NULL;)
        read_line(line, h);
    free(text);
}

/* The process's group as seen below the mount point: "" or "/a/b". */
static const char *group_below_mount(const struct hierarchy *h)
{
    size_t length = strlen(h->mount_root);
    const char *below = h->group;
    if (strcmp(h->mount_root, "/") != 0) {
        bool is_inside = strncmp(below, h->mount_root, length) == 0 &&
                         (below[length] == '/' || below[length] == '\0');
        below = is_inside ? below + length : "";
    }
    /* "/../x": the group lies outside what this namespace shows. */
    return strcmp(below, "/") == 0 || strncmp(below, "/..", 3) == 0 ? "" : below;
}

static bool read_quota_v2(const char *root, const char *directory, double *cpus)
{
    char path[PATH_SIZE], line[64];
    uint64_t quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!file_read_line(root, path, line, sizeof line) ||
        !file_scan_u64(file_scan_u64(line, &quota), &period) || period == 0)
        return false; /* "max 100000": no quota */
    *cpus = (double)quota / (double)period;
    return true;
}

static bool read_quota_v1(const char *root, const char *directory, double *cpus)
{
    char path[PATH_SIZE];
    uint64_t quota, period;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!file_read_u64(root, path, &quota)) /* -1: no quota */
        return false;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!file_read_u64(root, path, &period) || period == 0)
        return false;
    *cpus = (double)quota / (double)period;
    return true;
}

static void read_level(const char *root, const char *directory, bool is_v2,
                       struct cgroup_cpu *out)
{
    char path[PATH_SIZE];
    double cpus;
    uint64_t throttled;
    bool has_quota =
        is_v2 ? read_quota_v2(root, directory, &cpus) : read_quota_v1(root, directory, &cpus);
    if (has_quota && (!out->has_quota || cpus < out->quota_cpus)) {
        out->has_quota = true;
        out->quota_cpus = cpus;
    }
    snprintf(path, sizeof path, "%s/cpu.stat", directory);
    char *stat = file_read_text(root, path, FILE_LIMIT);
    if (stat && file_find_u64(stat, is_v2 ? "throttled_usec" : "throttled_time", &throttled)) {
        out->has_throttled = true;
        out->throttled_ns += is_v2 ? throttled * 1000 : throttled;
    }
    free(stat);
}

static void read_hierarchy(const char *root, bool is_v2, struct cgroup_cpu *out)
{
    struct hierarchy h = {.is_v2 = is_v2};
    char directory[2 * PATH_MAX];
    for_each_line(root, "/proc/self/mountinfo", read_mount_line, &h);
    for_each_line(root, "/proc/self/cgroup", read_group_line, &h);
    if (!h.is_mounted || !h.is_member)
        return;
    snprintf(directory, sizeof directory, "%s%s", h.mount_point, group_below_mount(&h));
    size_t top = strlen(h.mount_point);
    for (;;) {
        read_level(root, directory, is_v2, out);
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < top)
            return;
        *slash = '\0';
    }
}

void cgroup_read_cpu(const char *root, struct cgroup_cpu *out)
{
    *out = (struct cgroup_cpu){0};
    read_hierarchy(root, true, out);
    read_hierarchy(root, false, out);
}
