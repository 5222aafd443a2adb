/* SPDX-License-Identifier: Apache-2.0 */
#include "run/shard.h"

#include <stddef.h>
#include <string.h>

#define ABSENT UINT64_MAX
#define HISTOGRAMS (RESULT_HANDSHAKES * RESULT_PHASES)

const char *conn_phase_name(enum conn_phase phase)
{
    static const char *const names[] = {"tcp", "tls", "request", "response"};
    return names[phase];
}

/* Of all sorts of handshakes and all phases, one by one. */
static struct histogram **histogram_at(struct shard *s, unsigned i)
{
    return &s->latency_ns[i / RESULT_PHASES][i % RESULT_PHASES];
}

void shard_init(struct shard *s)
{
    memset(s, 0, sizeof(*s));
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        *histogram_at(s, i) = histogram_new();
    s->start_lag_ns = histogram_new();
}

void shard_fini(struct shard *s)
{
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        histogram_free(*histogram_at(s, i));
    histogram_free(s->start_lag_ns);
    memset(s, 0, sizeof(*s));
}

void shard_reset(struct shard *s)
{
    struct histogram *latency_ns[RESULT_HANDSHAKES][RESULT_PHASES];
    struct histogram *start_lag_ns = s->start_lag_ns;
    memcpy(latency_ns, s->latency_ns, sizeof(latency_ns));
    memset(s, 0, sizeof(*s));
    memcpy(s->latency_ns, latency_ns, sizeof(latency_ns));
    s->start_lag_ns = start_lag_ns;
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        histogram_reset(*histogram_at(s, i));
    histogram_reset(s->start_lag_ns);
}

static bool is_same(const struct shard_failure *a, const struct shard_failure *b)
{
    return a->phase == b->phase && a->code == b->code && a->is_local == b->is_local &&
           strcmp(a->cause, b->cause) == 0;
}

void shard_count_failure(struct shard *s, const struct shard_failure *f)
{
    for (unsigned i = 0; i < s->failures; i++) {
        if (is_same(&s->failure[i], f)) {
            s->failure[i].count++;
            return;
        }
    }
    if (s->failures < SHARD_FAILURES) {
        s->failure[s->failures] = *f;
        s->failure[s->failures++].count = 1;
        return;
    }
    struct shard_failure *last = &s->failure[SHARD_FAILURES - 1];
    last->cause = "other";
    last->code = 0;
    last->detail[0] = '\0';
    last->count++;
}

void shard_count_group(struct shard *s, const char *group)
{
    unsigned i = 0;
    while (i < SHARD_GROUPS - 1 && s->group[i] != NULL && s->group[i] != group &&
           strcmp(s->group[i], group) != 0)
        i++;
    if (s->group[i] == NULL)
        s->group[i] = group;
    s->group_count[i]++;
}

void shard_count_bytes(struct shard *s, uint64_t client_hello_bytes, uint64_t client_bytes,
                       uint64_t server_bytes)
{
    if (client_hello_bytes > 0)
        range_add(&s->client_hello, client_hello_bytes);
    range_add(&s->handshake[RESULT_CLIENT], client_bytes);
    range_add(&s->handshake[RESULT_SERVER], server_bytes);
}

/* What the slowest are ranked by. */
static uint64_t weight(const struct shard_record *r)
{
    return r->phase_ns[RESULT_PHASE_RESPONSE] != ABSENT ? r->phase_ns[RESULT_PHASE_RESPONSE]
                                                        : r->end_ns - r->due_ns;
}

static void sift_down(struct shard_record *heap, unsigned n)
{
    for (unsigned i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && weight(&heap[child + 1]) < weight(&heap[child]))
            child++;
        if (weight(&heap[i]) <= weight(&heap[child]))
            return;
        const struct shard_record swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

static void sift_up(struct shard_record *heap, unsigned i)
{
    for (unsigned parent; i > 0; i = parent) {
        parent = (i - 1) / 2;
        if (weight(&heap[parent]) <= weight(&heap[i]))
            return;
        const struct shard_record swap = heap[i];
        heap[i] = heap[parent];
        heap[parent] = swap;
    }
}

static void record_network(struct result_network *into, const struct shard_network *n)
{
    range_add(&into->tcp_round_trips, n->tcp_round_trips);
    range_add(&into->tls_round_trips, n->tls_round_trips);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        range_add(&into->flights[i], n->flights[i]);
        range_add(&into->segments[i], n->segments[i]);
        range_add(&into->later_bytes[i], n->later_bytes[i]);
        into->retransmits[i] += n->retransmits[i];
        into->timeouts[i] += n->timeouts[i];
        into->dropped[i] += n->dropped[i];
    }
    into->disturbed += n->dropped[RESULT_CLIENT] + n->dropped[RESULT_SERVER] > 0;
}

