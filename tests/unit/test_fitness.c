/* SPDX-License-Identifier: Apache-2.0 */
/* Does the doctor find what is unfit, call it by its right weight, and leave a good machine
 * alone? */
#include "cmocka_all.h"
#include <math.h>
#include <string.h>
#include "cli/fitness.h"

/* A machine without fault. */
static struct fitness_input good(void)
{
    struct fitness_input in = {
        .backends = 2, .steal = 0, .throttled = 0, .busy = 0.01, .speed_spread = 0.01};
    struct host_facts *host = &in.host;
    host->cores_online = host->cores_allowed = 8;
    strcpy(host->governor, "performance");
    strcpy(host->turbo, "off");
    strcpy(host->clocksource, "tsc");
    strcpy(host->virtualization, "none");
    host->clock_resolution_ns = 20;
    host->clock_cost_ns = 25;
    host->file_limit_soft = host->file_limit_hard = 1048576;
    host->port_low = 1024;
    host->port_high = 65535;
    host->listen_backlog_max = 4096;
    host->has_tun = host->has_user_namespaces = host->has_net_namespaces = true;
    host->has_counters = true;
    return in;
}

static const struct finding *find(const struct findings *findings, const char *code)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->finding[i].code, code) == 0)
            return &findings->finding[i];
    return NULL;
}

static void a_good_machine_has_no_finding(void **state)
{
    struct fitness_input in = good();
    struct findings findings;
    (void)state;
    fitness_judge(&in, &findings);
    assert_int_equal(findings.count, 0);
    assert_false(findings_has_fault(&findings));
    findings_free(&findings);
}

static void what_is_unknown_is_no_finding(void **state)
{
    struct fitness_input in = good();
    struct findings findings;
    (void)state;
    in.steal = in.throttled = in.busy = in.speed_spread = NAN;
    in.host.governor[0] = in.host.turbo[0] = in.host.virtualization[0] = '\0';
    in.host.file_limit_soft = 0;
    in.host.port_low = in.host.port_high = in.host.listen_backlog_max = 0;
    fitness_judge(&in, &findings);
    assert_int_equal(findings.count, 0);
    findings_free(&findings);
}

#define SPOIL(name, statement)                 \
    static void name(struct fitness_input *in) \
    {                                          \
        struct host_facts *host = &in->host;   \
        (void)host;                            \
        statement;                             \
    }
SPOIL(no_backends, in->backends = 0)
SPOIL(sanitized, in->is_sanitized = true)
SPOIL(one_core, host->cores_allowed = 1)
SPOIL(smt_shared, in->has_shared_cores = true)
SPOIL(half_a_cpu, (host->has_quota = true, host->quota_cpus = 0.5))
SPOIL(one_cpu, (host->has_quota = true, host->quota_cpus = 1))
SPOIL(four_cpus, (host->has_quota = true, host->quota_cpus = 4))
SPOIL(was_throttled, in->throttled = 0.02)
SPOIL(hpet, strcpy(host->clocksource, "hpet"))
SPOIL(jiffies, strcpy(host->clocksource, "jiffies"))
SPOIL(coarse_clock, host->clock_resolution_ns = 4000000)
SPOIL(slow_clock, host->clock_cost_ns = 900)
SPOIL(powersave, strcpy(host->governor, "powersave"))
SPOIL(turbo, strcpy(host->turbo, "on"))
SPOIL(speed_changes, in->speed_spread = 0.3)
SPOIL(virtual_machine, strcpy(host->virtualization, "kvm"))
SPOIL(stolen, in->steal = 0.03)
SPOIL(busy, in->busy = 0.5)
SPOIL(few_files, host->file_limit_soft = 1024)
SPOIL(few_ports, (host->port_low = 32768, host->port_high = 33000))
SPOIL(ports_upside_down, (host->port_low = 5000, host->port_high = 4000))
SPOIL(short_queue, host->listen_backlog_max = 128)
SPOIL(no_tun, host->has_tun = false)
SPOIL(no_namespaces, host->has_net_namespaces = false)
SPOIL(no_link, in->link_problem = "a TUN device: Operation not permitted")
SPOIL(no_counters, host->has_counters = false)

static void each_fault_is_found_alone_and_with_its_weight(void **state)
{
    static const struct {
        void (*spoil)(struct fitness_input *in);
        const char *code;
        enum fitness_level level;
    } cases[] = {
        {no_backends, "backends", FITNESS_FAULT},
        {sanitized, "sanitizer", FITNESS_WARNING},
        {one_core, "shared-cores", FITNESS_FAULT},
        {smt_shared, "shared-cores", FITNESS_WARNING},
        {half_a_cpu, "throttled", FITNESS_FAULT},
        {one_cpu, "throttled", FITNESS_WARNING},
        {four_cpus, "throttled", FITNESS_NOTE},
        {was_throttled, "throttled", FITNESS_WARNING},
        {hpet, "clock", FITNESS_FAULT},
        {jiffies, "clock", FITNESS_FAULT},
        {coarse_clock, "clock", FITNESS_FAULT},
        {slow_clock, "clock", FITNESS_WARNING},
        {powersave, "governor", FITNESS_WARNING},
        {turbo, "turbo", FITNESS_WARNING},
        {speed_changes, "speed-changed", FITNESS_WARNING},
        {virtual_machine, "virtualization", FITNESS_NOTE},
        {stolen, "steal", FITNESS_WARNING},
        {busy, "busy", FITNESS_WARNING},
        {few_files, "file-limit", FITNESS_WARNING},
        {few_ports, "port-range", FITNESS_WARNING},
        {ports_upside_down, "port-range", FITNESS_WARNING},
        {short_queue, "backlog", FITNESS_WARNING},
        {no_tun, "tun", FITNESS_NOTE},
        {no_namespaces, "namespaces", FITNESS_NOTE},
        {no_link, "link", FITNESS_NOTE},
        {no_counters, "counters", FITNESS_NOTE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fitness_input in = good();
        struct findings findings;
        cases[i].spoil(&in);
        fitness_judge(&in, &findings);
        assert_int_equal(findings.count, 1);
        const struct finding *finding = find(&findings, cases[i].code);
        assert_non_null(finding);
        assert_int_equal(finding->level, cases[i].level);
        assert_true(strlen(finding->advice) > 0);
        assert_int_equal(findings_has_fault(&findings), cases[i].level == FITNESS_FAULT);
        findings_free(&findings);
    }
}

static void the_worst_stands_first(void **state)
{
    struct fitness_input in = good();
    struct findings findings;
    (void)state;
    no_tun(&in);
    busy(&in);
    one_core(&in);
    fitness_judge(&in, &findings);
    assert_int_equal(findings.count, 3);
    assert_int_equal(findings.finding[0].level, FITNESS_FAULT);
    assert_int_equal(findings.finding[1].level, FITNESS_WARNING);
    assert_int_equal(findings.finding[2].level, FITNESS_NOTE);
    findings_free(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_machine_has_no_finding),
        cmocka_unit_test(what_is_unknown_is_no_finding),
        cmocka_unit_test(each_fault_is_found_alone_and_with_its_weight),
        cmocka_unit_test(the_worst_stands_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
