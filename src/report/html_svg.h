/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_svg.h - curves and points over two axes, as an inline SVG.
 *
 * Layer: report, private to the HTML report.
 * Units: values in those of the axes; the picture's own are pixels of its viewBox.
 * Shape: colours, widths and dashes are classes of the style sheet.
 * Source: SVG 2.
 * Threads: one owner.
 */
#ifndef REPORT_HTML_SVG_H
#define REPORT_HTML_SVG_H

#include "base/text.h"
#include "report/scale.h"

#define SVG_SHAPES 8u

struct svg {
    struct text *out;
    struct scale x, y;
    size_t points; /* of the path that is being drawn */
};

/* label: what it shows, for those who do not see it. */
void svg_open(struct svg *svg, const char *label);
void svg_close(struct svg *svg);
/* A line across the plot with its label; label NULL: the line alone. */
void svg_add_x_tick(const struct svg *svg, double x, const char *label);
void svg_add_y_ticks_us(const struct svg *svg); /* "500 us", "2 ms", whichever fits */
void svg_add_x_title(const struct svg *svg, const char *title);
/* From one x to another: of the whole height, or at y; tip may be NULL. */
void svg_add_span(const struct svg *svg, const char *class, double from, double to,
                  const char *tip);
void svg_add_level(const struct svg *svg, const char *class, double from, double to, double y);
struct svg_mark {
    unsigned shape;     /* below SVG_SHAPES */
    const char *colour; /* its class */
    double x, y;
};
void svg_add_mark(const struct svg *svg, const struct svg_mark *mark, const char *tip);
void svg_open_path(struct svg *svg, const char *class);
void svg_add_to_path(struct svg *svg, double x, double y);
void svg_close_path(struct svg *svg);
/* "500 us", "2 ms", "1.5 s" */
void svg_add_duration(struct text *out, double us);
/* The shape's outline around 0,0. */
const char *svg_shape(unsigned shape);

#endif
