/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html_put.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report/figures.h"
#include "report/lookup.h"
#include "report/sentences.h"
#include "report/table_parts.h"

#define MICRO "\xc2\xb5" /* U+00B5 */
#define NO_BREAK "\xc2\xa0"
#define COLOURS 6u

static void add_escaped(struct text *out, const char *s, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        switch (s[i]) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        case '\'':
            text_add(out, "&#39;");
            break;
        default:
            text_add_bytes(out, &s[i], 1);
            break;
        }
    }
}

void html_add_text(struct text *out, const char *text)
{
    struct text harmless = {0};
    text_add_harmless(&harmless, text);
    add_escaped(out, text_str(&harmless), harmless.length);
    text_free(&harmless);
}

/* What stands behind a number and stays with it: its bytes in words, or NULL. */
static const char *unit_at(const char *s, size_t *bytes)
{
    static const struct {
        const char *plain, *shown;
    } units[] = {{" us", MICRO "s"}, {" %", "%"}, {" ms", "ms"}, {" s", "s"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        *bytes = strlen(units[i].plain);
        if (strncmp(s, units[i].plain, *bytes) == 0 && !isalnum((unsigned char)s[*bytes]))
            return units[i].shown;
    }
    return NULL;
}

void html_add_words(struct text *out, const char *text)
{
    const char *from = text;
    for (const char *s = text; *s != '\0'; s++) {
        size_t bytes;
        const char *unit =
            s > text && isdigit((unsigned char)s[-1]) ? unit_at(s, &bytes) : NULL;
        if (unit == NULL)
            continue;
        add_escaped(out, from, (size_t)(s - from));
        text_addf(out, NO_BREAK "%s", unit);
        from = s + bytes;
        s = from - 1;
    }
    add_escaped(out, from, strlen(from));
}

/* "client" over "us", "tls us", "us each"; the name of an arm may be "us" too, but stands
 * alone over figures. */
static void add_title(struct text *out, const struct table_column *c)
{
    for (unsigned line = 0; line < 2; line++) {
        const char *title = c->title[line];
        const char *unit = strstr(title, "us");
        const size_t before = unit == NULL ? 0 : (size_t)(unit - title);
        const bool is_unit =
            unit != NULL && (before == 0 || title[before - 1] == ' ') &&
            (unit[2] == '\0' || strcmp(unit, "us each") == 0) &&
            (before > 0 || line == 1 || c->kind == TABLE_TEXT || unit[2] != '\0');
        if (line == 1 && title[0] != '\0' && c->title[0][0] != '\0')
            text_add(out, " ");
        add_escaped(out, title, is_unit ? before : strlen(title));
        if (is_unit) {
            text_add(out, MICRO "s");
            text_add(out, unit + 2);
        }
    }
}

/* A note without a title stands in the cell before it. */
static bool has_own_cell(const struct table_column *c)
{
    return c->kind != TABLE_BAR &&
           !(c->kind == TABLE_NOTE && c->title[0][0] == '\0' && c->title[1][0] == '\0');
}

static bool is_joined(const struct table *t, size_t column)
{
    return column < t->columns && t->column[column].kind == TABLE_NOTE &&
           !has_own_cell(&t->column[column]);
}

static void add_cell(struct text *out, const struct table *t, size_t row, size_t column)
{
    static const char *const tones[] = {"", " strong", " good", " bad", " dim"};
    const struct table_cell *cell = table_cell(t, row, column);
    text_addf(out, "<td class=\"%s%s\">", t->column[column].kind == TABLE_FIGURE ? "n" : "t",
              tones[cell->tone]);
    if (cell->text != NULL)
        html_add_words(out, cell->text);
    if (is_joined(t, column + 1) && table_cell(t, row, column + 1)->text != NULL) {
        text_add(out, " ");
        html_add_words(out, table_cell(t, row, column + 1)->text);
    }
    text_add(out, "</td>");
}

void html_add_table(struct text *out, const struct table *t)
{
    text_add(out, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t c = 0; c < t->columns; c++) {
        if (!has_own_cell(&t->column[c]))
            continue;
        text_addf(out, "<th scope=\"col\" class=\"%s\">",
                  t->column[c].kind == TABLE_FIGURE ? "n" : "t");
        add_title(out, &t->column[c]);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < t->rows; row++) {
        text_add(out, t->starts_block[row] ? "<tr class=\"block\">" : "<tr>");
        for (size_t c = 0; c < t->columns; c++) {
            if (has_own_cell(&t->column[c]))
                add_cell(out, t, row, c);
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}

static void add_number(struct text *out, enum sheet_kind kind, double value)
{
    struct text cell = {0};
    if (isnan(value))
        return;
    switch (kind) {
    case SHEET_US:
        figures_add_us(&cell, value);
        break;
    case SHEET_SIGNED_US:
        figures_add_signed_us(&cell, value);
        break;
    case SHEET_BYTES:
        figures_add_bytes(&cell, value);
        break;
    case SHEET_SIGNED_BYTES:
        figures_add_signed_bytes(&cell, value);
        break;
    case SHEET_SHARE:
        figures_add_share(&cell, value);
        break;
    case SHEET_CHANGE:
        figures_add_change(&cell, value);
        break;
    case SHEET_NUMBER:
    case SHEET_TEXT:
        text_addf(&cell, "%.6g", value);
        break;
    }
    html_add_text(out, text_str(&cell));
    text_free(&cell);
}

static void add_sheet_row(struct text *out, const struct sheet *s, size_t row)
{
    text_add(out, "<tr>");
    for (size_t c = 0; c < s->columns; c++) {
        const struct sheet_column *column = &s->column[c];
        if (!column->is_shown)
            continue;
        text_add(out, column->kind == SHEET_TEXT ? "<td class=\"t\">" : "<td class=\"n\">");
        if (column->kind != SHEET_TEXT)
            add_number(out, column->kind, column->number[row]);
        else if (column->text[row] != NULL)
            html_add_text(out, column->text[row]);
        text_add(out, "</td>");
    }
    text_add(out, "</tr>\n");
}

void html_add_sheet(struct text *out, const struct sheet *s)
{
    text_add(out, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t c = 0; c < s->columns; c++) {
        if (!s->column[c].is_shown)
            continue;
        text_addf(out, "<th scope=\"col\" class=\"%s\">",
                  s->column[c].kind == SHEET_TEXT ? "t" : "n");
        html_add_text(out, s->column[c].name);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < s->rows; row++)
        add_sheet_row(out, s, row);
    text_add(out, "</tbody></table></div>\n");
}

void html_open_chart(struct text *out, const struct html_chart *chart)
{
    text_addf(out, "<figure class=\"chart%s\" id=\"%s\">\n<figcaption><h3>",
              chart->is_live ? " live" : "", chart->id);
    html_add_words(out, chart->title);
    text_add(out, "</h3>");
    if (chart->about != NULL) {
        text_add(out, "<p>");
        html_add_words(out, chart->about);
        text_add(out, "</p>");
    }
    text_add(out, "</figcaption>\n");
}

void html_close_chart(struct text *out, const struct html_chart *chart, const struct sheet *s)
{
    text_add(out, "<details class=\"behind\"><summary>The table behind it</summary>\n");
    html_add_sheet(out, s);
    text_addf(out, "<button type=\"button\" class=\"save\" hidden>Save as %s.csv</button>\n",
              chart->id);
    text_add(out, "</details>\n");
    html_add_data(out, chart->id, s);
    text_add(out, "</figure>\n");
}

/* A control is a copy of its baseline. */
static bool is_control(const struct result *r, size_t arm)
{
    const struct result_pairs *spec = &r->arm[arm].spec;
    const struct result_arm *baseline = lookup_baseline(r, r->arm[arm].name);
    if (baseline == NULL || baseline->spec.count != spec->count)
        return false;
    for (size_t i = 0; i < spec->count; i++) {
        const char *same = pairs_find(&baseline->spec, spec->pair[i].name);
        if (same == NULL || strcmp(same, spec->pair[i].value) != 0)
            return false;
    }
    return true;
}

const char *html_arm_class(const struct result *r, size_t arm, char *buf, size_t size)
{
    if (is_control(r, arm))
        snprintf(buf, size, "cx");
    else
        snprintf(buf, size, "c%u%s", (unsigned)(arm % COLOURS), arm < COLOURS ? "" : " again");
    return buf;
}

void html_add_arms(struct text *out, const struct result *r)
{
    char class[HTML_CLASS_SIZE];
    text_add(out, "<p class=\"legend\">");
    for (size_t i = 0; i < r->arms; i++) {
        struct text name = {0};
        sentences_add_arm(&name, &r->arm[i]);
        text_addf(out, "<span class=\"%s\"><i></i>",
                  html_arm_class(r, i, class, sizeof(class)));
        html_add_text(out, text_str(&name));
        text_add(out, "</span> ");
        text_free(&name);
    }
    text_add(out, "</p>\n");
}

void html_add_arm_label(struct text *out, const struct result *r, size_t arm)
{
    const char *group = r->arm[arm].negotiated.group;
    text_add(out, "<div class=\"arm\"><b>");
    html_add_text(out, r->arm[arm].name);
    text_add(out, "</b>");
    if (group != NULL && !text_same_name(group, r->arm[arm].name)) {
        text_add(out, " <span>");
        html_add_text(out, group);
        text_add(out, "</span>");
    }
    text_add(out, "</div>\n");
}
