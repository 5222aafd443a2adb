/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"

#define DELAY_MOST_NS 10000000000u
#define BURST_MOST 1000.0
#define INITCWND_MOST 1000u
#define LARGEST_LEAST 60u /* a SYN */
#define ITEM_MAX 64u
#define PROFILES "lan, metro, continental, intercontinental, satellite, lte-m, 5g, 1mbit"
#define KEYS \
    "rtt, delay, jitter, loss, burst, rate, queue, largest, initcwnd, mtu, cc, emulator"

static const struct {
    const char *name, *text;
} profiles[] = {
    {"lan", "rtt=200us,rate=1gbit"},
    {"metro", "rtt=2ms,rate=1gbit"},
    {"continental", "rtt=31ms,rate=100mbit"},
    {"intercontinental", "rtt=196ms,rate=100mbit"},
    {"satellite", "rtt=558ms,up.rate=3mbit,down.rate=25mbit"},
    {"lte-m", "rtt=200ms,rate=1mbit,loss=10%"},
    {"5g", "rtt=44ms,rate=880mbit,loss=4%"},
    {"1mbit", "rtt=0,rate=1mbit"},
};
#define PROFILE_COUNT (sizeof(profiles) / sizeof(profiles[0]))

const char *link_profile_name(size_t i)
{
    return i < PROFILE_COUNT ? profiles[i].name : NULL;
}

const char *link_profile_text(size_t i)
{
    return i < PROFILE_COUNT ? profiles[i].text : NULL;
}

const char *link_way_name(enum link_way way)
{
    return way == LINK_UP ? "up" : "down";
}

uint64_t link_spec_rtt_ns(const struct link_spec *spec)
{
    return spec->way[LINK_UP].delay_ns + spec->way[LINK_DOWN].delay_ns;
}

/* ---- one value ---- */

static int parse_delay(const char *value, uint64_t most_ns, uint64_t *out, struct err *e)
{
    uint64_t ns;
    if (units_parse_duration_ns(value, &ns, e) != 0)
        return -1;
    if (ns > most_ns)
        return err_set(e, ERR_USAGE, "'%.40s' is more than %" PRIu64 "s", value,
                       most_ns / 1000000000u);
    *out = ns;
    return 0;
}

static int parse_loss(const char *value, double *out, struct err *e)
{
    double share;
    if (units_parse_share(value, &share, e) != 0)
        return -1;
    if (share >= 1)
        return err_set(e, ERR_USAGE, "'%.40s' leaves nothing; less than 100%% is accepted",
                       value);
    *out = share;
    return 0;
}

static int parse_burst(const char *value, double *out, struct err *e)
{
    double packets;
    if (units_parse_number(value, &packets, e) != 0)
        return -1;
    if (packets < 1 || packets > BURST_MOST)
        return err_set(e, ERR_USAGE, "'%.40s' is not between 1 and 1000 packets", value);
    *out = packets;
    return 0;
}

static int parse_count(const char *value, unsigned least, unsigned most, unsigned *out,
                       struct err *e)
{
    uint64_t count;
    if (units_parse_count(value, least, most, &count, e) != 0)
        return -1;
    *out = (unsigned)count;
    return 0;
}

/* 1: no such key. */
static int set_way(struct link_way_spec *way, const char *key, const char *value, struct err *e)
{
    if (strcmp(key, "delay") == 0)
        return parse_delay(value, DELAY_MOST_NS, &way->delay_ns, e);
    if (strcmp(key, "jitter") == 0)
        return parse_delay(value, DELAY_MOST_NS, &way->jitter_ns, e);
    if (strcmp(key, "loss") == 0)
        return parse_loss(value, &way->loss, e);
    if (strcmp(key, "burst") == 0)
        return parse_burst(value, &way->burst_packets, e);
    if (strcmp(key, "rate") == 0)
        return units_parse_bits_per_s(value, &way->rate_bits_per_s, e);
    if (strcmp(key, "queue") == 0)
        return parse_count(value, 1, LINK_QUEUE_MOST, &way->queue_packets, e);
    if (strcmp(key, "largest") == 0)
        return parse_count(value, LARGEST_LEAST, LINK_MTU_MOST, &way->largest_bytes, e);
    if (strcmp(key, "initcwnd") == 0)
        return parse_count(value, 1, INITCWND_MOST, &way->initcwnd_packets, e);
    return 1;
}

