/* SPDX-License-Identifier: Apache-2.0 */
#include "run/probe.h"
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "run/probe_ask.h"

unsigned probe_default_port(enum probe_starttls starttls)
{
    switch (starttls) {
    case PROBE_STARTTLS_NONE:
        return 443;
    case PROBE_STARTTLS_SMTP:
        return 25;
    case PROBE_STARTTLS_IMAP:
        return 143;
    case PROBE_STARTTLS_POSTGRES:
        return 5432;
    }
    return 443;
}

const char *probe_starttls_name(enum probe_starttls starttls)
{
    switch (starttls) {
    case PROBE_STARTTLS_NONE:
        return "";
    case PROBE_STARTTLS_SMTP:
        return "smtp";
    case PROBE_STARTTLS_IMAP:
        return "imap";
    case PROBE_STARTTLS_POSTGRES:
        return "postgres";
    }
    return "";
}

int probe_check(const struct probe_options *options, struct err *e)
{
    const char *const lists[] = {PROBE_BROWSER_GROUPS, PROBE_HYBRID_GROUPS,
                                 PROBE_CLASSICAL_GROUPS};
    const unsigned needed = TLS_FEATURE_SHARE_CHOICE | TLS_FEATURE_MESSAGES;
    const struct tls_backend *backend = options->backend;
    if ((backend->features & needed) != needed)
        return err_set(e, ERR_UNSUPPORTED, "%s %s: cannot choose key shares", backend->name,
                       backend->version);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct tls_config config = {
            .role = TLS_ROLE_CLIENT, .version_min = TLS_VERSION_12, .groups = lists[i]};
        if (backend->config_check(&config, e) != 0)
            return -1;
    }
    return 0;
}

static bool is_of_family(const struct address *a, enum probe_family family)
{
    const int of_address = a->u.any.sa_family;
    return family == PROBE_FAMILY_ANY ||
           of_address == (family == PROBE_FAMILY_IPV4 ? AF_INET : AF_INET6);
}

static int resolve(struct probe *p)
{
    struct address all[PROBE_ADDRESSES_MAX];
    size_t count = 0;
    struct err e = ERR_INIT;
    if (address_resolve(&p->target->name, all, PROBE_ADDRESSES_MAX, &count, &e) != 0) {
        probe_fail(&p->out->failure, "resolve", 0, "%.200s", e.text);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (is_of_family(&all[i], p->options->family))
            p->candidate[p->addresses++] = all[i];
    if (p->addresses > 0)
        return 0;
    probe_fail(&p->out->failure, "resolve", 0, "it has no %s address",
               p->options->family == PROBE_FAMILY_IPV4 ? "IPv4" : "IPv6");
    return -1;
}

static void begin(struct probe *p, const struct probe_options *options,
                  const struct probe_target *target, struct probed *out)
{
    const char *name =
        options->server_name != NULL ? options->server_name : target->name.server_name;
    memset(out, 0, sizeof *out);
    memset(p, 0, sizeof *p);
    p->options = options;
    p->target = target;
    p->out = out;
    p->server_name = name[0] != '\0' ? name : NULL;
    rng_init(&p->rng, rng_fresh_seed());
    snprintf(out->target, sizeof out->target, "%s", target->text);
    snprintf(out->server_name, sizeof out->server_name, "%s", name);
    snprintf(out->starttls, sizeof out->starttls, "%s", probe_starttls_name(options->starttls));
    if (target->prediction != NULL)
        snprintf(out->prediction, sizeof out->prediction, "%s", target->prediction);
    out->connections_max = options->connections_max;
}

/* The most useful questions first. */
static void ask_all(struct probe *p)
{
    struct probed *out = p->out;
    probe_shake(p, PROBE_BROWSER_GROUPS, &out->browser);
    probe_ask_groups(p);
    if (!out->has_answered) {
        out->failure =
            out->browser.failure.cause[0] != '\0' ? out->browser.failure : out->groups.failure;
        return;
    }
    if (p->target->predicted_groups != NULL)
        probe_shake(p, p->target->predicted_groups, &out->predicted);
    probe_ask_versions(p);
    probe_shake(p, PROBE_HYBRID_GROUPS, &out->hybrid_only);
    probe_shake(p, PROBE_CLASSICAL_GROUPS, &out->classical_only);
    probe_ask_shares(p);
}

void probe_host(const struct probe_options *options, const struct probe_target *target,
                struct probed *out)
{
    static _Thread_local struct probe p;
    uint64_t start_ns = clock_now_ns();
    begin(&p, options, target, out);
    if (resolve(&p) == 0)
        ask_all(&p);
    out->elapsed_ns = clock_now_ns() - start_ns;
}
