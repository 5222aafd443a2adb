/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups a server accepts: offered all and no share, it names the one it wants; that
 * one is then left out, until it refuses. */
#include <stdio.h>
#include <string.h>
#include "run/probe_ask.h"
#include "tls/group_codes.h"

#define VERSION_12 0x0303u
#define VERSION_13 0x0304u

static void offer_all(struct raw_hello *hello)
{
    size_t count;
    const struct group_code *all = group_codes(&count);
    memset(hello, 0, sizeof *hello);
    hello->offers_13 = true;
    for (size_t i = 0; i < count; i++)
        hello->group[hello->groups++] = all[i].code;
}

/* False: it was not offered. */
static bool withdraw(struct raw_hello *hello, unsigned code)
{
    for (size_t i = 0; i < hello->groups; i++) {
        if (hello->group[i] != code)
            continue;
        hello->groups--;
        memmove(&hello->group[i], &hello->group[i + 1],
                (hello->groups - i) * sizeof hello->group[0]);
        return true;
    }
    return false;
}

static void add_group(struct probed_groups *groups, unsigned code)
{
    char buf[16];
    if (groups->count == PROBED_GROUPS_MAX)
        return;
    struct probed_group *group = &groups->group[groups->count++];
    const struct group_code *known = group_code_find(code);
    *group = (struct probed_group){.code = code};
    snprintf(group->name, sizeof group->name, "%s", group_code_name(code, buf, sizeof buf));
    if (known == NULL)
        return;
    group->is_hybrid = known->kind == GROUP_HYBRID;
    group->is_post_quantum = known->kind != GROUP_CLASSICAL;
    group->is_obsolete = known->is_obsolete;
}

static bool may_ask(struct probe *p, struct probed_failure *why)
{
    if (probe_may_go_on(p))
        return true;
    p->out->is_cut = true;
    probe_fail(why, "limit", 0, "not asked: the probe ended before");
    return false;
}

/* The server's word on a hello without shares: true where it named a group of those
 * offered. */
static bool ask_choice(struct probe *p, const struct raw_hello *hello, unsigned *code,
                       struct raw_answer *answer, struct probed_failure *why)
{
    if (!may_ask(p, why) || !probe_ask(p, hello, answer, why))
        return false;
    if (answer->kind == RAW_ANSWER_ALERT) {
        probe_fail_alert(why, answer->alert);
        return false;
    }
    *code = answer->group;
    for (size_t i = 0; i < hello->groups; i++)
        if (answer->kind == RAW_ANSWER_RETRY && hello->group[i] == *code)
            return true;
    probe_fail(why, "protocol", 0, "the server chose what was not offered");
    return false;
}

static bool is_no_more(const struct raw_answer *answer, const struct probed_failure *why)
{
    return strcmp(why->cause, "alert") == 0 && answer->kind == RAW_ANSWER_ALERT;
}

/* A server that names no group although it speaks TLS 1.3: does it take one with its share?
 * A connection for each group that a share can be made for. */
static void ask_one_by_one(struct probe *p)
{
    struct probed_groups *groups = &p->out->groups;
    size_t count;
    const struct group_code *all = group_codes(&count);
    groups->is_one_by_one = true;
    groups->answers_missing_share = PROBED_NO;
    groups->failure = (struct probed_failure){.cause = ""};
    for (size_t i = 0; i < count; i++) {
        struct raw_hello hello = {.groups = 1,
                                  .group = {all[i].code},
                                  .shares = 1,
                                  .share = {all[i].code},
                                  .offers_13 = true};
        struct raw_answer answer = {.kind = RAW_ANSWER_PART};
        if (!raw_hello_has_share(all[i].code))
            continue;
        if (!may_ask(p, &groups->failure))
            return;
        if (!probe_ask(p, &hello, &answer, &groups->failure))
            continue;
        if (answer.kind == RAW_ANSWER_HELLO && answer.group == all[i].code)
            add_group(groups, all[i].code);
    }
    groups->is_complete = true;
}

