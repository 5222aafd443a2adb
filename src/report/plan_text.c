/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a page: the answer, the tables, where it comes from. */
#include <math.h>
#include "report/figures.h"
#include "report/page.h"
#include "report/plan_parts.h"
#include "report/sentences.h"
#include "report/tables.h"

#define LEAST_WIDTH 0.002

static void add_signed(struct text *out, const struct figure *f)
{
    figures_add_signed_us(out, f->value);
}

/* An interval that three digits would not show is none to a reader. */
static bool has_width(const struct figure *f)
{
    return figure_has_interval(f) && f->high - f->low > LEAST_WIDTH * fabs(f->value);
}

static void set_figure(struct table *t, size_t row, size_t column, const struct figure *f)
{
    struct text interval = {0};
    tables_set_us(t, row, column, f->value);
    if (has_width(f))
        figures_add_interval(&interval, f);
    table_take(t, row, column + 1, &interval);
}

/* Of what was there before; nothing of nothing. */
static void add_part(struct text *out, const struct plan_change *c)
{
    if (c->before.value > 0 && !isnan(c->change.value))
        figures_add_change(out, c->change.value / c->before.value);
}

static void set_change(struct table *t, size_t row, size_t column, const struct plan_change *c)
{
    struct text value = {0}, interval = {0}, part = {0};
    add_signed(&value, &c->change);
    if (has_width(&c->change))
        figures_add_signed_interval(&interval, &c->change);
    add_part(&part, c);
    table_take(t, row, column, &value);
    table_take(t, row, column + 1, &interval);
    table_take(t, row, column + 2, &part);
}

#define CHANGE_COLUMNS 7u

static void add_change_columns(struct table *t)
{
    (void)table_add_column(t, "before", TABLE_FIGURE, 0);
    (void)table_add_column(t, "[95 %]", TABLE_NOTE, 2);
    (void)table_add_column(t, "after", TABLE_FIGURE, 0);
    (void)table_add_column(t, "[95 %]", TABLE_NOTE, 3);
    (void)table_add_column(t, "change", TABLE_FIGURE, 0);
    (void)table_add_column(t, "[95 %]", TABLE_NOTE, 1);
    (void)table_add_column(t, "", TABLE_NOTE, 0);
}

static void set_row(struct table *t, size_t row, size_t column, const struct plan_change *c)
{
    set_figure(t, row, column, &c->before);
    set_figure(t, row, column + 2, &c->after);
    set_change(t, row, column + 4, c);
}

static struct table *fleet_table(const struct plan *p)
{
    struct text price[3] = {{0}};
    const char *currency = p->options->currency;
    const char *gap = currency[0] != '\0' ? " " : "";
    text_addf(&price[0], "price of cores%s%s", gap, currency);
    text_addf(&price[1], "price of egress%s%s", gap, currency);
    text_addf(&price[2], "price a month%s%s", gap, currency);
    const bool has_both =
        figure_is_set(&p->price_cores.before) && figure_is_set(&p->price_egress.before);
    const struct {
        const char *name;
        const struct plan_change *change;
        bool is_shown;
    } rows[] = {
        {"server CPU us a connection", &p->cpu_us, true},
        {"cores", &p->cores, true},
        {"egress GB a month", &p->egress_gb, true},
        {"ingress GB a month", &p->ingress_gb, true},
        {text_str(&price[0]), &p->price_cores, has_both},
        {text_str(&price[1]), &p->price_egress, has_both},
        {text_str(&price[2]), &p->price, figure_is_set(&p->price.before)},
    };
    size_t shown = 0, row = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        shown += rows[i].is_shown;
    struct table *t = table_new(shown);
    (void)table_add_column(t, "", TABLE_DETAIL, 0);
    add_change_columns(t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is_shown) {
            table_set(t, row, 0, rows[i].name);
            set_row(t, row++, 1, rows[i].change);
        }
    for (size_t i = 0; i < 3; i++)
        text_free(&price[i]);
    return t;
}

static void add_rtt(struct text *out, double ms)
{
    text_addf(out, "%.10g ms", ms);
}

static void add_rate(struct text *out, double bits_per_s)
{
    if (bits_per_s > 0)
        text_addf(out, "%.10g Mbit/s", bits_per_s / 1e6);
    else
        text_add(out, "no limit");
}

static void set_time(struct table *t, size_t row, const struct plan_time *time)
{
    set_row(t, row, 3, &time->ms);
    if (!isnan(time->retry_ms))
        tables_set_us(t, row, 3 + CHANGE_COLUMNS, time->retry_ms);
}

static struct table *time_table(const struct plan *p)
{
    const struct plan_options *o = p->options;
    if (o->distances == 0)
        return NULL;
    struct table *t = table_new(o->distances + 1);
    (void)table_add_column(t, "RTT", TABLE_TEXT, 0);
    (void)table_add_column(t, "rate", TABLE_TEXT, 1);
    (void)table_add_column(t, "share", TABLE_FIGURE, 0);
    add_change_columns(t);
    if (!isnan(p->mean.retry_ms))
        (void)table_add_column(t, "with HRR", TABLE_FIGURE, 0);
    for (size_t i = 0; i < o->distances; i++) {
        struct text rtt = {0}, rate = {0};
        add_rtt(&rtt, o->distance[i].rtt_ms);
        add_rate(&rate, o->distance[i].rate_bits_per_s);
        table_take(t, i, 0, &rtt);
        table_take(t, i, 1, &rate);
        tables_set_share(t, i, 2, o->distance[i].share);
        set_time(t, i, &p->time[i]);
    }
    table_start_block(t, o->distances);
    table_set(t, o->distances, 0, "all");
    set_time(t, o->distances, &p->mean);
    return t;
}

