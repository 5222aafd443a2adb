/* SPDX-License-Identifier: Apache-2.0 */
/* Is an INI text read in one way only, and is all that readers disagree about refused? */
#include "cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/inifile.h"

static int parse(const char *text, struct inifile *out, struct err *e)
{
    return inifile_parse(text, strlen(text), "f.ini", out, e);
}

static void sections_and_keys_keep_order_and_lines(void **state)
{
    struct inifile file;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(
        parse("# c\n\n[a]\nx = 1\ny=two words \r\n; c\n[arm  b\t c]\n\n[d]\nx = 1\n", &file,
              &e),
        0);
    assert_int_equal(file.sections, 3);
    assert_string_equal(file.section[0].name, "a");
    assert_string_equal(file.section[1].name, "arm b c");
    assert_string_equal(file.section[2].name, "d");
    assert_int_equal(file.section[1].line, 7);
    assert_int_equal(file.section[0].entries, 2);
    assert_int_equal(file.section[1].entries, 0);
    assert_string_equal(file.section[0].entry[1].key, "y");
    assert_string_equal(file.section[0].entry[1].value, "two words");
    assert_int_equal(file.section[0].entry[1].line, 5);
    assert_int_equal(file.section[2].entry[0].line, 10);
    inifile_free(&file);
}

