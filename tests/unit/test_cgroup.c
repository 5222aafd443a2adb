/* SPDX-License-Identifier: Apache-2.0 */
/* Is the CPU quota found wherever a control group on the way to the root sets one? */
#include "fake_tree.h"
#include "base/cgroup.h"

#define V2_MOUNT \
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
#define CPUSET_MOUNT "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

struct file {
    const char *path, *text;
};

struct machine {
    const char *what;
    struct file files[8];
    struct cgroup_cpu expected;
};

static const struct machine machines[] = {
    {"nothing mounted", {{"/proc/self/cgroup", "0::/\n"}}, {.has_quota = false}},
    {"half a CPU on version 2",
     {{"/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/root rw\n" V2_MOUNT},
      {"/proc/self/cgroup", "0::/app.slice\n"},
      {"/sys/fs/cgroup/app.slice/cpu.max", "50000 100000\n"},
      {"/sys/fs/cgroup/app.slice/cpu.stat",
       "usage_usec 9\nnr_periods 4\nnr_throttled 2\nthrottled_usec 1500\n"}},
     {.has_quota = true, .quota_cpus = 0.5, .has_throttled = true, .throttled_ns = 1500000}},
    {"no quota on version 2",
     {{"/proc/self/mountinfo", V2_MOUNT},
      {"/proc/self/cgroup", "0::/app.slice\n"},
      {"/sys/fs/cgroup/app.slice/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/app.slice/cpu.stat", "usage_usec 9\n"}},
     {.has_quota = false}},
    {"the smallest quota of all levels",
     {{"/proc/self/mountinfo", V2_MOUNT},
      {"/proc/self/cgroup", "0::/a/b/c\n"},
      {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
      {"/sys/fs/cgroup/a/cpu.stat", "throttled_usec 10\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/a/b/c/cpu.max", "400000 200000\n"},
      {"/sys/fs/cgroup/a/b/c/cpu.stat", "throttled_usec 7\n"}},
     {.has_quota = true, .quota_cpus = 1.5, .has_throttled = true, .throttled_ns = 17000}},
    {"the root of a container's own namespace",
     {{"/proc/self/mountinfo", V2_MOUNT},
      {"/proc/self/cgroup", "0::/\n"},
      {"/sys/fs/cgroup/cpu.max", "25000 100000\n"}},
     {.has_quota = true, .quota_cpus = 0.25}},
    {"a mount that shows a part of the tree",
     {{"/proc/self/mountinfo", "30 23 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n"},
      {"/proc/self/cgroup", "0::/docker/ab/inner\n"},
      {"/sys/fs/cgroup/cpu.max", "300000 100000\n"},
      {"/sys/fs/cgroup/inner/cpu.max", "200000 100000\n"}},
     {.has_quota = true, .quota_cpus = 2}},
    {"a group outside the part that is shown",
     {{"/proc/self/mountinfo", "30 23 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n"},
      {"/proc/self/cgroup", "0::/docker/abc\n"},
      {"/sys/fs/cgroup/c/cpu.max", "100000 100000\n"},
      {"/sys/fs/cgroup/cpu.max", "300000 100000\n"}},
     {.has_quota = true, .quota_cpus = 3}},
    {"a group above the namespace's root",
     {{"/proc/self/mountinfo", V2_MOUNT},
      {"/proc/self/cgroup", "0::/../other\n"},
      {"/sys/fs/other/cpu.max", "100000 100000\n"},
      {"/sys/fs/cgroup/cpu.max", "300000 100000\n"}},
     {.has_quota = true, .quota_cpus = 3}},
    {"version 1 beside others",
     {{"/proc/self/mountinfo", CPUSET_MOUNT V1_MOUNT},
      {"/proc/self/cgroup", "9:cpuset:/no\n5:cpu,cpuacct:/docker/cd\n0::/\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/docker/cd/cpu.cfs_quota_us", "125000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/docker/cd/cpu.cfs_period_us", "50000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/docker/cd/cpu.stat",
       "nr_periods 1\nnr_throttled 1\nthrottled_time 12345\n"}},
     {.has_quota = true, .quota_cpus = 2.5, .has_throttled = true, .throttled_ns = 12345}},
    {"both versions side by side",
     {{"/proc/self/mountinfo",
       V1_MOUNT "38 31 0:35 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {"/proc/self/cgroup", "5:cpu,cpuacct:/x\n0::/y\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "100000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/unified/y/cpu.max", "400000 100000\n"}},
     {.has_quota = true, .quota_cpus = 1}},
    {"a blank in the mount point",
     {{"/proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n"},
      {"/proc/self/cgroup", "0::/a\n"},
      {"/my groups/a/cpu.max", "50000 50000\n"}},
     {.has_quota = true, .quota_cpus = 1}},
    {"nonsense in every file",
     {{"/proc/self/mountinfo", "\n - \n30 23\n" V2_MOUNT "x - cgroup2\n"},
      {"/proc/self/cgroup", "\n:\n::\n0\n0::/a\n"},
      {"/sys/fs/cgroup/a/cpu.max", "50000 0\n"},
      {"/sys/fs/cgroup/a/cpu.stat", "throttled_usec\nthrottled_usec x\n"},
      {"/sys/fs/cgroup/cpu.max", "\n"}},
     {.has_quota = false}},
};

static void every_layout_gives_its_quota(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct tree t;
        struct cgroup_cpu got;
        const struct cgroup_cpu *expected = &machines[i].expected;
        tree_make(&t);
        for (const struct file *f = machines[i].files; f->path; f++)
            tree_write(&t, f->path, f->text);
        cgroup_read_cpu(t.root, &got);
        tree_remove(&t);
        if (got.has_quota != expected->has_quota || got.quota_cpus != expected->quota_cpus ||
            got.has_throttled != expected->has_throttled ||
            got.throttled_ns != expected->throttled_ns)
            fail_msg("%s: quota %d %g, throttled %d %llu", machines[i].what, got.has_quota,
                     got.quota_cpus, got.has_throttled, (unsigned long long)got.throttled_ns);
    }
}

static void this_machine_can_be_asked(void **state)
{
    struct cgroup_cpu got;
    (void)state;
    cgroup_read_cpu("", &got);
    assert_true(!got.has_quota || got.quota_cpus > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_gives_its_quota),
        cmocka_unit_test(this_machine_can_be_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
