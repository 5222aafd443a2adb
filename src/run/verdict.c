/* SPDX-License-Identifier: Apache-2.0 */
#include "run/verdict.h"
#include <math.h>

#define HOPELESS 1000.0

/* The wide interval where there is one, else the 95 % interval. */
static void wide_interval(const struct verdict_input *in, double *low, double *high)
{
    bool has_wide =
        isfinite(in->wide_low) && isfinite(in->wide_high) &&
        (in->wide_low < 0 || in->wide_low > 0 || in->wide_high < 0 || in->wide_high > 0);
    *low = has_wide ? in->wide_low : in->difference.low;
    *high = has_wide ? in->wide_high : in->difference.high;
}

static double floor_of(const struct verdict_input *in)
{
    return in->is_control || !isfinite(in->noise_floor) ? 0 : in->noise_floor;
}

enum result_verdict verdict_of(const struct verdict_input *in)
{
    double wide_low, wide_high, clear = floor_of(in);
    if (!in->is_valid)
        return RESULT_VERDICT_WITHHELD;
    if (!figure_has_interval(&in->difference))
        return RESULT_VERDICT_INCONCLUSIVE;
    wide_interval(in, &wide_low, &wide_high);
    if (wide_low > 0 && in->difference.low > clear)
        return RESULT_VERDICT_SLOWER;
    if (wide_high < 0 && in->difference.high < -clear)
        return RESULT_VERDICT_FASTER;
    if (in->is_control)
        return RESULT_VERDICT_SAME;
    bool may_be_more =
        in->difference.low > 0 || in->difference.high < 0 || isfinite(in->noise_floor);
    return may_be_more && fabs(in->difference.value) > clear ? RESULT_VERDICT_INCONCLUSIVE
                                                             : RESULT_VERDICT_SAME;
}

double verdict_noise_floor(const struct figure *control_difference)
{
    if (!figure_has_interval(control_difference))
        return NAN;
    return fmax(fabs(control_difference->low), fabs(control_difference->high));
}

double verdict_settle_s(const struct verdict_input *in)
{
    double wide_low, wide_high;
    if (!figure_has_interval(&in->difference) || !(in->elapsed_s > 0))
        return NAN;
    wide_interval(in, &wide_low, &wide_high);
    double size = fabs(in->difference.value), clear = floor_of(in);
    double reach = in->difference.value > 0 ? in->difference.value - in->difference.low
                                            : in->difference.high - in->difference.value;
    double wide = in->difference.value > 0 ? in->difference.value - wide_low
                                           : wide_high - in->difference.value;
    if (!(size > clear))
        return NAN;
    double factor = fmax(reach / (size - clear), wide / size);
    factor *= factor;
    if (!(factor <= HOPELESS))
        return NAN;
    return in->elapsed_s * fmax(factor, 1.0);
}
