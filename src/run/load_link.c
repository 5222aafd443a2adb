/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated link of a load run: made before the server, told of in the result. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "result/link_model.h"
#include "run/load_parts.h"

#define LATE_LEAST_NS 1000000u /* p99 of lateness: this, or a share of the round trip */
#define LATE_SHARE_OF_RTT 0.03

int load_link_open(struct load *l, uint64_t seed, struct err *e)
{
    const struct load_options *o = l->options;
    if (o->link == NULL)
        return 0;
    const struct link_options options = {.spec = o->link, .seed = seed, .capture = o->capture};
    l->link = link_open(&options, e);
    return l->link != NULL ? 0 : -1;
}

/* Every key and its value. */
static void fill_spec(const struct link_spec *spec, struct result_pairs *out)
{
    char text[LINK_SPEC_TEXT_MAX], *rest = NULL;
    if (spec->profile[0] != '\0')
        pairs_add(out, "profile", spec->profile);
    link_spec_format(spec, text, sizeof(text));
    for (char *item = strtok_r(text, ",", &rest); item != NULL;
         item = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(item, '=');
        *equals = '\0';
        pairs_add(out, item, equals + 1);
    }
}

/* When netem's packets were due it alone knows. */
static void fill_way(const struct link_counters *c, bool is_netem, struct result_link_way *out)
{
    out->packets = c->packets;
    out->bytes = c->bytes;
    out->lost = c->lost;
    out->queue_full = c->queue_full;
    out->too_large = c->too_large;
    out->overflow = c->overflow;
    if (c->delivered > 0 && !is_netem) {
        out->late_p99_us = (double)link_late_ns(c, 0.99) / 1e3;
        out->late_max_us = (double)c->late_max_ns / 1e3;
    }
}

/* A packet that came much later than it should is the emulator's doing, not the link's. */
static void check_way(struct load *l, enum link_way way, const struct link_counters *c)
{
    char message[200];
    const uint64_t late_ns = link_late_ns(c, 0.99);
    const double most_ns = LATE_SHARE_OF_RTT * (double)link_spec_rtt_ns(l->options->link);
    if (late_ns > LATE_LEAST_NS && (double)late_ns > most_ns) {
        snprintf(message, sizeof(message),
                 "%s: one packet in a hundred came %.3g ms late or more; the emulator had no "
                 "core when it needed one",
                 link_way_name(way), (double)late_ns / 1e6);
        result_add_problem(l->result, RESULT_FAULT, "link-late", NULL, 0, message);
    }
    if (c->overflow > 0) {
        snprintf(message, sizeof(message),
                 "%s: %" PRIu64 " packets found no room in the emulator", link_way_name(way),
                 c->overflow);
        result_add_problem(l->result, RESULT_FAULT, "link-overflow", NULL, 0, message);
    }
}

static void line_of(const struct link_spec *spec, struct link_model_line *out)
{
    *out = (struct link_model_line){.mtu_bytes = spec->mtu_bytes};
    for (unsigned i = 0; i < LINK_WAYS; i++)
        out->way[i] =
            (struct link_model_way){(double)spec->way[i].delay_ns, spec->way[i].rate_bits_per_s,
                                    spec->way[i].initcwnd_packets};
}

static void fill_model(struct load *l)
{
    struct link_model_line line;
    line_of(l->options->link, &line);
    for (size_t i = 0; i < l->result->arms; i++) {
        struct result_arm *arm = &l->result->arm[i];
        struct link_model_flights flights;
        link_model_flights_of(arm, &flights);
        if (arm->network.tls_round_trips.count == 0)
            continue;
        arm->network.model_tcp_us = link_model_connect_ns(&line) / 1e3;
        if (flights.count == 0)
            continue;
        const struct result_range *later = arm->network.later_bytes;
        arm->network.model_tls_us = link_model_ns(&line, &flights) / 1e3;
        if (arm->negotiated.early_data_accepted == 0)
            arm->network.model_ttlb_us =
                link_model_response_ns(&line, &flights, later[RESULT_CLIENT].mean,
                                       later[RESULT_SERVER].mean) /
                1e3;
    }
}

void load_link_fill(struct load *l)
{
    struct link_counters counters[LINK_WAYS];
    char spec[LINK_SPEC_TEXT_MAX], message[LINK_SPEC_TEXT_MAX + 64];
    if (l->link == NULL)
        return;
    fill_spec(l->options->link, &l->result->link);
    fill_model(l);
    link_read_counters(l->link, counters);
    for (unsigned i = 0; i < LINK_WAYS; i++) {
        fill_way(&counters[i], l->options->link->is_netem, &l->result->link_way[i]);
        check_way(l, (enum link_way)i, &counters[i]);
    }
    snprintf(message, sizeof(message), "taken over an emulated link: %s",
             link_spec_format(l->options->link, spec, sizeof(spec)));
    result_add_problem(l->result, RESULT_NOTE, "emulated-link", NULL, 0, message);
}

int load_link_close(struct load *l, struct err *e)
{
    struct link *link = l->link;
    l->link = NULL;
    return link_close(link, e);
}
