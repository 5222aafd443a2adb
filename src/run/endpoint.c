/* SPDX-License-Identifier: Apache-2.0 */
#include "run/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "tls/groups.h"

static bool same_server(const struct arm_plan *a, const struct arm_plan *b)
{
    const struct tls_config *x = &a->server_config, *y = &b->server_config;
    return a->server == b->server && strcmp(a->arm->certificate, b->arm->certificate) == 0 &&
           a->arm->chain == b->arm->chain &&
           strcmp(a->arm->server_groups, b->arm->server_groups) == 0 &&
           x->version_min == y->version_min && strcmp(x->ciphers, y->ciphers) == 0 &&
           x->tickets == y->tickets && x->early_data_bytes == y->early_data_bytes &&
           x->no_anti_replay == y->no_anti_replay &&
           (a->arm->groups[0] == '\0') == (b->arm->groups[0] == '\0');
}

static bool list_has(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, ":");
        if (length == n && strncmp(at, name, n) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Append those names of a plan's list that are new and of the wanted sort. */
static int add_groups(char *list, size_t size, const char *groups, bool is_post_quantum,
                      struct err *e)
{
    struct tls_group_list parsed;
    if (tls_groups_parse(groups, &parsed, e) != 0)
        return -1;
    for (size_t i = 0; i < parsed.count; i++) {
        const struct tls_group *g = parsed.entry[i].group;
        if (g == NULL || g->is_post_quantum != is_post_quantum || list_has(list, g->name))
            continue;
        const size_t used = strlen(list);
        if ((size_t)snprintf(list + used, size - used, "%s%s", used > 0 ? ":" : "", g->name) >=
            size - used)
            return err_set(e, ERR_USAGE, "groups: the arms name too many for one server");
    }
    return 0;
}

/* The union of what the endpoint's arms offer. */
static int join_groups(struct endpoint_list *out, size_t endpoint, const struct arm_plan *plans,
                       size_t arms, struct err *e)
{
    struct arm *arm = &out->arm[endpoint];
    char list[ARM_TEXT_MAX + 1u] = "";
    if (arm->server_groups[0] != '\0' || arm->groups[0] == '\0')
        return 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < arms; i++)
            if (out->of_arm[i] == endpoint && plans[i].server_groups[0] != '\0' &&
                add_groups(list, sizeof(list), plans[i].server_groups, pass == 0, e) != 0)
                return -1;
    memcpy(arm->server_groups, list, sizeof(list));
    return 0;
}

static int assign(struct endpoint_list *out, const struct arm_list *arms,
                  const struct arm_plan *plans, struct err *e)
{
    size_t first[SERVER_ENDPOINTS_MAX] = {0}; /* which arm made the endpoint */
    for (size_t i = 0; i < arms->count; i++) {
        size_t k = 0;
        while (k < out->count && !same_server(&plans[first[k]], &plans[i]))
            k++;
        if (k == SERVER_ENDPOINTS_MAX)
            return err_set(e, ERR_USAGE, "arms: more than %zu different servers", k);
        if (k == out->count) {
            first[k] = i;
            out->arm[out->count++] = arms->arm[i];
        }
        out->of_arm[i] = k;
    }
    for (size_t k = 0; k < out->count; k++)
        if (join_groups(out, k, plans, arms->count, e) != 0)
            return -1;
    return 0;
}

int endpoints_of_arms(const struct arm_list *arms, const struct tls_backends *backends,
                      struct endpoint_list *out, struct err *e)
{
    struct arm_plan *plans = mem_alloc_zeroed(ARMS_MAX, sizeof(*plans));
    int failed = 0;
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < arms->count && !failed; i++)
        failed = arm_plan(&arms->arm[i], backends, &plans[i], e);
    if (!failed)
        failed = assign(out, arms, plans, e);
    free(plans);
    return failed;
}

int endpoint_init(struct endpoint *ep, const struct arm *arm,
                  const struct tls_backends *backends, const char *host, struct err *e)
{
    memset(ep, 0, sizeof(*ep));
    ep->arm = *arm;
    if (arm_plan(&ep->arm, backends, &ep->plan, e) != 0)
        return -1;
    const struct tls_identity_spec spec = {
        .kind = ep->arm.certificate, .chain = ep->arm.chain, .host = host};
    if (ep->plan.server->identity_make(&spec, &ep->identity, e) != 0)
        return err_add_context(e, "server certificate");
    ep->plan.server_config.identity = &ep->identity;
    ep->server.backend = ep->plan.server;
    ep->server.config = &ep->plan.server_config;
    return 0;
}

void endpoint_fini(struct endpoint *ep)
{
    tls_identity_free(&ep->identity);
}
