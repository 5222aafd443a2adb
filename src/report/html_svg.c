/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html_svg.h"

#include <assert.h>
#include "report/html_put.h"

#define WIDTH 1000.0
#define HEIGHT 420.0
#define LEFT 62.0
#define RIGHT 16.0
#define TOP 12.0
#define BOTTOM 46.0
#define Y_TICKS 7u
#define Y_TICKS_LINEAR 9u /* evenly apart, so more have room */

static double place_x(const struct svg *svg, double x)
{
    return LEFT + scale_share(&svg->x, x) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct svg *svg, double y)
{
    return HEIGHT - BOTTOM - scale_share(&svg->y, y) * (HEIGHT - TOP - BOTTOM);
}

static void add_title(struct text *out, const char *tip)
{
    if (tip == NULL)
        return;
    text_add(out, "<title>");
    html_add_words(out, tip);
    text_add(out, "</title>");
}

void svg_open(struct svg *svg, const char *label)
{
    text_addf(svg->out,
              "<div class=\"scroll still\"><svg viewBox=\"0 0 %g %g\" role=\"img\" "
              "aria-label=\"",
              WIDTH, HEIGHT);
    html_add_words(svg->out, label);
    text_add(svg->out, "\">\n");
}

void svg_close(struct svg *svg)
{
    text_addf(svg->out, "<path class=\"axis\" d=\"M%g %gV%gH%g\"/>\n</svg></div>\n", LEFT, TOP,
              HEIGHT - BOTTOM, WIDTH - RIGHT);
}

void svg_add_x_tick(const struct svg *svg, double x, const char *label)
{
    const double at = place_x(svg, x);
    text_addf(svg->out, "<path class=\"grid\" d=\"M%.1f %gV%g\"/>", at, TOP, HEIGHT - BOTTOM);
    if (label != NULL) {
        text_addf(svg->out, "<text class=\"x\" x=\"%.1f\" y=\"%g\">", at, HEIGHT - BOTTOM + 17);
        html_add_words(svg->out, label);
        text_add(svg->out, "</text>");
    }
    text_add(svg->out, "\n");
}

void svg_add_duration(struct text *out, double us)
{
    if (us < 1000)
        text_addf(out, "%.3g us", us);
    else if (us < 1e6)
        text_addf(out, "%.3g ms", us / 1000);
    else
        text_addf(out, "%.3g s", us / 1e6);
}

void svg_add_y_ticks_us(const struct svg *svg)
{
    double ticks[SCALE_TICKS_MAX];
    const size_t n =
        scale_ticks(&svg->y, scale_is_narrow(&svg->y) ? Y_TICKS_LINEAR : Y_TICKS, ticks);
    for (size_t i = 0; i < n; i++) {
        struct text label = {0};
        const double at = place_y(svg, ticks[i]);
        svg_add_duration(&label, ticks[i]);
        text_addf(svg->out,
                  "<path class=\"grid\" d=\"M%g %.1fH%g\"/><text class=\"y\" x=\"%g\" "
                  "y=\"%.1f\">",
                  LEFT, at, WIDTH - RIGHT, LEFT - 7, at + 4);
        html_add_words(svg->out, text_str(&label));
        text_add(svg->out, "</text>\n");
        text_free(&label);
    }
}

void svg_add_x_title(const struct svg *svg, const char *title)
{
    text_addf(svg->out, "<text class=\"x title\" x=\"%g\" y=\"%g\">",
              (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
    html_add_words(svg->out, title);
    text_add(svg->out, "</text>\n");
}

void svg_add_span(const struct svg *svg, const char *class, double from, double to,
                  const char *tip)
{
    const double left = place_x(svg, from), right = place_x(svg, to);
    text_addf(svg->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\">",
              class, left, TOP, right - left, HEIGHT - TOP - BOTTOM);
    add_title(svg->out, tip);
    text_add(svg->out, "</rect>\n");
}

void svg_add_level(const struct svg *svg, const char *class, double from, double to, double y)
{
    text_addf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", class,
              place_x(svg, from), place_y(svg, y), place_x(svg, to));
}

const char *svg_shape(unsigned shape)
{
    static const char *const shapes[SVG_SHAPES] = {
        "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1-4 0Z",                     /* disc */
        "M-3.6-3.6H3.6V3.6H-3.6Z",                                /* square */
        "M0-4.8L4.6 3.4H-4.6Z",                                   /* triangle */
        "M0-5.2L5.2 0L0 5.2L-5.2 0Z",                             /* diamond */
        "M0 4.8L4.6-3.4H-4.6Z",                                   /* triangle, on its point */
        "M-1.5-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5V-1.5H-1.5Z",    /* plus */
        "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z", /* cross */
        "M-3 0A3 3 0 1 1 3 0A3 3 0 1 1-3 0Z",                     /* small disc */
    };
    assert(shape < SVG_SHAPES);
    return shapes[shape];
}

void svg_add_point(const struct svg *svg, unsigned shape, double x, double y, const char *tip)
{
    text_addf(svg->out, "<path class=\"p k%u\" transform=\"translate(%.1f %.1f)\" d=\"%s\">",
              shape, place_x(svg, x), place_y(svg, y), svg_shape(shape));
    add_title(svg->out, tip);
    text_add(svg->out, "</path>\n");
}

void svg_open_path(struct svg *svg, const char *class)
{
    svg->points = 0;
    text_addf(svg->out, "<path class=\"%s\" d=\"", class);
}

void svg_add_to_path(struct svg *svg, double x, double y)
{
    text_addf(svg->out, "%s%.1f %.1f", svg->points++ == 0 ? "M" : "L", place_x(svg, x),
              place_y(svg, y));
}

void svg_close_path(struct svg *svg)
{
    text_add(svg->out, "\"/>\n");
}
