/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scale.h"

#include <assert.h>
#include <math.h>

#define MARGIN 1.04
#define NARROW 5

/* 1, 2 or 5 times a power of ten, at least least. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    const double parts = least / power;
    return (parts <= 1.0001 ? 1 : parts <= 2.0001 ? 2 : parts <= 5.0001 ? 5 : 10) * power;
}

struct scale scale_from_zero(double highest)
{
    return (struct scale){.low = 0, .high = highest > 0 ? highest * MARGIN : 1};
}

struct scale scale_around(double lowest, double highest, bool is_log)
{
    struct scale s = {lowest, highest, is_log};
    if (is_log) {
        s.low = lowest / MARGIN;
        s.high = fmax(highest, lowest * 1.2) * MARGIN;
        return s;
    }
    const double room = fmax((highest - lowest) * (MARGIN - 1), 1e-9);
    s.low -= room;
    s.high += room;
    return s;
}

double scale_share(const struct scale *s, double value)
{
    double share;
    if (s->is_log)
        share = value <= 0 ? 0 : log(value / s->low) / log(s->high / s->low);
    else
        share = (value - s->low) / (s->high - s->low);
    return fmin(fmax(share, 0), 1);
}

static size_t linear_ticks(const struct scale *s, double step, double *ticks)
{
    size_t n = 0;
    const double first = ceil(s->low / step);
    while (n < SCALE_TICKS_MAX && (first + (double)n) * step <= s->high) {
        ticks[n] = (first + (double)n) * step;
        n++;
    }
    return n;
}

/* From each decade the multiples, thinner the more decades there are. */
static size_t log_ticks(const struct scale *s, const char *multiples, double *ticks)
{
    size_t n = 0;
    const int first = (int)floor(log10(s->low)), last = (int)floor(log10(s->high));
    for (int decade = first; decade <= last; decade++) {
        for (const char *m = multiples; *m != '\0'; m++) {
            const double tick = pow(10, decade) * (*m - '0');
            if (tick >= s->low && tick <= s->high && n < SCALE_TICKS_MAX)
                ticks[n++] = tick;
        }
    }
    return n;
}

bool scale_is_narrow(const struct scale *s)
{
    return s->high < NARROW * s->low;
}

size_t scale_ticks(const struct scale *s, size_t wanted, double ticks[SCALE_TICKS_MAX])
{
    static const char *const multiples[] = {"123456789", "12468", "1235", "125", "13", "1"};
    assert(wanted >= 2 && wanted <= SCALE_TICKS_MAX && s->low < s->high);
    /* Less than a decade has too few of the round ones. */
    if (!s->is_log || scale_is_narrow(s))
        return linear_ticks(s, round_step((s->high - s->low) / (double)(wanted - 1)), ticks);
    size_t n = 0;
    for (size_t i = 0; i < sizeof(multiples) / sizeof(multiples[0]); i++) {
        n = log_ticks(s, multiples[i], ticks);
        if (n <= wanted)
            break;
    }
    return n;
}
