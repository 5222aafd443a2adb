/* SPDX-License-Identifier: Apache-2.0 */
#include "run/bench_seen.h"
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "run/cause.h"

void seen_reset(struct seen *s)
{
    memset(s, 0, sizeof *s);
}

static void names_add(struct seen_names *names, const char *name, uint64_t count)
{
    unsigned i = 0;
    while (i < names->used && strcmp(names->entry[i].name, name) != 0)
        i++;
    if (i == SEEN_NAMES_MAX) {
        i = SEEN_NAMES_MAX - 1;
        snprintf(names->entry[i].name, SEEN_NAME_SIZE, "other");
    } else if (i == names->used) {
        snprintf(names->entry[i].name, SEEN_NAME_SIZE, "%s", name);
        names->used++;
    }
    names->entry[i].count += count;
}

static void names_merge(struct seen_names *into, const struct seen_names *from)
{
    for (unsigned i = 0; i < from->used; i++)
        names_add(into, from->entry[i].name, from->entry[i].count);
}

const char *seen_most(const struct seen_names *names)
{
    const char *most = NULL;
    uint64_t count = 0;
    for (unsigned i = 0; i < names->used; i++) {
        if (names->entry[i].count <= count || names->entry[i].name[0] == '\0')
            continue;
        most = names->entry[i].name;
        count = names->entry[i].count;
    }
    return most;
}

/* Tickets are what a TLS 1.3 server sends after the client's last flight. */
struct split {
    uint64_t ticket_bytes, server_flight_bytes;
    unsigned server_flights;
};

static struct split split_flights(const struct duplex_counts *counts, bool is_tls13)
{
    struct split split = {0};
    bool is_after_client = is_tls13;
    for (unsigned i = counts->flights; i-- > 0;) {
        if (counts->flight[i].sender == DUPLEX_CLIENT) {
            is_after_client = false;
        } else if (is_after_client) {
            split.ticket_bytes += counts->flight[i].bytes;
        } else {
            if (split.server_flights++ == 0)
                split.server_flight_bytes = counts->flight[i].bytes;
        }
    }
    return split;
}

static void add_bytes(struct seen *s, const struct tls_info *info,
                      const struct duplex_counts *counts, bool has_early_data)
{
    struct split split = split_flights(counts, info->version == TLS_VERSION_13);
    bool may_send_at_once = info->early_data == TLS_EARLY_ACCEPTED;
    range_add(&s->handshake[RESULT_CLIENT], counts->sent_bytes[DUPLEX_CLIENT]);
    range_add(&s->handshake[RESULT_SERVER],
              counts->sent_bytes[DUPLEX_SERVER] - split.ticket_bytes);
    if (split.ticket_bytes > 0)
        range_add(&s->tickets, split.ticket_bytes);
    if (!has_early_data && counts->flights > 0)
        range_add(&s->client_hello, counts->flight[0].bytes);
    range_add(&s->server_flight, split.server_flight_bytes);
    range_add(&s->round_trips, may_send_at_once ? 0 : split.server_flights);
    for (unsigned i = 0; i < counts->flights; i++) {
        s->flight[i].sender = (enum result_side)counts->flight[i].sender;
        range_add(&s->flight[i].bytes, counts->flight[i].bytes);
    }
    if (counts->flights > s->flights)
        s->flights = counts->flights;
}

void seen_add(struct seen *s, const struct tls_info *info, const struct duplex_counts *counts,
              bool has_early_data)
{
    s->completed++;
    s->hrr += info->is_hrr;
    s->resumed += info->is_resumed;
    s->early_accepted += info->early_data == TLS_EARLY_ACCEPTED;
    s->early_rejected += info->early_data == TLS_EARLY_REJECTED;
    names_add(&s->group, info->group, 1);
    names_add(&s->cipher, info->cipher, 1);
    names_add(&s->signature, info->signature, 1);
    names_add(&s->version, info->version == TLS_VERSION_12 ? "1.2" : "1.3", 1);
    add_bytes(s, info, counts, has_early_data);
}

static bool is_same_failure(const struct seen_failure *f, const struct tls_failure *failure,
                            enum duplex_side side, bool is_timeout)
{
    return f->failure.cause == failure->cause && f->failure.code == failure->code &&
           f->side == side && f->is_timeout == is_timeout;
}

void seen_add_failure(struct seen *s, const struct tls_failure *failure, enum duplex_side side,
                      bool is_timeout)
{
    unsigned i = 0;
    if (is_timeout)
        s->timed_out++;
    else
        s->failed++;
    while (i < s->failures && !is_same_failure(&s->failure[i], failure, side, is_timeout))
        i++;
    if (i == SEEN_FAILURES_MAX) {
        i = SEEN_FAILURES_MAX - 1;
    } else if (i == s->failures) {
        s->failure[i] = (struct seen_failure){*failure, side, is_timeout, 0};
        s->failures++;
    }
    s->failure[i].count++;
}

