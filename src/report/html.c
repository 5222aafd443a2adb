/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html.h"

#include "report/format.h"
#include "report/html_assets.h"
#include "report/html_charts.h"
#include "report/html_put.h"
#include "report/lookup.h"
#include "report/page.h"
#include "report/sentences.h"
#include "report/tables.h"

#define ANSWERS_UNFOLDED 4u
#define FAULTS_UNFOLDED 4u
#define COLUMNS 96u /* about what a table may have before it must be scrolled */

/* --- the pieces of page.h -------------------------------------------------------------- */

static void draw_heading(void *arg, const char *text)
{
    if (text[0] == '\0')
        return;
    text_add(arg, "<h3>");
    html_add_words(arg, text);
    text_add(arg, "</h3>\n");
}

static void draw_paragraph(void *arg, const char *text, enum table_tone tone)
{
    text_add(arg, tone == TABLE_BAD   ? "<p class=\"bad\">"
                  : tone == TABLE_DIM ? "<p class=\"dim\">"
                                      : "<p>");
    html_add_words(arg, text);
    text_add(arg, "</p>\n");
}

static void draw_table(void *arg, const struct table *t)
{
    html_add_table(arg, t);
}

/* --- the page ------------------------------------------------------------------------- */

/* How much an arm is what the page is about: the hybrid that browsers send, another group
 * than the baseline's, any that is compared; 0: none. */
static unsigned interest_of(const struct result *r, size_t arm)
{
    const struct result_arm *baseline = lookup_baseline(r, r->arm[arm].name);
    const char *group = r->arm[arm].negotiated.group;
    if (baseline == NULL)
        return 0;
    const char *before = baseline->negotiated.group;
    if (group == NULL || before == NULL || text_same_name(group, before))
        return 1;
    return text_same_name(group, "X25519MLKEM768") ? 3 : 2;
}

/* The one that stands first and large; the number of arms: none. */
static size_t main_arm(const struct result *r)
{
    size_t first = r->arms;
    unsigned most = 0;
    for (size_t i = 0; i < r->arms; i++) {
        const unsigned interest = interest_of(r, i);
        if (interest > most) {
            most = interest;
            first = i;
        }
    }
    return first;
}

static void add_answer(struct text *out, const struct result *r, size_t arm, bool is_main)
{
    struct text line = {0};
    if (sentences_add_answer(&line, r, &r->arm[arm])) {
        text_add(out, is_main ? "<p>" : "<p class=\"next\">");
        html_add_words(out, text_str(&line));
        text_add(out, "</p>\n");
    }
    text_free(&line);
}

static void add_answers(struct text *out, const struct result *r)
{
    const size_t first = main_arm(r);
    text_add(out, "<div class=\"answer\">\n");
    if (first < r->arms)
        add_answer(out, r, first, true);
    size_t shown = 0;
    for (size_t i = 0; i < r->arms; i++) {
        if (i == first || lookup_baseline(r, r->arm[i].name) == NULL)
            continue;
        if (shown++ == ANSWERS_UNFOLDED)
            text_add(out, "<details class=\"others\"><summary>The other arms</summary>\n");
        add_answer(out, r, i, false);
    }
    text_add(out, shown > ANSWERS_UNFOLDED ? "</details>\n" : "");
    text_add(out, "</div>\n");
}

static void add_state(struct text *out, const struct result *r)
{
    struct text line = {0};
    sentences_add_validity(&line, r);
    text_addf(out, "<p class=\"state %s\">", r->is_valid ? "valid" : "not");
    html_add_words(out, text_str(&line));
    text_add(out, "</p>\n");
    text_free(&line);
}

static void add_charts(struct text *out, const struct result *r)
{
    if (r->kind == RESULT_KIND_CPU) {
        html_add_cpu_chart(out, r);
        html_add_bytes_chart(out, r);
        html_add_difference_chart(out, r);
        return;
    }
    if (r->kind == RESULT_KIND_CAPACITY) {
        html_add_cpu_chart(out, r);
        html_add_bytes_chart(out, r);
        return;
    }
    html_add_latency_chart(out, r, RESULT_PHASE_TLS);
    html_add_latency_chart(out, r, RESULT_PHASE_RESPONSE);
    html_add_difference_chart(out, r);
    html_add_arrivals_chart(out, r);
    html_add_cpu_chart(out, r);
    html_add_bytes_chart(out, r);
}

/* Many of them are folded, so that they do not hide the figures. */
static void add_faults(struct text *out, const struct result *r,
                       const struct page_drawer *drawer)
{
    const bool is_folded = r->problems > FAULTS_UNFOLDED && !r->is_valid;
    if (is_folded)
        text_add(out, "<details class=\"faults\"><summary>What was found</summary>\n");
    page_draw_faults(r, drawer);
    text_add(out, is_folded ? "</details>\n" : "");
}

void html_add_body(struct text *out, const struct result *r)
{
    const struct page_drawer drawer = html_drawer(out);
    struct text title = {0};
    sentences_add_title(&title, r);
    text_add(out, "<header>\n<h1>");
    html_add_words(out, text_str(&title));
    text_add(out, "</h1>\n");
    text_free(&title);
    add_answers(out, r);
    add_state(out, r);
    add_faults(out, r, &drawer);
    text_add(out, "</header>\n<main>\n");
    add_charts(out, r);
    text_add(out, "<details class=\"all\" open><summary>All figures</summary>\n");
    page_draw_figures(r, &drawer);
    text_add(out, "</details>\n</main>\n<footer>\n");
    page_draw_sources(r, &drawer);
    text_add(out, "</footer>\n");
}

void html_open_page(struct text *out, const char *title)
{
    text_addf(out,
              "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src 'unsafe-inline'; script-src '%s'; base-uri 'none'; "
              "form-action 'none'\">\n"
              "<meta name=\"referrer\" content=\"no-referrer\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<title>",
              html_assets_script_hash);
    html_add_words(out, title);
    text_addf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n",
              (const char *)html_assets_style);
}

void html_close_page(struct text *out)
{
    text_addf(out, "<script>%s</script>\n</body>\n</html>\n", (const char *)html_assets_script);
}

struct page_drawer html_drawer(struct text *out)
{
    return (struct page_drawer){
        .heading = draw_heading,
        .paragraph = draw_paragraph,
        .table = draw_table,
        .arg = out,
        .columns = COLUMNS,
        .is_detailed = true,
    };
}

void report_add_html(const struct result *r, struct text *out,
                     const struct report_options *options)
{
    (void)options;
    report_require_whole(r);
    struct text title = {0};
    sentences_add_title(&title, r);
    html_open_page(out, text_str(&title));
    text_free(&title);
    html_add_body(out, r);
    html_close_page(out);
}
