/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_put.h"

#include <stdlib.h>
#include "report/latency.h"

json_t *json_of_pairs(const struct result_pairs *pairs)
{
    json_t *object = json_made(json_object());
    for (size_t i = 0; i < pairs->count; i++)
        json_put_named(object, pairs->pair[i].name, json_of_text(pairs->pair[i].value));
    return object;
}

static json_t *of_negotiated(const struct result_negotiated *n)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "group", n->group);
    json_put_text(object, "cipher", n->cipher);
    json_put_text(object, "signature", n->signature);
    json_put_text(object, "tls", n->tls);
    json_put_count(object, "handshakes", n->handshakes);
    json_put_count(object, "hrr", n->hrr);
    json_put_count(object, "resume_asked", n->resume_asked);
    json_put_count(object, "resume_offered", n->resume_offered);
    json_put_count(object, "resumed", n->resumed);
    json_put_count(object, "early_data_accepted", n->early_data_accepted);
    json_put_count(object, "early_data_rejected", n->early_data_rejected);
    json_t *counts = json_made(json_object());
    for (size_t i = 0; i < n->groups; i++)
        json_put_named(counts, n->group_count[i].name,
                       json_integer((json_int_t)n->group_count[i].count));
    json_put(object, "counts", counts);
    return object;
}

static json_t *of_messages(const struct result_bytes *b)
{
    char name[32];
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < b->messages; i++) {
        const struct result_message *m = &b->message[i];
        json_t *object = json_made(json_object());
        json_put_text(object, "sender", result_side_name(m->sender));
        json_put_count(object, "type", m->type);
        json_put_text(object, "name", result_message_name(m->type, name, sizeof(name)));
        json_put_count(object, "index", m->index);
        json_put_range_into(object, &m->bytes);
        json_append(array, object);
    }
    return array;
}

static json_t *of_flights(const struct result_bytes *b)
{
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < b->flights; i++) {
        json_t *object = json_made(json_object());
        json_put_text(object, "sender", result_side_name(b->flight[i].sender));
        json_put_range_into(object, &b->flight[i].bytes);
        json_append(array, object);
    }
    return array;
}

/* The means in front, for whoever wants one number; the whole ranges behind. */
static json_t *of_bytes(const struct result_bytes *b)
{
    const struct {
        const char *name;
        const struct result_range *range;
    } ranges[] = {
        {"client", &b->handshake[RESULT_CLIENT]},
        {"server", &b->handshake[RESULT_SERVER]},
        {"client_hello", &b->client_hello},
        {"server_flight", &b->server_flight},
        {"tickets", &b->tickets},
    };
    json_t *object = json_made(json_object());
    json_t *whole = json_made(json_object());
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        json_put_mean(object, ranges[i].name, ranges[i].range);
        json_put_range(whole, ranges[i].name, ranges[i].range);
    }
    json_put_nonempty(object, "ranges", whole);
    json_put_nonempty(object, "messages", of_messages(b));
    json_put_nonempty(object, "flights", of_flights(b));
    return object;
}

static json_t *of_network(const struct result_network *n)
{
    json_t *object = json_made(json_object());
    if (n->tls_round_trips.count == 0)
        return object;
    json_put_range(object, "tcp_round_trips", &n->tcp_round_trips);
    json_put_range(object, "tls_round_trips", &n->tls_round_trips);
    json_put_number(object, "model_tcp_us", n->model_tcp_us);
    json_put_number(object, "model_tls_us", n->model_tls_us);
    json_put_number(object, "model_ttlb_us", n->model_ttlb_us);
    json_put_count(object, "disturbed", n->disturbed);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        json_t *side = json_made(json_object());
        json_put_range(side, "flights", &n->flights[i]);
        json_put_range(side, "segments", &n->segments[i]);
        json_put_range(side, "later_bytes", &n->later_bytes[i]);
        json_put_count(side, "retransmits", n->retransmits[i]);
        json_put_count(side, "timeouts", n->timeouts[i]);
        json_put_count(side, "dropped", n->dropped[i]);
        json_put(object, result_side_name((enum result_side)i), side);
    }
    return object;
}

static json_t *of_cpu_side(const struct result_cpu *cpu, unsigned side)
{
    json_t *object = json_made(json_object());
    json_put_figure_into(object, "median", &cpu->us[side][RESULT_CPU_TOTAL]);
    json_put_number(object, "min", cpu->min_us[side].value);
    for (unsigned part = 0; part < RESULT_CPU_TOTAL; part++)
        json_put_figure(object, result_cpu_part_name((enum result_cpu_part)part),
                        &cpu->us[side][part]);
    return object;
}

