/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figures.h"

#include <math.h>

/* Decimals that show three significant digits. */
static int decimals_of(double value)
{
    const double size = fabs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

static void add_number(struct text *out, double value, int decimals, bool has_sign)
{
    if (isnan(value)) {
        text_add(out, "-");
        return;
    }
    /* No "-0.00" and no "+0". */
    if (fabs(value) < 0.5 * pow(10, -decimals)) {
        text_add(out, "0");
        return;
    }
    text_addf(out, has_sign ? "%+.*f" : "%.*f", decimals, value);
}

void figures_add_us(struct text *out, double us)
{
    add_number(out, us, decimals_of(us), false);
}

void figures_add_signed_us(struct text *out, double us)
{
    add_number(out, us, decimals_of(us), true);
}

static int byte_decimals(double bytes)
{
    return bytes == floor(bytes) ? 0 : 1;
}

void figures_add_bytes(struct text *out, double bytes)
{
    add_number(out, bytes, byte_decimals(bytes), false);
}

void figures_add_signed_bytes(struct text *out, double bytes)
{
    add_number(out, bytes, byte_decimals(bytes), true);
}

static void add_percent(struct text *out, double share, bool has_sign)
{
    if (isnan(share)) {
        text_add(out, "-");
        return;
    }
    add_number(out, share * 100, fabs(share) >= 0.0995 ? 0 : 1, has_sign);
    text_add(out, " %");
}

void figures_add_change(struct text *out, double change)
{
    add_percent(out, change, true);
}

void figures_add_share(struct text *out, double share)
{
    add_percent(out, share, false);
}

static void add_interval(struct text *out, const struct figure *f, bool has_sign)
{
    if (!figure_has_interval(f))
        return;
    const int decimals = decimals_of(fmax(fabs(f->low), fabs(f->high)));
    text_add(out, "[");
    add_number(out, f->low, decimals, has_sign);
    text_add(out, ", ");
    add_number(out, f->high, decimals, has_sign);
    text_add(out, "]");
}

void figures_add_interval(struct text *out, const struct figure *f)
{
    add_interval(out, f, false);
}

void figures_add_signed_interval(struct text *out, const struct figure *f)
{
    add_interval(out, f, true);
}

void figures_add_range(struct text *out, const struct result_range *r)
{
    if (r->count == 0)
        text_add(out, "-");
    else if (r->min == r->max)
        text_addf(out, "%llu", (unsigned long long)r->min);
    else
        text_addf(out, "%llu .. %llu", (unsigned long long)r->min, (unsigned long long)r->max);
}

void figures_add_count(struct text *out, double count)
{
    if (isnan(count))
        text_add(out, "-");
    else if (count >= 1e6)
        text_addf(out, "%.3g M", count / 1e6);
    else
        text_addf(out, "%.0f", count);
}

void figures_add_seconds(struct text *out, double s)
{
    if (isnan(s))
        text_add(out, "-");
    else if (s < 10)
        text_addf(out, "%.2g s", s);
    else if (s < 120)
        text_addf(out, "%.0f s", s);
    else if (s < 7200)
        text_addf(out, "%.0f min", s / 60);
    else
        text_addf(out, "%.1f h", s / 3600);
}

double figures_change(const struct result_comparison *c)
{
    return c->baseline_value > 0 ? c->difference.value / c->baseline_value : NAN;
}
