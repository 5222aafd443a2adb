/* SPDX-License-Identifier: Apache-2.0 */
/* What tc is told of a way. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "net/link_netem.h"

#define LIMIT_MOST 1000000.0
#define LIMIT_WITHOUT_RATE 100000.0
#define BITS_PER_BYTE 8.0
#define NS_PER_S 1e9
#define NS_PER_US 1e3

/* netem's limit holds those under way as well as those that wait for the rate. */
static double limit_of(const struct link_way_spec *way, unsigned mtu_bytes)
{
    if (!(way->rate_bits_per_s > 0))
        return LIMIT_WITHOUT_RATE;
    const double seconds = (double)(way->delay_ns + way->jitter_ns) / NS_PER_S;
    const double under_way = way->rate_bits_per_s * seconds / BITS_PER_BYTE / mtu_bytes;
    return fmin(LIMIT_MOST, way->queue_packets + ceil(under_way));
}

static void add_number(struct text *t, const char *before, double value, const char *behind)
{
    char number[40];
    text_addf(t, "%s%s%s", before, units_format_number(value, number, sizeof(number)), behind);
}

static void add_loss(struct text *t, const struct link_way_spec *way)
{
    if (!(way->loss > 0))
        return;
    if (way->burst_packets <= 1) {
        add_number(t, " loss random ", 100 * way->loss, "%");
        return;
    }
    const double leave = 1 / way->burst_packets;
    add_number(t, " loss gemodel ", 100 * leave * way->loss / (1 - way->loss), "%");
    add_number(t, " ", 100 * leave, "% 100% 0%");
}

void link_netem_words(const struct link_way_spec *way, unsigned mtu_bytes, const char *device,
                      struct link_netem_words *out)
{
    struct text t = {0};
    text_addf(&t, "qdisc replace dev %s root netem", device);
    add_number(&t, " limit ", limit_of(way, mtu_bytes), "");
    if (way->delay_ns > 0)
        add_number(&t, " delay ", (double)way->delay_ns / NS_PER_US, "us");
    if (way->jitter_ns > 0)
        add_number(&t, " ", (double)way->jitter_ns / NS_PER_US, "us");
    add_loss(&t, way);
    if (way->rate_bits_per_s > 0) {
        add_number(&t, " rate ", way->rate_bits_per_s, "bit");
        text_addf(&t, " -%u", LINK_NETEM_TRAILER_BYTES);
    }
    snprintf(out->text, sizeof(out->text), "%s", text_str(&t));
    text_free(&t);
    size_t words = 0;
    char *rest = NULL;
    for (char *word = strtok_r(out->text, " ", &rest);
         word != NULL && words < LINK_NETEM_WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        out->word[words++] = word;
    out->word[words] = NULL;
}
