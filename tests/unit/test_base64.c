/* SPDX-License-Identifier: Apache-2.0 */
/* Do bytes survive the way through text, and is every other text refused? */
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include "base/base64.h"

static void the_examples_of_rfc_4648_hold(void **state)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xff\xfe", "///+"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t length = 77;
        char *text = base64_encode(cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(text, cases[i].text);
        unsigned char *bytes = base64_decode(text, &length);
        assert_int_equal(length, strlen(cases[i].bytes));
        assert_memory_equal(bytes, cases[i].bytes, length);
        free(bytes);
        free(text);
    }
}

static void malformed_text_is_refused(void **state)
{
    static const char *const cases[] = {
        "Z",     "Zg",       "Zg=",  "=",        "==",      "===",      "====",
        "Z===",  "Zg==Zg==", "Zm=v", "Z=9v",     "Zh==",    "Zm9=",     "Zm9v\n",
        " Zm9v", "Zm 9",     "Zm-_", "Zm9vZ===", "Zm9\x80", "Zm9v====",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t length = 77;
        if (base64_decode(cases[i], &length) != NULL)
            fail_msg("took '%s'", cases[i]);
    }
}

static void all_bytes_of_all_lengths_come_back(void **state)
{
    unsigned char bytes[300];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        size_t length;
        char *text = base64_encode(bytes, n);
        unsigned char *back = base64_decode(text, &length);
        assert_non_null(back);
        assert_int_equal(length, n);
        assert_memory_equal(back, bytes, n);
        free(back);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_rfc_4648_hold),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(all_bytes_of_all_lengths_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
