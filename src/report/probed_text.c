/* SPDX-License-Identifier: Apache-2.0 */
#include "report/probed.h"
#include <string.h>
#include "report/table.h"

#define LABEL_COLUMNS 18
#define NS_PER_MS 1e6

static void add_label(struct text *out, const char *label)
{
    text_addf(out, "  %-*s", LABEL_COLUMNS, label);
}

static const char *answer_word(enum probed_answer answer)
{
    return answer == PROBED_YES ? "yes" : answer == PROBED_NO ? "no" : "not asked";
}

static void add_head(const struct probed *p, struct text *out,
                     const struct report_options *options)
{
    const enum probed_verdict verdict = probed_judge(p);
    const enum table_tone tone = verdict == PROBED_POST_QUANTUM ? TABLE_GOOD : TABLE_BAD;
    text_add_harmless(out, p->target);
    if (p->address[0] != '\0')
        text_addf(out, " (%s%s", p->address, p->server_name[0] != '\0' ? ", name " : "");
    if (p->address[0] != '\0') {
        text_add_harmless(out, p->server_name);
        text_addf(out, "%s%s)", p->starttls[0] != '\0' ? ", STARTTLS " : "", p->starttls);
    }
    text_addf(out, "\n%s", table_tone_start(tone, options));
    probed_add_verdict(p, out);
    text_addf(out, "%s\n", table_tone_end(tone, options));
}

static void add_advice(const struct probed *p, struct text *out)
{
    struct text advice = {0};
    for (size_t i = 0; probed_add_advice(p, i, &advice); i++) {
        text_addf(out, "  -> %s\n", text_str(&advice));
        text_free(&advice);
    }
}

static void add_versions(const struct probed *p, struct text *out)
{
    add_label(out, "TLS");
    text_addf(out, "1.3 %s, 1.2 %s\n", answer_word(p->tls13), answer_word(p->tls12));
}

static void add_groups(const struct probed *p, struct text *out)
{
    const struct probed_groups *groups = &p->groups;
    add_label(out, "groups");
    if (groups->count > 0)
        probed_add_groups(groups, out);
    else
        text_add(out, groups->is_complete ? "none of TLS 1.3" : "not asked");
    if (!groups->is_complete) {
        text_add(out, groups->count > 0 ? ", ... (" : " (");
        probed_add_failure(&groups->failure, out);
        text_add(out, ")");
    }
    text_add(out, "\n");
}

static void add_order(const struct probed *p, struct text *out)
{
    const struct probed_groups *groups = &p->groups;
    if (groups->count == 0)
        return;
    add_label(out, "order");
    text_add(out, groups->count == 1 ? "there is one group"
                  : groups->order == PROBED_ORDER_SERVER
                      ? "the server's own; between / a missing share is asked for, between : "
                        "the one sent is taken"
                  : groups->order == PROBED_ORDER_CLIENT ? "the client's"
                                                         : "unknown");
    text_add(out, "\n");
    add_label(out, "missing share");
    text_add(out, groups->answers_missing_share == PROBED_YES
                      ? "answered with a HelloRetryRequest\n"
                      : "refused\n");
}

struct hello_row {
    const char *name;
    const struct probed_handshake *handshake;
};

static void set_bytes(struct table *t, size_t row, size_t column, uint64_t bytes)
{
    struct text cell = {0};
    text_addf(&cell, "%llu", (unsigned long long)bytes);
    table_take(t, row, column, &cell);
}

enum { HELLO, TLS, GROUP, TRIPS, RETRY, FIRST, CLIENT, SERVER, NOTE };

static struct table *hello_table(size_t rows)
{
    struct table *t = table_new(rows);
    (void)table_add_column(t, "hello", TABLE_TEXT, 0);
    (void)table_add_column(t, "TLS", TABLE_TEXT, 0);
    (void)table_add_column(t, "group", TABLE_TEXT, 0);
    (void)table_add_column(t, "round\ntrips", TABLE_FIGURE, 0);
    (void)table_add_column(t, "HRR", TABLE_TEXT, 0);
    (void)table_add_column(t, "hello\nbytes", TABLE_FIGURE, 1);
    (void)table_add_column(t, "client\nbytes", TABLE_FIGURE, 2);
    (void)table_add_column(t, "server\nbytes", TABLE_FIGURE, 3);
    (void)table_add_column(t, "", TABLE_DETAIL, 0);
    return t;
}

