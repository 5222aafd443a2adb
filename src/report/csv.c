/* SPDX-License-Identifier: Apache-2.0 */
/* Long form, one row a figure, for data frames: docs/RESULT.md names the columns.
 * RFC 4180: CRLF, quotes doubled.  A text cell that a spreadsheet would take for a formula
 * gets an apostrophe in front; numbers are left alone. */
#include "report/format.h"

#include <math.h>
#include <string.h>
#include "report/csv_rows.h"
#include "report/latency.h"

/* What is quoted may hold line ends; any other control character is made harmless. */
static void add_cell_text(struct text *out, const char *text)
{
    struct text clean = {0}, piece = {0};
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
        text_add(&clean, "'");
    for (const char *s = text; *s != '\0';) {
        const size_t bytes = strcspn(s, "\r\n");
        text_add_bytes(&piece, s, bytes);
        text_add_harmless(&clean, text_str(&piece));
        text_free(&piece);
        s += bytes;
        if (*s != '\0')
            text_add_bytes(&clean, s++, 1);
    }
    text_add(out, text_str(&clean));
    text_free(&clean);
}

void csv_add_text(struct text *out, const char *text)
{
    struct text cell = {0};
    if (text == NULL)
        return;
    add_cell_text(&cell, text);
    if (strpbrk(text_str(&cell), ",\"\r\n") == NULL) {
        text_add(out, text_str(&cell));
    } else {
        text_add(out, "\"");
        for (const char *s = text_str(&cell); *s != '\0'; s++) {
            text_add_bytes(out, s, 1);
            if (*s == '"')
                text_add(out, "\"");
        }
        text_add(out, "\"");
    }
    text_free(&cell);
}

static void add_number(struct text *out, double value)
{
    if (!isnan(value))
        text_addf(out, "%.10g", value);
}

static void add_count(struct text *out, uint64_t count)
{
    if (count != 0)
        text_addf(out, "%llu", (unsigned long long)count);
}

void csv_add_row(struct csv *csv, const struct csv_row *row)
{
    struct text *out = csv->out;
    const char *const texts[] = {csv->kind, csv->arm, row->baseline};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        csv_add_text(out, texts[i]);
        text_add(out, ",");
    }
    add_count(out, csv->trial);
    text_addf(out, ",%s,", row->side == NULL ? "" : row->side);
    csv_add_text(out, row->metric);
    text_addf(out, ",%s,%s,", row->statistic, row->unit);
    add_number(out, row->figure.value);
    text_add(out, ",");
    add_number(out, row->figure.low);
    text_add(out, ",");
    add_number(out, row->figure.high);
    text_add(out, ",");
    add_count(out, row->count);
    text_addf(out, ",%s\r\n", row->verdict == NULL ? "" : row->verdict);
}

void csv_add_figure(struct csv *csv, const char *metric, const char *unit, const char *side,
                    const struct figure *f)
{
    if (!figure_is_set(f))
        return;
    csv_add_row(csv, &(struct csv_row){.side = side,
                                       .metric = metric,
                                       .statistic = csv->statistic,
                                       .unit = unit,
                                       .figure = *f});
}

void csv_add_value(struct csv *csv, const char *metric, const char *unit, const char *side,
                   double value)
{
    csv_add_figure(csv, metric, unit, side,
                   &(struct figure){.value = value, .low = NAN, .high = NAN});
}

/* "cpu_us.client" has its side in a column of its own. */
static const char *side_of(const char *metric, size_t *length)
{
    const char *last = strrchr(metric, '.');
    *length = strlen(metric);
    for (unsigned side = 0; last != NULL && side < RESULT_SIDES; side++) {
        const char *name = result_side_name((enum result_side)side);
        if (strcmp(last + 1, name) == 0) {
            *length = (size_t)(last - metric);
            return name;
        }
    }
    return NULL;
}

static const char *unit_of(const char *metric)
{
    if (strstr(metric, "_us") != NULL)
        return "us";
    if (strstr(metric, "_per_s") != NULL)
        return "1/s";
    return strstr(metric, "bytes") != NULL ? "bytes" : "";
}

static void add_comparison(struct csv *csv, const struct result_comparison *c)
{
    size_t length;
    struct text metric = {0};
    struct csv_row row = {.baseline = c->baseline, .side = side_of(c->metric, &length)};
    text_add_bytes(&metric, c->metric, length);
    row.metric = text_str(&metric);
    csv->arm = c->arm;
    const struct {
        const char *statistic, *unit, *verdict;
        struct figure figure;
    } rows[] = {
        {"difference", unit_of(c->metric), result_verdict_name(c->verdict), c->difference},
        {"ratio", "1", NULL, c->ratio},
        {"noise_floor", unit_of(c->metric), NULL, {c->noise_floor, NAN, NAN}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row.statistic = rows[i].statistic;
        row.unit = rows[i].unit;
        row.verdict = rows[i].verdict;
        row.figure = rows[i].figure;
        if (figure_is_set(&row.figure) || row.verdict != NULL)
            csv_add_row(csv, &row);
    }
    text_free(&metric);
}

void report_add_csv(const struct result *r, struct text *out,
                    const struct report_options *options)
{
    struct csv csv = {.out = out, .kind = result_kind_name(r->kind)};
    (void)options;
    report_require_whole(r);
    text_add(out, "kind,arm,baseline,trial,side,metric,statistic,unit,value,low,high,count,"
                  "verdict\r\n");
    for (size_t i = 0; i < r->arms; i++)
        csv_add_arm(&csv, &r->arm[i], r->kind);
    csv.trial = 0;
    if (r->kind == RESULT_KIND_CAPACITY)
        csv_add_capacity(&csv, r);
    for (size_t i = 0; i < r->comparisons; i++)
        add_comparison(&csv, &r->comparison[i]);
}