static void a_value_is_taken_as_it_stands(void **state)
{
    static const struct {
        const char *line, *value;
    } cases[] = {
        {"k = X25519:MLKEM768", "X25519:MLKEM768"},
        {"k = a=b=c", "a=b=c"},
        {"k =", ""},
        {"k = \"quoted\"", "\"quoted\""},
        {"k = a;b#c", "a;b#c"},
        {"k = [x]", "[x]"},
        {"k = *X25519:?X448/DEFAULT", "*X25519:?X448/DEFAULT"},
        {"k\t=\tB\xc3\xbc"
         "cher",
         "B\xc3\xbc"
         "cher"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct inifile file;
        struct err e = ERR_INIT;
        char text[200];
        snprintf(text, sizeof text, "[s]\n%s", cases[i].line); /* no newline at the end */
        assert_int_equal(parse(text, &file, &e), 0);
        assert_int_equal(file.section[0].entries, 1);
        assert_string_equal(file.section[0].entry[0].value, cases[i].value);
        inifile_free(&file);
    }
}

static void what_readers_disagree_about_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"k = 1\n", "f.ini:1: a key before the first [SECTION]"},
        {"[s]\nk = 1\n  more\n",
         "f.ini:3: begins with a blank: a value stands on one line, and nothing is indented"},
        {"[s]\n k = 1\n",
         "f.ini:2: begins with a blank: a value stands on one line, and nothing is indented"},
        {"[s]\nk = 1 ; why\n",
         "f.ini:2: a comment stands on a line of its own, not behind a value"},
        {"[s]\nk = 1 # why\n",
         "f.ini:2: a comment stands on a line of its own, not behind a value"},
        {"[s]\nk: 1\n", "f.ini:2: neither [SECTION], KEY = VALUE nor a comment"},
        {"[s]\nk\n", "f.ini:2: neither [SECTION], KEY = VALUE nor a comment"},
        {"[s]\n= 1\n", "f.ini:2: neither [SECTION], KEY = VALUE nor a comment"},
        {"[s]\nKey = 1\n", "f.ini:2: neither [SECTION], KEY = VALUE nor a comment"},
        {"[s]\na b = 1\n", "f.ini:2: neither [SECTION], KEY = VALUE nor a comment"},
        {"[s]\nk = 1\n[t]\n[s]\n", "f.ini:4: this section was given before"},
        {"[arm b]\n[arm  b]\n", "f.ini:2: this section was given before"},
        {"[s\nk = 1\n", "f.ini:1: a section is written [NAME], alone on its line"},
        {"[s] x\n", "f.ini:1: a section is written [NAME], alone on its line"},
        {"[s] ; c\n", "f.ini:1: a section is written [NAME], alone on its line"},
        {"[]\n", "f.ini:1: a section is written [NAME], alone on its line"},
        {"[ ]\n", "f.ini:1: a section needs a name"},
        {"[s]\nk = a\x01\n",
         "f.ini:2: holds bytes that are no text (UTF-8 without control characters)"},
        {"[s]\nk = \xff\n",
         "f.ini:2: holds bytes that are no text (UTF-8 without control characters)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct inifile file;
        struct err e = ERR_INIT;
        assert_int_equal(parse(cases[i].text, &file, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_string_equal(e.text, cases[i].says);
    }
}

static void long_lines_are_refused_and_not_cut(void **state)
{
    (void)state;
    for (size_t length = INIFILE_LINE_MAX - 2; length <= INIFILE_LINE_MAX + 20; length++) {
        struct inifile file;
        struct err e = ERR_INIT;
        char text[400] = "[s]\nk = ";
        memset(text + strlen(text), 'x', length - 4); /* "k = " is part of the line */
        int failed = parse(text, &file, &e);
        assert_int_equal(failed, length <= INIFILE_LINE_MAX ? 0 : -1);
        if (failed) {
            assert_string_equal(e.text, "f.ini:2: the line is longer than 190 bytes");
            continue;
        }
        assert_int_equal(strlen(file.section[0].entry[0].value), length - 4);
        inifile_free(&file);
    }
}

static void long_names_are_refused_and_not_cut(void **state)
{
    struct inifile file;
    struct err e = ERR_INIT;
    char text[200];
    (void)state;
    snprintf(text, sizeof text, "[%.*s]\n", (int)INIFILE_SECTION_MAX,
             "ssssssssssssssssssssssssssssssssssssssssssssssssssssssssss");
    assert_int_equal(parse(text, &file, &e), 0);
    assert_int_equal(strlen(file.section[0].name), INIFILE_SECTION_MAX);
    inifile_free(&file);
    snprintf(text, sizeof text, "[x%.*s]\n", (int)INIFILE_SECTION_MAX,
             "ssssssssssssssssssssssssssssssssssssssssssssssssssssssssss");
    assert_int_equal(parse(text, &file, &e), -1);
    snprintf(text, sizeof text, "[s]\n%.*s = 1\n", (int)INIFILE_KEY_MAX,
             "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
    assert_int_equal(parse(text, &file, &e), 0);
    assert_int_equal(strlen(file.section[0].entry[0].key), INIFILE_KEY_MAX);
    inifile_free(&file);
    snprintf(text, sizeof text, "[s]\nx%.*s = 1\n", (int)INIFILE_KEY_MAX,
             "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk");
    assert_int_equal(parse(text, &file, &e), -1);
}

static void a_nul_byte_is_seen(void **state)
{
    static const char text[] = "[s]\nk = a\0b\n";
    struct inifile file;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(inifile_parse(text, sizeof text - 1, "f.ini", &file, &e), -1);
    assert_string_equal(
        e.text, "f.ini:2: holds bytes that are no text (UTF-8 without control characters)");
}

static void a_byte_order_mark_and_an_empty_text_are_fine(void **state)
{
    struct inifile file;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(parse("\xef\xbb\xbf[s]\nk = 1\n", &file, &e), 0);
    assert_string_equal(file.section[0].name, "s");
    inifile_free(&file);
    assert_int_equal(parse("", &file, &e), 0);
    assert_int_equal(file.sections, 0);
    inifile_free(&file);
}

static void a_missing_file_is_named(void **state)
{
    struct inifile file;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(inifile_read("/nonexistent/x.ini", &file, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_string_equal(e.text, "/nonexistent/x.ini: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_and_keys_keep_order_and_lines),
        cmocka_unit_test(a_value_is_taken_as_it_stands),
        cmocka_unit_test(what_readers_disagree_about_is_refused_with_its_line),
        cmocka_unit_test(long_lines_are_refused_and_not_cut),
        cmocka_unit_test(long_names_are_refused_and_not_cut),
        cmocka_unit_test(a_nul_byte_is_seen),
        cmocka_unit_test(a_byte_order_mark_and_an_empty_text_are_fine),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
