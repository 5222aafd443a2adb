/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table_parts.h"

#include <math.h>
#include <string.h>

#define BAR_LEAST 6u
#define BAR_MOST 24u
#define TEXT_LEAST 16u

/* Widths for one drawing; 0: the column is left out. */
struct layout {
    size_t width[TABLE_COLUMNS_MAX];
    bool has_titles[2];
};

static size_t at_most(size_t width, size_t most)
{
    return width < most ? width : most;
}

static size_t natural_width(const struct table *t, size_t column, size_t cut)
{
    const struct table_column *c = &t->column[column];
    size_t width = c->kind == TABLE_BAR ? BAR_LEAST : 0;
    for (unsigned line = 0; line < 2; line++) {
        const size_t title = at_most(text_columns(c->title[line]), cut);
        if (title > width)
            width = title;
    }
    for (size_t row = 0; row < t->rows; row++) {
        const char *text = table_cell(t, row, column)->text;
        size_t cell = text == NULL ? 0 : text_columns(text);
        if (c->kind == TABLE_TEXT)
            cell = at_most(cell, cut);
        if (cell > width)
            width = cell;
    }
    return width;
}

static size_t gap_before(const struct table *t, size_t column, const struct layout *layout)
{
    for (size_t c = 0; c < column; c++) {
        if (layout->width[c] > 0)
            return t->column[column].kind == TABLE_NOTE || t->column[column].kind == TABLE_BAR
                       ? 1
                       : 2;
    }
    return 0;
}

static size_t total_width(const struct table *t, const struct layout *layout)
{
    size_t total = 0;
    for (size_t c = 0; c < t->columns; c++) {
        if (layout->width[c] > 0)
            total += layout->width[c] + gap_before(t, c, layout);
    }
    return total;
}

static bool drop_highest(const struct table *t, struct layout *layout)
{
    unsigned highest = 0;
    for (size_t c = 0; c < t->columns; c++) {
        if (layout->width[c] > 0 && t->column[c].rank > highest)
            highest = t->column[c].rank;
    }
    for (size_t c = 0; highest > 0 && c < t->columns; c++) {
        if (t->column[c].rank == highest)
            layout->width[c] = 0;
    }
    return highest > 0;
}

static void grow_bars(const struct table *t, struct layout *layout, size_t columns)
{
    size_t bars = 0;
    for (size_t c = 0; c < t->columns; c++)
        bars += layout->width[c] > 0 && t->column[c].kind == TABLE_BAR;
    const size_t used = total_width(t, layout);
    if (bars == 0 || used >= columns)
        return;
    const size_t more = (columns - used) / bars;
    for (size_t c = 0; c < t->columns; c++) {
        if (layout->width[c] == 0 || t->column[c].kind != TABLE_BAR)
            continue;
        layout->width[c] += more;
        if (layout->width[c] > BAR_MOST)
            layout->width[c] = BAR_MOST;
    }
}

static void make_layout(const struct table *t, size_t columns, struct layout *layout)
{
    const size_t cut = columns / 4 > TEXT_LEAST ? columns / 4 : TEXT_LEAST;
    memset(layout, 0, sizeof(*layout));
    for (size_t c = 0; c < t->columns; c++) {
        layout->width[c] = natural_width(t, c, cut);
        for (unsigned line = 0; line < 2; line++) {
            if (t->column[c].title[line][0] != '\0')
                layout->has_titles[line] = true;
        }
    }
    while (total_width(t, layout) > columns && drop_highest(t, layout))
        continue;
    grow_bars(t, layout, columns);
}

size_t table_width(const struct table *t)
{
    struct layout layout = {0};
    for (size_t c = 0; c < t->columns; c++) {
        if (t->column[c].rank == 0 || t->column[c].kind == TABLE_BAR)
            layout.width[c] = natural_width(t, c, TEXT_LEAST);
    }
    return total_width(t, &layout);
}

