/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a chart as JSON in the page.  Whatever names stand in it, it must stay
 * data: no character in it can end the element, begin another or a comment. */
#include "report/html_put.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/json_put.h"

#define DIGITS 9 /* more than a histogram has; the result's file has all */

static json_t *of_column(const struct sheet_column *c)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "name", c->name);
    if (c->kind == SHEET_TEXT)
        json_put_bool(object, "text", true);
    if (c->arm >= 0)
        json_put_count(object, "arm", (uint64_t)c->arm);
    if (c->trial > 0)
        json_put_count(object, "trial", c->trial);
    return object;
}

static json_t *of_cells(const struct sheet_column *c, size_t rows)
{
    json_t *array = json_made(json_array());
    for (size_t row = 0; row < rows; row++) {
        if (c->kind == SHEET_TEXT)
            json_append(array, c->text[row] == NULL ? json_null() : json_of_text(c->text[row]));
        else
            json_append(array, isnan(c->number[row]) ? json_null() : json_real(c->number[row]));
    }
    return array;
}

static json_t *of_sheet(const struct sheet *s)
{
    json_t *object = json_made(json_object());
    json_t *columns = json_made(json_array()), *data = json_made(json_array());
    for (size_t c = 0; c < s->columns; c++) {
        json_append(columns, of_column(&s->column[c]));
        json_append(data, of_cells(&s->column[c], s->rows));
    }
    json_put(object, "columns", columns);
    json_put(object, "data", data);
    return object;
}

void html_add_data(struct text *out, const char *id, const struct sheet *s)
{
    json_t *object = of_sheet(s);
    char *plain =
        json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS));
    json_decref(object);
    text_addf(out, "<script type=\"application/json\" id=\"data-%s\">", id);
    for (const char *at = plain; at != NULL && *at != '\0';) {
        const size_t bytes = strcspn(at, "<>&"); /* only within strings */
        text_add_bytes(out, at, bytes);
        at += bytes;
        if (*at != '\0')
            text_addf(out, "\\u%04x", (unsigned)(unsigned char)*at++);
    }
    text_add(out, "</script>\n");
    free(plain);
}
