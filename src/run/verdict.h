/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - from a difference, its interval and the noise floor to a word.
 *
 * Layer: run.
 * Method: docs/METHOD.md, "Comparing".  The noise floor is what the control arm's
 *   difference shows that noise alone can do.  A word needs more than the 95 % interval
 *   that is shown: the difference must also be clear of 0 at VERDICT_CONFIDENCE, because a
 *   run asks about several arms and both sides, and one in twenty would be wrong too often.
 */
#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H

#include "result/result.h"

#define VERDICT_CONFIDENCE 0.995

struct verdict_input {
    struct figure difference; /* with its 95 % interval */
    double noise_floor;       /* >= 0, or NAN without a control */
    bool is_control;
    bool is_valid;    /* every trial it rests on */
    double elapsed_s; /* measured time that gave this interval */
    /* The interval at VERDICT_CONFIDENCE; both 0 or NAN where the caller has none: then the
     * 95 % interval alone decides. */
    double wide_low, wide_high;
    /* A difference that would matter, > 0; 0 where nobody says: then an interval that is
     * wide about 0 still counts as no difference. */
    double relevant;
};

/*
 * withheld      a trial is not valid
 * inconclusive  no interval; or the value beyond the noise floor (without one: the 95 %
 *               interval beyond 0), but not clear of it; or an interval that leaves room
 *               for a difference that would matter
 * slower/faster the 95 % interval clear of the noise floor and the wide one clear of 0; a
 *               control has no floor but itself: clear of 0 by the wide one
 * no difference otherwise
 */
enum result_verdict verdict_of(const struct verdict_input *in);

/* What noise alone can do, as the control's difference shows it: the far end of its 95 %
 * interval; NAN where it has none. */
double verdict_noise_floor(const struct figure *control_difference);

/* How long a run would settle an inconclusive difference: the interval narrows with the
 * square root of time.  NAN where that is not to be hoped for (no interval, a difference
 * within the floor unless `relevant` asks for more, or more than a thousand times as long). */
double verdict_settle_s(const struct verdict_input *in);

#endif
