/* SPDX-License-Identifier: Apache-2.0 */
/* In what two results' circumstances differ, and whether that forbids to compare them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "run/across_parts.h"

#define MEMORY_SLACK 0.05 /* of one machine, from kernel to kernel */
#define SPEED_SLACK 0.05
#define SHARE_SLACK 0.02 /* of handshakes resumed, or with a HelloRetryRequest */

/* Where the facts that are found go. */
struct finder {
    struct across *a;
    size_t side;
    const char *subject, *arm;
    bool forbids;
};

static bool is_equal(const char *a, const char *b)
{
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_known(const struct finder *f, const char *name, const char *before,
                     const char *after)
{
    for (size_t i = 0; i < f->a->facts; i++) {
        const struct across_fact *k = &f->a->fact[i];
        if (k->side == f->side && is_equal(k->subject, f->subject) &&
            is_equal(k->arm, f->arm) && is_equal(k->name, name) &&
            is_equal(k->before, before) && is_equal(k->after, after))
            return true;
    }
    return false;
}

/* "" stands for NULL. */
static void tell(const struct finder *f, const char *name, const char *before,
                 const char *after)
{
    before = before != NULL && before[0] == '\0' ? NULL : before;
    after = after != NULL && after[0] == '\0' ? NULL : after;
    if (is_equal(before, after) || is_known(f, name, before, after))
        return;
    struct across_fact *fact = across_add_fact(f->a);
    fact->side = f->side;
    fact->forbids = f->forbids;
    result_set_text(&fact->subject, f->subject);
    result_set_text(&fact->arm, f->arm);
    result_set_text(&fact->name, name);
    result_set_text(&fact->before, before);
    result_set_text(&fact->after, after);
}

static void tell_number(const struct finder *f, const char *name, double before, double after)
{
    char texts[2][32];
    tell(f, name, isnan(before) ? NULL : units_format_number(before, texts[0], 32),
         isnan(after) ? NULL : units_format_number(after, texts[1], 32));
}

static bool is_near(double a, double b, double slack)
{
    return a == b || fabs(a - b) <= slack * fmax(a, b);
}

/* What makes it another machine. */
static void find_machine(struct finder f, const struct host_facts *a,
                         const struct host_facts *b)
{
    f.forbids = true;
    tell(&f, "cpu_model", a->cpu_model, b->cpu_model);
    tell(&f, "arch", a->arch, b->arch);
    tell(&f, "virtualization", a->virtualization, b->virtualization);
    tell_number(&f, "cores", a->cores_online, b->cores_online);
    if (!is_near((double)a->memory_bytes, (double)b->memory_bytes, MEMORY_SLACK))
        tell_number(&f, "memory_bytes", (double)a->memory_bytes, (double)b->memory_bytes);
}

static void find_host(struct finder f, const struct result_host *a, const struct result_host *b)
{
    const struct host_facts *x = &a->facts, *y = &b->facts;
    find_machine(f, x, y);
    tell(&f, "kernel", x->kernel, y->kernel);
    tell(&f, "os", x->os, y->os);
    tell(&f, "libc", x->libc, y->libc);
    tell(&f, "governor", x->governor, y->governor);
    tell(&f, "turbo", x->turbo, y->turbo);
    tell(&f, "smt", x->smt, y->smt);
    tell(&f, "clocksource", x->clocksource, y->clocksource);
    tell(&f, "congestion", x->congestion, y->congestion);
    tell_number(&f, "cores_allowed", x->cores_allowed, y->cores_allowed);
    tell_number(&f, "cgroup_cpus", x->has_quota ? x->quota_cpus : (double)NAN,
                y->has_quota ? y->quota_cpus : (double)NAN);
    tell(&f, "client_cores", a->client_cores, b->client_cores);
    tell(&f, "server_cores", a->server_cores, b->server_cores);
}

static void find_hosts(struct finder f, const struct result *a, const struct result *b)
{
    const size_t hosts = a->hosts < b->hosts ? a->hosts : b->hosts;
    f.subject = "host";
    f.forbids = true;
    tell_number(&f, "machines", (double)a->hosts, (double)b->hosts);
    for (size_t i = 0; i < hosts; i++)
        tell(&f, "role", a->host[i].role, b->host[i].role);
    f.forbids = false;
    for (size_t i = 0; i < hosts; i++)
        find_host(f, &a->host[i], &b->host[i]);
}

static void find_build(struct finder f, const struct result *a, const struct result *b)
{
    f.subject = "build";
    tell(&f, "version", a->build.version, b->build.version);
    tell(&f, "compiler", a->build.compiler, b->build.compiler);
    tell(&f, "flags", a->build.flags, b->build.flags);
    f.forbids = true;
    tell(&f, "sanitizer", a->build.sanitizer, b->build.sanitizer);
}

/* Drawn or chosen afresh for every run, or told of elsewhere. */
static bool is_passing(const char *name)
{
    static const char *const names[] = {"seed", "client-cores", "server-cores"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "arm.", 4) == 0;
}

static void find_pairs(const struct finder *f, const struct result_pairs *a,
                       const struct result_pairs *b, bool (*is_left_out)(const char *name))
{
    for (size_t i = 0; i < a->count; i++)
        if (!is_left_out(a->pair[i].name))
            tell(f, a->pair[i].name, a->pair[i].value, pairs_find(b, a->pair[i].name));
    for (size_t i = 0; i < b->count; i++)
        if (!is_left_out(b->pair[i].name))
            tell(f, b->pair[i].name, pairs_find(a, b->pair[i].name), b->pair[i].value);
}

static bool is_of_link(const char *name)
{
    (void)name;
    return false;
}

/* The certificate is told with its consequence; the baseline's name is none of the arm. */
static bool is_told_apart(const char *name)
{
    static const char *const names[] = {"cert", "chain", "baseline"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static void tell_share(const struct finder *f, const char *name, double before, double after)
{
    char texts[2][32];
    if (fabs(before - after) <= SHARE_SLACK)
        return;
    snprintf(texts[0], sizeof texts[0], "%.0f %%", 100 * before);
    snprintf(texts[1], sizeof texts[1], "%.0f %%", 100 * after);
    tell(f, name, texts[0], texts[1]);
}

/* Two results that negotiated different things do not differ by what is asked about. */
static void find_negotiated(struct finder f, const struct result_arm *a,
                            const struct result_arm *b)
{
    const struct result_negotiated *x = &a->negotiated, *y = &b->negotiated;
    f.forbids = true;
    if (x->group == NULL || y->group == NULL || !text_same_name(x->group, y->group))
        tell(&f, "group", x->group, y->group);
    tell(&f, "cert", pairs_find(&a->spec, "cert"), pairs_find(&b->spec, "cert"));
    tell(&f, "chain", pairs_find(&a->spec, "chain"), pairs_find(&b->spec, "chain"));
    tell(&f, "signature", x->signature, y->signature);
    tell(&f, "tls", x->tls, y->tls);
    tell_share(&f, "hrr", share_of(x->hrr, x->handshakes), share_of(y->hrr, y->handshakes));
    tell_share(&f, "resumed", share_of(x->resumed, x->handshakes),
               share_of(y->resumed, y->handshakes));
    f.forbids = false;
    tell(&f, "cipher", x->cipher, y->cipher);
}

static void find_arm(struct finder f, const struct result_arm *a, const struct result_arm *b)
{
    f.subject = "library";
    tell(&f, "client", a->client_backend, b->client_backend);
    tell(&f, "server", a->server_backend, b->server_backend);
    f.subject = "arm";
    f.arm = a->name;
    find_negotiated(f, a, b);
    find_pairs(&f, &a->spec, &b->spec, is_told_apart);
}

/* The first trial's of the first arm stands for the run. */
static double work_of(const struct result *r)
{
    return r->arms > 0 && r->arm[0].trials > 0 ? r->arm[0].trial[0].work_us[RESULT_CLIENT]
                                               : (double)NAN;
}

static const char *end_of(const struct result *r)
{
    if (!r->is_interrupted)
        return "no";
    return r->interrupted_by != NULL ? r->interrupted_by : "killed";
}

static void find_state(struct finder f, const struct result *a, const struct result *b)
{
    f.subject = "run";
    tell(&f, "interrupted", end_of(a), end_of(b));
    tell(&f, "valid", a->is_valid ? "yes" : "no", b->is_valid ? "yes" : "no");
    if (!isnan(work_of(a)) && !isnan(work_of(b)) &&
        !is_near(work_of(a), work_of(b), SPEED_SLACK))
        tell_number(&f, "work_us", round(work_of(a)), round(work_of(b)));
}

static void find_between(struct finder f, const struct across_arms *arms,
                         const struct result *reference, const struct result *r, size_t side,
                         size_t run)
{
    find_hosts(f, reference, r);
    find_build(f, reference, r);
    f.subject = "option";
    find_pairs(&f, &reference->config, &r->config, is_passing);
    f.subject = "link";
    find_pairs(&f, &reference->link, &r->link, is_of_link);
    for (size_t i = 0; i < arms->count; i++)
        if (arms->arm[i].of[side][run] != NULL)
            find_arm(f, arms->arm[i].reference, arms->arm[i].of[side][run]);
    find_state(f, reference, r);
}

void across_find_facts(const struct across_options *o, const struct across_arms *arms,
                       struct across *a)
{
    const struct result *reference = o->side[0].run[0];
    for (size_t side = 0; side < o->sides; side++)
        for (size_t run = side == 0 ? 1 : 0; run < o->side[side].runs; run++)
            find_between((struct finder){.a = a, .side = side}, arms, reference,
                         o->side[side].run[run], side, run);
}
