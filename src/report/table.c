/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/table_parts.h"

struct table *table_new(size_t rows)
{
    struct table *t = mem_alloc_zeroed(1, sizeof(*t));
    t->rows = rows;
    t->cells = mem_alloc_zeroed(rows * TABLE_COLUMNS_MAX, sizeof(*t->cells));
    t->starts_block = mem_alloc_zeroed(rows, sizeof(*t->starts_block));
    return t;
}

void table_free(struct table *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->rows * TABLE_COLUMNS_MAX; i++)
        free(t->cells[i].text);
    for (size_t c = 0; c < t->columns; c++) {
        free(t->column[c].title[0]);
        free(t->column[c].title[1]);
    }
    free(t->cells);
    free(t->starts_block);
    free(t);
}

size_t table_add_column(struct table *t, const char *title, enum table_kind kind, unsigned rank)
{
    assert(t->columns < TABLE_COLUMNS_MAX);
    struct table_column *c = &t->column[t->columns];
    const char *second = strchr(title, '\n');
    struct text first = {0};
    text_add_bytes(&first, title, second == NULL ? strlen(title) : (size_t)(second - title));
    c->title[0] = text_take(&first);
    c->title[1] = mem_copy_string(second == NULL ? "" : second + 1);
    c->kind = kind;
    c->rank = rank;
    return t->columns++;
}

const struct table_cell *table_cell(const struct table *t, size_t row, size_t column)
{
    assert(row < t->rows && column < t->columns);
    return &t->cells[row * TABLE_COLUMNS_MAX + column];
}

static struct table_cell *cell_of(struct table *t, size_t row, size_t column)
{
    assert(row < t->rows && column < t->columns);
    return &t->cells[row * TABLE_COLUMNS_MAX + column];
}

void table_set(struct table *t, size_t row, size_t column, const char *text)
{
    struct table_cell *cell = cell_of(t, row, column);
    free(cell->text);
    cell->text = mem_copy_string(text);
}

void table_take(struct table *t, size_t row, size_t column, struct text *text)
{
    struct table_cell *cell = cell_of(t, row, column);
    free(cell->text);
    cell->text = text_take(text);
}

void table_tone(struct table *t, size_t row, size_t column, enum table_tone tone)
{
    cell_of(t, row, column)->tone = tone;
}

void table_set_bar(struct table *t, size_t row, size_t column, double share)
{
    assert(t->column[column].kind == TABLE_BAR);
    cell_of(t, row, column)->bar = share;
}

void table_start_block(struct table *t, size_t row)
{
    assert(row < t->rows);
    t->starts_block[row] = true;
}

const char *table_tone_start(enum table_tone tone, const struct report_options *options)
{
    static const char *const starts[] = {"", "\033[1m", "\033[32m", "\033[33m", "\033[2m"};
    return options->has_colour ? starts[tone] : "";
}

const char *table_tone_end(enum table_tone tone, const struct report_options *options)
{
    return options->has_colour && tone != TABLE_PLAIN ? "\033[0m" : "";
}

void table_add_markdown_text(struct text *out, const char *text)
{
    for (const char *s = text; *s != '\0'; s++) {
        /* Brackets alone are no link. */
        if (strchr("\\`*_<|#~&$", *s) != NULL ||
            (*s == ']' && s[1] != '\0' && strchr("([:", s[1]) != NULL))
            text_add(out, "\\");
        text_add_bytes(out, s, 1);
    }
}

static void add_markdown_title(const struct table_column *c, struct text *out)
{
    table_add_markdown_text(out, c->title[0]);
    if (c->title[0][0] != '\0' && c->title[1][0] != '\0')
        text_add(out, " ");
    table_add_markdown_text(out, c->title[1]);
}

/* A note without a title stands in the cell before it. */
static bool has_own_cell(const struct table_column *c)
{
    return c->kind != TABLE_BAR &&
           !(c->kind == TABLE_NOTE && c->title[0][0] == '\0' && c->title[1][0] == '\0');
}

static void add_markdown_row(const struct table *t, size_t row, struct text *out)
{
    for (size_t c = 0; c < t->columns; c++) {
        const char *text = table_cell(t, row, c)->text;
        if (has_own_cell(&t->column[c]))
            text_add(out, c == 0 ? "| " : " | ");
        if (t->column[c].kind != TABLE_BAR && text != NULL)
            table_add_markdown_text(out, text);
    }
    text_add(out, " |\n");
}

void table_add_markdown(const struct table *t, struct text *out)
{
    for (size_t c = 0; c < t->columns; c++) {
        if (!has_own_cell(&t->column[c]))
            continue;
        text_add(out, c == 0 ? "| " : " | ");
        add_markdown_title(&t->column[c], out);
    }
    text_add(out, " |\n|");
    for (size_t c = 0; c < t->columns; c++) {
        if (has_own_cell(&t->column[c]))
            text_add(out, t->column[c].kind == TABLE_FIGURE ? " ---: |" : " --- |");
    }
    text_add(out, "\n");
    for (size_t row = 0; row < t->rows; row++)
        add_markdown_row(t, row, out);
}
