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
        "M-4.2 0A4.2 4.2 0 1 1 4.2 0A4.2 4.2 0 1 1-4.2 0Z",            /* disc */
        "M-3.8-3.8H3.8V3.8H-3.8Z",                                     /* square */
        "M0-5.2L5 3.8H-5Z",                                            /* triangle */
        "M0-5.8L5.8 0L0 5.8L-5.8 0Z",                                  /* diamond */
        "M0 5.2L5-3.8H-5Z",                                            /* on its point */
        "M-1.6-5.4H1.6V-1.6H5.4V1.6H1.6V5.4H-1.6V1.6H-5.4V-1.6H-1.6Z", /* plus */
        "M-5.4-3.2L-3.2-5.4L0-2.2L3.2-5.4L5.4-3.2L2.2 0L5.4 3.2L3.2 5.4L0 2.2" /* cross */
        "L-3.2 5.4L-5.4 3.2L-2.2 0Z",
        "M-4.4 0A4.4 4.4 0 1 1 4.4 0A4.4 4.4 0 1 1-4.4 0ZM-2.4 0A2.4 2.4 0 1 0 2.4 0" /* ring */
        "A2.4 2.4 0 1 0-2.4 0Z",
    };
    assert(shape < SVG_SHAPES);
    return shapes[shape];
}

void svg_add_mark(const struct svg *svg, const struct svg_mark *mark, const char *tip)
{
    text_addf(svg->out, "<path class=\"p k%u %s\" transform=\"translate(%.1f %.1f)\" d=\"%s\">",
              mark->shape, mark->colour, place_x(svg, mark->x), place_y(svg, mark->y),
              svg_shape(mark->shape));
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
