/* SPDX-License-Identifier: Apache-2.0 */
/* One row a fact: target, address, fact, value; for a list of servers in a spreadsheet. */
#include "report/csv_rows.h"
#include "report/probed.h"

static void add_row(struct text *out, const struct probed *p, const char *fact,
                    const char *value)
{
    csv_add_text(out, p->target);
    text_add(out, ",");
    csv_add_text(out, p->address);
    text_addf(out, ",%s,", fact);
    csv_add_text(out, value);
    text_add(out, "\r\n");
}

static void take_row(struct text *out, const struct probed *p, const char *fact,
                     struct text *value)
{
    if (value->length > 0)
        add_row(out, p, fact, text_str(value));
    text_free(value);
}

static void add_count(struct text *out, const struct probed *p, const char *fact,
                      uint64_t value)
{
    struct text number = {0};
    text_addf(&number, "%llu", (unsigned long long)value);
    take_row(out, p, fact, &number);
}

static void add_answer(struct text *out, const struct probed *p, const char *fact,
                       enum probed_answer answer)
{
    if (answer != PROBED_UNKNOWN)
        add_row(out, p, fact, answer == PROBED_YES ? "yes" : "no");
}

static void add_handshake(struct text *out, const struct probed *p, const char *hello,
                          const struct probed_handshake *h)
{
    static const char *const facts[] = {"group", "hrr", "round_trips", "client_bytes",
                                        "server_bytes"};
    struct text name[5] = {{0}};
    if (!h->is_complete)
        return;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        text_addf(&name[i], "%s.%s", hello, facts[i]);
    add_row(out, p, text_str(&name[0]), h->group);
    add_row(out, p, text_str(&name[1]), h->is_hrr ? "yes" : "no");
    add_count(out, p, text_str(&name[2]), h->round_trips);
    add_count(out, p, text_str(&name[3]), h->bytes[RESULT_CLIENT]);
    add_count(out, p, text_str(&name[4]), h->bytes[RESULT_SERVER]);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        text_free(&name[i]);
}

static void add_probed(struct text *out, const struct probed *p)
{
    struct text value = {0};
    add_row(out, p, "verdict", probed_verdict_name(probed_judge(p)));
    probed_add_verdict(p, &value);
    take_row(out, p, "summary", &value);
    add_count(out, p, "connections", p->connections);
    if (probed_judge(p) == PROBED_UNMEASURED)
        return;
    add_answer(out, p, "tls_1.3", p->tls13);
    add_answer(out, p, "tls_1.2", p->tls12);
    probed_add_groups(&p->groups, &value);
    take_row(out, p, "groups", &value);
    if (probed_order_name(p->groups.order) != NULL)
        add_row(out, p, "order", probed_order_name(p->groups.order));
    add_answer(out, p, "answers_missing_share", p->groups.answers_missing_share);
    add_handshake(out, p, "browser", &p->browser);
    if (p->predicted.is_tried)
        add_handshake(out, p, "predicted", &p->predicted);
    add_handshake(out, p, "hybrid_only", &p->hybrid_only);
    add_handshake(out, p, "classical_only", &p->classical_only);
    for (size_t i = 0; probed_add_advice(p, i, &value); i++)
        take_row(out, p, "advice", &value);
}

void probed_add_csv(const struct probed_list *list, struct text *out)
{
    text_add(out, "target,address,fact,value\r\n");
    for (size_t i = 0; i < list->count; i++)
        add_probed(out, &list->probed[i]);
}
