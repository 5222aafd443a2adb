/* SPDX-License-Identifier: Apache-2.0 */
/* Is one SVCB record read as RFC 9460 has it, and refused where that says so? */
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include "net/svcb.h"

/* "0001 00 0009 0004 001d 0017" as bytes. */
static size_t from_hex(const char *text, uint8_t *out)
{
    size_t n = 0;
    char digits[3] = "";
    for (size_t have = 0; *text != '\0'; text++) {
        if (*text == ' ')
            continue;
        digits[have++] = *text;
        if (have == 2) {
            out[n++] = (uint8_t)strtoul(digits, NULL, 16);
            have = 0;
        }
    }
    return n;
}

/* The record in memory of exactly its size, so that a sanitizer sees each step beyond it. */
static int read_hex(const char *text, struct svcb *out, struct err *e)
{
    uint8_t bytes[512];
    size_t n = from_hex(text, bytes);
    uint8_t *exact = malloc(n > 0 ? n : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    int status = svcb_read(exact, n, out, e);
    free(exact);
    return status;
}

/* The draft's own example: tls-supported-groups=29,23. */
static void the_list_of_the_draft_is_read_in_order(void **state)
{
    (void)state;
    struct svcb record;
    struct err e = ERR_INIT;
    assert_int_equal(read_hex("0001 00 0009 0004 001d 0017", &record, &e), 0);
    assert_int_equal(record.priority, 1);
    assert_string_equal(record.target, ".");
    assert_int_equal(record.groups, 2);
    assert_int_equal(record.group[0], 29);
    assert_int_equal(record.group[1], 23);
    svcb_free(&record);
}

static void every_key_of_the_rfc_is_read(void **state)
{
    (void)state;
    struct svcb record;
    struct err e = ERR_INIT;
    assert_int_equal(read_hex("0010 03666f6f 00"
                              "0000 0004 0001 0003"
                              "0001 0006 02 6832 02 6833"
                              "0002 0000"
                              "0003 0002 20fb"
                              "0004 0004 c0000201"
                              "0005 0001 aa"
                              "0006 0010 20010db8000000000000000000000001"
                              "0009 0002 11ec"
                              "029b 0003 aabbcc",
                              &record, &e),
                     0);
    assert_int_equal(record.priority, 16);
    assert_string_equal(record.target, "foo");
    assert_int_equal(record.port, 8443);
    assert_int_equal(record.foreign_key, 0);
    assert_int_equal(record.group[0], 4588);
    svcb_free(&record);
}

static void a_mandatory_key_that_is_not_known_is_named(void **state)
{
    (void)state;
    struct svcb record;
    struct err e = ERR_INIT;
    assert_int_equal(read_hex("0001 00 0000 0002 029b 029b 0000", &record, &e), 0);
    assert_int_equal(record.foreign_key, 667);
    svcb_free(&record);
}

static void what_stands_behind_an_alias_is_not_looked_at(void **state)
{
    (void)state;
    struct svcb record;
    struct err e = ERR_INIT;
    assert_int_equal(read_hex("0000 0161 00 ffff", &record, &e), 0);
    assert_int_equal(record.priority, SVCB_ALIAS);
    assert_string_equal(record.target, "a");
    assert_int_equal(record.groups, 0);
    svcb_free(&record);
}

static void malformed_records_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *why;
    } rows[] = {
        {"", "too short"},
        {"0001", "too short"},
        {"0001 01", "target goes beyond"},
        {"0001 c000", "target is compressed"},
        {"0001 40", "target is compressed"},
        {"0001 00 00", "parameter goes beyond"},
        {"0001 00 0009 0004 001d", "parameter goes beyond"},
        {"0001 00 0009 ffff 001d", "parameter goes beyond"},
        {"0001 00 0009 0000", "an empty list"},
        {"0001 00 0009 0003 001d00", "half a code point"},
        {"0001 00 0009 0004 001d 001d", "a code point twice"},
        {"0001 00 0009 0006 001d 0017 001d", "a code point twice"},
        {"0001 00 0009 0002 001d 0009 0002 0017", "a key twice"},
        {"0001 00 0009 0002 001d 0003 0002 01bb", "do not ascend"},
        {"0001 00 0001 0000", "alpn: an empty list"},
        {"0001 00 0001 0001 00", "alpn: a protocol"},
        {"0001 00 0001 0003 05 6832", "alpn: a protocol"},
        {"0001 00 0001 0004 02 6832 01", "alpn: a protocol"},
        {"0001 00 0002 0000", "without alpn"},
        {"0001 00 0001 0003 02 6832 0002 0001 00", "has a value"},
        {"0001 00 0003 0001 01", "port: not two"},
        {"0001 00 0004 0000", "ipv4hint"},
        {"0001 00 0004 0005 0102030405", "ipv4hint"},
        {"0001 00 0006 0004 01020304", "ipv6hint"},
        {"0001 00 0000 0000", "mandatory: not a list"},
        {"0001 00 0000 0003 000300 0003 0002 01bb", "mandatory: not a list"},
        {"0001 00 0000 0002 0000", "mandatory: its keys do not ascend"},
        {"0001 00 0000 0004 0003 0003 0003 0002 01bb", "mandatory: its keys do not ascend"},
        {"0001 00 0000 0002 0003", "mandatory: a key that the record has not"},
        {"0001 00 ffff 0000", "65535"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct svcb record;
        struct err e = ERR_INIT;
        if (read_hex(rows[i].hex, &record, &e) != -1 || strstr(e.text, rows[i].why) == NULL)
            fail_msg("%s: '%s' instead of '%s'", rows[i].hex, e.text, rows[i].why);
        assert_null(record.group);
    }
}

static void every_code_point_at_once_is_a_list(void **state)
{
    (void)state;
    enum { CODES = 32767 }; /* the most that fit in one parameter */
    struct svcb record;
    struct err e = ERR_INIT;
    uint8_t *bytes = calloc(7 + 2 * CODES, 1);
    assert_non_null(bytes);
    memcpy(bytes, (uint8_t[]){0, 1, 0, 0, 9, 0xff, 0xfe}, 7);
    for (unsigned i = 0; i < CODES; i++) {
        bytes[7 + 2 * i] = (uint8_t)((65535 - i) >> 8);
        bytes[8 + 2 * i] = (uint8_t)(65535 - i);
    }
    assert_int_equal(svcb_read(bytes, 7 + 2 * CODES, &record, &e), 0);
    assert_int_equal(record.groups, CODES);
    assert_int_equal(record.group[0], 65535);
    assert_int_equal(record.group[CODES - 1], 65536 - CODES);
    svcb_free(&record);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_of_the_draft_is_read_in_order),
        cmocka_unit_test(every_key_of_the_rfc_is_read),
        cmocka_unit_test(a_mandatory_key_that_is_not_known_is_named),
        cmocka_unit_test(what_stands_behind_an_alias_is_not_looked_at),
        cmocka_unit_test(malformed_records_are_refused_by_name),
        cmocka_unit_test(every_code_point_at_once_is_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
