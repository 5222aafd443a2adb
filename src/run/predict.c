/* SPDX-License-Identifier: Apache-2.0 */
#include "run/predict.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "net/dns.h"
#include "run/first_hello.h"
#include "tls/groups.h"

#define MESSAGE_SIZE 512u

/* A list of code points, as far as it is known. */
struct codes {
    size_t count;
    uint16_t code[HELLO_GROUPS_MAX];
};

size_t predict_choose(const uint16_t *server, size_t servers, const uint16_t *client,
                      size_t clients)
{
    for (size_t i = 0; i < servers; i++)
        for (size_t k = 0; k < clients; k++)
            if (server[i] == client[k])
                return i;
    return servers;
}

/* What the client offers, in its order. */
static int read_client(const struct arm_plan *plan, struct codes *out, struct err *e)
{
    struct tls_group_list list = {.is_default = true};
    struct hello hello;
    char who[96];
    out->count = 0;
    if (plan->arm->groups[0] != '\0' &&
        (tls_groups_parse(plan->arm->groups, &list, e) != 0 ||
         tls_groups_restrict(&list, plan->client->groups,
                             tls_backend_full_name(plan->client, who, sizeof(who)), e) != 0))
        return -1;
    if (!list.is_default) {
        for (size_t i = 0; i < list.count; i++)
            out->code[out->count++] = (uint16_t)list.entry[i].group->code;
        return 0;
    }
    if (first_hello(plan->client, &plan->client_config, &hello, e) != 0)
        return -1;
    for (size_t i = 0; i < hello.groups; i++)
        out->code[out->count++] = (uint16_t)hello.group[i];
    return 0;
}

/* The client's list as text, with a share for one of them alone. */
static int write_groups(const struct codes *client, unsigned share, char *out, size_t size,
                        struct err *e)
{
    size_t used = 0;
    for (size_t i = 0; i < client->count; i++) {
        const struct tls_group *group = tls_group_by_code(client->code[i]);
        if (group == NULL)
            return err_set(e, ERR_UNSUPPORTED,
                           "predict: the client offers group %u, which has no name here",
                           client->code[i]);
        int n = snprintf(out + used, size - used, "%s%s%s", i > 0 ? ":" : "",
                         client->code[i] == share ? "*" : "", group->name);
        used += (size_t)n;
        if (used >= size)
            return err_set(e, ERR_UNSUPPORTED, "predict: the client's list is too long");
    }
    return 0;
}

/* "4588,29"; cut where there is no room, with a mark. */
static void write_server(const uint16_t *code, size_t count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char one[16];
        int n = snprintf(one, sizeof(one), "%s%u", i > 0 ? "," : "", code[i]);
        if (used + (size_t)n + sizeof(",...") > size) {
            memcpy(out + used, ",...", sizeof(",..."));
            return;
        }
        memcpy(out + used, one, (size_t)n + 1);
        used += (size_t)n;
    }
}

static int apply(struct arm *arm, const struct arm_plan *plan, const uint16_t *server,
                 size_t servers, struct err *e)
{
    struct arm_prediction *p = &arm->prediction;
    struct codes client;
    if (read_client(plan, &client, e) != 0)
        return -1;
    write_server(server, servers, p->server, sizeof(p->server));
    size_t chosen = predict_choose(server, servers, client.code, client.count);
    if (chosen == servers) {
        snprintf(p->reason, sizeof(p->reason), "the client offers none of the server's groups");
        return 0;
    }
    if (write_groups(&client, server[chosen], p->groups, sizeof(p->groups), e) != 0)
        return -1;
    snprintf(p->share, sizeof(p->share), "%s", tls_group_by_code(server[chosen])->name);
    return 0;
}

static int from_list(struct arm *arm, const struct arm_plan *plan, struct err *e)
{
    uint16_t server[PREDICT_LIST_MAX];
    size_t servers;
    if (predict_read_list(arm->predict, server, &servers, e) != 0)
        return -1;
    snprintf(arm->prediction.source, sizeof(arm->prediction.source), "list");
    return apply(arm, plan, server, servers, e);
}

