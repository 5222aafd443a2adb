/* SPDX-License-Identifier: Apache-2.0 */
#include "run/link_model.h"

#include <math.h>
#include <string.h>

#define HEAD_BYTES 52.0 /* IPv4, TCP and its timestamps */
#define SYN_BYTES 60.0
/* HelloRetryRequest with cookie-less extensions and the change_cipher_spec behind it; the
 * client's second flight holds that of its own as well. */
#define RETRY_BYTES 99.0
#define FINISHED_BYTES 80.0

static double line_ns(const struct link_way_spec *way, double bytes)
{
    return way->rate_bits_per_s > 0 ? bytes * 8e9 / way->rate_bits_per_s : 0;
}

static double window_of(const struct link_way_spec *way)
{
    return way->initcwnd_packets > 0 ? way->initcwnd_packets : LINK_MODEL_INITCWND;
}

/* One flight, from its first segment's leaving to its last one's arrival; the window grows by
 * what is acknowledged. */
static double flight_ns(const struct link_spec *spec, enum link_way name, double bytes,
                        double *window)
{
    const struct link_way_spec *way = &spec->way[name];
    const struct link_way_spec *back = &spec->way[name == LINK_UP ? LINK_DOWN : LINK_UP];
    const double most = spec->mtu_bytes - HEAD_BYTES;
    const double segment_ns = line_ns(way, spec->mtu_bytes);
    const double turn_ns =
        segment_ns + (double)link_spec_rtt_ns(spec) + line_ns(back, HEAD_BYTES);
    double left = ceil(bytes / most), start_ns = 0;
    const double last_bytes = bytes - (left - 1) * most + HEAD_BYTES;
    while (left > *window) {
        start_ns += fmax(turn_ns, *window * segment_ns);
        left -= *window;
        *window *= 2;
    }
    const double end_ns =
        start_ns + (left - 1) * segment_ns + line_ns(way, last_bytes) + (double)way->delay_ns;
    *window += left;
    return end_ns;
}

double link_model_ns(const struct link_spec *spec, const struct link_model_flights *flights)
{
    double window[LINK_WAYS] = {window_of(&spec->way[LINK_UP]),
                                window_of(&spec->way[LINK_DOWN])};
    double sum_ns = 0;
    for (unsigned i = 0; i < flights->count; i++) {
        const enum link_way way = i % 2 == 0 ? LINK_UP : LINK_DOWN;
        sum_ns += flight_ns(spec, way, flights->bytes[i], &window[way]);
    }
    return sum_ns;
}

double link_model_response_ns(const struct link_spec *spec,
                              const struct link_model_flights *flights, double request_bytes,
                              double response_bytes)
{
    struct link_model_flights all = *flights;
    all.bytes[all.count++] = FINISHED_BYTES + request_bytes;
    all.bytes[all.count++] = response_bytes;
    return link_model_ns(spec, &all) - link_model_ns(spec, flights);
}

double link_model_connect_ns(const struct link_spec *spec)
{
    return (double)link_spec_rtt_ns(spec) + line_ns(&spec->way[LINK_UP], SYN_BYTES) +
           line_ns(&spec->way[LINK_DOWN], SYN_BYTES);
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
