/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/predict_options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/arm_options.h"

#define HTTPS_PORT 443u
#define DNS_PORT 53u

int predict_options_check_name(const char *value, struct err *e)
{
    struct address_name name;
    if (address_parse(value, ADDRESS_CONNECT, HTTPS_PORT, &name, e) != 0)
        return -1;
    if (!name.is_literal)
        return 0;
    return err_set(e, ERR_USAGE, "'%.80s' is an address (accepted: a name)", value);
}

static int read_resolver(const char *value, struct address *out, struct err *e)
{
    struct address_name name;
    size_t count;
    if (address_parse(value, ADDRESS_CONNECT, DNS_PORT, &name, e) != 0)
        return -1;
    if (!name.is_literal)
        return err_set(e, ERR_USAGE, "'%.80s' is no address (accepted: ADDR, ADDR:PORT)",
                       value);
    return address_resolve(&name, out, 1, &count, e);
}

int predict_options_check_resolver(const char *value, struct err *e)
{
    struct address unused;
    return read_resolver(value, &unused, e);
}

static bool need_dns(const struct arm_list *arms)
{
    for (size_t i = 0; i < arms->count; i++)
        if (predict_is_dns(arms->arm[i].predict))
            return true;
    return false;
}

/* Whom to ask about: --predict-name, else the name and the port of the target. */
static int find_name(const struct predict_options *o, const struct predict_target *t,
                     struct address_name *out, struct err *e)
{
    *out = t->target != NULL ? *t->target : (struct address_name){.port = HTTPS_PORT};
    if (o->name != NULL)
        return address_parse(o->name, ADDRESS_CONNECT, out->port, out, e);
    if (t->sni != NULL && t->sni[0] != '\0')
        snprintf(out->server_name, sizeof(out->server_name), "%s", t->sni);
    if (out->server_name[0] != '\0')
        return 0;
    return err_set(e, ERR_USAGE,
                   "--predict-name: DNS is to be asked, and no name of a server is known (give "
                   "--predict-name HOST:PORT)");
}

int predict_options_apply(const struct predict_options *o, const struct predict_target *t,
                          struct arm_list *arms, struct err *e)
{
    struct address_name name;
    struct address resolver;
    struct predict_from from = {.backends = t->backends, .may_ask = t->may_ask};
    for (size_t i = 0; o->how != NULL && i < arms->count; i++)
        if (arms->arm[i].predict[0] == '\0')
            snprintf(arms->arm[i].predict, sizeof(arms->arm[i].predict), "%s", o->how);
    if (o->resolver != NULL) {
        if (read_resolver(o->resolver, &resolver, e) != 0)
            return err_add_context(e, "--resolver");
        from.resolver = &resolver;
    }
    if (need_dns(arms)) {
        if (find_name(o, t, &name, e) != 0)
            return -1;
        from.host = name.server_name;
        from.port = name.port;
    }
    return predict_arms(arms, &from, e);
}

struct arm_list *predict_options_read_arms(const struct predict_options *o,
                                           const struct predict_target *t,
                                           const struct option_list *texts, struct err *e)
{
    struct arm_list *arms = arm_options_read(texts, e);
    if (!arms || predict_options_apply(o, t, arms, e) == 0)
        return arms;
    free(arms);
    return NULL;
}
