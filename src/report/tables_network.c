/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables.h"

#include "report/figures.h"

static void set_range(struct table *t, size_t row, size_t column, const struct result_range *r)
{
    struct text cell = {0};
    figures_add_range(&cell, r);
    table_take(t, row, column, &cell);
}

/* "12 / 3": of the client, of the server. */
static void set_sides(struct table *t, size_t row, size_t column,
                      const uint64_t count[RESULT_SIDES])
{
    struct text cell = {0};
    figures_add_count(&cell, (double)count[RESULT_CLIENT]);
    text_add(&cell, " / ");
    figures_add_count(&cell, (double)count[RESULT_SERVER]);
    table_take(t, row, column, &cell);
}

static void fill(struct table *t, size_t row, const struct result_arm *arm)
{
    const struct result_network *n = &arm->network;
    tables_set_name(t, row, 0, arm->name);
    struct latency_row tls, ttlb;
    set_range(t, row, 1, &n->tcp_round_trips);
    set_range(t, row, 2, &n->tls_round_trips);
    if (latency_of_arm(arm, RESULT_PHASE_TLS, &tls))
        tables_set_us(t, row, 3, tls.us[LATENCY_P50]);
    tables_set_us(t, row, 4, n->model_tls_us);
    if (latency_of_arm(arm, RESULT_PHASE_TTLB, &ttlb))
        tables_set_us(t, row, 5, ttlb.us[LATENCY_P50]);
    tables_set_us(t, row, 6, n->model_ttlb_us);
    set_range(t, row, 7, &n->segments[RESULT_CLIENT]);
    set_range(t, row, 8, &n->segments[RESULT_SERVER]);
    set_sides(t, row, 9, n->dropped);
    set_sides(t, row, 10, n->retransmits);
    set_sides(t, row, 11, n->timeouts);
}

struct table *tables_network(const struct result *r)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->arms; i++)
        rows += r->arm[i].network.tls_round_trips.count > 0;
    if (rows == 0)
        return NULL;
    struct table *t = table_new(rows);
    table_add_column(t, "\narm", TABLE_TEXT, 0);
    table_add_column(t, "round trips\nTCP", TABLE_FIGURE, 0);
    table_add_column(t, "\nTLS", TABLE_FIGURE, 0);
    table_add_column(t, "TLS us\np50", TABLE_FIGURE, 0);
    table_add_column(t, "\nmodel", TABLE_FIGURE, 0);
    table_add_column(t, "last byte us\np50", TABLE_FIGURE, 0);
    table_add_column(t, "\nmodel", TABLE_FIGURE, 0);
    table_add_column(t, "segments\nclient", TABLE_FIGURE, 0);
    table_add_column(t, "\nserver", TABLE_FIGURE, 0);
    table_add_column(t, "client / server\ndropped", TABLE_FIGURE, 1);
    table_add_column(t, "\nretransmits", TABLE_FIGURE, 1);
    table_add_column(t, "\ntimeouts", TABLE_FIGURE, 1);
    size_t row = 0;
    for (size_t i = 0; i < r->arms; i++)
        if (r->arm[i].network.tls_round_trips.count > 0)
            fill(t, row++, &r->arm[i]);
    return t;
}
