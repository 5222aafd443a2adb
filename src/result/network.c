/* SPDX-License-Identifier: Apache-2.0 */
#include "result/network.h"

#include <math.h>
#include <stdbool.h>

void network_merge(struct result_network *into, const struct result_network *from)
{
    range_merge(&into->tcp_round_trips, &from->tcp_round_trips);
    range_merge(&into->tls_round_trips, &from->tls_round_trips);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        range_merge(&into->flights[i], &from->flights[i]);
        range_merge(&into->segments[i], &from->segments[i]);
        range_merge(&into->later_bytes[i], &from->later_bytes[i]);
        into->retransmits[i] += from->retransmits[i];
        into->timeouts[i] += from->timeouts[i];
        into->dropped[i] += from->dropped[i];
    }
    into->disturbed += from->disturbed;
}

static bool is_sound(const struct result_range *r, uint64_t count)
{
    return r->count == count &&
           (count == 0 || (r->min <= r->max && r->max <= UINT32_MAX &&
                           r->mean >= (double)r->min && r->mean <= (double)r->max));
}

int network_check(const char *at, const struct result_network *n, struct err *e)
{
    const uint64_t count = n->tls_round_trips.count;
    bool holds = count <= INT64_MAX && is_sound(&n->tls_round_trips, count) &&
                 is_sound(&n->tcp_round_trips, count) && n->disturbed <= count;
    for (unsigned i = 0; i < RESULT_SIDES && holds; i++)
        holds = is_sound(&n->flights[i], count) && is_sound(&n->segments[i], count) &&
                is_sound(&n->later_bytes[i], count) && n->retransmits[i] <= INT64_MAX &&
                n->timeouts[i] <= n->retransmits[i] && n->dropped[i] <= INT64_MAX;
    holds = holds && !isinf(n->model_tcp_us) && !(n->model_tcp_us < 0) &&
            !isinf(n->model_ttlb_us) && !(n->model_ttlb_us < 0) && !isinf(n->model_tls_us) &&
            !(n->model_tls_us < 0);
    return holds ? 0 : err_set(e, ERR_FAILED, "%s.network: its counts do not agree", at);
}
