/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "run/arm.h"
#include "tls/groups.h"

#define FULL_NAME_SIZE 96u
#define HAS_SIZE 320u

static bool is_in(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (text_same_name(*names, name))
            return true;
    return false;
}

/* "a, b, c" as far as it goes. */
static const char *join_names(const char *const *names, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; names[i] != NULL && used < size; i++) {
        int n = snprintf(buf + used, size - used, "%s%s", i == 0 ? "" : ", ", names[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return buf;
}

/* A group that a list insists on must be there. */
static int check_groups(const struct tls_backend *backend, const char *groups, struct err *e)
{
    struct tls_group_list list;
    char who[FULL_NAME_SIZE], has[HAS_SIZE];
    if (groups[0] == '\0')
        return 0;
    if (tls_groups_parse(groups, &list, e) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const struct tls_group_entry *entry = &list.entry[i];
        if (entry->group == NULL || entry->is_optional ||
            is_in(backend->groups, entry->group->name))
            continue;
        return err_set(e, ERR_UNSUPPORTED, "group %s: not supported by %s (has: %s)",
                       entry->group->name, tls_backend_full_name(backend, who, sizeof who),
                       join_names(backend->groups, has, sizeof has));
    }
    return 0;
}

static int check_certificate(const struct tls_backend *backend, const char *kind, struct err *e)
{
    char who[FULL_NAME_SIZE], has[HAS_SIZE];
    if (is_in(backend->certificates, kind))
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "certificate %s: not supported by %s (has: %s)", kind,
                   tls_backend_full_name(backend, who, sizeof who),
                   join_names(backend->certificates, has, sizeof has));
}

static int check_features(const struct tls_backend *backend, const struct arm *arm,
                          struct err *e)
{
    const struct {
        bool is_needed;
        enum tls_feature feature;
        const char *what;
    } rows[] = {
        {arm->tls == TLS_VERSION_12, TLS_FEATURE_TLS12, "tls=1.2"},
        {arm->resume > 0, TLS_FEATURE_RESUMPTION, "resume"},
        {arm->early_data_bytes > 0 || arm->server_early_data_bytes > 0, TLS_FEATURE_EARLY_DATA,
         "early-data"},
    };
    char who[FULL_NAME_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is_needed && (backend->features & (unsigned)rows[i].feature) == 0)
            return err_set(e, ERR_UNSUPPORTED, "%s: not supported by %s", rows[i].what,
                           tls_backend_full_name(backend, who, sizeof who));
    return 0;
}

static int check_side(const struct tls_backend *backend, const struct arm *arm,
                      const char *groups, const struct tls_config *config, struct err *e)
{
    if (check_groups(backend, groups, e) != 0 ||
        check_certificate(backend, arm->certificate, e) != 0 ||
        check_features(backend, arm, e) != 0)
        return -1;
    return backend->config_check(config, e);
}

/* TLS 1.2 knows neither ML-KEM nor ML-DSA, whatever the library would do with them. */
static int check_version(const struct arm *arm, struct err *e)
{
    struct tls_group_list list;
    if (arm->tls != TLS_VERSION_12)
        return 0;
    if (strncmp(arm->certificate, "mldsa", 5) == 0)
        return err_set(e, ERR_UNSUPPORTED, "certificate %s: not in TLS 1.2", arm->certificate);
    if (arm->early_data_bytes > 0 || arm->server_early_data_bytes > 0)
        return err_set(e, ERR_UNSUPPORTED, "early-data: not in TLS 1.2");
    if (arm->groups[0] == '\0')
        return 0;
    if (tls_groups_parse(arm->groups, &list, e) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++)
        if (list.entry[i].group != NULL && !list.entry[i].group->is_post_quantum)
            return 0;
    if (list.is_default)
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "groups=%s: none of them exists in TLS 1.2",
                   arm->groups);
}

