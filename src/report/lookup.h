/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - finding what belongs together in a result.
 *
 * Layer: report.
 * Shape: NULL where there is none.
 * Threads: any.
 */
#ifndef REPORT_LOOKUP_H
#define REPORT_LOOKUP_H

#include "result/result.h"

const struct result_comparison *lookup_comparison(const struct result *r, const char *arm,
                                                  const char *metric);
/* "latency_us.tls.p99" put together from its parts; field NULL: "cpu_us.client". */
const struct result_comparison *lookup_metric(const struct result *r, const char *arm,
                                              const char *group, const char *name,
                                              const char *field);
/* The arm that this one is compared with; NULL: none (a baseline). */
const struct result_arm *lookup_baseline(const struct result *r, const char *arm);
bool lookup_is_baseline(const struct result *r, const char *arm); /* of any other */
size_t lookup_count_trials(const struct result *r);               /* of all arms */
size_t lookup_count_left_out(const struct result *r);             /* those among them */
bool lookup_has_failures(const struct result *r);

#endif
