/* SPDX-License-Identifier: Apache-2.0 */
/* HdrHistogram's log, version 1.3: a line a histogram, tagged ARM.PHASE.TRIAL, for
 * HistogramLogProcessor and its relatives.  Values are nanoseconds, so that their default
 * ratio of a million shows milliseconds. */
#include "report/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_MS 1e6

/* Seconds since the epoch of "2026-01-02T03:04:05Z"; 0 where it is none. */
static double epoch_of(const char *stamp)
{
    struct tm at = {0};
    const char *end = stamp == NULL ? NULL : strptime(stamp, "%Y-%m-%dT%H:%M:%S", &at);
    return end == NULL ? 0 : (double)timegm(&at);
}

/* A tag ends at a comma, a line at its end. */
static void add_tag(struct text *out, const char *name)
{
    struct text harmless = {0};
    text_add_harmless(&harmless, name);
    for (const char *s = text_str(&harmless); *s != '\0'; s++)
        text_add_bytes(out, *s == ',' || *s == ' ' || *s == '"' ? "_" : s, 1);
    text_free(&harmless);
}

static void add_line(struct text *out, const char *arm, const char *phase,
                     const struct result_trial *t, const struct histogram *h)
{
    if (h == NULL || histogram_count(h) == 0)
        return;
    char *encoded = histogram_encode(h);
    text_add(out, "Tag=");
    add_tag(out, arm);
    text_addf(out, ".%s.%u,%.3f,%.3f,%.3f,%s\n", phase, t->index,
              isnan(t->started_s) ? 0 : t->started_s, isnan(t->elapsed_s) ? 0 : t->elapsed_s,
              (double)histogram_max(h) / NS_PER_MS, encoded);
    free(encoded);
}

void report_add_hlog(const struct result *r, struct text *out,
                     const struct report_options *options)
{
    const double epoch = epoch_of(r->started_at);
    (void)options;
    report_require_whole(r);
    text_add(out, "#[Logged with pqc-bench ");
    text_add_harmless(out, r->build.version == NULL ? "" : r->build.version);
    text_add(out, "]\n#[Histogram log format version 1.3]\n");
    text_addf(out, "#[StartTime: %.3f (seconds since epoch)]\n", epoch);
    text_addf(out, "#[BaseTime: %.3f (seconds since epoch)]\n", epoch);
    text_add(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                  "\"Interval_Compressed_Histogram\"\n");
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const struct result_trial *t = &r->arm[i].trial[k];
            for (unsigned phase = 0; phase < RESULT_PHASES; phase++)
                add_line(out, r->arm[i].name, result_phase_name((enum result_phase)phase), t,
                         t->latency_ns[phase]);
            add_line(out, r->arm[i].name, "start_lag", t, t->start_lag_ns);
        }
    }
}