static void merge_failures(struct seen *into, const struct seen *from)
{
    for (unsigned k = 0; k < from->failures; k++) {
        const struct seen_failure *f = &from->failure[k];
        unsigned i = 0;
        while (i < into->failures &&
               !is_same_failure(&into->failure[i], &f->failure, f->side, f->is_timeout))
            i++;
        if (i == SEEN_FAILURES_MAX)
            into->failure[SEEN_FAILURES_MAX - 1].count += f->count;
        else if (i == into->failures)
            into->failure[into->failures++] = *f;
        else
            into->failure[i].count += f->count;
    }
}

void seen_merge(struct seen *into, const struct seen *from)
{
    into->completed += from->completed;
    into->failed += from->failed;
    into->timed_out += from->timed_out;
    into->hrr += from->hrr;
    into->hrr_for_a_share_sent += from->hrr_for_a_share_sent;
    into->resumed += from->resumed;
    into->asked += from->asked;
    into->offered += from->offered;
    into->early_accepted += from->early_accepted;
    into->early_rejected += from->early_rejected;
    names_merge(&into->group, &from->group);
    names_merge(&into->cipher, &from->cipher);
    names_merge(&into->signature, &from->signature);
    names_merge(&into->version, &from->version);
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        range_merge(&into->handshake[side], &from->handshake[side]);
    range_merge(&into->tickets, &from->tickets);
    range_merge(&into->client_hello, &from->client_hello);
    range_merge(&into->server_flight, &from->server_flight);
    range_merge(&into->round_trips, &from->round_trips);
    for (unsigned i = 0; i < from->flights; i++) {
        into->flight[i].sender = from->flight[i].sender;
        range_merge(&into->flight[i].bytes, &from->flight[i].bytes);
    }
    if (from->flights > into->flights)
        into->flights = from->flights;
    merge_failures(into, from);
}

static void bytes_to_arm(const struct seen *s, struct result_arm *arm)
{
    struct result_flight flight[DUPLEX_FLIGHTS_MAX];
    memcpy(flight, s->flight, sizeof flight);
    const struct result_bytes bytes = {
        .handshake = {s->handshake[RESULT_CLIENT], s->handshake[RESULT_SERVER]},
        .tickets = s->tickets,
        .client_hello = s->client_hello,
        .server_flight = s->server_flight,
        .round_trips = s->round_trips,
        .flights = s->flights,
        .flight = flight,
    };
    bytes_merge(&arm->bytes, &bytes);
}

void seen_to_arm(const struct seen *s, struct result_arm *arm)
{
    struct result_negotiated *n = &arm->negotiated;
    for (unsigned i = 0; i < s->group.used; i++) {
        const char *name = s->group.entry[i].name;
        negotiated_add(n, name[0] != '\0' ? name : NULL, s->group.entry[i].count);
    }
    if (s->completed > 0) {
        result_set_text(&n->cipher, seen_most(&s->cipher));
        result_set_text(&n->signature, seen_most(&s->signature));
        result_set_text(&n->tls, seen_most(&s->version));
    }
    n->hrr += s->hrr;
    n->resume_asked += s->asked;
    n->resume_offered += s->offered;
    n->resumed += s->resumed;
    n->early_data_accepted += s->early_accepted;
    n->early_data_rejected += s->early_rejected;
    bytes_to_arm(s, arm);
}

static void failure_to_trial(const struct seen_failure *f, struct result_trial *trial)
{
    static const char *const names[] = {[DUPLEX_CLIENT] = "client", [DUPLEX_SERVER] = "server"};
    char words[160];
    struct text detail = {0};
    if (f->is_timeout)
        text_add(&detail, "no answer in time");
    else
        text_add(&detail, cause_describe(&f->failure, names[f->side], names[1 - f->side], words,
                                         sizeof words));
    if (!f->is_timeout && f->failure.detail[0] != '\0')
        text_addf(&detail, ": %.159s", f->failure.detail);
    char phase[] = "tls", timeout[] = "timeout", cause[24];
    snprintf(cause, sizeof cause, "%s", cause_name(f->failure.cause));
    const struct result_failure row = {
        .phase = phase,
        .cause = f->is_timeout ? timeout : cause,
        .code = f->is_timeout ? 0 : f->failure.code,
        .is_local = !f->is_timeout && cause_is_local(f->failure.cause),
        .detail = detail.data,
        .count = f->count,
    };
    trial_add_failure(trial, &row);
    text_free(&detail);
}

void seen_to_trial(const struct seen *s, uint64_t scheduled, struct result_trial *trial)
{
    trial->tally = (struct result_tally){
        .scheduled = scheduled,
        .completed = s->completed,
        .failed = s->failed,
        .timed_out = s->timed_out,
        .not_started = scheduled - s->completed - s->failed - s->timed_out,
    };
    for (unsigned i = 0; i < s->failures; i++)
        failure_to_trial(&s->failure[i], trial);
}
