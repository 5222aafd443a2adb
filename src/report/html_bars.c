/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of bars are elements with a width in percent: they fit a telephone and a sheet of
 * paper, and their words stay words. */
#include "report/html_charts.h"

#include <math.h>
#include "report/html_put.h"

#define BAR_TICKS 6u
#define EDGE 0.95 /* a label in the middle of its tick would stick out */

void html_open_bars(struct text *out)
{
    text_add(out, "<div class=\"bars\">\n");
}

static void add_place(struct text *out, const char *class, double share)
{
    text_addf(out, "<i class=\"%s\" style=\"left:%.2f%%\"></i>", class, share * 100);
}

void html_open_row(struct text *out, const char *label, const struct scale *scale)
{
    double ticks[SCALE_TICKS_MAX];
    const size_t n = scale_ticks(scale, BAR_TICKS, ticks);
    text_add(out, "<div class=\"row\"><span class=\"label\">");
    html_add_words(out, label);
    text_add(out, "</span><span class=\"track\">");
    for (size_t i = 0; i < n; i++)
        add_place(out, ticks[i] == 0 ? "tick zero" : "tick", scale_share(scale, ticks[i]));
}

void html_add_mark(struct text *out, const char *kind, double from, double to, const char *tip)
{
    text_addf(out, "<i class=\"%s\" style=\"left:%.2f%%", kind, from * 100);
    if (to > from)
        text_addf(out, ";width:%.2f%%", (to - from) * 100);
    text_add(out, "\"");
    if (tip != NULL) {
        text_add(out, " title=\"");
        html_add_words(out, tip);
        text_add(out, "\"");
    }
    text_add(out, "></i>");
}

void html_close_row(struct text *out, const struct text *value)
{
    text_add(out, "</span><span class=\"value\">");
    html_add_words(out, text_str(value));
    text_add(out, "</span></div>\n");
}

void html_close_bars(struct text *out, const struct scale *scale, const char *unit)
{
    double ticks[SCALE_TICKS_MAX];
    const size_t n = scale_ticks(scale, BAR_TICKS, ticks);
    text_add(out,
             "<div class=\"row axis\"><span class=\"label\"></span><span class=\"track\">");
    for (size_t i = 0; i < n; i++) {
        const double share = scale_share(scale, ticks[i]);
        text_addf(out, "<i%s style=\"left:%.2f%%\">%.6g</i>",
                  share > EDGE ? " class=\"edge\"" : "", share * 100,
                  fabs(ticks[i]) < 1e-9 ? 0.0 : ticks[i]);
    }
    text_add(out, "</span><span class=\"value\">");
    html_add_text(out, unit);
    text_add(out, "</span></div>\n</div>\n");
}