/* The record of the best priority alone: that is the server that will be met. */
static int from_answer(struct arm *arm, const struct arm_plan *plan,
                       const struct dns_answer *answer, struct err *e)
{
    struct arm_prediction *p = &arm->prediction;
    if (answer->records == 0) {
        snprintf(p->reason, sizeof(p->reason), "%s", answer->reason);
        return 0;
    }
    if (answer->record[0].groups == 0) {
        snprintf(p->reason, sizeof(p->reason), "the record has no tls-supported-groups");
        return 0;
    }
    return apply(arm, plan, answer->record[0].group, answer->record[0].groups, e);
}

static int from_dns(struct arm *arm, const struct arm_plan *plan,
                    const struct predict_from *from, struct err *e)
{
    const char *scheme = arm->predict[3] == ':' ? arm->predict + 4 : NULL;
    char name[ARM_TEXT_MAX + 1u];
    if (dns_service_name(from->host, from->port, scheme, name, sizeof(name), e) != 0)
        return -1;
    snprintf(arm->prediction.source, sizeof(arm->prediction.source), "%s", name);
    struct dns_answer *answer = mem_alloc_zeroed(1, sizeof(*answer));
    int status =
        dns_lookup(from->resolver, name, scheme != NULL ? DNS_SVCB : DNS_HTTPS, answer, e);
    if (status == 0) {
        status = from_answer(arm, plan, answer, e);
        dns_answer_free(answer);
    }
    free(answer);
    return status;
}

static int predict_arm(struct arm *arm, const struct predict_from *from, struct err *e)
{
    struct arm_plan plan;
    memset(&arm->prediction, 0, sizeof(arm->prediction));
    if (arm->predict[0] == '\0' || strcmp(arm->predict, "off") == 0)
        return 0;
    if (arm->tls == TLS_VERSION_12)
        return err_set(e, ERR_UNSUPPORTED, "arm %s: predict: TLS 1.2 has no key shares",
                       arm->name);
    if (arm_plan(arm, from->backends, &plan, e) != 0)
        return -1;
    if (predict_is_dns(arm->predict) && !from->may_ask)
        return 0;
    int status =
        predict_is_dns(arm->predict) ? from_dns(arm, &plan, from, e) : from_list(arm, &plan, e);
    return status == 0 ? 0 : err_add_context(e, "arm %s", arm->name);
}

int predict_arms(struct arm_list *arms, const struct predict_from *from, struct err *e)
{
    for (size_t i = 0; i < arms->count; i++)
        if (predict_arm(&arms->arm[i], from, e) != 0)
            return -1;
    return 0;
}

static void add_note(struct result *result, const struct arm *arm, const char *code,
                     const char *message)
{
    result_add_problem(result, RESULT_NOTE, code, arm->name, 0, message);
}

static void judge(const struct arm *arm, const struct result_arm *seen, struct result *result)
{
    const struct arm_prediction *p = &arm->prediction;
    const struct result_negotiated *n = &seen->negotiated;
    char message[MESSAGE_SIZE];
    if (p->share[0] == '\0') {
        snprintf(message, sizeof(message), "no key share was predicted: %s", p->reason);
        add_note(result, arm, "no-prediction", message);
    } else if (n->hrr > 0) {
        snprintf(message, sizeof(message),
                 "a share for %s was predicted, and %" PRIu64 " of %" PRIu64
                 " handshakes took a HelloRetryRequest",
                 p->share, n->hrr, n->handshakes);
        add_note(result, arm, "wrong-prediction", message);
    }
}

void predict_tell(const struct arm_list *arms, struct result *result)
{
    for (size_t i = 0; i < arms->count; i++) {
        const struct arm_prediction *p = &arms->arm[i].prediction;
        struct result_arm *out = result_find_arm(result, arms->arm[i].name);
        if (p->source[0] == '\0' || out == NULL)
            continue;
        pairs_add(&out->prediction, "source", p->source);
        if (p->server[0] != '\0')
            pairs_add(&out->prediction, "server", p->server);
        if (p->share[0] != '\0')
            pairs_add(&out->prediction, "share", p->share);
        if (p->reason[0] != '\0')
            pairs_add(&out->prediction, "reason", p->reason);
        judge(&arms->arm[i], out, result);
    }
}
