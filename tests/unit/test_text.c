/* SPDX-License-Identifier: Apache-2.0 */
/* Do strings grow correctly, and is strangers' text harmless on a terminal? */
#include "cmocka_all.h"
#include "comma_locale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

static void an_empty_text_is_an_empty_string(void **state)
{
    struct text t = {0};
    (void)state;
    assert_string_equal(text_str(&t), "");
    char *taken = text_take(&t);
    assert_string_equal(taken, "");
    free(taken);
    text_free(&t);
}

static void a_text_grows_with_what_is_added(void **state)
{
    struct text t = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        text_addf(&t, "%d,", i % 10);
    text_add_bytes(&t, "a\0b", 3);
    text_add(&t, "");
    text_addf(&t, "%s", "");
    assert_int_equal(t.length, 2003);
    assert_memory_equal(t.data, "0,1,2,3,", 8);
    assert_memory_equal(t.data + 2000, "a\0b", 4);
    text_free(&t);
    assert_null(t.data);
    assert_int_equal(t.length, 0);
}

static void what_is_taken_belongs_to_the_caller(void **state)
{
    struct text t = {0};
    (void)state;
    text_add(&t, "abc");
    char *taken = text_take(&t);
    text_add(&t, "next");
    assert_string_equal(taken, "abc");
    assert_string_equal(text_str(&t), "next");
    free(taken);
    text_free(&t);
}

static void numbers_have_dots_in_a_locale_with_commas(void **state)
{
    struct text t = {0};
    char native[16];
    (void)state;
    if (!comma_locale_use())
        skip();
    snprintf(native, sizeof native, "%.1f", 1.5);
    text_addf(&t, "%.1f %d", 1.5, 1234);
    setlocale(LC_ALL, "C");
    assert_string_equal(native, "1,5");
    assert_string_equal(text_str(&t), "1.5 1234");
    text_free(&t);
}

static void the_threads_own_locale_is_put_back(void **state)
{
    struct text t = {0};
    locale_t own = (locale_t)0;
    (void)state;
    LOCALE_CALL(own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0));
    if (!own)
        skip();
    uselocale(own);
    text_addf(&t, "%.2f", 0.25);
    assert_true(uselocale((locale_t)0) == own);
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
    assert_string_equal(text_str(&t), "0.25");
    text_free(&t);
}

static void a_terminal_cannot_be_driven_by_a_stranger(void **state)
{
    static const struct {
        const char *sent, *shown;
    } cases[] = {
        {"", ""},
        {"plain, with spaces ~", "plain, with spaces ~"},
        {"b\xc3\xbc"
         "cher \xe2\x82\xac \xf0\x9f\x90\x8c",
         "b\xc3\xbc"
         "cher \xe2\x82\xac \xf0\x9f\x90\x8c"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},        /* C1: CSI */
        {"\xc2\xa0", "\xc2\xa0"}, /* the first after C1 */
        {"\xe2\x80\xae"
         "gnp.exe",
         "\\xe2\\x80\\xaegnp.exe"}, /* right-to-left override */
        {"\xe2\x81\xa6"
         "x\xe2\x81\xa9",
         "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"},
        {"\xd8\x9c", "\\xd8\\x9c"},          /* Arabic letter mark */
        {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"}, /* line separator */
        {"\x80", "\\x80"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"\xc3", "\\xc3"}, /* cut short */
        {"\xc3(", "\\xc3("},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
        {"\xf0\x82\x82\xac", "\\xf0\\x82\\x82\\xac"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},     /* U+10FFFF */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above it */
        {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text t = {0};
        text_add_harmless(&t, cases[i].sent);
        assert_string_equal(text_str(&t), cases[i].shown);
        text_free(&t);
    }
}

static void columns_are_counted_in_characters(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("abc"), 3);
    assert_int_equal(text_columns("b\xc3\xbc"
                                  "cher"),
                     6);
    assert_int_equal(text_columns("\xe2\x82\xac\xf0\x9f\x90\x8c"), 2);
}

static void names_are_the_same_without_case(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } cases[] = {
        {"X25519mlkem768", "x25519MLKEM768", true},
        {"", "", true},
        {"a", "", false},
        {"", "a", false},
        {"X25519", "X25519MLKEM768", false},
        {"X25519MLKEM768", "X25519", false},
        {"P-256", "P_256", false},
        {"@", "`", false},
        {"[", "{", false},
        {"\xc3\x84", "\xc3\xa4", false}, /* ASCII only */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(text_same_name(cases[i].a, cases[i].b), cases[i].is_same);
}

static void memory_is_zeroed_and_copies_are_apart(void **state)
{
    unsigned char *zeroed = mem_alloc_zeroed(3, 5);
    static const unsigned char nothing[15];
    (void)state;
    assert_memory_equal(zeroed, nothing, 15);
    zeroed = mem_resize(zeroed, 100, 2);
    assert_memory_equal(zeroed, nothing, 15);
    free(zeroed);
    void *empty = mem_alloc_zeroed(0, 8);
    assert_non_null(empty);
    free(empty);
    assert_null(mem_copy_string(NULL));
    char original[] = "abc";
    char *copy = mem_copy_string(original);
    original[0] = 'x';
    assert_string_equal(copy, "abc");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_text_is_an_empty_string),
        cmocka_unit_test(a_text_grows_with_what_is_added),
        cmocka_unit_test(what_is_taken_belongs_to_the_caller),
        cmocka_unit_test(numbers_have_dots_in_a_locale_with_commas),
        cmocka_unit_test(the_threads_own_locale_is_put_back),
        cmocka_unit_test(a_terminal_cannot_be_driven_by_a_stranger),
        cmocka_unit_test(columns_are_counted_in_characters),
        cmocka_unit_test(names_are_the_same_without_case),
        cmocka_unit_test(memory_is_zeroed_and_copies_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
