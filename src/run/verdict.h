/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - from a difference, its interval and the noise floor to a word.
 *
 * Layer: run.
 * Method: docs/METHOD.md, "Comparing".  The noise floor is what the control arm's
 *   difference shows that noise alone can do.
 */
#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H

#include "result/result.h"

struct verdict_input {
    struct figure difference;
    double noise_floor; /* >= 0, or NAN without a control */
    bool is_control;
    bool is_valid;    /* every trial it rests on */
    double elapsed_s; /* measured time that gave this interval */
};
enum result_verdict verdict_of(const struct verdict_input *in);

/* How long a run would settle an inconclusive difference: the interval narrows with the
 * square root of time.  NAN where that is not to be hoped for. */
double verdict_settle_s(const struct verdict_input *in);

#endif
