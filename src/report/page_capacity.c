/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/sentences.h"
#include "report/tables.h"
#include "result/capacity.h"

static void add_count(struct text *out, const struct capacity *c)
{
    size_t voids = 0;
    for (size_t i = 0; i < c->probes; i++)
        voids += c->probe[i].held == CAPACITY_PROBE_VOID;
    text_addf(out, "%zu probes, %zu of them void.", c->probes, voids);
}

void page_draw_capacity(const struct result *r, const struct page_drawer *drawer)
{
    struct text line = {0};
    page_draw_table(drawer, NULL, tables_capacity(r));
    for (size_t i = 0; i < r->arms; i++) {
        sentences_add_capacity_cost(&line, r, &r->arm[i]);
        page_draw_paragraph(drawer, &line, TABLE_STRONG);
    }
    for (size_t i = 0; i < r->arms; i++) {
        sentences_add_capacity(&line, r, i);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
    add_count(&line, r->capacity);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    if (drawer->is_detailed)
        page_draw_table(drawer, "Probes in their order", tables_probes(r));
    page_draw_table(drawer, "Bytes of a handshake", tables_wire(r));
}
