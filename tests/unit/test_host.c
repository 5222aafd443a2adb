/* SPDX-License-Identifier: Apache-2.0 */
/* Are the facts of a machine read as they are, and unknown where they are not told? */
#include "fake_tree.h"
#include "base/host_internal.h"

static void the_cpu_is_named_on_every_architecture(void **state)
{
    static const struct {
        const char *cpuinfo, *model;
    } cases[] = {
        {"processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) CPU\n"
         "cpu MHz\t\t: 2100.000\n",
         "Intel(R) Xeon(R) CPU"},
        {"processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n",
         "Arm Neoverse-V1"},
        {"processor\t: 0\nCPU implementer\t: 0x46\nCPU part\t: 0x001\n",
         "ARM implementer 0x46 part 0x001"},
        {"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry "
         "Pi 4\n",
         "Raspberry Pi 4"},
        {"processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
        {"processor\t: 0\nhart\t: 0\nisa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n",
         "sifive,u74-mc"},
        {"processor\t: 0\nCPU implementer\t: 0x41\n", ""},
        {"model name\t:\n", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char model[128] = "";
        host_parse_cpu_model(cases[i].cpuinfo, model, sizeof model);
        assert_string_equal(model, cases[i].model);
    }
}

static void a_bare_machine_is_read_whole(void **state)
{
    struct tree t;
    struct host_facts f = {.kernel = "6.1.0"};
    (void)state;
    tree_make(&t);
    tree_write(&t, "/proc/cpuinfo", "model name\t: AMD EPYC 9654\n");
    tree_write(&t, "/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
    tree_write(&t, "/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
    tree_write(&t, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree_write(&t, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
    tree_write(&t, "/sys/devices/system/cpu/smt/active", "1\n");
    tree_write(&t, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    tree_write(&t, "/proc/sys/net/ipv4/tcp_congestion_control", "cubic\n");
    tree_write(&t, "/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    tree_write(&t, "/proc/sys/net/core/somaxconn", "4096\n");
    tree_write(&t, "/sys/class/dmi/id/product_name", "PowerEdge R7625\n");
    tree_write(&t, "/lib/modules/6.1.0/modules.dep", "kernel/net/sched/sch_netem.ko.xz:\n");
    host_read_files(t.root, &f);
    tree_remove(&t);
    assert_string_equal(f.cpu_model, "AMD EPYC 9654");
    assert_string_equal(f.os, "Debian GNU/Linux 12");
    assert_true(f.memory_bytes == 16384 * 1024);
    assert_string_equal(f.governor, "performance");
    assert_string_equal(f.turbo, "on");
    assert_string_equal(f.smt, "on");
    assert_string_equal(f.clocksource, "tsc");
    assert_string_equal(f.congestion, "cubic");
    assert_int_equal(f.port_low, 32768);
    assert_int_equal(f.port_high, 60999);
    assert_int_equal(f.listen_backlog_max, 4096);
    assert_string_equal(f.virtualization, "none");
    assert_true(f.has_netem);
    assert_false(f.has_quota);
}

static void an_empty_machine_is_unknown(void **state)
{
    struct tree t;
    struct host_facts f = {0};
    static const struct host_facts nothing;
    (void)state;
    tree_make(&t);
    host_read_files(t.root, &f);
    tree_remove(&t);
    assert_memory_equal(&f, &nothing, sizeof f);
}

static void turbo_is_read_the_right_way_round(void **state)
{
    static const struct {
        const char *path, *value, *turbo;
    } cases[] = {
        {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", "on"},
        {"/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", "off"},
        {"/sys/devices/system/cpu/cpufreq/boost", "0\n", "off"},
        {"/sys/devices/system/cpu/cpufreq/boost", "1\n", "on"},
        {"/sys/devices/system/cpu/cpufreq/boost", "?\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tree t;
        struct host_facts f = {0};
        tree_make(&t);
        tree_write(&t, cases[i].path, cases[i].value);
        host_read_files(t.root, &f);
        tree_remove(&t);
        assert_string_equal(f.turbo, cases[i].turbo);
    }
}

static void hypervisors_and_containers_are_recognised(void **state)
{
    static const struct {
        const char *path, *value, *also, *expected;
    } cases[] = {
        {"/sys/hypervisor/type", "xen\n", NULL, "xen"},
        {"/proc/device-tree/hypervisor/compatible", "linux,kvm", NULL, "kvm"},
        {"/sys/class/dmi/id/product_name", "KVM Virtual Machine\n", NULL, "kvm"},
        {"/sys/class/dmi/id/product_name", "Virtual Machine\n", NULL, "microsoft"},
        {"/sys/class/dmi/id/product_name", "VMware7,1\n", NULL, "vmware"},
        {"/sys/class/dmi/id/product_name", "Google Compute Engine\n", NULL, "kvm"},
        {"/sys/class/dmi/id/product_name", "c7g.large\n", "Amazon EC2\n", "kvm"},
        {"/sys/class/dmi/id/product_name", "c7g.metal\n", "Amazon EC2\n", "none"},
        {"/sys/class/dmi/id/product_name", "PRIMERGY\n", "FUJITSU\n", "none"},
        {"/.dockerenv", "", NULL, "container"},
        {"/run/.containerenv", "", NULL, "container"},
        {"/run/systemd/container", "lxc\n", NULL, "container"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int in_container = 0; in_container <= 1; in_container++) {
            struct tree t;
            struct host_facts f = {0};
            char expected[64];
            tree_make(&t);
            tree_write(&t, cases[i].path, cases[i].value);
            if (cases[i].also)
                tree_write(&t, "/sys/class/dmi/id/sys_vendor", cases[i].also);
            if (in_container)
                tree_write(&t, "/.dockerenv", "");
            host_read_files(t.root, &f);
            tree_remove(&t);
            bool is_bare = strcmp(cases[i].expected, "none") == 0 ||
                           strcmp(cases[i].expected, "container") == 0;
            snprintf(expected, sizeof expected, "%s%s",
                     in_container && is_bare ? "" : cases[i].expected,
                     !in_container ? ""
                     : is_bare     ? "container"
                                   : "+container");
            assert_string_equal(f.virtualization, expected);
        }
    }
}

static void this_machine_tells_what_every_linux_tells(void **state)
{
    struct host_facts f;
    (void)state;
    host_read_facts(&f);
    assert_true(f.arch[0] && f.kernel[0]);
    assert_true(f.cores_online >= 1 && f.cores_allowed >= 1);
    assert_true(f.memory_bytes > 1 << 20);
    assert_true(f.file_limit_soft >= 3 && f.file_limit_hard >= f.file_limit_soft);
    assert_true(f.clock_resolution_ns >= 1 && f.thread_clock_cost_ns >= 1);
    assert_true(!f.has_quota || f.quota_cpus > 0);
    assert_true(f.port_low <= f.port_high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_is_named_on_every_architecture),
        cmocka_unit_test(a_bare_machine_is_read_whole),
        cmocka_unit_test(an_empty_machine_is_unknown),
        cmocka_unit_test(turbo_is_read_the_right_way_round),
        cmocka_unit_test(hypervisors_and_containers_are_recognised),
        cmocka_unit_test(this_machine_tells_what_every_linux_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
