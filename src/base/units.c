/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clocale.h"
#include "base/text.h"
#include "base/units.h"

__extension__ typedef unsigned __int128 u128;

#define NUMBER_LONGEST 320  /* digits and dot; more is a typing error */
#define FRACTION_LONGEST 18 /* what 64 bits hold; no unit here divides finer */
#define DURATION_MOST 1000000000000000000u
#define RATE_LEAST 1e-9      /* once in the longest duration */
#define RATE_MOST 1e9        /* once a nanosecond */
#define BITS_MOST_PER_S 1e15 /* far above any link, far below what overflows */
#define MINUTE_NS 60000000000u
#define HOUR_NS 3600000000000u

struct unit {
    const char *name;
    uint64_t factor;
};

/* A number as it stands in the text: digits, then perhaps a dot and digits. */
struct decimal {
    const char *digits;
    size_t whole, fraction, length; /* length counts the dot */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(const char *text)
{
    size_t n = 0;
    while (is_digit(text[n]))
        n++;
    return n;
}

/* The rest of the text behind the number, NULL where there is none. */
static const char *scan_decimal(const char *text, struct decimal *out)
{
    out->digits = text;
    out->whole = count_digits(text);
    out->fraction = 0;
    out->length = out->whole;
    if (out->whole == 0)
        return NULL;
    if (text[out->whole] == '.') {
        out->fraction = count_digits(text + out->whole + 1);
        if (out->fraction == 0)
            return NULL;
        out->length += 1 + out->fraction;
    }
    return out->length <= NUMBER_LONGEST ? text + out->length : NULL;
}

/* The double nearest to number * 10^exponent; infinite when it is too large for one. */
static double decimal_value(const struct decimal *d, int exponent)
{
    char text[NUMBER_LONGEST + 16];
    snprintf(text, sizeof text, "%.*se%d", (int)d->length, d->digits, exponent);
    struct clocale locale;
    clocale_enter(&locale);
    double value = strtod(text, NULL);
    clocale_leave(&locale);
    return value;
}

enum scaling { SCALING_OK, SCALING_TOO_LARGE, SCALING_TOO_FINE };

/* The digits behind the dot as part/divisor, trailing zeros left out; false where there
 * are more than any unit here could make whole. */
static bool read_fraction(const struct decimal *d, u128 *part, u128 *divisor)
{
    const char *digits = d->digits + d->whole + 1;
    size_t places = d->fraction;
    while (places > 0 && digits[places - 1] == '0')
        places--;
    *part = 0;
    *divisor = 1;
    for (size_t i = 0; i < places && places <= FRACTION_LONGEST; i++) {
        *part = *part * 10 + (unsigned)(digits[i] - '0');
        *divisor *= 10;
    }
    return places <= FRACTION_LONGEST;
}

/* number * factor in whole numbers, at most `most`; never rounded. */
static enum scaling scale_exactly(const struct decimal *d, uint64_t factor, uint64_t most,
                                  uint64_t *out)
{
    u128 total = 0, part, divisor;
    for (size_t i = 0; i < d->whole; i++) {
        total = total * 10 + (unsigned)(d->digits[i] - '0');
        if (total > most)
            return SCALING_TOO_LARGE;
    }
    if (!read_fraction(d, &part, &divisor) || part * factor % divisor != 0)
        return SCALING_TOO_FINE;
    total = total * factor + part * factor / divisor;
    if (total > most)
        return SCALING_TOO_LARGE;
    *out = (uint64_t)total;
    return SCALING_OK;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units;
    return NULL;
}

/* How much of the user's text a message repeats: 80 bytes, whole characters. */
static int shown_length(const char *text)
{
    size_t length = strlen(text);
    if (length > 80) {
        length = 80;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    return (int)length;
}

static int refuse(struct err *e, const char *text, const char *what, const char *accepted)
{
    return err_set(e, ERR_USAGE, "'%.*s' is not %s; give %s", shown_length(text), text, what,
                   accepted);
}

static int refuse_scaling(struct err *e, const char *text, enum scaling why, const char *unit,
                          const char *most)
{
    if (why == SCALING_TOO_FINE)
        return err_set(e, ERR_USAGE, "'%.*s' is not a whole number of %s", shown_length(text),
                       text, unit);
    return err_set(e, ERR_USAGE, "'%.*s' is too large; the most is %s", shown_length(text),
                   text, most);
}

int units_parse_duration_ns(const char *text, uint64_t *out, struct err *e)
{
    static const struct unit units[] = {
        {"ns", 1},        {"us", 1000},   {"ms", 1000000}, {"s", 1000000000},
        {"m", MINUTE_NS}, {"h", HOUR_NS}, {NULL, 0},
    };
    struct decimal number;
    const char *rest = scan_decimal(text, &number);
    const struct unit *unit = rest ? find_unit(units, rest) : NULL;
    if (!unit && rest && !*rest && decimal_value(&number, 0) == 0)
        unit = units; /* nothing is nothing in every unit */
    if (!unit)
        return refuse(e, text, "a duration", "a number with ns, us, ms, s, m or h, like 250ms");
    enum scaling scaling = scale_exactly(&number, unit->factor, DURATION_MOST, out);
    if (scaling != SCALING_OK)
        return refuse_scaling(e, text, scaling, "nanoseconds", "277777h");
    return 0;
}

int units_parse_bytes(const char *text, uint64_t *out, struct err *e)
{
    static const struct unit units[] = {
        {"", 1},           {"B", 1},          {"k", 1000},
        {"kB", 1000},      {"KiB", 1u << 10}, {"M", 1000000},
        {"MB", 1000000},   {"MiB", 1u << 20}, {"GB", 1000000000},
        {"GiB", 1u << 30}, {NULL, 0},
    };
    struct decimal number;
    const char *rest = scan_decimal(text, &number);
    const struct unit *unit = rest ? find_unit(units, rest) : NULL;
    if (!unit)
        return refuse(e, text, "a size",
                      "a number of bytes, or one with k, kB, KiB, M, MB, MiB, GB or GiB");
    enum scaling scaling = scale_exactly(&number, unit->factor, INT64_MAX, out);
    if (scaling != SCALING_OK)
        return refuse_scaling(e, text, scaling, "bytes", "8589934591GiB");
    return 0;
}

/* What stands behind a number of events: nothing, k or M; then perhaps a slash. */
static const char *scan_multiple(const char *text, int *exponent)
{
    *exponent = *text == 'k' ? 3 : *text == 'M' ? 6 : 0;
    return *exponent ? text + 1 : text;
}

/* "", "/s", "/m" or "/h" as seconds; 0 where it is none of them. */
static double rate_period_s(const char *text)
{
    static const struct unit periods[] = {
        {"", 1}, {"/s", 1}, {"/m", 60}, {"/h", 3600}, {NULL, 0},
    };
    const struct unit *period = find_unit(periods, text);
    return period ? (double)period->factor : 0;
}

/* A[k|M][/B][/s|/m|/h]; 0 where the text is not of that form. */
static double scan_rate(const char *text)
{
    struct decimal number, divisor;
    int exponent;
    double divided_by = 1;
    const char *rest = scan_decimal(text, &number);
    if (!rest)
        return 0;
    rest = scan_multiple(rest, &exponent);
    if (rest[0] == '/' && is_digit(rest[1])) {
        rest = scan_decimal(rest + 1, &divisor);
        if (!rest)
            return 0;
        divided_by = decimal_value(&divisor, 0);
    }
    double period_s = rate_period_s(rest);
    if (period_s == 0 || divided_by == 0)
        return 0;
    return decimal_value(&number, exponent) / (divided_by * period_s);
}

int units_parse_rate_per_s(const char *text, double *out, struct err *e)
{
    double rate = scan_rate(text);
    if (!(rate >= RATE_LEAST && rate <= RATE_MOST))
        return refuse(e, text, "a rate",
                      "a number above 0 and up to 1000M, like 300, 50k/s, 20/m or 1/3/s");
    *out = rate;
    return 0;
}

int units_parse_bits_per_s(const char *text, double *out, struct err *e)
{
    static const struct unit units[] = {
        {"bit", 0}, {"kbit", 3}, {"mbit", 6}, {"gbit", 9}, {NULL, 0},
    };
    struct decimal number;
    const char *rest = scan_decimal(text, &number);
    double value = 0;
    for (const struct unit *unit = units; rest && unit->name; unit++)
        if (text_same_name(unit->name, rest))
            value = decimal_value(&number, (int)unit->factor);
    if (!(value > 0 && value <= BITS_MOST_PER_S))
        return refuse(e, text, "a bit rate",
                      "a number above 0 with bit, kbit, mbit or gbit, like 10mbit");
    *out = value;
    return 0;
}

int units_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out,
                      struct err *e)
{
    struct decimal number;
    int exponent = 0;
    uint64_t factor = 1, value = 0;
    const char *rest = scan_decimal(text, &number);
    if (rest)
        rest = scan_multiple(rest, &exponent);
    for (int i = 0; i < exponent; i++)
        factor *= 10;
    if (!rest || *rest || number.fraction > 0 ||
        scale_exactly(&number, factor, UINT64_MAX, &value) != SCALING_OK || value < low ||
        value > high) {
        char accepted[96];
        if (high == UINT64_MAX)
            snprintf(accepted, sizeof accepted,
                     "a whole number from %" PRIu64 ", like 20 or 1k", low);
        else
            snprintf(accepted, sizeof accepted, "a whole number from %" PRIu64 " to %" PRIu64,
                     low, high);
        return refuse(e, text, "a valid count", accepted);
    }
    *out = value;
    return 0;
}

int units_parse_share(const char *text, double *out, struct err *e)
{
    struct decimal number;
    const char *rest = scan_decimal(text, &number);
    double value = -1;
    if (rest && !*rest)
        value = decimal_value(&number, 0);
    else if (rest && strcmp(rest, "%") == 0)
        value = decimal_value(&number, -2);
    if (!(value >= 0 && value <= 1))
        return refuse(e, text, "a share", "a number from 0 to 1, or from 0% to 100%");
    *out = value;
    return 0;
}

int units_parse_number(const char *text, double *out, struct err *e)
{
    struct decimal number;
    const char *rest = scan_decimal(text, &number);
    double value = rest && !*rest ? decimal_value(&number, 0) : INFINITY;
    if (!isfinite(value))
        return refuse(e, text, "a number", "decimal digits, like 3 or 0.25");
    *out = value;
    return 0;
}

int units_parse_switch(const char *text, int *out, struct err *e)
{
    static const struct unit words[] = {
        {"on", 1}, {"yes", 1}, {"true", 1}, {"off", 0}, {"no", 0}, {"false", 0}, {NULL, 0},
    };
    const struct unit *word = find_unit(words, text);
    if (!word)
        return refuse(e, text, "a switch", "on or off (or yes, no, true, false)");
    *out = (int)word->factor;
    return 0;
}

/* value / 10^places without trailing zeros, and the unit behind it. */
static void write_fixed(uint64_t value, unsigned places, const char *unit, char *buf,
                        size_t size)
{
    uint64_t divisor = 1;
    for (; places > 0 && value % 10 == 0; places--)
        value /= 10;
    for (unsigned i = 0; i < places; i++)
        divisor *= 10;
    if (places == 0)
        snprintf(buf, size, "%" PRIu64 " %s", value, unit);
    else
        snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64 " %s", value / divisor, (int)places,
                 value % divisor, unit);
}

