/* SPDX-License-Identifier: Apache-2.0 */
/* Of kind capacity: what each arm holds, and how each probe came out. */
#include <math.h>
#include "report/csv_rows.h"
#include "result/capacity.h"

static void add_arm(struct csv *csv, const struct result *r, size_t i)
{
    const struct capacity_arm *a = &r->capacity->arm[i];
    csv->arm = r->arm[i].name;
    csv->trial = 0;
    /* Also without a figure: what the limit was. */
    csv_add_row(csv, &(struct csv_row){.metric = "capacity_per_s",
                                       .statistic = "value",
                                       .unit = "1/s",
                                       .figure = a->per_s,
                                       .verdict = capacity_limit_name(a->limited_by)});
    csv->statistic = "lower_bound";
    csv_add_value(csv, "capacity_per_s", "1/s", NULL, a->lower_bound_per_s);
    csv->statistic = "upper_bound";
    csv_add_value(csv, "capacity_per_s", "1/s", NULL, a->upper_bound_per_s);
}

static void add_probe(struct csv *csv, const struct result *r, const struct capacity_probe *p)
{
    const double rate_per_s = capacity_trial(r, p)->due_per_s;
    csv->arm = r->arm[p->arm].name;
    csv->trial = p->trial;
    csv_add_row(csv, &(struct csv_row){.metric = "probe",
                                       .statistic = "outcome",
                                       .unit = "1/s",
                                       .figure = {rate_per_s, NAN, NAN},
                                       .verdict = capacity_held_name(p->held)});
}

void csv_add_capacity(struct csv *csv, const struct result *r)
{
    for (size_t i = 0; i < r->capacity->arms; i++)
        add_arm(csv, r, i);
    for (size_t i = 0; i < r->capacity->probes; i++)
        add_probe(csv, r, &r->capacity->probe[i]);
    csv->trial = 0;
}