/* The same groups the other way round: does the choice turn with them? */
static void ask_order(struct probe *p)
{
    struct probed_groups *groups = &p->out->groups;
    struct raw_hello hello = {.offers_13 = true};
    struct raw_answer answer = {.kind = RAW_ANSWER_PART};
    struct probed_failure why = {.cause = ""};
    unsigned code = 0;
    if (groups->count < 2)
        return;
    for (size_t i = groups->count; i-- > 0;)
        hello.group[hello.groups++] = groups->group[i].code;
    if (!ask_choice(p, &hello, &code, &answer, &why))
        return;
    if (code == groups->group[0].code)
        groups->order = PROBED_ORDER_SERVER;
    else if (code == groups->group[groups->count - 1].code)
        groups->order = PROBED_ORDER_CLIENT;
}

void probe_ask_groups(struct probe *p)
{
    struct probed_groups *groups = &p->out->groups;
    struct raw_hello hello;
    struct raw_answer answer = {.kind = RAW_ANSWER_PART};
    unsigned code = 0;
    offer_all(&hello);
    while (hello.groups > 0 && ask_choice(p, &hello, &code, &answer, &groups->failure)) {
        add_group(groups, code);
        (void)withdraw(&hello, code);
        groups->answers_missing_share = PROBED_YES;
        answer.kind = RAW_ANSWER_PART;
    }
    groups->is_complete = hello.groups == 0 || is_no_more(&answer, &groups->failure);
    const struct probed_handshake *browser = &p->out->browser;
    if (groups->count == 0 && browser->is_complete && strcmp(browser->tls, "1.3") == 0)
        ask_one_by_one(p);
    if (groups->is_complete && groups->count > 0)
        groups->failure = (struct probed_failure){.cause = ""};
    if (!groups->is_one_by_one)
        ask_order(p);
}

/* Both groups offered, with a share of the second alone. */
static enum probed_answer ask_pair(struct probe *p, unsigned first, unsigned second)
{
    const struct raw_hello hello = {.groups = 2,
                                    .group = {first, second},
                                    .shares = 1,
                                    .share = {second},
                                    .offers_13 = true};
    struct raw_answer answer = {.kind = RAW_ANSWER_PART};
    struct probed_failure why = {.cause = ""};
    if (!raw_hello_has_share(second) || !may_ask(p, &why) ||
        !probe_ask(p, &hello, &answer, &why))
        return PROBED_UNKNOWN;
    if (answer.kind == RAW_ANSWER_HELLO && answer.group == second)
        return PROBED_YES;
    return answer.kind == RAW_ANSWER_RETRY && answer.group == first ? PROBED_NO
                                                                    : PROBED_UNKNOWN;
}

void probe_ask_shares(struct probe *p)
{
    struct probed_groups *groups = &p->out->groups;
    if (groups->is_one_by_one)
        return;
    for (size_t i = 1; i < groups->count; i++)
        groups->group[i].takes_share =
            ask_pair(p, groups->group[i - 1].code, groups->group[i].code);
}

/* TLS 1.3 shows in any answer to a hello that offers it alone; TLS 1.2 is asked for. */
void probe_ask_versions(struct probe *p)
{
    struct probed *out = p->out;
    struct raw_hello hello;
    struct raw_answer answer = {.kind = RAW_ANSWER_PART};
    struct probed_failure why = {.cause = ""};
    if (out->groups.count > 0)
        out->tls13 = PROBED_YES;
    else if (out->groups.is_complete)
        out->tls13 = PROBED_NO;
    offer_all(&hello);
    hello.offers_13 = false;
    hello.offers_12 = true;
    if (!may_ask(p, &why) || !probe_ask(p, &hello, &answer, &why))
        return;
    out->tls12 = answer.kind == RAW_ANSWER_HELLO && answer.version == VERSION_12 ? PROBED_YES
                                                                                 : PROBED_NO;
    if (answer.kind == RAW_ANSWER_HELLO && answer.version == VERSION_13)
        out->tls13 = PROBED_YES;
}
