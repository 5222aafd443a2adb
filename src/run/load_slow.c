/* SPDX-License-Identifier: Apache-2.0 */
/* The slowest handshakes of a trial and their causes; every handshake for --samples. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"
#include "run/load_parts.h"
#include "run/slowest.h"

struct candidate {
    const struct shard_record *record;
    size_t worker;
};

static int by_response(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    const uint64_t p = x->record->phase_ns[RESULT_PHASE_RESPONSE];
    const uint64_t q = y->record->phase_ns[RESULT_PHASE_RESPONSE];
    return (p < q) - (p > q);
}

struct windows {
    struct sample_window client;
    double server_cpu_ns, server_away_ns, server_delay_ns, server_steal_ns;
};

/* fmax and a sum that leave out what is unknown. */
static double add_known(double sum, double more)
{
    if (isnan(more))
        return sum;
    return isnan(sum) ? more : sum + more;
}

static void look_at(const struct load_window *w, const struct candidate *c, struct windows *out)
{
    const uint64_t from_ns = c->record->due_ns, to_ns = c->record->end_ns;
    *out = (struct windows){.server_cpu_ns = NAN,
                            .server_away_ns = NAN,
                            .server_delay_ns = NAN,
                            .server_steal_ns = NAN};
    sample_window_of(w->client_samples[c->worker], w->client_sample_count[c->worker], from_ns,
                     to_ns, &out->client);
    for (size_t i = 0; i < w->server_workers; i++) {
        struct sample_window s;
        sample_window_of(w->server_samples[i], w->server_sample_count[i], from_ns, to_ns, &s);
        out->server_cpu_ns = fmax(out->server_cpu_ns, s.cpu_ns);
        out->server_away_ns = fmax(out->server_away_ns, s.away_ns);
        out->server_delay_ns = fmax(out->server_delay_ns, s.run_delay_ns);
        out->server_steal_ns = fmax(out->server_steal_ns, s.steal_ns);
    }
}

static double us(double ns)
{
    return ns / 1e3;
}

static void fill(const struct load_window *w, const struct candidate *c,
                 const struct windows *n, struct result_slow *out)
{
    const struct shard_record *r = c->record;
    out->at_s = (double)(r->due_ns - w->measured_ns) / 1e9;
    for (unsigned i = 0; i < RESULT_PHASES; i++)
        if (r->phase_ns[i] != UINT64_MAX)
            out->phase_us[i].value = us((double)r->phase_ns[i]);
    out->start_lag_us = us((double)r->start_lag_ns);
    out->run_delay_us = us(n->client.run_delay_ns);
    out->server_run_delay_us = us(n->server_delay_ns);
    out->steal_us = us(add_known(n->client.steal_ns, n->server_steal_ns));
    out->involuntary = n->client.involuntary;
    out->retransmits = r->retransmits;
}

static const char *cause_of(const struct result_trial *t, const struct candidate *c,
                            const struct windows *n, bool is_hrr_usual)
{
    const struct shard_record *r = c->record;
    const struct slow_facts f = {
        .response_ns = (double)r->phase_ns[RESULT_PHASE_RESPONSE],
        .typical_ns = (double)histogram_quantile(t->latency_ns[RESULT_PHASE_RESPONSE], 0.5),
        .steal_ns = add_known(n->client.steal_ns, n->server_steal_ns),
        .client_away_ns = n->client.away_ns,
        .server_away_ns = n->server_away_ns,
        .client_busy_ns = n->client.cpu_ns,
        .server_busy_ns = n->server_cpu_ns,
        .typical_client_busy_ns = 1e3 * t->side_cpu_us[RESULT_CLIENT],
        .typical_server_busy_ns = 1e3 * t->side_cpu_us[RESULT_SERVER],
        .start_lag_ns = (double)r->start_lag_ns,
        .retransmits = r->retransmits,
        .is_hrr = r->is_hrr,
        .is_hrr_usual = is_hrr_usual,
    };
    return slow_cause_name(slow_cause_of(&f));
}

void load_fill_slowest(struct load *l, unsigned arm, const struct load_window *w,
                       struct result_trial *t)
{
    struct candidate *all = mem_alloc_zeroed(l->workers * SHARD_SLOWEST, sizeof(*all));
    size_t count = 0;
    uint64_t hrr = 0;
    for (size_t i = 0; i < l->workers; i++) {
        const struct shard *s = &l->worker[i].arm[arm].shard;
        hrr += s->hrr;
        for (unsigned k = 0; k < s->slow; k++)
            all[count++] = (struct candidate){&s->slowest[k], i};
    }
    qsort(all, count, sizeof(*all), by_response);
    for (size_t i = 0; i < count && i < SHARD_SLOWEST; i++) {
        struct windows n;
        look_at(w, &all[i], &n);
        struct result_slow *out = trial_add_slow(t);
        fill(w, &all[i], &n, out);
        result_set_text(&out->cause, cause_of(t, &all[i], &n, 2 * hrr > t->tally.completed));
    }
    free(all);
}

static void write_us(struct text *line, uint64_t ns)
{
    if (ns == UINT64_MAX)
        text_add(line, ",");
    else
        text_addf(line, ",%.3f", (double)ns / 1e3);
}

/* "100233;200481": flights until the handshake was done, as far as their times are kept. */
static void write_flights(struct text *line, const struct shard_network *n,
                          enum result_side side)
{
    for (unsigned i = 0; i < n->flights[side] && i < LINK_FLIGHTS; i++)
        text_addf(line, "%c%" PRIu32, i == 0 ? ',' : ';', n->flight_us[side][i]);
    if (n->flights[side] == 0)
        text_add(line, ",");
}

static void write_network(struct text *line, const struct shard_network *n)
{
    text_addf(line, ",%u,%u", n->tcp_round_trips, n->tls_round_trips);
    const unsigned *pairs[] = {n->flights, n->segments, n->retransmits, n->timeouts,
                               n->dropped};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        text_addf(line, ",%u,%u", pairs[i][RESULT_CLIENT], pairs[i][RESULT_SERVER]);
    write_flights(line, n, RESULT_CLIENT);
    write_flights(line, n, RESULT_SERVER);
}

void load_write_samples(struct load *l, const struct load_window *w)
{
    FILE *f = l->options->samples;
    struct text line = {0};
    for (size_t i = 0; l->records != NULL && i < l->workers; i++)
        for (size_t k = 0; k < l->records[i].count; k++) {
            const struct shard_record *r = &l->records[i].record[k];
            const struct result_arm *arm = &l->result->arm[l->records[i].arm[k]];
            text_free(&line);
            text_addf(&line, "%s,%zu,%.9f", arm->name, arm->trials,
                      (double)(r->due_ns - w->measured_ns) / 1e9);
            write_us(&line, r->start_lag_ns);
            for (unsigned p = 0; p < RESULT_PHASES; p++)
                write_us(&line, r->phase_ns[p]);
            text_addf(&line, ",%" PRIu32 ",%d,%d,%d", r->retransmits, r->is_hrr, r->is_resumed,
                      r->handshake == RESULT_HANDSHAKE_EARLY);
            if (r->has_network)
                write_network(&line, &r->network);
            text_add(&line, "\n");
            fputs(text_str(&line), f);
        }
    text_free(&line);
    if (f != NULL)
        fflush(f);
}
