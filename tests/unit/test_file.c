/* SPDX-License-Identifier: Apache-2.0 */
/* Are small files read whole, and their keys found at the start of lines only? */
#include "fake_tree.h"
#include "base/file.h"

static void a_missing_file_is_absent(void **state)
{
    char line[8] = "x";
    uint64_t value = 77;
    (void)state;
    assert_null(file_read_text("", "/nonexistent/file", 100));
    assert_false(file_read_line("", "/nonexistent/file", line, sizeof line));
    assert_string_equal(line, "");
    assert_false(file_read_u64("", "/nonexistent/file", &value));
    assert_true(value == 77);
    assert_null(file_read_text("", "/tmp", 100)); /* a directory */
}

static void a_file_is_read_up_to_its_limit(void **state)
{
    struct tree t;
    char big[10001];
    (void)state;
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    tree_make(&t);
    tree_write(&t, "/big", big);
    tree_write(&t, "/empty", "");
    assert_null(file_read_text(t.root, "/big", 9999));
    char *text = file_read_text(t.root, "/big", 10000);
    assert_string_equal(text, big);
    free(text);
    text = file_read_text(t.root, "/empty", 0);
    assert_string_equal(text, "");
    free(text);
    tree_remove(&t);
}

static void the_first_line_is_read_without_its_end(void **state)
{
    static const struct {
        const char *content;
        bool is_read;
        const char *line;
    } cases[] = {
        {"tsc\n", true, "tsc"}, {"tsc", true, "tsc"},           {"", true, ""},
        {"a\nb\n", true, "a"},  {"1234567\n", true, "1234567"}, {"12345678\n", false, ""},
    };
    struct tree t;
    (void)state;
    tree_make(&t);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[8];
        tree_write(&t, "/line", cases[i].content);
        assert_int_equal(file_read_line(t.root, "/line", line, sizeof line), cases[i].is_read);
        assert_string_equal(line, cases[i].line);
    }
    tree_remove(&t);
}

static void a_number_file_holds_one_number(void **state)
{
    static const struct {
        const char *content;
        bool is_read;
        uint64_t value;
    } cases[] = {
        {"0\n", true, 0},
        {"4096\n", true, 4096},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 77},
        {"-1\n", false, 77},
        {"12 13\n", false, 77},
        {"max\n", false, 77},
        {"\n", false, 77},
        {" 1\n", true, 1},
        {"1 \n", false, 77},
    };
    struct tree t;
    (void)state;
    tree_make(&t);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t value = 77;
        tree_write(&t, "/deep/er/number", cases[i].content);
        assert_int_equal(file_read_u64(t.root, "/deep/er/number", &value), cases[i].is_read);
        assert_true(value == cases[i].value);
    }
    tree_remove(&t);
}

static void keys_are_found_whole_and_at_the_start_of_a_line(void **state)
{
    static const char text[] = "nr_throttled 4\nthrottled_usec 1200\nMemTotal:       24 kB\n"
                               "bad x\nlast 9";
    uint64_t value = 77;
    (void)state;
    assert_false(file_find_u64(text, "throttled", &value));
    assert_false(file_find_u64(text, "bad", &value));
    assert_false(file_find_u64(text, "usec", &value));
    assert_false(file_find_u64("", "usec", &value));
    assert_false(file_find_u64("usec", "usec", &value));
    assert_true(value == 77);
    assert_true(file_find_u64(text, "throttled_usec", &value) && value == 1200);
    assert_true(file_find_u64(text, "nr_throttled", &value) && value == 4);
    assert_true(file_find_u64("ab_c 1\nab: 2\n", "ab", &value) && value == 2);
    assert_true(file_find_u64(text, "MemTotal", &value) && value == 24);
    assert_true(file_find_u64(text, "last", &value) && value == 9);
}

static void texts_are_found_without_blanks_and_quotes(void **state)
{
    static const char text[] = "cpu family\t: 6\ncpu\t\t: POWER9\nNAME=\"Debian GNU/Linux\"\n"
                               "ID=debian\nempty:\ncpu : second\n";
    char buf[64], small[4];
    (void)state;
    assert_true(file_find_text(text, "cpu", ':', buf, sizeof buf));
    assert_string_equal(buf, "POWER9");
    assert_true(file_find_text(text, "NAME", '=', buf, sizeof buf));
    assert_string_equal(buf, "Debian GNU/Linux");
    assert_true(file_find_text(text, "ID", '=', buf, sizeof buf));
    assert_string_equal(buf, "debian");
    assert_false(file_find_text(text, "empty", ':', buf, sizeof buf));
    assert_false(file_find_text(text, "missing", ':', buf, sizeof buf));
    assert_string_equal(buf, "");
    assert_true(file_find_text(text, "ID", '=', small, sizeof small));
    assert_string_equal(small, "deb");
    assert_false(file_find_text("xID=1\n", "ID", '=', buf, sizeof buf));
    /* what the line itself repeats is no line of its own */
    assert_false(file_find_text("IDID=1\n", "ID", '=', buf, sizeof buf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_file_is_absent),
        cmocka_unit_test(a_file_is_read_up_to_its_limit),
        cmocka_unit_test(the_first_line_is_read_without_its_end),
        cmocka_unit_test(a_number_file_holds_one_number),
        cmocka_unit_test(keys_are_found_whole_and_at_the_start_of_a_line),
        cmocka_unit_test(texts_are_found_without_blanks_and_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