static int set_rtt(struct link_spec *spec, const char *value, struct err *e)
{
    uint64_t ns = 0;
    if (parse_delay(value, 2 * (uint64_t)DELAY_MOST_NS, &ns, e) != 0)
        return -1;
    spec->way[LINK_UP].delay_ns = ns / 2;
    spec->way[LINK_DOWN].delay_ns = ns - ns / 2;
    return 0;
}

static int set_cc(struct link_spec *spec, const char *value, struct err *e)
{
    const size_t length = strlen(value);
    if (length == 0 || length >= LINK_CC_MAX ||
        strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)
        return err_set(e, ERR_USAGE,
                       "'%.40s' is not the name of a congestion control, like cubic", value);
    snprintf(spec->cc, sizeof(spec->cc), "%s", value);
    return 0;
}

static int set_emulator(struct link_spec *spec, const char *value, struct err *e)
{
    const bool is_netem = strcmp(value, "netem") == 0;
    if (!is_netem && strcmp(value, "own") != 0)
        return err_set(e, ERR_USAGE, "'%.40s' is none of own, netem", value);
    spec->is_netem = is_netem;
    return 0;
}

static int set_common(struct link_spec *spec, const char *key, const char *value, struct err *e)
{
    if (strcmp(key, "rtt") == 0)
        return set_rtt(spec, value, e);
    if (strcmp(key, "mtu") == 0)
        return parse_count(value, LINK_MTU_LEAST, LINK_MTU_MOST, &spec->mtu_bytes, e);
    if (strcmp(key, "cc") == 0)
        return set_cc(spec, value, e);
    if (strcmp(key, "emulator") == 0)
        return set_emulator(spec, value, e);
    return 1;
}

static int set_key(struct link_spec *spec, const char *key, const char *value, struct err *e)
{
    int end = set_common(spec, key, value, e);
    if (end != 1)
        return end;
    if (strncmp(key, "up.", 3) == 0)
        return set_way(&spec->way[LINK_UP], key + 3, value, e);
    if (strncmp(key, "down.", 5) == 0)
        return set_way(&spec->way[LINK_DOWN], key + 5, value, e);
    end = set_way(&spec->way[LINK_UP], key, value, e);
    return end != 0 ? end : set_way(&spec->way[LINK_DOWN], key, value, e);
}

/* ---- the list ---- */

static int set_item(struct link_spec *spec, char *item, struct err *e)
{
    char *equals = strchr(item, '=');
    if (strcmp(item, "netem") == 0)
        return set_emulator(spec, item, e);
    if (equals == NULL)
        return err_set(e, ERR_USAGE,
                       "'%s': KEY=VALUE expected; a profile (" PROFILES ") stands first", item);
    *equals = '\0';
    const int end = set_key(spec, item, equals + 1, e);
    if (end == 1)
        return err_set(e, ERR_USAGE, "no key '%s'; the keys are " KEYS, item);
    return end == 0 ? 0 : err_add_context(e, "%s", item);
}

static int set_list(struct link_spec *spec, const char *text, struct err *e)
{
    while (*text != '\0') {
        char item[ITEM_MAX];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof(item))
            return err_set(e, ERR_USAGE, "'%.60s...' is too long", text);
        memcpy(item, text, length);
        item[length] = '\0';
        if (set_item(spec, item, e) != 0)
            return -1;
        text += length;
        if (*text != ',')
            continue;
        text++;
        if (*text == '\0')
            return err_set(e, ERR_USAGE, "something is missing behind the last ','");
    }
    return 0;
}