static void set_failed(struct table *t, size_t row, const struct probed_handshake *h)
{
    struct text cell = {0};
    if (h->is_tried)
        probed_add_failure(&h->failure, &cell);
    else
        text_add(&cell, "not tried");
    table_set(t, row, GROUP, "-");
    table_take(t, row, NOTE, &cell);
}

static void set_hello(struct table *t, size_t row, const struct hello_row *hello)
{
    const struct probed_handshake *h = hello->handshake;
    table_set(t, row, HELLO, hello->name);
    if (!h->is_complete) {
        set_failed(t, row, h);
        return;
    }
    table_set(t, row, TLS, h->tls);
    table_set(t, row, GROUP, h->group[0] != '\0' ? h->group : "none");
    set_bytes(t, row, TRIPS, h->round_trips);
    table_set(t, row, RETRY, h->is_hrr ? "yes" : "no");
    set_bytes(t, row, FIRST, h->client_hello_bytes);
    set_bytes(t, row, CLIENT, h->bytes[RESULT_CLIENT]);
    set_bytes(t, row, SERVER, h->bytes[RESULT_SERVER]);
}

static void add_hellos(const struct probed *p, struct text *out,
                       const struct report_options *options)
{
    const struct hello_row rows[] = {
        {"browser", &p->browser},
        {"hybrid only", &p->hybrid_only},
        {"classical only", &p->classical_only},
        {"predicted", &p->predicted}, /* last: may be left out */
    };
    const size_t count = sizeof rows / sizeof rows[0] - !p->predicted.is_tried;
    struct table *t = hello_table(count);
    for (size_t i = 0; i < count; i++)
        set_hello(t, i, &rows[i]);
    text_add(out, "\n");
    table_add_text(t, out, options);
    table_free(t);
}

static void add_flights(const struct probed *p, struct text *out)
{
    const struct probed_handshake *h = &p->browser;
    if (!h->is_complete)
        return;
    add_label(out, "flights");
    for (size_t i = 0; i < h->flights; i++)
        text_addf(out, "%s%s %llu", i == 0 ? "" : ", ", result_side_name(h->flight[i].sender),
                  (unsigned long long)h->flight[i].bytes);
    text_add(out, " bytes\n");
    add_label(out, "first window");
    text_addf(out, "the server's flight of %llu bytes %s ten segments (%u bytes)\n",
              (unsigned long long)h->server_flight_bytes,
              h->server_flight_bytes <= RESULT_WINDOW_BYTES ? "fits into" : "exceeds",
              RESULT_WINDOW_BYTES);
    add_label(out, "cipher");
    text_add_harmless(out, h->cipher);
    text_addf(out, "%s%s\n", h->signature[0] != '\0' ? ", signed with " : "", h->signature);
}

static void add_cost(const struct probed *p, struct text *out)
{
    add_label(out, "asked with");
    text_addf(out, "%u of %u connections%s\n", p->connections, p->connections_max,
              p->is_cut ? "; some questions were not asked" : "");
}

static void add_one(const struct probed *p, struct text *out,
                    const struct report_options *options, bool is_whole)
{
    add_head(p, out, options);
    if (probed_judge(p) == PROBED_UNMEASURED)
        return;
    add_advice(p, out);
    if (!is_whole)
        return;
    text_add(out, "\n");
    add_versions(p, out);
    add_groups(p, out);
    add_order(p, out);
    if (p->prediction[0] != '\0') {
        add_label(out, "prediction");
        text_add_harmless(out, p->prediction);
        text_add(out, "\n");
    }
    add_flights(p, out);
    add_cost(p, out);
    add_hellos(p, out, options);
}

static void add_summary(const struct probed_list *list, struct text *out)
{
    size_t with = 0, unmeasured = 0;
    for (size_t i = 0; i < list->count; i++) {
        const enum probed_verdict verdict = probed_judge(&list->probed[i]);
        with += verdict == PROBED_POST_QUANTUM;
        unmeasured += verdict == PROBED_UNMEASURED;
    }
    text_addf(out, "\n%zu of %zu servers negotiate a hybrid group with a browser's hello", with,
              list->count);
    if (unmeasured > 0)
        text_addf(out, "; %zu could not be measured", unmeasured);
    text_add(out, "\n");
}

void probed_add_text(const struct probed_list *list, struct text *out,
                     const struct report_options *options)
{
    for (size_t i = 0; i < list->count; i++) {
        const bool is_whole = list->count == 1 || options->is_detailed;
        if (i > 0 && is_whole)
            text_add(out, "\n");
        add_one(&list->probed[i], out, options, is_whole);
    }
    if (list->count > 1)
        add_summary(list, out);
}
