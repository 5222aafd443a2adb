/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/lookup.h"
#include "report/sentences.h"
#include "report/tables.h"

/* One table where there is room for it, else one for CPU and one for the wire. */
static void draw_figures(const struct result *r, const struct page_drawer *drawer)
{
    struct table *both = tables_cpu_and_wire(r);
    if (drawer->columns == 0 || table_width(both) <= drawer->columns) {
        page_draw_table(drawer, NULL, both);
        return;
    }
    table_free(both);
    page_draw_table(drawer, NULL, tables_cpu(r));
    page_draw_table(drawer, "", tables_wire(r));
}

static void draw_costs(const struct result *r, const struct page_drawer *drawer)
{
    const struct result_arm *last = NULL;
    struct text line = {0};
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_arm *baseline = lookup_baseline(r, r->arm[i].name);
        if (baseline != NULL && baseline != last) {
            text_add(&line, "Against ");
            sentences_add_arm(&line, baseline);
            drawer->heading(drawer->arg, text_str(&line));
            text_free(&line);
            last = baseline;
        }
        sentences_add_cost(&line, r, &r->arm[i]);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
    sentences_add_noise_floor(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    sentences_add_primitives(&line, r);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
}

void page_draw_cpu(const struct result *r, const struct page_drawer *drawer)
{
    draw_figures(r, drawer);
    draw_costs(r, drawer);
    if (!drawer->is_detailed)
        return;
    page_draw_table(drawer, "Parts of each side, us", tables_parts(r));
    page_draw_table(drawer, "Instructions and cycles", tables_counters(r));
    page_draw_table(drawer, "Primitives", tables_primitives(r));
    page_draw_table(drawer, "Handshake messages, bytes", tables_messages(r));
    page_draw_table(drawer, "Repeats, us", tables_cpu_trials(r));
}