/* ---- one handshake of each sort ---- */

static void set_cost(struct table *t, size_t row, const struct plan_cost *c)
{
    if (c->arm != NULL)
        tables_set_name(t, row, 1, c->arm->name);
    else
        table_set(t, row, 1, "derived");
    set_figure(t, row, 2, &c->cpu_us[RESULT_SERVER]);
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        struct text bytes = {0}, wire = {0};
        figures_add_bytes(&bytes, c->bytes[side]);
        figures_add_bytes(&wire, c->wire_bytes[side]);
        table_take(t, row, 4 + 2 * side, &bytes);
        table_take(t, row, 5 + 2 * side, &wire);
    }
}

static struct table *cost_table(const struct plan *p)
{
    static const struct {
        const char *name;
        enum plan_when when;
        enum plan_sort sort;
    } rows[] = {
        {"full, before", PLAN_BEFORE, PLAN_FULL},
        {"full, after", PLAN_AFTER, PLAN_FULL},
        {"resumed, before", PLAN_BEFORE, PLAN_RESUMED},
        {"resumed, after", PLAN_AFTER, PLAN_RESUMED},
        {"full with HRR, after", PLAN_AFTER, PLAN_RETRY},
    };
    struct table *t = table_new(sizeof rows / sizeof rows[0]);
    (void)table_add_column(t, "\nhandshake", TABLE_DETAIL, 0);
    (void)table_add_column(t, "\narm", TABLE_TEXT, 0);
    (void)table_add_column(t, "server\nCPU us", TABLE_FIGURE, 0);
    (void)table_add_column(t, "\n[95 %]", TABLE_NOTE, 1);
    (void)table_add_column(t, "client\nbytes", TABLE_FIGURE, 0);
    (void)table_add_column(t, "\nwith heads", TABLE_FIGURE, 0);
    (void)table_add_column(t, "server\nbytes", TABLE_FIGURE, 0);
    (void)table_add_column(t, "\nwith heads", TABLE_FIGURE, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        table_set(t, i, 0, rows[i].name);
        set_cost(t, i, &p->cost[rows[i].when][rows[i].sort]);
    }
    return t;
}

/* ---- the answer ---- */

static void add_answer_part(struct text *out, const struct plan_change *c, const char *unit)
{
    add_signed(out, &c->change);
    text_addf(out, " %s (", unit);
    if (c->before.value > 0)
        add_part(out, c);
    else
        text_add(out, "none before");
    if (has_width(&c->change)) {
        text_add(out, ", 95 % interval ");
        figures_add_signed_us(out, c->change.low);
        text_add(out, " to ");
        figures_add_signed_us(out, c->change.high);
    }
    text_add(out, ")");
}

static void add_answer(struct text *out, const struct plan *p)
{
    text_add(out, "At the peak it takes ");
    add_answer_part(out, &p->cores, "cores");
    text_add(out, "; a month ");
    add_answer_part(out, &p->egress_gb, "GB of egress");
    if (figure_is_set(&p->price.change)) {
        text_add(out, " and ");
        add_answer_part(out, &p->price,
                        p->options->currency[0] != '\0' ? p->options->currency
                                                        : "of the price");
    }
    if (figure_is_set(&p->mean.ms.change)) {
        text_add(out, "; a client waits ");
        add_answer_part(out, &p->mean.ms, "ms for a handshake, on average");
    }
    text_add(out, ".");
}

static void add_title(struct text *out, const struct plan *p)
{
    text_add(out, "From ");
    sentences_add_arm(out, p->cost[PLAN_BEFORE][PLAN_FULL].arm);
    text_add(out, " to ");
    sentences_add_arm(out, p->cost[PLAN_AFTER][PLAN_FULL].arm);
    text_addf(out, ": %.10g new connections a second at the peak", p->options->peak_per_s);
}

static void draw_assumptions(const struct plan *p, const struct page_drawer *drawer)
{
    struct text line = {0};
    drawer->heading(drawer->arg, "What this assumes");
    for (size_t i = 0; i < p->assumptions; i++) {
        text_addf(&line, "%zu. %s", i + 1, p->assumption[i].text);
        page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    }
}

static void draw(const void *what, const struct page_drawer *drawer)
{
    const struct plan *p = what;
    struct text line = {0};
    add_title(&line, p);
    drawer->heading(drawer->arg, text_str(&line));
    text_free(&line);
    page_draw_faults(p->result, drawer);
    add_answer(&line, p);
    page_draw_paragraph(drawer, &line, TABLE_PLAIN);
    page_draw_table(drawer, "The servers", fleet_table(p));
    page_draw_table(drawer, "Time to handshake of the clients, ms", time_table(p));
    page_draw_table(drawer, "One handshake", cost_table(p));
    draw_assumptions(p, drawer);
    page_draw_sources(p->result, drawer);
}

void plan_add_text(const struct plan *p, struct text *out, const struct report_options *options)
{
    page_add_text(draw, p, out, options);
}

void plan_add_markdown(const struct plan *p, struct text *out,
                       const struct report_options *options)
{
    page_add_markdown(draw, p, out, options);
}
