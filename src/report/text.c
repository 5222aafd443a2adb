/* SPDX-License-Identifier: Apache-2.0 */
#include "report/format.h"

#include <string.h>
#include "report/page.h"
#include "report/table.h"

#define COLUMNS_LEAST 80u
#define COLUMNS_READABLE 100u /* of prose; tables take all there is */
#define INDENT 2u

struct screen {
    struct text *out;
    struct report_options options;
};

/* Words of text into lines of the screen's width, all but the first indented. */
static void add_wrapped(struct screen *screen, const char *text, enum table_tone tone)
{
    const size_t columns_wanted =
        screen->options.columns < COLUMNS_READABLE ? screen->options.columns : COLUMNS_READABLE;
    size_t at = 0;
    const char *word = text;
    text_add(screen->out, table_tone_start(tone, &screen->options));
    while (*word != '\0') {
        size_t bytes = strcspn(word, " ");
        if (strncmp(word + bytes, " %", 2) == 0) /* stays with its number */
            bytes += 1 + strcspn(word + bytes + 1, " ");
        struct text piece = {0};
        text_add_bytes(&piece, word, bytes);
        const size_t columns = text_columns(text_str(&piece));
        if (at > 0 && at + 1 + columns > columns_wanted) {
            text_add(screen->out, "\n  ");
            at = INDENT;
        } else if (at > 0) {
            text_add(screen->out, " ");
            at++;
        }
        text_add(screen->out, text_str(&piece));
        at += columns;
        text_free(&piece);
        word += bytes;
        word += *word == ' ';
    }
    text_add(screen->out, table_tone_end(tone, &screen->options));
    text_add(screen->out, "\n");
}

static void draw_heading(void *arg, const char *text)
{
    struct screen *screen = arg;
    if (screen->out->length > 0)
        text_add(screen->out, "\n");
    if (text[0] != '\0')
        add_wrapped(screen, text, TABLE_STRONG);
}

static void draw_paragraph(void *arg, const char *text, enum table_tone tone)
{
    add_wrapped(arg, text, tone);
}

static void draw_table(void *arg, const struct table *t)
{
    struct screen *screen = arg;
    table_add_text(t, screen->out, &screen->options);
}

/* One "?" for each code point outside ASCII, so that columns stay where they are. */
static void add_ascii(struct text *out, const char *text)
{
    for (const char *s = text; *s != '\0'; s++) {
        const unsigned char byte = (unsigned char)*s;
        if (byte < 0x80)
            text_add_bytes(out, s, 1);
        else if ((byte & 0xc0) != 0x80)
            text_add(out, "?");
    }
}

void page_add_text(page_draw_fn *draw, const void *what, struct text *out,
                   const struct report_options *options)
{
    struct text page = {0};
    struct screen screen = {.out = &page, .options = *options};
    if (screen.options.columns < COLUMNS_LEAST)
        screen.options.columns = COLUMNS_LEAST;
    const struct page_drawer drawer = {
        .heading = draw_heading,
        .paragraph = draw_paragraph,
        .table = draw_table,
        .arg = &screen,
        .columns = screen.options.columns,
        .is_detailed = options->is_detailed,
    };
    draw(what, &drawer);
    if (options->has_utf8)
        text_add(out, text_str(&page));
    else
        add_ascii(out, text_str(&page));
    text_free(&page);
}

void report_add_text(const struct result *r, struct text *out,
                     const struct report_options *options)
{
    page_add_text(page_draw, r, out, options);
}
