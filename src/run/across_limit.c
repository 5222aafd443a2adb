/* SPDX-License-Identifier: Apache-2.0 */
/* "pq:cpu_us.server > +5%": reading it, and holding it against the rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "base/units.h"
#include "run/across.h"

#define ACCEPTED "accepted: [ARM:]METRIC > LIMIT or METRIC < LIMIT, as 'cpu_us.server > +5%%'"
#define NAME_CHARACTERS                                                \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._" \
    "+-"

static int refuse(struct err *e, const char *text, const char *why)
{
    return err_set(e, ERR_USAGE, "'%s': %s (" ACCEPTED ")", text, why);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* A name at *at into buf; false where there is none or it is too long. */
static bool take_name(const char **at, char *buf, size_t size)
{
    const size_t length = strspn(*at, NAME_CHARACTERS);
    if (length == 0 || length >= size)
        return false;
    memcpy(buf, *at, length);
    buf[length] = '\0';
    *at += length;
    return true;
}

static int take_limit(const char *at, struct across_bound *out)
{
    char number[64];
    struct err ignored = ERR_INIT;
    const double sign = *at == '-' ? -1 : 1;
    if (*at == '-' || *at == '+')
        at = skip_blanks(at + 1);
    const size_t length = strspn(at, "0123456789.");
    if (length == 0 || length >= sizeof number)
        return -1;
    memcpy(number, at, length);
    number[length] = '\0';
    at = skip_blanks(at + length);
    out->is_share = *at == '%';
    if (out->is_share)
        at = skip_blanks(at + 1);
    if (*at != '\0' || units_parse_number(number, &out->limit, &ignored) != 0)
        return -1;
    out->limit *= sign * (out->is_share ? 0.01 : 1);
    return 0;
}

int across_bound_parse(const char *text, struct across_bound *out, struct err *e)
{
    const char *at = skip_blanks(text);
    *out = (struct across_bound){0};
    if (!take_name(&at, out->metric, sizeof out->metric))
        return refuse(e, text, "begins with no name");
    if (*at == ':') {
        at++;
        memcpy(out->arm, out->metric, sizeof out->arm);
        if (!take_name(&at, out->metric, sizeof out->metric))
            return refuse(e, text, "no metric behind the arm");
    }
    at = skip_blanks(at);
    if (*at != '>' && *at != '<')
        return refuse(e, text, "neither > nor < behind the metric");
    out->is_above = *at == '>';
    if (take_limit(skip_blanks(at + 1), out) != 0)
        return refuse(e, text, "no number behind > or <");
    return 0;
}

static bool is_arm_of(const struct across_row *row, const char *arm)
{
    return arm[0] == '\0' || (row->arm != NULL && strcmp(row->arm, arm) == 0) ||
           (row->other != NULL && strcmp(row->other, arm) == 0);
}

static int refuse_metric(const struct across *a, const struct across_bound *bound,
                         const char *text, struct err *e)
{
    struct text list = {0};
    bool has_metric = false;
    for (size_t i = 0; i < a->rows; i++) {
        const struct across_row *row = &a->row[i];
        bool is_new = true;
        has_metric = has_metric || strcmp(row->metric, bound->metric) == 0;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && strcmp(a->row[k].metric, row->metric) != 0;
        if (is_new)
            text_addf(&list, "%s%s", list.length > 0 ? ", " : "", row->metric);
    }
    if (has_metric)
        err_set(e, ERR_USAGE, "--fail-if '%s': no arm %s was compared in it", text, bound->arm);
    else
        err_set(e, ERR_USAGE, "--fail-if '%s': these results have no %s (they have %s)", text,
                bound->metric, text_str(&list));
    text_free(&list);
    return -1;
}

/* By how much the end of the interval that is nearer to the limit lies beyond it; NAN: there
 * is none to be held against it. */
static double excess_of(const struct across_row *row, const struct across_bound *bound)
{
    const double unit = bound->is_share ? 1 : row->before.value;
    if (!figure_has_interval(&row->change) || isnan(unit) ||
        row->verdict == RESULT_VERDICT_WITHHELD)
        return NAN;
    return bound->is_above ? row->change.low * unit - bound->limit
                           : bound->limit - row->change.high * unit;
}

int across_hold(struct across *a, const char *text, struct err *e)
{
    struct across_bound bound;
    double most = 0;
    if (across_bound_parse(text, &bound, e) != 0)
        return err_add_context(e, "--fail-if");
    struct across_limit *limit = across_add_limit(a, text);
    for (size_t i = 0; i < a->rows; i++) {
        const struct across_row *row = &a->row[i];
        if (strcmp(row->metric, bound.metric) != 0 || !is_arm_of(row, bound.arm))
            continue;
        /* The change that all have in common has no value of its own. */
        if (!bound.is_share && row->arm == NULL)
            continue;
        const double excess = excess_of(row, &bound);
        limit->rows++;
        limit->unjudged += isnan(excess) ? 1 : 0;
        if (excess > 0) {
            limit->broken++;
            limit->worst = excess > most ? i : limit->worst;
            most = fmax(most, excess);
        }
    }
    return limit->rows > 0 ? 0 : refuse_metric(a, &bound, text, e);
}
