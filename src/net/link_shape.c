/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_shape.h"

#include <stdlib.h>
#include <string.h>
#include "base/text.h"

void link_shape_init(struct link_shape *s, const struct link_way_spec *spec, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    s->spec = *spec;
    rng_init(&s->rng, seed);
    s->leave_bad = 1 / spec->burst_packets;
    s->enter_bad = spec->loss / (spec->burst_packets * (1 - spec->loss));
    s->is_bad = rng_unit(&s->rng) < spec->loss;
    s->room = (size_t)spec->queue_packets + 1; /* and the one on the line */
    s->departure_ns = mem_alloc_zeroed(s->room, sizeof(*s->departure_ns));
}

void link_shape_fini(struct link_shape *s)
{
    free(s->departure_ns);
    s->departure_ns = NULL;
}

static bool draw_loss(struct link_shape *s)
{
    if (!(s->spec.loss > 0))
        return false;
    if (!(s->spec.burst_packets > 1))
        return rng_unit(&s->rng) < s->spec.loss;
    const bool is_lost = s->is_bad;
    if (rng_unit(&s->rng) < (s->is_bad ? s->leave_bad : s->enter_bad))
        s->is_bad = !s->is_bad;
    return is_lost;
}

static uint64_t draw_delay_ns(struct link_shape *s)
{
    const uint64_t jitter_ns = s->spec.jitter_ns;
    if (jitter_ns == 0)
        return s->spec.delay_ns;
    return s->spec.delay_ns - jitter_ns + rng_below(&s->rng, 2 * jitter_ns + 1);
}

/* false: the queue is full.  Without a rate nothing ever waits. */
static bool take_line(struct link_shape *s, size_t bytes, uint64_t now_ns, uint64_t *sent_ns)
{
    *sent_ns = now_ns;
    if (!(s->spec.rate_bits_per_s > 0))
        return true;
    while (s->waiting > 0 && s->departure_ns[s->first] <= now_ns) {
        s->first = (s->first + 1) % s->room;
        s->waiting--;
    }
    if (s->waiting == s->room)
        return false;
    const double line_ns = (double)bytes * 8e9 / s->spec.rate_bits_per_s;
    if (s->line_free_ns < now_ns)
        s->line_free_ns = now_ns;
    s->line_free_ns += (uint64_t)(line_ns + 0.5);
    s->departure_ns[(s->first + s->waiting++) % s->room] = s->line_free_ns;
    *sent_ns = s->line_free_ns;
    return true;
}

enum link_fate link_shape_enter(struct link_shape *s, size_t bytes, uint64_t now_ns,
                                uint64_t *due_ns)
{
    uint64_t sent_ns;
    if (!take_line(s, bytes, now_ns, &sent_ns))
        return LINK_QUEUE_FULL;
    if (draw_loss(s))
        return LINK_LOST;
    if (s->spec.largest_bytes > 0 && bytes > s->spec.largest_bytes)
        return LINK_TOO_LARGE;
    *due_ns = sent_ns + draw_delay_ns(s);
    if (*due_ns < s->last_due_ns)
        *due_ns = s->last_due_ns;
    s->last_due_ns = *due_ns;
    return LINK_PASSED;
}
