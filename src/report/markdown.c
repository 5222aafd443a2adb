/* SPDX-License-Identifier: Apache-2.0 */
#include "report/format.h"

#include "report/page.h"
#include "report/table.h"

static void start_block(struct text *out)
{
    if (out->length > 0)
        text_add(out, "\n");
}

static void draw_heading(void *arg, const char *text)
{
    struct text *out = arg;
    if (text[0] == '\0')
        return;
    /* The first one is the report's title. */
    const char *mark = out->length == 0 ? "## " : "### ";
    start_block(out);
    text_add(out, mark);
    table_add_markdown_text(out, text);
    text_add(out, "\n");
}

static void draw_paragraph(void *arg, const char *text, enum table_tone tone)
{
    struct text *out = arg;
    start_block(out);
    text_add(out, tone == TABLE_BAD ? "**" : "");
    table_add_markdown_text(out, text);
    text_add(out, tone == TABLE_BAD ? "**\n" : "\n");
}

static void draw_table(void *arg, const struct table *t)
{
    struct text *out = arg;
    start_block(out);
    table_add_markdown(t, out);
}

void page_add_markdown(page_draw_fn *draw, const void *what, struct text *out,
                       const struct report_options *options)
{
    struct text page = {0};
    const struct page_drawer drawer = {
        .heading = draw_heading,
        .paragraph = draw_paragraph,
        .table = draw_table,
        .arg = &page,
        .columns = 0,
        .is_detailed = options->is_detailed,
    };
    draw(what, &drawer);
    text_add(out, text_str(&page));
    text_free(&page);
}

void report_add_markdown(const struct result *r, struct text *out,
                         const struct report_options *options)
{
    page_add_markdown(page_draw, r, out, options);
}
