/* SPDX-License-Identifier: Apache-2.0 */
/* Does an error say what happened, with its context, within its buffer? */
#include "cmocka_all.h"
#include <errno.h>
#include <string.h>
#include "base/err.h"

static void the_kind_decides_the_exit_status(void **state)
{
    static const struct {
        enum err_kind kind;
        int status;
    } cases[] = {
        {ERR_NONE, 0}, {ERR_USAGE, 2}, {ERR_UNSUPPORTED, 2}, {ERR_SYSTEM, 1}, {ERR_FAILED, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = ERR_INIT;
        e.kind = cases[i].kind;
        assert_int_equal(err_exit_status(&e), cases[i].status);
    }
}

static void setting_an_error_returns_minus_one(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(err_set(&e, ERR_USAGE, "--rate: '%s' is not a rate", "x"), -1);
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.text, "--rate: 'x' is not a rate");
}

static void a_caller_that_does_not_care_passes_null(void **state)
{
    (void)state;
    errno = ENOENT;
    assert_int_equal(err_set(NULL, ERR_USAGE, "x"), -1);
    assert_int_equal(err_set_errno(NULL, "x"), -1);
    assert_int_equal(err_add_context(NULL, "x"), -1);
}

static void errno_is_told_in_words_and_kept(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    errno = ENOENT;
    assert_int_equal(err_set_errno(&e, "%s", "a.pem"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_string_equal(e.text, "a.pem: No such file or directory");
}

static void context_goes_in_front_and_the_kind_stays(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    errno = ENOENT;
    err_set_errno(&e, "a.pem");
    assert_int_equal(err_add_context(&e, "server %s", "certificate"), -1);
    assert_string_equal(e.text, "server certificate: a.pem: No such file or directory");
    assert_int_equal(e.kind, ERR_SYSTEM);
}

static void context_without_an_error_is_still_a_failure(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    err_add_context(&e, "worker 3");
    assert_string_equal(e.text, "worker 3");
    assert_int_equal(err_exit_status(&e), 1);
}

static void the_old_text_may_be_an_argument_of_the_new_one(void **state)
{
    struct err e = ERR_INIT;
    (void)state;
    err_set(&e, ERR_FAILED, "first");
    err_set(&e, ERR_FAILED, "<%s>", e.text);
    assert_string_equal(e.text, "<first>");
    err_add_context(&e, "[%s]", e.text);
    assert_string_equal(e.text, "[<first>]: <first>");
}

static void a_text_that_is_too_long_is_cut_between_characters(void **state)
{
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac",
                                             "\xf0\x9f\x90\x8c"};
    (void)state;
    for (size_t c = 0; c < COUNT_OF(characters); c++) {
        for (size_t shift = 0; shift < 4; shift++) {
            char longer[2000] = "";
            struct err e = ERR_INIT;
            size_t width = strlen(characters[c]);
            memset(longer, 'a', shift);
            for (size_t i = 0; i < 300 || strlen(longer) < 700; i++)
                strcat(longer, characters[c]);
            err_set(&e, ERR_FAILED, "%s", longer);
            assert_true(strlen(e.text) < sizeof e.text);
            assert_true(strlen(e.text) >= sizeof e.text - width);
            assert_int_equal((strlen(e.text) - shift) % width, 0);
            assert_memory_equal(e.text, longer, strlen(e.text));
            err_add_context(&e, "context of some length");
            assert_int_equal(strncmp(e.text, "context of some length: ", 24), 0);
            assert_int_equal((strlen(e.text) - 24 - shift) % width, 0);
        }
    }
}

static void bytes_that_are_no_utf8_do_not_break_the_cut(void **state)
{
    char longer[1000];
    struct err e = ERR_INIT;
    (void)state;
    memset(longer, 0x80, sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    err_set(&e, ERR_FAILED, "%s", longer);
    assert_true(strlen(e.text) < sizeof e.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_decides_the_exit_status),
        cmocka_unit_test(setting_an_error_returns_minus_one),
        cmocka_unit_test(a_caller_that_does_not_care_passes_null),
        cmocka_unit_test(errno_is_told_in_words_and_kept),
        cmocka_unit_test(context_goes_in_front_and_the_kind_stays),
        cmocka_unit_test(context_without_an_error_is_still_a_failure),
        cmocka_unit_test(the_old_text_may_be_an_argument_of_the_new_one),
        cmocka_unit_test(a_text_that_is_too_long_is_cut_between_characters),
        cmocka_unit_test(bytes_that_are_no_utf8_do_not_break_the_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
