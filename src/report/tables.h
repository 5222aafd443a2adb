/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables that text and Markdown show, filled from a result.
 *
 * Layer: report.
 * Units: stand in the titles.
 * Shape: every function makes a table that the caller frees, or NULL where the result has
 *   nothing for it.  Names and details in cells are harmless.
 * Threads: any.
 */
#ifndef REPORT_TABLES_H
#define REPORT_TABLES_H

#include "report/latency.h"
#include "report/table.h"
#include "result/result.h"

/* "-" for NULL and "". */
void tables_set_name(struct table *t, size_t row, size_t column, const char *name);
void tables_set_us(struct table *t, size_t row, size_t column, double us);
void tables_set_count(struct table *t, size_t row, size_t column, uint64_t count);
/* The figure into column, "*" into the next where too few samples stand behind it. */
void tables_set_latency(struct table *t, size_t row, size_t column,
                        const struct latency_row *latency, enum latency_column which);
void tables_set_share(struct table *t, size_t row, size_t column, double share);
/* Against the baseline: "+47 %", "same", "+2 % ?", "withheld". */
void tables_add_change(struct text *out, const struct result_comparison *c);
/* The same in a cell; c NULL: nothing. */
void tables_set_change(struct table *t, size_t row, size_t column,
                       const struct result_comparison *c);

/* Of kind load: "slower", "no difference". */
void tables_set_verdict(struct table *t, size_t row, size_t column,
                        enum result_verdict verdict);

/* Both kinds: one row an arm.  cpu: microseconds of both sides; wire: bytes and round
 * trips (NULL: no bytes were counted); both: all of it. */
struct table *tables_cpu(const struct result *r);
struct table *tables_wire(const struct result *r);
struct table *tables_cpu_and_wire(const struct result *r);
/* Details of kind cpu. */
struct table *tables_parts(const struct result *r);
struct table *tables_counters(const struct result *r);
struct table *tables_primitives(const struct result *r);
struct table *tables_messages(const struct result *r);
struct table *tables_cpu_trials(const struct result *r);
/* Kind load.  Latency: the arm beside its baseline, or alone where it has none; NULL where
 * the arm has no latency. */
struct table *tables_latency(const struct result *r, const struct result_arm *arm);
struct table *tables_latency_trials(const struct result *r);
struct table *tables_load_trials(const struct result *r);
/* Full, resumed and early-data handshakes apart; NULL where all were full. */
struct table *tables_apart(const struct result *r);
struct table *tables_tallies(const struct result *r);
/* Over an emulated link: round trips, segments and losses; NULL without one. */
struct table *tables_network(const struct result *r);
/* Kind capacity: an arm's answer a row; a probe a row.  NULL: none. */
struct table *tables_capacity(const struct result *r);
struct table *tables_probes(const struct result *r);
/* Both. */
struct table *tables_failures(const struct result *r);

#endif
