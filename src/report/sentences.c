/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sentences.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/lookup.h"

void sentences_add_arm(struct text *out, const struct result_arm *arm)
{
    text_add_harmless(out, arm->name);
    if (arm->negotiated.group == NULL || text_same_name(arm->negotiated.group, arm->name))
        return;
    text_add(out, " (");
    text_add_harmless(out, arm->negotiated.group);
    text_add(out, ")");
}

/* A smaller difference of means is not shown by one decimal. */
#define BYTES_NOTICED 0.05

static const char *verb_of(enum result_verdict verdict)
{
    static const char *const verbs[RESULT_VERDICTS] = {
        [RESULT_VERDICT_SLOWER] = "costs",
        [RESULT_VERDICT_FASTER] = "saves",
        [RESULT_VERDICT_MORE] = "costs",
        [RESULT_VERDICT_FEWER] = "saves",
        [RESULT_VERDICT_SAME] = "makes no difference beyond noise to",
        [RESULT_VERDICT_INCONCLUSIVE] = "is inconclusive for",
        [RESULT_VERDICT_WITHHELD] = "has its verdict withheld for",
    };
    return verbs[verdict];
}

/* " +129 us (+47 %, 95 % interval +120 to +141)" */
static void add_difference(struct text *out, const struct result_comparison *c)
{
    const struct figure *d = &c->difference;
    if (!figure_is_set(d)) {
        text_add(out, " (no figure)");
        return;
    }
    const bool is_saving = c->verdict == RESULT_VERDICT_FASTER;
    const bool is_plain = is_saving || c->verdict == RESULT_VERDICT_SLOWER;
    text_add(out, is_plain ? " " : " (");
    if (is_saving)
        figures_add_us(out, -d->value);
    else
        figures_add_signed_us(out, d->value);
    text_add(out, " us");
    text_add(out, is_plain ? " (" : ", ");
    figures_add_change(out, figures_change(c));
    if (figure_has_interval(d)) {
        text_addf(out, ", %.3g %% interval ", c->confidence * 100);
        figures_add_signed_us(out, d->low);
        text_add(out, " to ");
        figures_add_signed_us(out, d->high);
    }
    if (c->verdict == RESULT_VERDICT_INCONCLUSIVE && !isnan(c->settle_s)) {
        text_add(out, "; a run of about ");
        figures_add_seconds(out, c->settle_s);
        text_add(out, " might settle it");
    }
    text_add(out, ")");
}

static bool add_cpu_cost(struct text *out, const struct result *r, const char *arm)
{
    const struct result_comparison *last = NULL;
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const char *name = result_side_name((enum result_side)side);
        const struct result_comparison *c = lookup_metric(r, arm, "cpu_us", name, NULL);
        if (c == NULL)
            continue;
        if (last != NULL)
            text_add(out, " and");
        if (last == NULL || last->verdict != c->verdict)
            text_addf(out, " %s", verb_of(c->verdict));
        text_addf(out, " the %s", name);
        add_difference(out, c);
        last = c;
    }
    return last != NULL;
}

static double mean_difference(const struct result_range *b, const struct result_range *a)
{
    return a->count == 0 || b->count == 0 ? NAN : b->mean - a->mean;
}

void sentences_add_byte_cost(struct text *out, const struct result_arm *arm,
                             const struct result_arm *baseline)
{
    const double client = mean_difference(&arm->bytes.handshake[RESULT_CLIENT],
                                          &baseline->bytes.handshake[RESULT_CLIENT]);
    const double server = mean_difference(&arm->bytes.handshake[RESULT_SERVER],
                                          &baseline->bytes.handshake[RESULT_SERVER]);
    const double trips = mean_difference(&arm->bytes.round_trips, &baseline->bytes.round_trips);
    if (fabs(client) < BYTES_NOTICED && fabs(server) < BYTES_NOTICED) {
        text_add(out, "; the same bytes");
    } else if (!isnan(client) && !isnan(server)) {
        text_add(out, "; ");
        figures_add_signed_bytes(out, client);
        text_add(out, " bytes from the client, ");
        figures_add_signed_bytes(out, server);
        text_add(out, " from the server");
    }
    if (!isnan(trips) && fabs(trips) > 0) {
        text_add(out, "; ");
        figures_add_signed_bytes(out, trips);
        text_add(out, fabs(trips) > 1 ? " round trips" : " round trip");
    }
}

bool sentences_add_cost(struct text *out, const struct result *r, const struct result_arm *arm)
{
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    if (baseline == NULL)
        return false;
    sentences_add_arm(out, arm);
    if (!add_cpu_cost(out, r, arm->name))
        text_add(out, " has no CPU figure");
    sentences_add_byte_cost(out, arm, baseline);
    text_add(out, ".");
    return true;
}

