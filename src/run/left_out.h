/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.h - blocks that the machine or the generator spoiled, taken out of a load run.
 *
 * Layer: run.  Pure: a result in, the same result with trials marked.
 * Source: docs/METHOD.md, "Blocks that are left out".
 */
#ifndef RUN_LEFT_OUT_H
#define RUN_LEFT_OUT_H

#include "result/result.h"

#define LEFT_OUT_SHARE_MAX 0.25 /* of the blocks */
#define LEFT_OUT_KEPT_MIN 3u    /* blocks that must remain: fewer give no interval */
#define LEFT_OUT_BUSY_MAX \
    0.5 /* a late generator with more work than this had it from the arm */

/* A block is the trials of one index.  It is left out, whole, where each of its faults is the
 * machine's (speed-changed, steal) or, where the block was one run in which all arms took turns
 * (their trials have one position), the quota's (throttled) or a late start of a generator that
 * had time (client-saturated by its lag alone, client_busy low): an arm with a run of its own
 * may use up the quota or delay the next arrival itself.  What an arm may have caused leaves
 * none out.  Where more than the share would go, or too few would remain, none goes: the
 * faults stand and verdicts are withheld.  Returns how many blocks went. */
unsigned left_out_apply(struct result *r);

#endif
