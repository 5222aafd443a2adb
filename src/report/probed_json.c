/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "report/json_put.h"
#include "report/probed.h"

#define SCHEMA "pqc-bench-probe/1"
#define NS_PER_US 1e3
#define NS_PER_S 1e9

static void put_nonempty_text(json_t *object, const char *key, const char *text)
{
    if (text[0] != '\0')
        json_put_text(object, key, text);
}

static void put_answer(json_t *object, const char *key, enum probed_answer answer)
{
    if (answer != PROBED_UNKNOWN)
        json_put_bool(object, key, answer == PROBED_YES);
}

static void put_failure(json_t *object, const struct probed_failure *failure)
{
    if (failure->cause[0] == '\0')
        return;
    json_t *json = json_made(json_object());
    json_put_text(json, "cause", failure->cause);
    if (failure->code != 0)
        json_put(json, "code", json_integer(failure->code));
    put_nonempty_text(json, "text", failure->text);
    json_put(object, "failure", json);
}

static json_t *of_group(const struct probed_group *group)
{
    json_t *json = json_made(json_object());
    json_put_text(json, "name", group->name);
    json_put_count(json, "code", group->code);
    json_put_bool(json, "hybrid", group->is_hybrid);
    json_put_bool(json, "post_quantum", group->is_post_quantum);
    if (group->is_obsolete)
        json_put_bool(json, "obsolete", true);
    put_answer(json, "takes_share", group->takes_share);
    return json;
}

static json_t *of_groups(const struct probed_groups *groups)
{
    json_t *json = json_made(json_object()), *list = json_made(json_array());
    json_put_bool(json, "complete", groups->is_complete);
    json_put_text(json, "order", probed_order_name(groups->order));
    put_answer(json, "answers_missing_share", groups->answers_missing_share);
    if (groups->is_one_by_one)
        json_put_bool(json, "one_by_one", true);
    for (size_t i = 0; i < groups->count; i++)
        json_append(list, of_group(&groups->group[i]));
    json_put(json, "accepted", list);
    put_failure(json, &groups->failure);
    return json;
}

static json_t *of_flights(const struct probed_handshake *h)
{
    json_t *list = json_made(json_array());
    for (size_t i = 0; i < h->flights; i++) {
        json_t *flight = json_made(json_object());
        json_put_text(flight, "sender", result_side_name(h->flight[i].sender));
        json_put_count(flight, "bytes", h->flight[i].bytes);
        json_append(list, flight);
    }
    return list;
}

static void put_complete(json_t *json, const struct probed_handshake *h)
{
    json_put_text(json, "tls", h->tls);
    put_nonempty_text(json, "group", h->group);
    json_put_bool(json, "hybrid", h->is_hybrid);
    json_put_text(json, "cipher", h->cipher);
    put_nonempty_text(json, "signature", h->signature);
    json_put_bool(json, "resumed", h->is_resumed);
    json_put_count(json, "round_trips", h->round_trips);
    json_put_count(json, "client_bytes", h->bytes[RESULT_CLIENT]);
    json_put_count(json, "server_bytes", h->bytes[RESULT_SERVER]);
    json_put_count(json, "server_flight_bytes", h->server_flight_bytes);
    json_put_bool(json, "fits_ten_segments", h->server_flight_bytes <= RESULT_WINDOW_BYTES);
    json_put(json, "flights", of_flights(h));
}

static void put_handshake(json_t *object, const char *key, const struct probed_handshake *h)
{
    if (!h->is_tried)
        return;
    json_t *json = json_made(json_object());
    json_put_bool(json, "complete", h->is_complete);
    json_put_bool(json, "hrr", h->is_hrr);
    if (h->client_hello_bytes > 0)
        json_put_count(json, "client_hello_bytes", h->client_hello_bytes);
    if (h->is_complete)
        put_complete(json, h);
    put_failure(json, &h->failure);
    json_put(object, key, json);
}

static json_t *of_advice(const struct probed *p)
{
    json_t *list = json_made(json_array());
    struct text advice = {0};
    for (size_t i = 0; probed_add_advice(p, i, &advice); i++) {
        json_append(list, json_of_text(text_str(&advice)));
        text_free(&advice);
    }
    return list;
}

static void put_connections(json_t *json, const struct probed *p)
{
    json_t *connections = json_made(json_object());
    json_put_count(connections, "used", p->connections);
    json_put_count(connections, "max", p->connections_max);
    json_put_bool(connections, "cut", p->is_cut);
    json_put(json, "connections", connections);
    if (p->connect_ns > 0)
        json_put_number(json, "connect_us", (double)p->connect_ns / NS_PER_US);
    json_put_number(json, "elapsed_s", (double)p->elapsed_ns / NS_PER_S);
}

static void put_head(json_t *json, const struct probed *p)
{
    struct text verdict = {0};
    probed_add_verdict(p, &verdict);
    json_put_text(json, "target", p->target);
    put_nonempty_text(json, "address", p->address);
    put_nonempty_text(json, "server_name", p->server_name);
    put_nonempty_text(json, "starttls", p->starttls);
    json_put_text(json, "verdict", probed_verdict_name(probed_judge(p)));
    json_put_text(json, "summary", text_str(&verdict));
    json_put_nonempty(json, "advice", of_advice(p));
    text_free(&verdict);
}

static json_t *of_probed(const struct probed *p)
{
    json_t *json = json_made(json_object());
    put_head(json, p);
    put_connections(json, p);
    put_failure(json, &p->failure);
    if (probed_judge(p) == PROBED_UNMEASURED)
        return json;
    json_t *versions = json_made(json_object()), *hellos = json_made(json_object());
    put_answer(versions, "1.3", p->tls13);
    put_answer(versions, "1.2", p->tls12);
    json_put_nonempty(json, "tls", versions);
    json_put(json, "groups", of_groups(&p->groups));
    put_handshake(hellos, "browser", &p->browser);
    put_handshake(hellos, "hybrid_only", &p->hybrid_only);
    put_handshake(hellos, "classical_only", &p->classical_only);
    put_handshake(hellos, "predicted", &p->predicted);
    json_put_nonempty(json, "hellos", hellos);
    if (p->prediction[0] != '\0')
        json_put_text(json, "prediction", p->prediction);
    return json;
}

void probed_add_json(const struct probed_list *list, struct text *out)
{
    json_t *root = json_made(json_object()), *servers = json_made(json_array());
    json_put_text(root, "schema", SCHEMA);
    json_put_text(root, "started_at", list->started_at);
    for (size_t i = 0; i < list->count; i++)
        json_append(servers, of_probed(&list->probed[i]));
    json_put(root, "servers", servers);
    char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    text_addf(out, "%s\n", dumped != NULL ? dumped : "{}");
    free(dumped);
}
