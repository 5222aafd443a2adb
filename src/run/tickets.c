/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tickets.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define ROUNDING 1e-9

void tickets_init(struct tickets *t, const struct tls_backend *backend, double share)
{
    memset(t, 0, sizeof(*t));
    t->backend = backend;
    t->share = share;
}

void tickets_fini(struct tickets *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->backend->session_free(t->ticket[i].session);
    t->count = 0;
}

bool tickets_take_turn(struct tickets *t)
{
    if (t->share <= 0)
        return false;
    t->credit += t->share;
    if (t->credit < 1 - ROUNDING)
        return false;
    t->credit -= 1;
    return true;
}

static bool has_expired(const struct tickets *t, const struct ticket *ticket, uint64_t now_ns)
{
    const uint64_t age_ns = now_ns > ticket->kept_ns ? now_ns - ticket->kept_ns : 0;
    return age_ns / SECOND_NS >= t->backend->session_lifetime_s(ticket->session);
}

struct ticket tickets_take(struct tickets *t, uint64_t now_ns)
{
    while (t->count > 0) {
        const struct ticket newest = t->ticket[--t->count];
        if (!has_expired(t, &newest, now_ns))
            return newest;
        t->backend->session_free(newest.session);
    }
    return (struct ticket){.session = NULL};
}

void tickets_keep(struct tickets *t, const struct ticket *ticket)
{
    if (t->count == TICKETS_MAX) {
        t->backend->session_free(t->ticket[0].session);
        memmove(&t->ticket[0], &t->ticket[1], (TICKETS_MAX - 1) * sizeof(t->ticket[0]));
        t->count--;
    }
    t->ticket[t->count++] = *ticket;
}

void tickets_done(struct tickets *t, const struct ticket *ticket)
{
    if (ticket->serves_many)
        tickets_keep(t, ticket);
    else
        t->backend->session_free(ticket->session);
}