char *units_format_duration(uint64_t ns, char *buf, size_t size)
{
    static const struct unit units[] = {
        {"ns", 1},          {"us", 1000},   {"ms", 1000000}, {"s", 1000000000},
        {"min", MINUTE_NS}, {"h", HOUR_NS}, {NULL, 0},
    };
    assert(size > 0);
    for (const struct unit *unit = units; unit->name; unit++) {
        unsigned places = ns / 10 < unit->factor ? 2 : ns / 100 < unit->factor ? 1 : 0;
        uint64_t scale = places == 2 ? 100 : places == 1 ? 10 : 1;
        u128 rounded = ((u128)ns * scale + unit->factor / 2) / unit->factor;
        /* Rounding may reach the next unit: 999.7 us is 1 ms. */
        if (unit[1].name && rounded >= unit[1].factor / unit->factor * scale)
            continue;
        write_fixed((uint64_t)rounded, places, unit->name, buf, size);
        break;
    }
    return buf;
}

char *units_format_duration_exact(uint64_t ns, char *buf, size_t size)
{
    static const struct unit units[] = {
        {"h", HOUR_NS}, {"m", MINUTE_NS}, {"s", 1000000000}, {"ms", 1000000},
        {"us", 1000},   {"ns", 1},        {NULL, 0},
    };
    assert(size > 0);
    const struct unit *unit = units;
    while (ns == 0 ? strcmp(unit->name, "s") != 0 : ns % unit->factor != 0)
        unit++;
    snprintf(buf, size, "%" PRIu64 "%s", ns / unit->factor, unit->name);
    return buf;
}

