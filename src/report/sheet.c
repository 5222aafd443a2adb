/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sheet.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/text.h"

struct sheet *sheet_new(void)
{
    return mem_alloc_zeroed(1, sizeof(struct sheet));
}

struct sheet *sheet_of(const struct sheet_title *titles, size_t count)
{
    struct sheet *s = sheet_new();
    for (size_t i = 0; i < count; i++)
        sheet_add_column(s, titles[i].name, titles[i].kind);
    return s;
}

void sheet_free(struct sheet *s)
{
    if (s == NULL)
        return;
    for (size_t c = 0; c < s->columns; c++) {
        for (size_t row = 0; s->column[c].text != NULL && row < s->rows; row++)
            free(s->column[c].text[row]);
        free(s->column[c].text);
        free(s->column[c].number);
        free(s->column[c].name);
    }
    free(s->column);
    free(s);
}

size_t sheet_add_column(struct sheet *s, const char *name, enum sheet_kind kind)
{
    assert(s->rows == 0);
    const size_t n = s->columns;
    if ((n & (n - 1)) == 0) /* the room is the power of two above */
        s->column = mem_resize(s->column, n == 0 ? 1 : 2 * n, sizeof(*s->column));
    s->column[s->columns] = (struct sheet_column){
        .name = mem_copy_string(name), .kind = kind, .is_shown = true, .arm = -1};
    return s->columns++;
}

size_t sheet_add_row(struct sheet *s)
{
    const size_t n = s->rows;
    const bool is_full = (n & (n - 1)) == 0; /* the room is the power of two above */
    const size_t room = n == 0 ? 1 : 2 * n;
    for (size_t i = 0; i < s->columns; i++) {
        struct sheet_column *c = &s->column[i];
        if (c->kind == SHEET_TEXT) {
            if (is_full)
                c->text = mem_resize(c->text, room, sizeof(*c->text));
            c->text[n] = NULL;
        } else {
            if (is_full)
                c->number = mem_resize(c->number, room, sizeof(*c->number));
            c->number[n] = NAN;
        }
    }
    return s->rows++;
}

static const struct sheet_column *column_of(const struct sheet *s, size_t row, size_t column)
{
    assert(row < s->rows && column < s->columns);
    return &s->column[column];
}

void sheet_set_number(struct sheet *s, size_t row, size_t column, double value)
{
    const struct sheet_column *c = column_of(s, row, column);
    assert(c->kind != SHEET_TEXT);
    c->number[row] = value;
}

void sheet_set_text(struct sheet *s, size_t row, size_t column, const char *text)
{
    const struct sheet_column *c = column_of(s, row, column);
    assert(c->kind == SHEET_TEXT);
    struct text harmless = {0};
    if (text != NULL)
        text_add_harmless(&harmless, text);
    free(c->text[row]);
    c->text[row] = text == NULL ? NULL : mem_copy_string(text_str(&harmless));
    text_free(&harmless);
}

double sheet_number(const struct sheet *s, size_t row, size_t column)
{
    const struct sheet_column *c = column_of(s, row, column);
    assert(c->kind != SHEET_TEXT);
    return c->number[row];
}

const char *sheet_text(const struct sheet *s, size_t row, size_t column)
{
    const struct sheet_column *c = column_of(s, row, column);
    assert(c->kind == SHEET_TEXT);
    return c->text[row];
}