void shard_record(struct shard *s, const struct shard_record *r)
{
    for (unsigned i = 0; i < RESULT_PHASES; i++)
        if (r->phase_ns[i] != ABSENT)
            histogram_record(s->latency_ns[r->handshake][i], r->phase_ns[i]);
    s->retransmits += r->retransmits;
    if (r->has_network)
        record_network(&s->network, &r->network);
    if (r->end_ns > s->last_end_ns)
        s->last_end_ns = r->end_ns;
    if (s->slow < SHARD_SLOWEST) {
        s->slowest[s->slow] = *r;
        sift_up(s->slowest, s->slow++);
    } else if (weight(r) > weight(&s->slowest[0])) {
        s->slowest[0] = *r;
        sift_down(s->slowest, s->slow);
    }
}

static void merge_histogram(struct histogram **into, const struct histogram *from)
{
    if (histogram_count(from) == 0)
        return;
    if (*into == NULL)
        *into = histogram_new();
    histogram_merge(*into, from);
}

/* The whole is the sum of its sorts.  They are told apart from the first one on that was not
 * full: until then the whole is what was full. */
static void merge_latency(const struct shard *s, struct result_trial *trial)
{
    const bool was_split = trial_is_split(trial);
    bool is_mixed = was_split;
    for (unsigned i = 1; i < RESULT_HANDSHAKES; i++)
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
            is_mixed = is_mixed || histogram_count(s->latency_ns[i][phase]) > 0;
    for (unsigned phase = 0; is_mixed && !was_split && phase < RESULT_PHASES; phase++)
        if (trial->latency_ns[phase] != NULL)
            merge_histogram(&trial->apart_ns[RESULT_HANDSHAKE_FULL][phase],
                            trial->latency_ns[phase]);
    for (unsigned i = 0; i < RESULT_HANDSHAKES; i++)
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            const struct histogram *h = s->latency_ns[i][phase];
            if (is_mixed)
                merge_histogram(&trial->apart_ns[i][phase], h);
            merge_histogram(&trial->latency_ns[phase], h);
        }
}

static void set_if_absent(char **member, const char *value)
{
    if (*member == NULL && value[0] != '\0')
        result_set_text(member, value);
}

static void merge_seen(const struct shard *s, struct result_negotiated *seen)
{
    for (unsigned i = 0; i < SHARD_GROUPS && s->group[i] != NULL; i++)
        negotiated_add(seen, s->group[i][0] != '\0' ? s->group[i] : NULL, s->group_count[i]);
    seen->hrr += s->hrr;
    seen->resume_asked += s->resume_asked;
    seen->resume_offered += s->resume_offered;
    seen->resumed += s->resumed;
    seen->early_data_accepted += s->early_accepted;
    seen->early_data_rejected += s->early_rejected;
    set_if_absent(&seen->cipher, s->cipher);
    set_if_absent(&seen->signature, s->signature);
    set_if_absent(&seen->tls, s->version);
}

void shard_merge(const struct shard *s, struct result_trial *trial,
                 struct result_negotiated *seen, struct result_bytes *bytes)
{
    tally_add(&trial->tally, &s->tally);
    merge_latency(s, trial);
    merge_histogram(&trial->start_lag_ns, s->start_lag_ns);
    for (unsigned i = 0; i < s->failures; i++) {
        const struct shard_failure *f = &s->failure[i];
        char phase[16], cause[32], detail[SHARD_DETAIL];
        strncpy(phase, conn_phase_name(f->phase), sizeof(phase) - 1);
        phase[sizeof(phase) - 1] = '\0';
        strncpy(cause, f->cause, sizeof(cause) - 1);
        cause[sizeof(cause) - 1] = '\0';
        memcpy(detail, f->detail, sizeof(detail));
        trial_add_failure(trial, &(struct result_failure){phase, cause, f->code, f->is_local,
                                                          detail[0] != '\0' ? detail : NULL,
                                                          f->count});
    }
    trial->retransmits += s->retransmits;
    trial->unclean_closes += s->unclean_closes;
    if (s->oldest_unfinished_ns > trial->oldest_unfinished_ns)
        trial->oldest_unfinished_ns = s->oldest_unfinished_ns;
    merge_seen(s, seen);
    range_merge(&bytes->client_hello, &s->client_hello);
    range_merge(&bytes->tickets, &s->tickets);
    range_merge(&bytes->handshake[RESULT_CLIENT], &s->handshake[RESULT_CLIENT]);
    range_merge(&bytes->handshake[RESULT_SERVER], &s->handshake[RESULT_SERVER]);
}