/* Behind the profile's name, or NULL where the text does not begin with one. */
static const char *take_profile(struct link_spec *spec, const char *text, const char **list)
{
    const size_t length = strcspn(text, ",");
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        if (strlen(profiles[i].name) == length &&
            strncmp(profiles[i].name, text, length) == 0) {
            snprintf(spec->profile, sizeof(spec->profile), "%s", profiles[i].name);
            *list = profiles[i].text;
            return text + length + (text[length] == ',' && text[length + 1] != '\0');
        }
    return NULL;
}

static int check(const struct link_spec *spec, struct err *e)
{
    for (unsigned i = 0; i < LINK_WAYS; i++) {
        const struct link_way_spec *way = &spec->way[i];
        if (way->jitter_ns > way->delay_ns)
            return err_set(e, ERR_USAGE, "%s: jitter is more than the delay",
                           link_way_name((enum link_way)i));
        /* A way that is lost more than this cannot leave a loss as fast as it must. */
        if (way->loss > way->burst_packets / (way->burst_packets + 1) && way->burst_packets > 1)
            return err_set(e, ERR_USAGE, "%s: a loss of %.4g%% in bursts of %.4g is too much",
                           link_way_name((enum link_way)i), 100 * way->loss,
                           way->burst_packets);
        if (way->largest_bytes > 0 && spec->is_netem)
            return err_set(e, ERR_USAGE, "%s: netem has no 'largest'; leave the word netem out",
                           link_way_name((enum link_way)i));
    }
    return 0;
}

static const struct link_spec defaults = {
    .way = {{.burst_packets = 1, .queue_packets = 1000},
            {.burst_packets = 1, .queue_packets = 1000}},
    .mtu_bytes = 1500,
    .cc = "cubic",
};

int link_spec_parse(const char *text, struct link_spec *out, struct err *e)
{
    struct link_spec spec = defaults;
    const char *list = "", *rest;
    if (*text == '\0')
        return err_set(e, ERR_USAGE,
                       "empty; a profile (" PROFILES ") or KEY=VALUE,... expected");
    rest = take_profile(&spec, text, &list);
    if (set_list(&spec, list, e) != 0 || set_list(&spec, rest != NULL ? rest : text, e) != 0 ||
        check(&spec, e) != 0)
        return -1;
    *out = spec;
    return 0;
}

/* ---- as text ---- */

static void format_way(struct text *t, const char *name, const struct link_way_spec *way)
{
    char number[40];
    text_addf(t, "%sdelay=%s,", name,
              units_format_duration_exact(way->delay_ns, number, sizeof(number)));
    text_addf(t, "%sjitter=%s,", name,
              units_format_duration_exact(way->jitter_ns, number, sizeof(number)));
    text_addf(t, "%sloss=%s,", name, units_format_number(way->loss, number, sizeof(number)));
    text_addf(t, "%sburst=%s,", name,
              units_format_number(way->burst_packets, number, sizeof(number)));
    if (way->rate_bits_per_s > 0)
        text_addf(t, "%srate=%sbit,", name,
                  units_format_number(way->rate_bits_per_s, number, sizeof(number)));
    text_addf(t, "%squeue=%u,", name, way->queue_packets);
    if (way->largest_bytes > 0)
        text_addf(t, "%slargest=%u,", name, way->largest_bytes);
    if (way->initcwnd_packets > 0)
        text_addf(t, "%sinitcwnd=%u,", name, way->initcwnd_packets);
}

char *link_spec_format(const struct link_spec *spec, char *buf, size_t size)
{
    const struct link_way_spec *up = &spec->way[LINK_UP], *down = &spec->way[LINK_DOWN];
    struct text t = {0}, other = {0};
    format_way(&t, "", up);
    format_way(&other, "", down);
    if (strcmp(text_str(&t), text_str(&other)) != 0) {
        text_free(&t);
        format_way(&t, "up.", up);
        format_way(&t, "down.", down);
    }
    text_addf(&t, "mtu=%u,cc=%s%s", spec->mtu_bytes, spec->cc,
              spec->is_netem ? ",emulator=netem" : "");
    snprintf(buf, size, "%s", text_str(&t));
    text_free(&t);
    text_free(&other);
    return buf;
}