/* What the client lists, in its order, without marks, as far as the server has it. */
static int default_server_groups(const struct arm *arm, struct arm_plan *plan, struct err *e)
{
    struct tls_group_list list;
    char who[FULL_NAME_SIZE], has[HAS_SIZE];
    size_t used = 0;
    plan->server_groups[0] = '\0';
    if (arm->groups[0] == '\0')
        return 0;
    if (tls_groups_parse(arm->groups, &list, e) != 0)
        return -1;
    if (list.is_default) /* what DEFAULT stands for only the library knows */
        return 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct tls_group *group = list.entry[i].group;
        if (group == NULL || !is_in(plan->server->groups, group->name))
            continue;
        int n = snprintf(plan->server_groups + used, sizeof plan->server_groups - used, "%s%s",
                         used == 0 ? "" : ":", group->name);
        used += (size_t)n;
        if (used >= sizeof plan->server_groups)
            return err_set(e, ERR_USAGE, "groups: the list is too long");
    }
    if (used > 0)
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "groups=%s: %s has none of them (has: %s)", arm->groups,
                   tls_backend_full_name(plan->server, who, sizeof who),
                   join_names(plan->server->groups, has, sizeof has));
}

static const char *default_cipher(const struct arm *arm)
{
    if (arm->tls == TLS_VERSION_13)
        return "TLS_AES_256_GCM_SHA384";
    return strncmp(arm->certificate, "rsa", 3) == 0 ? "ECDHE-RSA-AES256-GCM-SHA384"
                                                    : "ECDHE-ECDSA-AES256-GCM-SHA384";
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void fill_configs(const struct arm *arm, struct arm_plan *plan)
{
    struct tls_config both = {
        .version_min = arm->tls,
        .version_max = arm->tls,
        .ciphers = arm->cipher[0] != '\0' ? arm->cipher : default_cipher(arm),
        .resume = arm->resume > 0,
        .early_data_bytes = arm->early_data_bytes,
        .null_work = arm->null_work,
    };
    plan->client_config = both;
    plan->client_config.role = TLS_ROLE_CLIENT;
    plan->client_config.groups = or_null(arm_groups_sent(arm));
    plan->client_config.verify = arm->verify;
    plan->client_config.verify_name = arm->verify && arm->sni;
    plan->server_config = both;
    plan->server_config.role = TLS_ROLE_SERVER;
    plan->server_config.groups = or_null(plan->server_groups);
    if (arm->server_early_data_bytes >= 0)
        plan->server_config.early_data_bytes = (uint32_t)arm->server_early_data_bytes;
    plan->server_config.no_anti_replay =
        plan->server_config.early_data_bytes > 0 && !arm->anti_replay;
    plan->server_config.tickets = arm->tickets >= 0 ? (unsigned)arm->tickets
                                  : arm->resume > 0 ? 2u
                                                    : 0u;
}

static int plan_arm(const struct arm *arm, const struct tls_backends *backends,
                    struct arm_plan *out, struct err *e)
{
    const char *server = arm->server_backend[0] != '\0' ? arm->server_backend : arm->backend;
    out->arm = arm;
    out->client = tls_backends_find(backends, or_null(arm->backend), e);
    if (out->client == NULL)
        return err_add_context(e, "backend");
    out->server = tls_backends_find(backends, or_null(server), e);
    if (out->server == NULL)
        return err_add_context(e, "server-backend");
    if (check_version(arm, e) != 0 || check_groups(out->client, arm->groups, e) != 0)
        return -1;
    if (arm->server_groups[0] == '\0') {
        if (default_server_groups(arm, out, e) != 0)
            return err_add_context(e, "server");
    } else {
        memcpy(out->server_groups, arm->server_groups, sizeof out->server_groups);
    }
    fill_configs(arm, out);
    if (check_side(out->client, arm, arm->groups, &out->client_config, e) != 0)
        return -1;
    if (check_side(out->server, arm, out->server_groups, &out->server_config, e) != 0)
        return err_add_context(e, "server");
    return 0;
}

int arm_plan(const struct arm *arm, const struct tls_backends *backends, struct arm_plan *out,
             struct err *e)
{
    memset(out, 0, sizeof *out);
    if (plan_arm(arm, backends, out, e) == 0)
        return 0;
    return err_add_context(e, "arm %s", arm->name);
}
