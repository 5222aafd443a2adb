/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/facts.h"
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include "base/units.h"

struct fact_list {
    size_t count;
    struct fact *fact;
};

static struct fact *next_fact(struct fact_list *list, const char *name, enum fact_kind kind)
{
    assert(list->count < FACTS_MAX);
    struct fact *fact = &list->fact[list->count++];
    *fact = (struct fact){.name = name, .kind = kind};
    return fact;
}

static void add_text(struct fact_list *list, const char *name, const char *text)
{
    if (!text[0])
        return;
    struct fact *fact = next_fact(list, name, FACT_TEXT);
    snprintf(fact->text, sizeof fact->text, "%s", text);
}

static void add_count(struct fact_list *list, const char *name, uint64_t count)
{
    if (count == 0)
        return;
    struct fact *fact = next_fact(list, name, FACT_NUMBER);
    fact->number = (double)(count <= INT64_MAX ? count : INT64_MAX);
    if (count >= INT64_MAX)
        snprintf(fact->text, sizeof fact->text, "unlimited");
    else
        snprintf(fact->text, sizeof fact->text, "%" PRIu64, count);
}

static void add_switch(struct fact_list *list, const char *name, bool is_on)
{
    struct fact *fact = next_fact(list, name, FACT_SWITCH);
    fact->is_on = is_on;
    snprintf(fact->text, sizeof fact->text, "%s", is_on ? "yes" : "no");
}

static void add_quota(struct fact_list *list, const struct host_facts *host)
{
    if (!host->has_quota)
        return;
    struct fact *fact = next_fact(list, "cgroup_cpus", FACT_NUMBER);
    fact->number = host->quota_cpus;
    units_format_number(host->quota_cpus, fact->text, sizeof fact->text);
}

size_t facts_list(const struct host_facts *host, struct fact out[FACTS_MAX])
{
    struct fact_list list = {.fact = out};
    add_text(&list, "cpu_model", host->cpu_model);
    add_text(&list, "arch", host->arch);
    add_text(&list, "kernel", host->kernel);
    add_text(&list, "os", host->os);
    add_text(&list, "libc", host->libc);
    add_text(&list, "virtualization", host->virtualization);
    add_count(&list, "cores", host->cores_online);
    add_count(&list, "cores_allowed", host->cores_allowed);
    add_quota(&list, host);
    add_count(&list, "memory_bytes", host->memory_bytes);
    add_text(&list, "governor", host->governor);
    add_text(&list, "turbo", host->turbo);
    add_text(&list, "smt", host->smt);
    add_text(&list, "clocksource", host->clocksource);
    add_count(&list, "clock_resolution_ns", host->clock_resolution_ns);
    add_count(&list, "clock_cost_ns", host->clock_cost_ns);
    add_count(&list, "thread_clock_cost_ns", host->thread_clock_cost_ns);
    add_text(&list, "congestion", host->congestion);
    add_count(&list, "file_limit_soft", host->file_limit_soft);
    add_count(&list, "file_limit_hard", host->file_limit_hard);
    add_count(&list, "port_low", host->port_low);
    add_count(&list, "port_high", host->port_high);
    add_count(&list, "listen_backlog_max", host->listen_backlog_max);
    add_switch(&list, "tun", host->has_tun);
    add_switch(&list, "user_namespaces", host->has_user_namespaces);
    add_switch(&list, "net_namespaces", host->has_net_namespaces);
    add_switch(&list, "netem", host->has_netem);
    add_switch(&list, "counters", host->has_counters);
    return list.count;
}