static void add_blanks(struct text *out, size_t n)
{
    for (; n > 0; n--)
        text_add_bytes(out, " ", 1);
}

/* The bytes of the first n code points. */
static size_t prefix_bytes(const char *s, size_t n)
{
    size_t bytes = 0;
    while (s[bytes] != '\0' && n > 0) {
        bytes++;
        while (((unsigned char)s[bytes] & 0xc0) == 0x80)
            bytes++;
        n--;
    }
    return bytes;
}

/* How a cell stands in its column. */
struct drawing {
    size_t width;
    bool is_right;
    enum table_tone tone;
    const struct report_options *options;
};

/* Eighths of a column where blocks can be drawn; at least one for anything above 0. */
static void add_bar(struct text *out, double share, const struct drawing *d)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double bounded = share > 1 ? 1 : share > 0 ? share : 0;
    const unsigned unit = d->options->has_utf8 ? 8 : 1;
    size_t steps = (size_t)lround(bounded * (double)d->width * unit);
    if (steps == 0 && bounded > 0)
        steps = 1;
    for (size_t i = 0; i < steps / unit; i++)
        text_add(out, d->options->has_utf8 ? "█" : "#");
    text_add(out, eighths[steps % unit]);
    add_blanks(out, d->width - steps / unit - (steps % unit > 0));
}

/* A text, cut or padded.  Blanks stay outside of its tone, so that a line can be trimmed. */
static void add_padded(struct text *out, const char *text, const struct drawing *d)
{
    const size_t columns = text_columns(text);
    const size_t blanks = columns < d->width ? d->width - columns : 0;
    if (d->is_right)
        add_blanks(out, blanks);
    if (columns > 0)
        text_add(out, table_tone_start(d->tone, d->options));
    if (columns > d->width) {
        text_add_bytes(out, text, prefix_bytes(text, d->width - 1));
        text_add(out, "~");
    } else {
        text_add(out, text);
    }
    if (columns > 0)
        text_add(out, table_tone_end(d->tone, d->options));
    if (!d->is_right)
        add_blanks(out, blanks);
}

static void trim_line(struct text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_add(out, "\n");
}

static void add_titles(const struct table *t, const struct layout *layout, unsigned line,
                       struct text *out, const struct report_options *options)
{
    for (size_t c = 0; c < t->columns; c++) {
        const struct table_column *column = &t->column[c];
        if (layout->width[c] == 0)
            continue;
        const struct drawing drawing = {.width = layout->width[c],
                                        .is_right = column->kind == TABLE_FIGURE,
                                        .tone = TABLE_DIM,
                                        .options = options};
        add_blanks(out, gap_before(t, c, layout));
        add_padded(out, column->title[line], &drawing);
    }
    trim_line(out);
}

static void add_row(const struct table *t, const struct layout *layout, size_t row,
                    struct text *out, const struct report_options *options)
{
    if (t->starts_block[row])
        text_add(out, "\n");
    for (size_t c = 0; c < t->columns; c++) {
        const struct table_cell *cell = table_cell(t, row, c);
        const enum table_kind kind = t->column[c].kind;
        if (layout->width[c] == 0)
            continue;
        const struct drawing drawing = {.width = layout->width[c],
                                        .is_right = kind == TABLE_FIGURE,
                                        .tone = cell->tone,
                                        .options = options};
        add_blanks(out, gap_before(t, c, layout));
        if (kind == TABLE_BAR)
            add_bar(out, cell->bar, &drawing);
        else
            add_padded(out, cell->text == NULL ? "" : cell->text, &drawing);
    }
    trim_line(out);
}

void table_add_text(const struct table *t, struct text *out,
                    const struct report_options *options)
{
    struct layout layout;
    make_layout(t, options->columns, &layout);
    for (unsigned line = 0; line < 2; line++) {
        if (layout.has_titles[line])
            add_titles(t, &layout, line, out, options);
    }
    for (size_t row = 0; row < t->rows; row++)
        add_row(t, &layout, row, out, options);
}