static void add_part(struct text *out, const char *words, uint64_t count,
                     const struct result_negotiated *n)
{
    if (count == 0)
        return;
    text_addf(out, "; %s ", words);
    figures_add_share(out, (double)count / (double)n->handshakes);
}

bool sentences_add_negotiated(struct text *out, const struct result_arm *arm)
{
    const struct result_negotiated *n = &arm->negotiated;
    if (n->groups < 2 && n->hrr == 0 && n->resumed == 0 && n->resume_asked == 0 &&
        n->early_data_accepted == 0 && n->early_data_rejected == 0)
        return false;
    text_add_harmless(out, arm->name);
    text_add(out, " negotiated");
    for (size_t i = 0; i < n->groups; i++) {
        text_add(out, i == 0 ? " " : ", ");
        text_add_harmless(out, n->group_count[i].name);
        text_add(out, " ");
        figures_add_share(out, (double)n->group_count[i].count / (double)n->handshakes);
    }
    add_part(out, "HelloRetryRequest in", n->hrr, n);
    add_part(out, "asked to resume", n->resume_asked, n);
    if (n->resume_asked > n->resume_offered)
        add_part(out, "no ticket for it in", n->resume_asked - n->resume_offered, n);
    add_part(out, "resumed", n->resumed, n);
    add_part(out, "early data accepted in", n->early_data_accepted, n);
    add_part(out, "early data rejected in", n->early_data_rejected, n);
    text_add(out, ".");
    return true;
}

static void add_value(struct text *out, const char *words, const char *value)
{
    text_add(out, words);
    text_add_harmless(out, value);
}

bool sentences_add_prediction(struct text *out, const struct result_arm *arm)
{
    const char *source = pairs_find(&arm->prediction, "source");
    const char *server = pairs_find(&arm->prediction, "server");
    const char *share = pairs_find(&arm->prediction, "share");
    if (source == NULL)
        return false;
    text_add_harmless(out, arm->name);
    if (share == NULL)
        text_add(out, " sent its usual key shares, for want of a prediction");
    else
        add_value(out, " sent one key share, predicted: ", share);
    if (strcmp(source, "list") != 0)
        add_value(out, "; DNS was asked for ", source);
    if (server != NULL)
        add_value(out, "; the server's groups are said to be ", server);
    text_add(out, ".");
    return true;
}

static double side_noise(const struct result *r, const char *side)
{
    char metric[32] = "cpu_us.";
    double largest = NAN;
    strncat(metric, side, sizeof(metric) - strlen(metric) - 1);
    for (size_t i = 0; i < r->comparisons; i++) {
        const struct result_comparison *c = &r->comparison[i];
        if (strcmp(c->metric, metric) ==
            0) /* NAN, as on the control's own row, does not count */
            largest = fmax(largest, c->noise_floor);
    }
    return largest;
}

bool sentences_add_noise_floor(struct text *out, const struct result *r)
{
    const double client = side_noise(r, "client");
    const double server = side_noise(r, "server");
    if (r->comparisons == 0 || r->kind != RESULT_KIND_CPU)
        return false;
    if (isnan(client) && isnan(server)) {
        text_add(out, "Noise floor: not known, no arm is a control (a copy of its baseline).");
        return true;
    }
    text_add(out, "Noise floor, what two equal arms differ by in this run:");
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        const double floor_us = side == RESULT_CLIENT ? client : server;
        if (isnan(floor_us))
            continue;
        text_add(out, side == RESULT_SERVER && !isnan(client) ? ", " : " ");
        figures_add_us(out, floor_us);
        text_addf(out, " us on the %s", result_side_name((enum result_side)side));
    }
    text_add(out, ".");
    return true;
}

bool sentences_add_primitives(struct text *out, const struct result *r)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_arm *arm = &r->arm[i];
        const struct figure *share = arm->cpu.primitives_share;
        if (!figure_is_set(&share[RESULT_CLIENT]) && !figure_is_set(&share[RESULT_SERVER]))
            continue;
        text_add(out, shown++ == 0 ? "Cryptography alone (primitives timed in the same run), "
                                     "share of the client's and the server's time: "
                                   : "; ");
        text_add_harmless(out, arm->name);
        text_add(out, " ");
        figures_add_share(out, share[RESULT_CLIENT].value);
        text_add(out, " and ");
        figures_add_share(out, share[RESULT_SERVER].value);
    }
    if (shown > 0)
        text_add(out, ".");
    return shown > 0;
}

bool sentences_add_accounts(struct text *out, const struct result *r)
{
    if (isnan(r->process_cpu_s) || isnan(r->reported_cpu_s))
        return false;
    text_addf(out, "Accounts: the process used %.3g s of CPU, of which %.3g s are reported",
              r->process_cpu_s, r->reported_cpu_s);
    if (!isnan(r->harness_cpu_s))
        text_addf(out, " and %.3g s are the harness's own", r->harness_cpu_s);
    text_add(out, ".");
    return true;
}
