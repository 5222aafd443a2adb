/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpu_internal.h"
#include "base/file.h"
#include "base/text.h"

#define MASK_WORDS 8 /* cpu_set_t holds 1024 cores: 8192 in all */
#define MASK_CORES (MASK_WORDS * CPU_SETSIZE)

void cpu_allowed(struct cpu_set *out)
{
    cpu_set_t mask[MASK_WORDS];
    out->count = 0;
    memset(mask, 0, sizeof mask);
    if (sched_getaffinity(0, sizeof mask, mask) == 0)
        for (size_t core = 0; core < MASK_CORES && out->count < CPU_MAX_CORES; core++)
            if (CPU_ISSET_S(core, sizeof mask, mask))
                out->core[out->count++] = (unsigned short)core;
    if (out->count == 0) { /* more cores than the mask holds: the one we are on is allowed */
        int here = sched_getcpu();
        out->core[out->count++] = (unsigned short)(here >= 0 ? here : 0);
    }
}

static bool set_has(const struct cpu_set *set, unsigned long core)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->core[i] == core)
            return true;
    return false;
}

static int refuse_core(const char *text, unsigned long core, const struct cpu_set *allowed,
                       struct err *e)
{
    char list[256];
    return err_set(e, ERR_USAGE, "'%s': core %lu is not one that may be used here (%s)", text,
                   core, cpu_format_list(allowed, list, sizeof list));
}

/* Digits at *p as a core number; false where there are none or too many. */
static bool scan_core(const char **p, unsigned long *core)
{
    size_t digits = strspn(*p, "0123456789");
    if (digits == 0 || digits > 6)
        return false;
    *core = strtoul(*p, NULL, 10);
    *p += digits;
    return true;
}

/* "3" or "0-3" at *p, a comma or the end behind it. */
static bool scan_range(const char **p, unsigned long *first, unsigned long *last)
{
    if (!scan_core(p, first))
        return false;
    *last = *first;
    if (**p == '-') {
        ++*p;
        if (!scan_core(p, last))
            return false;
    }
    if (**p == ',' && (*p)[1] != '\0')
        ++*p;
    else if (**p != '\0')
        return false;
    return *first <= *last;
}

int cpu_parse_list_within(const char *text, const struct cpu_set *allowed, struct cpu_set *out,
                          struct err *e)
{
    bool is_wanted[CPU_MAX_CORES] = {false}; /* by place in allowed */
    const char *p = text;
    do {
        unsigned long first, last;
        if (!scan_range(&p, &first, &last))
            return err_set(e, ERR_USAGE,
                           "'%s' is not a list of cores; give numbers and ranges, like 0-3,8",
                           text);
        for (unsigned long core = first; core <= last; core++)
            if (!set_has(allowed, core))
                return refuse_core(text, core, allowed, e);
        for (size_t i = 0; i < allowed->count; i++)
            if (allowed->core[i] >= first && allowed->core[i] <= last)
                is_wanted[i] = true;
    } while (*p);
    out->count = 0;
    for (size_t i = 0; i < allowed->count; i++)
        if (is_wanted[i])
            out->core[out->count++] = allowed->core[i];
    return 0;
}

int cpu_parse_list(const char *text, struct cpu_set *out, struct err *e)
{
    struct cpu_set allowed;
    cpu_allowed(&allowed);
    return cpu_parse_list_within(text, &allowed, out, e);
}

char *cpu_format_list(const struct cpu_set *set, char *buf, size_t size)
{
    struct text list = {0};
    for (size_t i = 0; i < set->count;) {
        size_t last = i;
        while (last + 1 < set->count && set->core[last + 1] == set->core[last] + 1)
            last++;
        text_addf(&list, "%s%u", i > 0 ? "," : "", set->core[i]);
        if (last > i)
            text_addf(&list, "-%u", set->core[last]);
        i = last + 1;
    }
    snprintf(buf, size, "%s", text_str(&list));
    text_free(&list);
    return buf;
}

/* How many physical cores the set has, and of each the number of those before it. */
static size_t number_leaders(const struct cpu_set *set, const unsigned short *leader,
                             size_t *place)
{
    size_t groups = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t j = 0;
        while (j < i && leader[j] != leader[i])
            j++;
        place[i] = j < i ? place[j] : groups++;
    }
    return groups;
}

bool cpu_split_by_leader(const struct cpu_set *allowed, const unsigned short *leader,
                         struct cpu_set *client, struct cpu_set *server)
{
    size_t place[CPU_MAX_CORES];
    struct cpu_set all = *allowed; /* the caller's sets may be one of the results */
    assert(all.count >= 1);
    if (all.count == 1) {
        *client = *server = all;
        return false;
    }
    size_t groups = number_leaders(&all, leader, place);
    bool by_thread = groups == 1; /* the threads of one physical core: better than nothing */
    size_t half = (by_thread ? all.count : groups) / 2;
    client->count = server->count = 0;
    for (size_t i = 0; i < all.count; i++) {
        bool is_server = (by_thread ? i : place[i]) < half;
        struct cpu_set *side = is_server ? server : client;
        side->core[side->count++] = all.core[i];
    }
    return true;
}

/* The lowest thread of the physical core that holds `core`; itself where unknown. */
static unsigned short leader_of(unsigned core)
{
    char path[96], line[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
             core);
    const char *p = line;
    unsigned long leader;
    if (!file_read_line("", path, line, sizeof line) || !scan_core(&p, &leader) ||
        leader >= MASK_CORES)
        return (unsigned short)core;
    return (unsigned short)leader;
}

bool cpu_split(const struct cpu_set *allowed, struct cpu_set *client, struct cpu_set *server)
{
    unsigned short leader[CPU_MAX_CORES] = {0};
    for (size_t i = 0; i < allowed->count; i++)
        leader[i] = leader_of(allowed->core[i]);
    return cpu_split_by_leader(allowed, leader, client, server);
}

bool cpu_share_physical_core(const struct cpu_set *a, const struct cpu_set *b)
{
    for (size_t i = 0; i < a->count; i++) {
        unsigned short leader = leader_of(a->core[i]);
        for (size_t j = 0; j < b->count; j++)
            if (leader == leader_of(b->core[j]))
                return true;
    }
    return false;
}

int cpu_pin_thread_to_set(const struct cpu_set *set, struct err *e)
{
    cpu_set_t mask[MASK_WORDS];
    memset(mask, 0, sizeof mask);
    for (size_t i = 0; i < set->count; i++)
        if (set->core[i] < MASK_CORES)
            CPU_SET_S(set->core[i], sizeof mask, mask);
    if (sched_setaffinity(0, sizeof mask, mask) != 0) {
        char list[256];
        return err_set_errno(e, "pinning to cores %s", cpu_format_list(set, list, sizeof list));
    }
    return 0;
}

int cpu_pin_thread(unsigned core, struct err *e)
{
    if (core >= MASK_CORES)
        return err_set(e, ERR_SYSTEM, "pinning to core %u: no such core", core);
    struct cpu_set one = {.count = 1, .core = {(unsigned short)core}};
    return cpu_pin_thread_to_set(&one, e);
}
