/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/lookup.h"
#include "report/sentences.h"
#include "report/tables.h"

static void draw_arm(const struct result *r, const struct result_arm *arm,
                     const struct page_drawer *drawer)
{
    struct text line = {0};
    /* A baseline stands in the tables of the others. */
    if (lookup_baseline(r, arm->name) == NULL && lookup_is_baseline(r, arm->name))
        return;
    sentences_add_arm(&line, arm);
    page_draw_table(drawer, text_str(&line), tables_latency(r, arm));
    text_free(&line);
}

static void draw_verdicts(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    for (size_t i = 0; i < r->arms; i++) {
        sentences_add_verdict(&line, r, &r->arm[i]);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
}

static bool has_latency(const struct result *r)
{
    struct latency_row row;
    for (size_t i = 0; i < r->arms; i++) {
        if (latency_of_arm(&r->arm[i], RESULT_PHASE_TLS, &row))
            return true;
    }
    return false;
}

static void draw_causes(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    bool has_heading = false;
    for (size_t i = 0; i < r->arms; i++) {
        if (sentences_add_slow_causes(&line, &r->arm[i]) && !has_heading) {
            drawer->heading(drawer->arg, "Why the slowest were slow");
            has_heading = true;
        }
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
}

void page_draw_load(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    draw_verdicts(r, drawer);
    if (!has_latency(r)) {
        text_add(&line, "No handshake completed: there is no latency.");
        page_draw_paragraph(drawer, &line, TABLE_BAD);
    }
    for (size_t i = 0; i < r->arms; i++)
        draw_arm(r, &r->arm[i], drawer);
    page_draw_table(drawer, "Full and resumed handshakes apart", tables_apart(r));
    page_draw_table(drawer, "Trial by trial", tables_latency_trials(r));
    sentences_add_marks(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_DIM);
    page_draw_table(drawer, "Load, start lag and CPU per handshake", tables_load_trials(r));
    page_draw_table(drawer, "Arrivals", tables_tallies(r));
    page_draw_table(drawer, "Bytes of a handshake", tables_wire(r));
    page_draw_table(drawer, "Over the link: handshakes in round trips and segments",
                    tables_network(r));
    draw_causes(r, drawer);
}
