/* SPDX-License-Identifier: Apache-2.0 */
#include "run/slowest.h"

#include <math.h>
#include <stddef.h>

/* A lost segment costs at least the minimal retransmission timeout, 200 ms, or, with a tail
 * loss probe, two round trips; so a retransmission is a cause whatever it is measured at. */
static bool explains(double ns, double excess_ns)
{
    return ns >= SLOW_SHARE * excess_ns;
}

const char *slow_cause_name(enum slow_cause cause)
{
    static const char *const names[SLOW_CAUSES] = {
        "steal",      "client-preempted", "server-preempted",
        "retransmit", "client-queue",     "server-queue",
        "hrr",        "unexplained"};
    return names[(unsigned)cause < SLOW_CAUSES ? cause : SLOW_UNEXPLAINED];
}

static double above(double value, double typical)
{
    return isnan(typical) ? value : value - typical;
}

enum slow_cause slow_cause_of(const struct slow_facts *f)
{
    const double excess_ns = f->response_ns - f->typical_ns;
    if (!(excess_ns > 0))
        return f->is_hrr && !f->is_hrr_usual ? SLOW_HRR : SLOW_UNEXPLAINED;
    /* Comparisons with NAN are false: what is unknown explains nothing. */
    if (explains(f->steal_ns, excess_ns))
        return SLOW_STEAL;
    if (explains(f->client_away_ns, excess_ns) || explains(f->server_away_ns, excess_ns))
        return f->server_away_ns > f->client_away_ns || isnan(f->client_away_ns)
                   ? SLOW_SERVER_PREEMPTED
                   : SLOW_CLIENT_PREEMPTED;
    if (f->retransmits > 0)
        return SLOW_RETRANSMIT;
    const double client_ns = above(f->client_busy_ns, f->typical_client_busy_ns);
    const double server_ns = above(f->server_busy_ns, f->typical_server_busy_ns);
    if (explains(client_ns, excess_ns) && !(server_ns > client_ns))
        return SLOW_CLIENT_QUEUE;
    if (explains(server_ns, excess_ns))
        return SLOW_SERVER_QUEUE;
    if (f->is_hrr && !f->is_hrr_usual)
        return SLOW_HRR;
    return SLOW_UNEXPLAINED;
}
