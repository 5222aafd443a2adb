/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lookup.h"

#include <stdio.h>
#include <string.h>

#define METRIC_SIZE 96

const struct result_comparison *lookup_comparison(const struct result *r, const char *arm,
                                                  const char *metric)
{
    for (size_t i = 0; i < r->comparisons; i++) {
        const struct result_comparison *c = &r->comparison[i];
        if (strcmp(c->arm, arm) == 0 && strcmp(c->metric, metric) == 0)
            return c;
    }
    return NULL;
}

const struct result_comparison *lookup_metric(const struct result *r, const char *arm,
                                              const char *group, const char *name,
                                              const char *field)
{
    char metric[METRIC_SIZE];
    snprintf(metric, sizeof(metric), "%s.%s%s%s", group, name, field == NULL ? "" : ".",
             field == NULL ? "" : field);
    return lookup_comparison(r, arm, metric);
}

const struct result_arm *lookup_baseline(const struct result *r, const char *arm)
{
    for (size_t i = 0; i < r->comparisons; i++) {
        if (strcmp(r->comparison[i].arm, arm) == 0)
            return result_find_arm(r, r->comparison[i].baseline);
    }
    return NULL;
}

bool lookup_is_baseline(const struct result *r, const char *arm)
{
    for (size_t i = 0; i < r->comparisons; i++) {
        if (strcmp(r->comparison[i].baseline, arm) == 0)
            return true;
    }
    return false;
}

size_t lookup_count_trials(const struct result *r)
{
    size_t trials = 0;
    for (size_t i = 0; i < r->arms; i++)
        trials += r->arm[i].trials;
    return trials;
}

size_t lookup_count_left_out(const struct result *r)
{
    size_t trials = 0;
    for (size_t i = 0; i < r->arms; i++)
        for (size_t k = 0; k < r->arm[i].trials; k++)
            trials += r->arm[i].trial[k].is_left_out;
    return trials;
}

bool lookup_has_failures(const struct result *r)
{
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            if (r->arm[i].trial[k].failures > 0)
                return true;
        }
    }
    return false;
}