static json_t *of_sides(const struct figure figures[RESULT_SIDES])
{
    json_t *object = json_made(json_object());
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        json_put_figure(object, result_side_name((enum result_side)side), &figures[side]);
    return object;
}

static void put_cpu(json_t *arm, const struct result_cpu *cpu)
{
    json_t *us = json_made(json_object());
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        json_put_nonempty(us, result_side_name((enum result_side)side), of_cpu_side(cpu, side));
    json_put_nonempty(arm, "cpu_us", us);
    json_put_nonempty(arm, "instructions", of_sides(cpu->instructions));
    json_put_nonempty(arm, "cycles", of_sides(cpu->cycles));
    json_put_nonempty(arm, "primitives_us", of_sides(cpu->primitives_us));
    json_put_nonempty(arm, "primitives_share", of_sides(cpu->primitives_share));
}

static json_t *of_primitives(const struct result_arm *arm)
{
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < arm->primitives; i++) {
        const struct result_primitive *p = &arm->primitive[i];
        json_t *object = json_made(json_object());
        json_put_text(object, "side", result_side_name(p->side));
        json_put_text(object, "operation", p->operation);
        json_put_text(object, "subject", p->subject);
        json_put_count(object, "times", p->times);
        json_put_figure(object, "us", &p->us);
        json_append(array, object);
    }
    return array;
}

json_t *json_of_latency(const struct latency_row *row)
{
    json_t *object = json_made(json_object());
    json_t *marked = json_made(json_array());
    for (unsigned i = 0; i < LATENCY_COLUMNS; i++) {
        const char *key = latency_column_key((enum latency_column)i);
        json_put_number(object, key, row->us[i]);
        if (latency_is_marked(row, (enum latency_column)i))
            json_append(marked, json_string(key));
    }
    json_put_count(object, "count", row->count);
    json_put_nonempty(object, "marked", marked);
    return object;
}

static json_t *of_summary_apart(const struct result_arm *arm)
{
    json_t *object = json_made(json_object());
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++) {
        json_t *latency = json_made(json_object()), *apart = json_made(json_object());
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            struct latency_row row;
            if (latency_of_arm_apart(arm, (enum result_handshake)i, (enum result_phase)phase,
                                     &row))
                json_put(latency, result_phase_name((enum result_phase)phase),
                         json_of_latency(&row));
        }
        json_put_nonempty(apart, "latency_us", latency);
        json_put_nonempty(object, result_handshake_name((enum result_handshake)i), apart);
    }
    return object;
}

static json_t *of_summary(const struct result_arm *arm)
{
    json_t *latency = json_made(json_object());
    for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
        struct latency_row row;
        if (latency_of_arm(arm, (enum result_phase)phase, &row))
            json_put(latency, result_phase_name((enum result_phase)phase),
                     json_of_latency(&row));
    }
    json_t *summary = json_made(json_object());
    json_put_nonempty(summary, "latency_us", latency);
    json_put_nonempty(summary, "by_handshake", of_summary_apart(arm));
    return summary;
}

json_t *json_of_arm(const struct result_arm *arm, enum result_kind kind)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "name", arm->name);
    json_put(object, "spec", json_of_pairs(&arm->spec));
    json_put_nonempty(object, "prediction", json_of_pairs(&arm->prediction));
    json_put_text(object, "client_backend", arm->client_backend);
    json_put_text(object, "server_backend", arm->server_backend);
    json_put(object, "negotiated", of_negotiated(&arm->negotiated));
    json_put_range(object, "round_trips", &arm->bytes.round_trips);
    json_put_nonempty(object, "bytes", of_bytes(&arm->bytes));
    json_put_nonempty(object, "network", of_network(&arm->network));
    put_cpu(object, &arm->cpu);
    json_put_nonempty(object, "primitives", of_primitives(arm));
    json_t *trials = json_made(json_array());
    for (size_t i = 0; i < arm->trials; i++)
        json_append(trials, json_of_trial(&arm->trial[i], kind));
    json_put(object, "trials", trials);
    if (kind != RESULT_KIND_CAPACITY) /* whose trials are of different rates */
        json_put_nonempty(object, "summary", of_summary(arm));
    return object;
}
