/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define STEAL_EVERY_TICKS 10u
#define SLACK_NS 300000u
#define UNKNOWN UINT64_MAX

void sampler_init(struct sampler *s, const struct cpu_set *cores)
{
    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->cores = *cores;
    s->watch = (struct cpu_watch){-1, -1, NULL};
    s->ring = mem_alloc_zeroed(SAMPLER_RING, sizeof(s->ring[0]));
}

void sampler_fini(struct sampler *s)
{
    pthread_mutex_destroy(&s->lock);
    cpu_watch_close(&s->watch);
    free(s->ring);
    s->ring = NULL;
}

void sampler_begin(struct sampler *s, uint64_t now_ns, uint64_t cpu_ns)
{
    cpu_watch_close(&s->watch);
    cpu_watch_open(&s->watch);
    pthread_mutex_lock(&s->lock);
    s->count = 0;
    s->kept = (struct sample){0};
    pthread_mutex_unlock(&s->lock);
    s->ticks = 0;
    sampler_tick(s, now_ns, cpu_ns);
}

void sampler_put_off(struct sampler *s, uint64_t until_ns)
{
    s->next_tick_ns = until_ns;
}

void sampler_keep(struct sampler *s, uint64_t from_ns)
{
    pthread_mutex_lock(&s->lock);
    s->keep_ns = from_ns;
    if (s->count > 0)
        s->kept = s->ring[(s->count - 1) % SAMPLER_RING];
    pthread_mutex_unlock(&s->lock);
}

uint64_t sample_away_ns(uint64_t due_ns, uint64_t now_ns, uint64_t cpu_used_ns,
                        uint64_t slack_ns)
{
    const uint64_t late_ns = now_ns > due_ns ? now_ns - due_ns : 0;
    return late_ns > cpu_used_ns + slack_ns ? late_ns - cpu_used_ns : 0;
}

static uint64_t steal_now(struct sampler *s)
{
    if (s->ticks % STEAL_EVERY_TICKS == 0 &&
        !cpu_watch_steal(&s->watch, &s->cores, &s->last_steal_ns))
        s->last_steal_ns = UNKNOWN;
    return s->last_steal_ns;
}

void sampler_tick(struct sampler *s, uint64_t now_ns, uint64_t cpu_ns)
{
    const struct sample *last = s->count > 0 ? &s->ring[(s->count - 1) % SAMPLER_RING] : NULL;
    struct cpu_thread_record record;
    struct sample next = {.at_ns = now_ns, .cpu_ns = cpu_ns};
    cpu_watch_thread(&s->watch, &record);
    next.run_delay_ns = record.has_run_delay ? record.run_delay_ns : UNKNOWN;
    next.involuntary = record.involuntary;
    next.steal_ns = steal_now(s);
    if (last != NULL) {
        uint64_t away_ns =
            sample_away_ns(s->next_tick_ns, now_ns, next.cpu_ns - last->cpu_ns, SLACK_NS);
        /* Preempted and back before the tick was due: only the run delay shows it. */
        if (next.run_delay_ns != UNKNOWN && next.run_delay_ns - last->run_delay_ns > away_ns)
            away_ns = next.run_delay_ns - last->run_delay_ns;
        next.away_ns = last->away_ns + away_ns;
    }
    pthread_mutex_lock(&s->lock);
    s->ring[s->count++ % SAMPLER_RING] = next;
    if (now_ns <= s->keep_ns)
        s->kept = next;
    pthread_mutex_unlock(&s->lock);
    s->ticks++;
    s->next_tick_ns = now_ns + SAMPLER_INTERVAL_NS;
}

struct sample *sampler_copy(struct sampler *s, uint64_t since_ns, size_t *count,
                            struct sample *kept)
{
    pthread_mutex_lock(&s->lock);
    const size_t held = s->count < SAMPLER_RING ? s->count : SAMPLER_RING;
    size_t first = s->count - held;
    while (first < s->count && s->ring[first % SAMPLER_RING].at_ns < since_ns)
        first++;
    *count = s->count - first;
    struct sample *copy = mem_alloc_zeroed(*count + 1, sizeof(*copy));
    for (size_t i = 0; i < *count; i++)
        copy[i] = s->ring[(first + i) % SAMPLER_RING];
    if (kept != NULL)
        *kept = s->kept;
    pthread_mutex_unlock(&s->lock);
    return copy;
}

static double change(uint64_t before, uint64_t after, uint64_t width_ns)
{
    if (before == UNKNOWN || after == UNKNOWN || after < before)
        return NAN;
    return fmin((double)(after - before), (double)width_ns);
}

double sample_busy_share(const struct sample *from, const struct sample *to)
{
    if (from == NULL || to == NULL || from->at_ns == 0 || to->at_ns <= from->at_ns ||
        to->cpu_ns < from->cpu_ns)
        return NAN;
    const double span_ns = (double)(to->at_ns - from->at_ns);
    const double delay_ns = change(from->run_delay_ns, to->run_delay_ns, UINT64_MAX);
    const double cpu_ns = (double)(to->cpu_ns - from->cpu_ns);
    return fmin(1, (cpu_ns + (isfinite(delay_ns) ? delay_ns : 0)) / span_ns);
}

void sample_window_of(const struct sample *samples, size_t count, uint64_t from_ns,
                      uint64_t to_ns, struct sample_window *out)
{
    *out = (struct sample_window){NAN, NAN, NAN, NAN, 0};
    size_t low = 0, high = count; /* the first sample after from_ns */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (samples[middle].at_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    size_t after = low;
    while (after < count && samples[after].at_ns < to_ns)
        after++;
    if (low == 0 || after >= count)
        return;
    const struct sample *a = &samples[low - 1], *b = &samples[after];
    const uint64_t width_ns = to_ns - from_ns;
    /* CPU is used evenly, as far as one can tell; the others come in bursts. */
    const double span_ns = (double)(b->at_ns - a->at_ns);
    out->cpu_ns = change(a->cpu_ns, b->cpu_ns, UINT64_MAX) * (double)width_ns / span_ns;
    out->cpu_ns = fmin(out->cpu_ns, (double)width_ns);
    out->run_delay_ns = change(a->run_delay_ns, b->run_delay_ns, width_ns);
    out->away_ns = change(a->away_ns, b->away_ns, width_ns);
    out->steal_ns = change(a->steal_ns, b->steal_ns, width_ns);
    out->involuntary = b->involuntary - a->involuntary;
}
