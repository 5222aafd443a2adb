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

/* Beyond the floor as it looks, though not clear of it. */
static bool is_beyond(const struct verdict_input *in, double clear)
{
    bool may_be_more =
        in->difference.low > 0 || in->difference.high < 0 || isfinite(in->noise_floor);
    return may_be_more && fabs(in->difference.value) > clear;
}

/* The interval leaves room for a difference that would matter. */
static bool is_too_wide(const struct verdict_input *in)
{
    return in->relevant > 0 &&
           (in->difference.low < -in->relevant || in->difference.high > in->relevant);
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
    if (!in->is_control && (is_beyond(in, clear) || is_too_wide(in)))
        return RESULT_VERDICT_INCONCLUSIVE;
    return RESULT_VERDICT_SAME;
}

double verdict_noise_floor(const struct figure *control_difference)
{
    if (!figure_has_interval(control_difference))
        return NAN;
    return fmax(fabs(control_difference->low), fabs(control_difference->high));
}

/* By how much the interval must shrink until the value is clear of the floor and of 0, or,
 * where the value is within the floor, until no difference that matters is left in it. */
static double shrink_factor(const struct verdict_input *in)
{
    double wide_low, wide_high, clear = floor_of(in);
    double size = fabs(in->difference.value);
    wide_interval(in, &wide_low, &wide_high);
    double reach = in->difference.value - in->difference.low;
    double wide = in->difference.value - wide_low;
    if (in->difference.value < 0) {
        reach = in->difference.high - in->difference.value;
        wide = wide_high - in->difference.value;
    }
    if (size > clear)
        return fmax(reach / (size - clear), wide / size);
    double far = fmax(fabs(in->difference.low), fabs(in->difference.high));
    return in->relevant > size ? (far - size) / (in->relevant - size) : NAN;
}

double verdict_settle_s(const struct verdict_input *in)
{
    if (!figure_has_interval(&in->difference) || !(in->elapsed_s > 0))
        return NAN;
    double shrink = shrink_factor(in);
    double factor = shrink * shrink;
    if (!(factor <= HOPELESS))
        return NAN;
    return in->elapsed_s * fmax(factor, 1.0);
}
