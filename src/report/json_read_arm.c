/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "report/json_read.h"

static const char *side_name(unsigned side)
{
    return result_side_name((enum result_side)side);
}

unsigned json_read_side(const struct place *p, const char *name)
{
    return field_choice(p, name, side_name, RESULT_SIDES);
}

static void visit_count(const struct place *counts, const char *group, void *into)
{
    struct result_negotiated *n = into;
    const uint64_t count = field_count(counts, group);
    /* A sum that overflows must not pass for one that agrees. */
    if (count > INT64_MAX - n->handshakes)
        field_fail(counts, "the sum is too large");
    else
        negotiated_add(n, group, count);
}

static void read_negotiated(const struct place *p, struct result_negotiated *n)
{
    const struct place found = field_object(p, "negotiated");
    const uint64_t handshakes = field_count(&found, "handshakes");
    const struct place counts = field_object(&found, "counts");
    field_each_member(&counts, visit_count, n);
    if (n->handshakes != handshakes)
        field_fail(&found, "counts do not add up to handshakes");
    field_copy_text(&found, "group", &n->group);
    field_copy_text(&found, "cipher", &n->cipher);
    field_copy_text(&found, "signature", &n->signature);
    field_copy_text(&found, "tls", &n->tls);
    n->hrr = field_count(&found, "hrr");
    n->resume_asked = field_count(&found, "resume_asked");
    n->resume_offered = field_count(&found, "resume_offered");
    n->resumed = field_count(&found, "resumed");
    n->early_data_accepted = field_count(&found, "early_data_accepted");
    n->early_data_rejected = field_count(&found, "early_data_rejected");
}

static void read_messages(const struct place *p, struct result_bytes *b)
{
    const struct place list = field_list(p, "messages");
    const size_t n = field_count_items(&list);
    struct result_message *messages = mem_alloc_zeroed(n, sizeof(*messages));
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        messages[i].sender = (enum result_side)json_read_side(&item, "sender");
        messages[i].type = field_small_count(&item, "type");
        messages[i].index = field_small_count(&item, "index");
        messages[i].bytes = field_range_from(&item);
    }
    b->message = messages;
    b->messages = n;
}

static void read_flights(const struct place *p, struct result_bytes *b)
{
    const struct place list = field_list(p, "flights");
    const size_t n = field_count_items(&list);
    struct result_flight *flights = mem_alloc_zeroed(n, sizeof(*flights));
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        flights[i].sender = (enum result_side)json_read_side(&item, "sender");
        flights[i].bytes = field_range_from(&item);
    }
    b->flight = flights;
    b->flights = n;
}

static void read_bytes(const struct place *p, struct result_bytes *b)
{
    const struct place found = field_object(p, "bytes");
    const struct place ranges = field_object(&found, "ranges");
    b->handshake[RESULT_CLIENT] = field_range(&ranges, "client");
    b->handshake[RESULT_SERVER] = field_range(&ranges, "server");
    b->client_hello = field_range(&ranges, "client_hello");
    b->server_flight = field_range(&ranges, "server_flight");
    b->tickets = field_range(&ranges, "tickets");
    b->round_trips = field_range(p, "round_trips");
    read_messages(&found, b);
    read_flights(&found, b);
}

static void read_network(const struct place *p, struct result_network *n)
{
    const struct place found = field_object(p, "network");
    n->tcp_round_trips = field_range(&found, "tcp_round_trips");
    n->tls_round_trips = field_range(&found, "tls_round_trips");
    n->model_tcp_us = field_number(&found, "model_tcp_us");
    n->model_ttlb_us = field_number(&found, "model_ttlb_us");
    n->model_tls_us = field_number(&found, "model_tls_us");
    n->disturbed = field_count(&found, "disturbed");
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct place side = field_object(&found, side_name(i));
        n->flights[i] = field_range(&side, "flights");
        n->segments[i] = field_range(&side, "segments");
        n->later_bytes[i] = field_range(&side, "later_bytes");
        n->retransmits[i] = field_count(&side, "retransmits");
        n->timeouts[i] = field_count(&side, "timeouts");
        n->dropped[i] = field_count(&side, "dropped");
    }
}

static void read_sides(const struct place *p, const char *name,
                       struct figure figures[RESULT_SIDES])
{
    const struct place found = field_object(p, name);
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        figures[side] = field_figure(&found, side_name(side));
}

static void read_cpu(const struct place *p, struct result_cpu *cpu)
{
    const struct place us = field_object(p, "cpu_us");
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct place side = field_object(&us, side_name(i));
        cpu->us[i][RESULT_CPU_TOTAL] = field_figure_from(&side, "median");
        cpu->min_us[i].value = field_number(&side, "min");
        for (unsigned part = 0; part < RESULT_CPU_TOTAL; part++)
            cpu->us[i][part] =
                field_figure(&side, result_cpu_part_name((enum result_cpu_part)part));
    }
    read_sides(p, "instructions", cpu->instructions);
    read_sides(p, "cycles", cpu->cycles);
    read_sides(p, "primitives_us", cpu->primitives_us);
    read_sides(p, "primitives_share", cpu->primitives_share);
}

static void read_primitives(const struct place *p, struct result_arm *arm)
{
    const struct place list = field_list(p, "primitives");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        struct result_primitive *primitive = arm_add_primitive(arm);
        primitive->side = (enum result_side)json_read_side(&item, "side");
        field_copy_text(&item, "operation", &primitive->operation);
        field_copy_text(&item, "subject", &primitive->subject);
        primitive->times = field_small_count(&item, "times");
        primitive->us = field_figure(&item, "us");
    }
}

void json_read_arm(const struct place *p, struct result_arm *arm)
{
    field_pairs(p, "spec", &arm->spec);
    field_pairs(p, "prediction", &arm->prediction);
    field_copy_text(p, "client_backend", &arm->client_backend);
    field_copy_text(p, "server_backend", &arm->server_backend);
    read_negotiated(p, &arm->negotiated);
    read_bytes(p, &arm->bytes);
    read_network(p, &arm->network);
    read_cpu(p, &arm->cpu);
    read_primitives(p, arm);
    const struct place list = field_list(p, "trials");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        json_read_trial(&item, arm_add_trial(arm));
    }
}
