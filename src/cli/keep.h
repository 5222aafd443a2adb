/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - a result on disk while it grows: what is finished outlives whatever ends the
 * process.
 *
 * Layer: cli.
 * Shape: after a trial the result so far is written as result.json into --output's directory
 *   and as --json's file, each whole or not at all, marked interrupted by nothing that is
 *   known; the other files of an older result in the directory go.  output_show replaces it
 *   at the end.  Writing takes at most a tenth of the time: after short trials of a large
 *   result it skips some.
 * Failures: none reach the run: the first one is a note "not-kept" in the result.
 * Threads: one owner.
 */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli/output.h"
#include "run/bench.h"

struct keep {
    const struct output_options *output; /* both outlive this */
    struct result *result;
    uint64_t next_ns; /* not before; 0 at first */
    bool has_failed;
};

/* For the benches. */
struct run_keep keep_hook(struct keep *k);

#endif