/* Significant digits of a finite value > 0, as few as read back to it, without the dot;
 * returns the power of ten of the first one. */
static int shortest_digits(double value, char digits[32])
{
    char text[32];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t n = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[n++] = *p;
    digits[n] = '\0';
    return (int)strtol(p + 1, NULL, 10);
}

/* Lay out digits d1 d2 ... times 10^(power - number of digits + 1). */
static void write_number(struct text *t, const char *digits, int power)
{
    int count = (int)strlen(digits);
    if (power < -9 || power > 20) {
        text_addf(t, "%c%s%s", digits[0], count > 1 ? "." : "", digits + 1);
        text_addf(t, "e%d", power);
    } else if (power < 0) {
        text_addf(t, "0.%.*s%s", -power - 1, "00000000", digits);
    } else if (count <= power + 1) {
        text_addf(t, "%s%.*s", digits, power + 1 - count, "00000000000000000000");
    } else {
        text_addf(t, "%.*s.%s", power + 1, digits, digits + power + 1);
    }
}

char *units_format_number(double value, char *buf, size_t size)
{
    assert(isfinite(value) && size > 0);
    struct text t = {0};
    if (value == 0) {
        text_add(&t, "0");
    } else {
        char digits[32];
        struct clocale locale;
        clocale_enter(&locale);
        int power = shortest_digits(fabs(value), digits);
        clocale_leave(&locale);
        if (value < 0)
            text_add(&t, "-");
        write_number(&t, digits, power);
    }
    snprintf(buf, size, "%s", text_str(&t));
    text_free(&t);
    return buf;
}
