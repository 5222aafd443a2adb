/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sentences.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"
#include "report/latency.h"
#include "report/lookup.h"

static const char *words_of(enum result_verdict verdict)
{
    static const char *const words[RESULT_VERDICTS] = {
        [RESULT_VERDICT_SLOWER] = "slower",
        [RESULT_VERDICT_FASTER] = "faster",
        [RESULT_VERDICT_MORE] = "more",
        [RESULT_VERDICT_FEWER] = "fewer",
        [RESULT_VERDICT_SAME] = "no difference beyond noise",
        [RESULT_VERDICT_INCONCLUSIVE] = "inconclusive",
        [RESULT_VERDICT_WITHHELD] = "verdict withheld, a trial it rests on is not valid",
    };
    return words[verdict];
}

static void add_metric(struct text *out, const struct result_comparison *c)
{
    const struct figure *d = &c->difference;
    if (figure_is_set(d)) {
        text_add(out, " ");
        figures_add_signed_us(out, d->value);
        text_add(out, " us (");
        figures_add_change(out, figures_change(c));
        if (figure_has_interval(d)) {
            text_addf(out, ", %.3g %% interval ", c->confidence * 100);
            figures_add_signed_us(out, d->low);
            text_add(out, " to ");
            figures_add_signed_us(out, d->high);
        }
        if (!isnan(c->noise_floor)) {
            text_add(out, ", noise floor ");
            figures_add_us(out, c->noise_floor);
        }
        text_add(out, ")");
    }
    text_addf(out, ": %s", words_of(c->verdict));
    if (c->verdict == RESULT_VERDICT_INCONCLUSIVE && !isnan(c->settle_s)) {
        text_add(out, ", a run of about ");
        figures_add_seconds(out, c->settle_s);
        text_add(out, " might settle it");
    }
}

bool sentences_add_verdict(struct text *out, const struct result *r,
                           const struct result_arm *arm)
{
    static const struct {
        const char *metric, *words;
    } headlines[] = {
        {"latency_us.tls.p50", "handshake p50"},
        {"latency_us.tls.p99", "handshake p99"},
        {"latency_us.response.p99", "response p99"},
        {"by_handshake.full.latency_us.tls.p50", "full handshakes alone p50"},
        {"by_handshake.resumed.latency_us.tls.p50", "resumed alone p50"},
        {"by_handshake.early_data.latency_us.tls.p50", "with early data alone p50"},
        {"cpu_us.client", "client CPU"},
        {"cpu_us.server", "server CPU"},
    };
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    size_t shown = 0;
    if (baseline == NULL)
        return false;
    sentences_add_arm(out, arm);
    text_add(out, " against ");
    sentences_add_arm(out, baseline);
    for (size_t i = 0; i < sizeof(headlines) / sizeof(headlines[0]); i++) {
        const struct result_comparison *c =
            lookup_comparison(r, arm->name, headlines[i].metric);
        if (c == NULL)
            continue;
        text_addf(out, "%s %s", shown++ == 0 ? ":" : ";", headlines[i].words);
        add_metric(out, c);
    }
    text_add(out, shown == 0 ? ": no figure to compare." : ".");
    return true;
}

/* Counts of causes over all trials; a merge by name, which negotiated_add does as well. */
static void count_causes(const struct result_arm *arm, struct result_negotiated *causes)
{
    for (size_t i = 0; i < arm->trials; i++) {
        for (size_t k = 0; k < arm->trial[i].slow; k++)
            negotiated_add(causes, arm->trial[i].slowest[k].cause, 1);
    }
}

bool sentences_add_slow_causes(struct text *out, const struct result_arm *arm)
{
    struct result_negotiated causes = {0};
    count_causes(arm, &causes);
    const bool has_any = causes.handshakes > 0;
    if (has_any) {
        text_addf(out, "Of the %llu slowest ", (unsigned long long)causes.handshakes);
        text_add_harmless(out, arm->name);
        text_add(out, " handshakes: ");
    }
    for (size_t i = 0; i < causes.groups; i++) {
        text_addf(out, "%s%llu ", i == 0 ? "" : ", ",
                  (unsigned long long)causes.group_count[i].count);
        text_add_harmless(out, causes.group_count[i].name);
    }
    if (has_any)
        text_add(out, ".");
    negotiated_free(&causes);
    return has_any;
}

static bool has_marks(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++) {
        struct latency_row row;
        for (unsigned phase = 0; phase < RESULT_PHASES; phase++) {
            if (latency_of_arm(&r->arm[i], (enum result_phase)phase, &row) &&
                latency_is_marked(&row, LATENCY_P99_9))
                return true;
        }
    }
    return false;
}

static bool has_censored(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            if (r->arm[i].trial[k].is_censored)
                return true;
        }
    }
    return false;
}

bool sentences_add_marks(struct text *out, const struct result *r)
{
    if (has_marks(r))
        text_add(out, "* too few samples behind it: p99 wants 1000 a trial, p99.9 10000. ");
    if (has_censored(r))
        text_add(out, "Censored: work was unfinished when a trial ended, so its highest "
                      "percentiles are lower bounds. ");
    if (out->length > 0)
        out->data[--out->length] = '\0'; /* the blank behind the last one */
    return out->length > 0;
}
