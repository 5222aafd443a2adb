/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtt_mix.h - how far away the clients of a plan are, read from text.
 *
 * Layer: cli.
 * Form: RTT:SHARE[:RATE],... ("20ms:0.5,80ms:50%:10mbit"), or a file with RTT,SHARE[,RATE] a
 *   line: CSV, where a first line that begins with "rtt" is its head; blanks around the cells,
 *   empty lines and what follows '#' are left out.  What holds no ':' is a file.
 * Bounds: PLAN_RTTS_MAX rows; an RTT of at most 20 s; a rate of 1 kbit/s or more; shares add
 *   up to 1.
 * Failures: ERR_USAGE names the value, and for a file its name and line; callers add the
 * option. Threads: any.
 */
#ifndef CLI_RTT_MIX_H
#define CLI_RTT_MIX_H

#include "base/err.h"
#include "report/plan.h"

struct rtt_mix {
    size_t count;
    struct plan_distance row[PLAN_RTTS_MAX];
};

int rtt_mix_read(const char *text, struct rtt_mix *out, struct err *e)
    __attribute__((warn_unused_result));
/* What stands in a file; `name` is for messages.  content need not hold a whole line. */
int rtt_mix_read_csv(const char *content, const char *name, struct rtt_mix *out, struct err *e)
    __attribute__((warn_unused_result));

#endif
