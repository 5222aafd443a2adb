/* SPDX-License-Identifier: Apache-2.0 */
#include "result/link_model.h"

#include <math.h>
#include <string.h>

#define SYN_BYTES 60.0
/* As numbers that are not whole.  The retry's has no cookie; the client's second flight holds
 * a change_cipher_spec of its own. */
#define HEAD_BYTES ((double)LINK_MODEL_HEAD_BYTES)
#define RETRY_BYTES ((double)LINK_MODEL_RETRY_BYTES)
#define FINISHED_BYTES ((double)LINK_MODEL_FINISHED_BYTES)

static double line_ns(const struct link_model_way *way, double bytes)
{
    return way->rate_bits_per_s > 0 ? bytes * 8e9 / way->rate_bits_per_s : 0;
}

static double rtt_ns(const struct link_model_line *line)
{
    return line->way[RESULT_CLIENT].delay_ns + line->way[RESULT_SERVER].delay_ns;
}

static double window_of(const struct link_model_way *way)
{
    return way->initcwnd_packets > 0 ? way->initcwnd_packets : LINK_MODEL_INITCWND;
}

/* One flight, from its first segment's leaving to its last one's arrival; the window grows by
 * what is acknowledged. */
static double flight_ns(const struct link_model_line *line, enum result_side sender,
                        double bytes, double *window)
{
    const struct link_model_way *way = &line->way[sender];
    const struct link_model_way *back =
        &line->way[sender == RESULT_CLIENT ? RESULT_SERVER : RESULT_CLIENT];
    const double most = line->mtu_bytes - HEAD_BYTES;
    const double segment_ns = line_ns(way, line->mtu_bytes);
    const double turn_ns = segment_ns + rtt_ns(line) + line_ns(back, HEAD_BYTES);
    double left = ceil(bytes / most), start_ns = 0;
    const double last_bytes = bytes - (left - 1) * most + HEAD_BYTES;
    while (left > *window) {
        start_ns += fmax(turn_ns, *window * segment_ns);
        left -= *window;
        *window *= 2;
    }
    const double end_ns =
        start_ns + (left - 1) * segment_ns + line_ns(way, last_bytes) + way->delay_ns;
    *window += left;
    return end_ns;
}

double link_model_ns(const struct link_model_line *line,
                     const struct link_model_flights *flights)
{
    double window[RESULT_SIDES] = {window_of(&line->way[RESULT_CLIENT]),
                                   window_of(&line->way[RESULT_SERVER])};
    double sum_ns = 0;
    for (unsigned i = 0; i < flights->count; i++) {
        const enum result_side sender = i % 2 == 0 ? RESULT_CLIENT : RESULT_SERVER;
        sum_ns += flight_ns(line, sender, flights->bytes[i], &window[sender]);
    }
    return sum_ns;
}

double link_model_response_ns(const struct link_model_line *line,
                              const struct link_model_flights *flights, double request_bytes,
                              double response_bytes)
{
    struct link_model_flights all = *flights;
    all.bytes[all.count++] = FINISHED_BYTES + request_bytes;
    all.bytes[all.count++] = response_bytes;
    return link_model_ns(line, &all) - link_model_ns(line, flights);
}

double link_model_connect_ns(const struct link_model_line *line)
{
    return rtt_ns(line) + line_ns(&line->way[RESULT_CLIENT], SYN_BYTES) +
           line_ns(&line->way[RESULT_SERVER], SYN_BYTES);
}

void link_model_flights_of(const struct result_arm *arm, struct link_model_flights *out)
{
    const struct result_bytes *b = &arm->bytes;
    const struct result_negotiated *n = &arm->negotiated;
    out->count = 0;
    if (b->client_hello.count == 0 || b->handshake[RESULT_SERVER].count == 0 ||
        n->tls == NULL || strcmp(n->tls, "1.3") != 0)
        return;
    const double hello = b->client_hello.mean, server = b->handshake[RESULT_SERVER].mean;
    if (2 * n->hrr < n->handshakes) {
        *out = (struct link_model_flights){2, {hello, server}};
        return;
    }
    const double again = b->handshake[RESULT_CLIENT].mean - hello - FINISHED_BYTES;
    *out = (struct link_model_flights){
        4, {hello, RETRY_BYTES, fmax(again, 1), fmax(server - RETRY_BYTES, 1)}};
}
