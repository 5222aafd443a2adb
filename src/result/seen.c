/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"

#include <assert.h>
#include <stdlib.h>
#include "base/text.h"
#include "result/list.h"

void range_add(struct result_range *r, uint64_t value)
{
    const struct result_range one = {
        .count = 1, .min = value, .max = value, .mean = (double)value};
    range_merge(r, &one);
}

void range_merge(struct result_range *into, const struct result_range *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    const uint64_t count = into->count + from->count;
    /* As a step from the old mean, equal values keep it exactly. */
    into->mean += (from->mean - into->mean) * ((double)from->count / (double)count);
    if (into->mean < (double)into->min)
        into->mean = (double)into->min;
    if (into->mean > (double)into->max)
        into->mean = (double)into->max;
    into->count = count;
}

static struct result_count *find_group(struct result_negotiated *n, const char *group)
{
    for (size_t i = 0; i < n->groups; i++) {
        if (text_same_name(n->group_count[i].name, group))
            return &n->group_count[i];
    }
    n->group_count = list_grow(n->group_count, &n->groups, sizeof(*n->group_count));
    struct result_count *added = &n->group_count[n->groups - 1];
    added->name = mem_copy_string(group);
    return added;
}

void negotiated_add(struct result_negotiated *n, const char *group, uint64_t count)
{
    if (count == 0)
        return;
    struct result_count *c = find_group(n, group == NULL ? "none" : group);
    c->count += count;
    n->handshakes += count;
    for (; c > n->group_count && c[-1].count < c->count; c--) {
        const struct result_count smaller = c[-1];
        c[-1] = *c;
        *c = smaller;
    }
    result_set_text(&n->group, n->group_count[0].name);
}

void negotiated_merge(struct result_negotiated *into, const struct result_negotiated *from)
{
    const bool is_larger = from->handshakes > into->handshakes;
    for (size_t i = 0; i < from->groups; i++)
        negotiated_add(into, from->group_count[i].name, from->group_count[i].count);
    if (is_larger || into->cipher == NULL)
        result_set_text(&into->cipher, from->cipher);
    if (is_larger || into->signature == NULL)
        result_set_text(&into->signature, from->signature);
    if (is_larger || into->tls == NULL)
        result_set_text(&into->tls, from->tls);
    into->hrr += from->hrr;
    into->resume_asked += from->resume_asked;
    into->resume_offered += from->resume_offered;
    into->resumed += from->resumed;
    into->early_data_accepted += from->early_data_accepted;
    into->early_data_rejected += from->early_data_rejected;
}

void negotiated_free(struct result_negotiated *n)
{
    free(n->group);
    free(n->cipher);
    free(n->signature);
    free(n->tls);
    for (size_t i = 0; i < n->groups; i++)
        free(n->group_count[i].name);
    free(n->group_count);
    *n = (struct result_negotiated){0};
}

static void merge_message(struct result_bytes *b, const struct result_message *from)
{
    if (from->bytes.count == 0)
        return;
    for (size_t i = 0; i < b->messages; i++) {
        struct result_message *m = &b->message[i];
        if (m->sender == from->sender && m->type == from->type && m->index == from->index) {
            range_merge(&m->bytes, &from->bytes);
            return;
        }
    }
    b->message = list_grow(b->message, &b->messages, sizeof(*b->message));
    b->message[b->messages - 1] = *from;
}

void bytes_add_message(struct result_bytes *b, enum result_side sender, unsigned type,
                       unsigned index, uint64_t bytes)
{
    struct result_message one = {.sender = sender, .type = type, .index = index};
    range_add(&one.bytes, bytes);
    merge_message(b, &one);
}

static void merge_flight(struct result_bytes *b, size_t position,
                         const struct result_flight *from)
{
    while (b->flights <= position)
        b->flight = list_grow(b->flight, &b->flights, sizeof(*b->flight));
    struct result_flight *f = &b->flight[position];
    assert(f->bytes.count == 0 || from->bytes.count == 0 || f->sender == from->sender);
    if (f->bytes.count == 0)
        f->sender = from->sender;
    range_merge(&f->bytes, &from->bytes);
}

void bytes_add_flight(struct result_bytes *b, unsigned position, enum result_side sender,
                      uint64_t bytes)
{
    struct result_flight one = {.sender = sender};
    range_add(&one.bytes, bytes);
    merge_flight(b, position, &one);
}

void bytes_merge(struct result_bytes *into, const struct result_bytes *from)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        range_merge(&into->handshake[side], &from->handshake[side]);
    range_merge(&into->tickets, &from->tickets);
    range_merge(&into->client_hello, &from->client_hello);
    range_merge(&into->server_flight, &from->server_flight);
    range_merge(&into->round_trips, &from->round_trips);
    for (size_t i = 0; i < from->messages; i++)
        merge_message(into, &from->message[i]);
    for (size_t i = 0; i < from->flights; i++)
        merge_flight(into, i, &from->flight[i]);
}

void bytes_free(struct result_bytes *b)
{
    free(b->message);
    free(b->flight);
    *b = (struct result_bytes){0};
}

bool tally_holds(const struct result_tally *t)
{
    /* A sum that overflows must not pass for one that agrees. */
    const uint64_t parts[] = {t->completed, t->failed, t->timed_out, t->unfinished,
                              t->not_started};
    uint64_t left = t->scheduled;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] > left)
            return false;
        left -= parts[i];
    }
    return left == 0;
}

void tally_add(struct result_tally *into, const struct result_tally *from)
{
    into->scheduled += from->scheduled;
    into->completed += from->completed;
    into->failed += from->failed;
    into->timed_out += from->timed_out;
    into->unfinished += from->unfinished;
    into->not_started += from->not_started;
}
