/* SPDX-License-Identifier: Apache-2.0 */
/* An objective as a person writes it. */
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "run/capacity.h"

#define ACCEPTED                                                                 \
    "give [tls.|response.]p50, p90, p99 or p99.9 and a time, like p99=10ms, or " \
    "failures and a share, like failures=0.5%%"

static const struct {
    const char *name;
    double quantile;
} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

static const enum result_phase phases[] = {RESULT_PHASE_TLS, RESULT_PHASE_RESPONSE};

static bool find_percentile(const char *name, size_t length, struct capacity_objective *out)
{
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        if (strlen(percentiles[i].name) == length &&
            memcmp(percentiles[i].name, name, length) == 0) {
            out->quantile = percentiles[i].quantile;
            return true;
        }
    return false;
}

/* "p99", "tls.p99", "response.p99"; text up to `end`. */
static bool find_metric(const char *text, const char *end, struct capacity_objective *out)
{
    out->phase = RESULT_PHASE_TLS;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        const char *phase = result_phase_name(phases[i]);
        const size_t length = strlen(phase);
        if ((size_t)(end - text) <= length || memcmp(text, phase, length) != 0 ||
            text[length] != '.')
            continue;
        out->phase = phases[i];
        text += length + 1;
        break;
    }
    return find_percentile(text, (size_t)(end - text), out);
}

int capacity_objective_parse(const char *text, struct capacity_objective *out, struct err *e)
{
    static const char failures[] = "failures";
    struct capacity_objective o = {0};
    const char *equals = strchr(text, '=');
    uint64_t limit_ns;
    if (equals == NULL)
        return err_set(e, ERR_USAGE, "'%.80s' is no objective; " ACCEPTED, text);
    o.is_failures = (size_t)(equals - text) == strlen(failures) &&
                    memcmp(text, failures, strlen(failures)) == 0;
    if (o.is_failures) {
        if (units_parse_share(equals + 1, &o.limit, e) != 0)
            return err_add_context(e, "failures");
        *out = o;
        return 0;
    }
    if (!find_metric(text, equals, &o))
        return err_set(e, ERR_USAGE, "'%.80s' is no objective; " ACCEPTED, text);
    if (units_parse_duration_ns(equals + 1, &limit_ns, e) != 0)
        return -1;
    if (limit_ns == 0)
        return err_set(e, ERR_USAGE, "'%.80s': no handshake takes no time", text);
    o.limit = (double)limit_ns / 1e3;
    *out = o;
    return 0;
}
