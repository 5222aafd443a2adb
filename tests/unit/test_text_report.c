/* SPDX-License-Identifier: Apache-2.0 */
/* Do figures, tables and pages read as they should, whatever the width, the terminal and
 * the names in them?  The whole texts are in tests/golden. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "golden_files.h"
#include "report/figures.h"
#include "report/format.h"
#include "report/table.h"

static void check(struct text *got, const char *want)
{
    assert_string_equal(text_str(got), want);
    text_free(got);
}

static void figures_have_three_digits_and_no_false_zero(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *plain, *has_sign;
    } cases[] = {
        {0, "0", "0"},
        {0.004, "0", "0"},
        {-0.004, "0", "0"},
        {0.42, "0.42", "+0.42"},
        {9.994, "9.99", "+9.99"},
        {9.996, "10.0", "+10.0"},
        {17.25, "17.2", "+17.2"},
        {99.96, "100", "+100"},
        {276.4, "276", "+276"},
        {12345.6, "12346", "+12346"},
        {-35.7, "-35.7", "-35.7"},
        {NAN, "-", "-"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text got = {0};
        figures_add_us(&got, cases[i].value);
        check(&got, cases[i].plain);
        figures_add_signed_us(&got, cases[i].value);
        check(&got, cases[i].has_sign);
    }
}

static void bytes_are_never_rounded_to_fit(void **state)
{
    (void)state;
    struct text got = {0};
    figures_add_signed_bytes(&got, 1176);
    check(&got, "+1176");
    figures_add_signed_bytes(&got, 1087.9);
    check(&got, "+1087.9");
    figures_add_bytes(&got, 651.5);
    check(&got, "651.5");
    figures_add_range(&got, &(struct result_range){2, 650, 653, 651.5});
    check(&got, "650 .. 653");
    figures_add_range(&got, &(struct result_range){2, 650, 650, 650});
    check(&got, "650");
    figures_add_range(&got, &(struct result_range){0});
    check(&got, "-");
}

static void changes_and_intervals_read_as_one(void **state)
{
    (void)state;
    struct text got = {0};
    figures_add_change(&got, 0.466);
    check(&got, "+47 %");
    figures_add_change(&got, -0.0123);
    check(&got, "-1.2 %");
    figures_add_change(&got, 2.6497);
    check(&got, "+265 %");
    figures_add_share(&got, 0.41);
    check(&got, "41 %");
    figures_add_interval(&got, &(struct figure){276.4, 273.9, 278.9});
    check(&got, "[274, 279]");
    figures_add_signed_interval(&got, &(struct figure){0.7, -2.55, 13.95});
    check(&got, "[-2.5, +13.9]");
    figures_add_interval(&got, &(struct figure){276.4, NAN, NAN});
    check(&got, "");
}

static struct table *make_table(void)
{
    struct table *t = table_new(2);
    table_add_column(t, "arm", TABLE_TEXT, 0);
    table_add_column(t, "us", TABLE_FIGURE, 0);
    table_add_column(t, "[95 %]", TABLE_NOTE, 2);
    table_add_column(t, "", TABLE_BAR, 1);
    table_add_column(t, "more", TABLE_FIGURE, 0);
    static const char *const rows[2][3] = {{"a", "276", "[274, 279]"}, {"b|c", "5", "[1, 2]"}};
    for (size_t row = 0; row < 2; row++) {
        for (size_t column = 0; column < 3; column++)
            table_set(t, row, column, rows[row][column]);
        table_set_bar(t, row, 3, row == 0 ? 1 : 0.01);
        table_set(t, row, 4, "1");
    }
    return t;
}

static void a_table_takes_the_width_it_gets(void **state)
{
    (void)state;
    struct report_options options = {.columns = 40};
    struct text got = {0};
    struct table *t = make_table();
    table_add_text(t, &got, &options);
    check(&got, "arm   us [95 %]                     more\n"
                "a    276 [274, 279] ##############     1\n"
                "b|c    5 [1, 2]     #                  1\n");
    options.columns = 28; /* the interval goes first */
    table_add_text(t, &got, &options);
    check(&got, "arm   us                more\n"
                "a    276 #############     1\n"
                "b|c    5 #                 1\n");
    options.columns = 15; /* then the bar */
    table_add_text(t, &got, &options);
    check(&got, "arm   us  more\n"
                "a    276     1\n"
                "b|c    5     1\n");
    options.columns = 5; /* the rest stays, even too wide */
    table_add_text(t, &got, &options);
    check(&got, "arm   us  more\n"
                "a    276     1\n"
                "b|c    5     1\n");
    table_free(t);
}

static void a_table_in_markdown_has_every_column_but_bars(void **state)
{
    (void)state;
    struct text got = {0};
    struct table *t = make_table();
    table_add_markdown(t, &got);
    check(&got, "| arm | us | [95 %] | more |\n"
                "| --- | ---: | --- | ---: |\n"
                "| a | 276 | [274, 279] | 1 |\n"
                "| b\\|c | 5 | [1, 2] | 1 |\n");
    table_free(t);
}

