/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_parts.h - what the files of the capacity benchmark share.
 *
 * Layer: run, private to capacity*.c.
 */
#ifndef RUN_CAPACITY_PARTS_H
#define RUN_CAPACITY_PARTS_H

#include "run/capacity.h"
#include "run/capacity_search.h"

/* ---- capacity_limit.c ---- */
/* What the probes near the capacity say was full.  Of the server, the link or the objective;
 * UNKNOWN where no valid probe of the arm broke. */
enum capacity_limit capacity_limit_of(const struct result *r, unsigned arm);

/* ---- capacity_compare.c ---- */
/* Comparisons of every arm that has a capacity with its baseline, where that has one. */
void capacity_compare(const struct arm_list *arms, const struct capacity_search *search,
                      struct result *result);

#endif
