/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/format.h"
#include "report/sentences.h"
#include "report/tables.h"

void page_draw_table(const struct page_drawer *drawer, const char *heading, struct table *t)
{
    if (t == NULL)
        return;
    if (heading != NULL)
        drawer->heading(drawer->arg, heading);
    drawer->table(drawer->arg, t);
    table_free(t);
}

void page_draw_paragraph(const struct page_drawer *drawer, struct text *text,
                         enum table_tone tone)
{
    if (text->length > 0)
        drawer->paragraph(drawer->arg, text_str(text), tone);
    text_free(text);
}

static void draw_problems(const struct result *r, const struct page_drawer *drawer,
                          enum result_severity severity)
{
    struct text line = {0};
    for (size_t i = 0; i < r->problems; i++) {
        /* Those of a probe stand beside it. */
        if (r->problem[i].severity != severity ||
            (r->kind == RESULT_KIND_CAPACITY && r->problem[i].trial != 0))
            continue;
        sentences_add_problem(&line, &r->problem[i]);
        page_draw_paragraph(drawer, &line, severity == RESULT_FAULT ? TABLE_BAD : TABLE_PLAIN);
    }
}

void page_draw_sources(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    drawer->heading(drawer->arg, "About these figures");
    sentences_add_source(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    draw_problems(r, drawer, RESULT_NOTE);
    for (size_t i = 0; i < r->hosts; i++) {
        sentences_add_host(&line, &r->host[i]);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
    sentences_add_server(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    sentences_add_libraries(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    sentences_add_accounts(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    sentences_add_run(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
}

void page_draw_faults(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    sentences_add_interrupted(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_BAD);
    draw_problems(r, drawer, RESULT_FAULT);
    draw_problems(r, drawer, RESULT_LEFT_OUT);
}

void page_draw_figures(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    if (r->kind == RESULT_KIND_CPU)
        page_draw_cpu(r, drawer);
    else if (r->kind == RESULT_KIND_CAPACITY)
        page_draw_capacity(r, drawer);
    else
        page_draw_load(r, drawer);
    for (size_t i = 0; i < r->arms; i++) {
        sentences_add_prediction(&line, &r->arm[i]);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
        sentences_add_negotiated(&line, &r->arm[i]);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
    page_draw_table(drawer, "Failures", tables_failures(r));
}

void page_draw(const void *what, const struct page_drawer *drawer)
{
    const struct result *r = what;
    struct text line = {0};
    report_require_whole(r);
    sentences_add_title(&line, r);
    drawer->heading(drawer->arg, text_str(&line));
    text_free(&line);
    page_draw_faults(r, drawer);
    page_draw_figures(r, drawer);
    page_draw_sources(r, drawer);
}
