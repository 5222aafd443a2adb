/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of each side against the initial congestion window, where bytes become time. */
#include "report/html_charts.h"

#include <math.h>
#include "report/figures.h"
#include "report/html_put.h"
#include "report/lookup.h"

#define BYTES_NOTICED 0.05 /* a smaller difference of means is not shown by one decimal */

enum { ARM, GROUP, SENDER, BYTES, LEAST, MOST, CHANGE, FLIGHT, WINDOW, TRIPS };
static const struct sheet_title columns[] = {
    [ARM] = {"arm", SHEET_TEXT},
    [GROUP] = {"group", SHEET_TEXT},
    [SENDER] = {"sender", SHEET_TEXT},
    [BYTES] = {"bytes", SHEET_BYTES},
    [LEAST] = {"min_bytes", SHEET_BYTES},
    [MOST] = {"max_bytes", SHEET_BYTES},
    [CHANGE] = {"against_baseline_bytes", SHEET_SIGNED_BYTES},
    [FLIGHT] = {"first_flight_bytes", SHEET_BYTES},
    [WINDOW] = {"share_of_window", SHEET_SHARE},
    [TRIPS] = {"round_trips", SHEET_BYTES},
};

/* The part of a side's bytes that leaves in one piece: the ClientHello, the server's last
 * flight; NAN where it was not counted apart. */
static double flight_of(const struct result_bytes *b, unsigned side)
{
    const struct result_range *flight =
        side == RESULT_CLIENT ? &b->client_hello : &b->server_flight;
    return flight->count > 0 ? flight->mean : NAN;
}

static double change_of(const struct result *r, const struct result_arm *arm, unsigned side)
{
    const struct result_arm *baseline = lookup_baseline(r, arm->name);
    if (baseline == NULL || baseline->bytes.handshake[side].count == 0)
        return NAN;
    const double more = arm->bytes.handshake[side].mean - baseline->bytes.handshake[side].mean;
    return fabs(more) < BYTES_NOTICED ? 0 : more;
}

static struct sheet *fill(const struct result *r)
{
    struct sheet *s = sheet_of(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < 2 * r->arms; i++) {
        const struct result_arm *arm = &r->arm[i / 2];
        const unsigned side = i % 2;
        const struct result_range *bytes = &arm->bytes.handshake[side];
        const double flight = flight_of(&arm->bytes, side);
        if (bytes->count == 0)
            continue;
        const size_t row = sheet_add_row(s);
        sheet_set_text(s, row, ARM, arm->name);
        sheet_set_text(s, row, GROUP, arm->negotiated.group);
        sheet_set_text(s, row, SENDER, result_side_name((enum result_side)side));
        sheet_set_number(s, row, BYTES, bytes->mean);
        sheet_set_number(s, row, LEAST, (double)bytes->min);
        sheet_set_number(s, row, MOST, (double)bytes->max);
        sheet_set_number(s, row, CHANGE, change_of(r, arm, side));
        sheet_set_number(s, row, FLIGHT, flight);
        sheet_set_number(s, row, WINDOW,
                         (isnan(flight) ? bytes->mean : flight) / RESULT_WINDOW_BYTES);
        if (arm->bytes.round_trips.count > 0)
            sheet_set_number(s, row, TRIPS, arm->bytes.round_trips.mean);
    }
    return s;
}

static void add_tip(struct text *tip, double bytes, const char *what)
{
    figures_add_bytes(tip, bytes);
    text_addf(tip, " bytes, %s", what);
}

static void add_bar(struct text *out, const struct sheet *s, size_t row, unsigned side,
                    const struct scale *scale)
{
    struct text tip = {0};
    const double bytes = sheet_number(s, row, BYTES), flight = sheet_number(s, row, FLIGHT);
    const double end = scale_share(scale, bytes);
    if (isnan(flight) || flight >= bytes) {
        add_tip(&tip, bytes, "the whole handshake of this side");
        html_add_mark(out, "bar", 0, end, text_str(&tip));
    } else {
        add_tip(&tip, flight,
                side == RESULT_CLIENT ? "the first ClientHello" : "the server's main flight");
        html_add_mark(out, "bar", 0, scale_share(scale, flight), text_str(&tip));
        text_free(&tip);
        add_tip(&tip, bytes - flight, "the rest of this side's handshake");
        html_add_mark(out, "bar soft", scale_share(scale, flight), end, text_str(&tip));
    }
    text_free(&tip);
    const double window = scale_share(scale, RESULT_WINDOW_BYTES);
    html_add_mark(out, "mark", window, window,
                  "initial congestion window: 10 segments of 1448 bytes, 14480");
}

static void add_row(struct text *out, const struct sheet *s, size_t row, unsigned side,
                    const struct scale *scale)
{
    struct text value = {0};
    const double change = sheet_number(s, row, CHANGE);
    html_open_row(out, result_side_name((enum result_side)side), scale);
    add_bar(out, s, row, side, scale);
    figures_add_bytes(&value, sheet_number(s, row, BYTES));
    if (change == 0)
        text_add(&value, "  same");
    else if (!isnan(change)) {
        text_add(&value, "  ");
        figures_add_signed_bytes(&value, change);
    }
    html_close_row(out, &value);
    text_free(&value);
}

static void add_bars(struct text *out, const struct result *r, const struct sheet *s)
{
    double highest = RESULT_WINDOW_BYTES;
    char class[HTML_CLASS_SIZE];
    size_t row = 0;
    for (size_t i = 0; i < s->rows; i++)
        highest = fmax(highest, sheet_number(s, i, BYTES));
    const struct scale scale = scale_from_zero(highest);
    html_open_bars(out);
    for (size_t i = 0; i < r->arms; i++) {
        text_addf(out, "<div class=\"group %s\">\n",
                  html_arm_class(r, i, class, sizeof(class)));
        html_add_arm_label(out, r, i);
        for (unsigned side = 0; side < RESULT_SIDES; side++) {
            if (r->arm[i].bytes.handshake[side].count > 0)
                add_row(out, s, row++, side, &scale);
        }
        text_add(out, "</div>\n");
    }
    html_close_bars(out, &scale, "bytes");
}

bool html_add_bytes_chart(struct text *out, const struct result *r)
{
    static const struct html_chart chart = {
        .id = "bytes",
        .title = "Bytes of a handshake against the initial congestion window",
        .about = "Without TCP and IP headers. The line is what a new connection may send "
                 "before it waits for an acknowledgement: 10 segments of 1448 bytes, 14480. A "
                 "flight that goes over it costs a round trip more."};
    struct sheet *s = fill(r);
    const bool has_any = s->rows > 0;
    if (has_any) {
        html_open_chart(out, &chart);
        text_add(out, "<p class=\"legend\"><span><i></i>largest flight</span> <span "
                      "class=\"soft\"><i></i>rest of the handshake</span> <span "
                      "class=\"line\"><i></i>initial window</span></p>\n");
        add_bars(out, r, s);
        html_close_chart(out, &chart, s);
    }
    sheet_free(s);
    return has_any;
}