static void bars_are_drawn_in_eighths(void **state)
{
    (void)state;
    const struct report_options options = {.columns = 10, .has_utf8 = true};
    static const struct {
        double share;
        const char *bar;
    } cases[] = {{1, "██████████\n"}, {0.55, "█████▌\n"}, {0.0125, "▏\n"},    {0.0001, "▏\n"},
                 {0, "\n"},           {-1, "\n"},         {7, "██████████\n"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text got = {0};
        struct table *t = table_new(1);
        table_set_bar(t, 0, table_add_column(t, "", TABLE_BAR, 0), cases[i].share);
        table_add_text(t, &got, &options);
        check(&got, cases[i].bar);
        table_free(t);
    }
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    const struct report_options options = {.columns = 80, .has_utf8 = true};
    struct text got = {0};
    struct table *t = table_new(1);
    table_add_column(t, "", TABLE_TEXT, 0);
    table_set(t, 0, 0, "üüüüüüüüüüüüüüüüüüüüüüü");
    table_add_text(t, &got, &options);
    check(&got, "üüüüüüüüüüüüüüüüüüü~\n");
    table_free(t);
}

static void markdown_markup_is_escaped(void **state)
{
    (void)state;
    struct text got = {0};
    table_add_markdown_text(&got, "a|b `c` *d* _e_ <f> [g](h) [i] \\ # ~ & $");
    check(&got, "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\<f> [g\\](h) [i] \\\\ \\# \\~ \\& \\$");
}

static void no_stranger_reaches_the_terminal(void **state)
{
    (void)state;
    static const enum report_format_id formats[] = {REPORT_TEXT, REPORT_MARKDOWN, REPORT_CSV,
                                                    REPORT_JSON};
    const struct report_options options = {
        .columns = 80, .has_utf8 = true, .is_detailed = true};
    struct result *r = golden_result("cpu-hostile");
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct text out = {0};
        report_format_of(formats[i])->add(r, &out, &options);
        for (size_t k = 0; k < out.length; k++) {
            const unsigned char byte = (unsigned char)out.data[k];
            assert_true(byte >= 0x20 || byte == '\n' ||
                        (byte == '\r' && out.data[k + 1] == '\n'));
            assert_true(byte != 0x7f);
        }
        assert_null(strstr(text_str(&out), "\u202e"));
        text_free(&out);
    }
    result_free(r);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static void ascii_is_ascii_and_as_long(void **state)
{
    (void)state;
    struct report_options options = {.columns = 80, .is_detailed = true};
    struct result *r = golden_result("cpu-hostile");
    struct text ascii = {0}, utf8 = {0};
    report_add_text(r, &ascii, &options);
    options.has_utf8 = true;
    report_add_text(r, &utf8, &options);
    for (size_t i = 0; i < ascii.length; i++)
        assert_true((unsigned char)ascii.data[i] < 0x80);
    assert_non_null(strstr(text_str(&ascii), "b?cher"));
    assert_int_equal(count_lines(text_str(&utf8)), count_lines(text_str(&ascii)));
    text_free(&ascii);
    text_free(&utf8);
    result_free(r);
}

/* The text without its ANSI sequences. */
static void add_plain(struct text *out, const char *text)
{
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '\033')
            s = strchr(s, 'm');
        else
            text_add_bytes(out, s, 1);
    }
}

static void colour_changes_no_letter(void **state)
{
    (void)state;
    struct report_options options = {.columns = 80, .has_utf8 = true, .is_detailed = true};
    static const char *const names[] = {"cpu", "load", "load-few", "cpu-hostile"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *r = golden_result(names[i]);
        struct text plain = {0}, colour = {0}, stripped = {0};
        options.has_colour = false;
        report_add_text(r, &plain, &options);
        options.has_colour = true;
        report_add_text(r, &colour, &options);
        assert_non_null(strstr(text_str(&colour), "\033["));
        add_plain(&stripped, text_str(&colour));
        assert_string_equal(text_str(&stripped), text_str(&plain));
        text_free(&plain);
        text_free(&colour);
        text_free(&stripped);
        result_free(r);
    }
}

static void pages_keep_to_their_width(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu", "cpu-interrupted", "load", "load-few",
                                        "load-refused"};
    static const unsigned widths[] = {0, 80, 100, 132, 200};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct result *r = golden_result(names[i]);
        for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
            const struct report_options options = {.columns = widths[k], .has_utf8 = true};
            const size_t most = widths[k] < 80 ? 80 : widths[k];
            struct text out = {0};
            report_add_text(r, &out, &options);
            char *rest = out.data;
            for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
                if (text_columns(line) > most)
                    fail_msg("%s at %zu: %s", names[i], most, line);
            }
            text_free(&out);
        }
        result_free(r);
    }
}

static void an_empty_result_has_a_page_in_every_format(void **state)
{
    (void)state;
    const struct report_options options = REPORT_OPTIONS_DEFAULT;
    for (unsigned kind = 0; kind < RESULT_KINDS; kind++) {
        struct result *r = result_new((enum result_kind)kind);
        for (unsigned format = 0; format < REPORT_FORMATS; format++) {
            struct text out = {0};
            report_format_of((enum report_format_id)format)->add(r, &out, &options);
            assert_true(out.length > 0);
            assert_null(strstr(text_str(&out), "nan"));
            text_free(&out);
        }
        result_free(r);
    }
}

static void formats_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(report_find_format("markdown"), report_format_of(REPORT_MARKDOWN));
    assert_string_equal(report_find_format("text")->extension, "txt");
    assert_null(report_find_format("Markdown"));
    assert_null(report_find_format(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_three_digits_and_no_false_zero),
        cmocka_unit_test(bytes_are_never_rounded_to_fit),
        cmocka_unit_test(changes_and_intervals_read_as_one),
        cmocka_unit_test(a_table_takes_the_width_it_gets),
        cmocka_unit_test(a_table_in_markdown_has_every_column_but_bars),
        cmocka_unit_test(bars_are_drawn_in_eighths),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(markdown_markup_is_escaped),
        cmocka_unit_test(no_stranger_reaches_the_terminal),
        cmocka_unit_test(ascii_is_ascii_and_as_long),
        cmocka_unit_test(colour_changes_no_letter),
        cmocka_unit_test(pages_keep_to_their_width),
        cmocka_unit_test(an_empty_result_has_a_page_in_every_format),
        cmocka_unit_test(formats_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
