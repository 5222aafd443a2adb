/* SPDX-License-Identifier: Apache-2.0 */
/* Is a server's first answer read as it is on the wire, whole or in parts? */
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "tls/raw_answer.h"

/* RFC 8446, 4.1.3. */
#define RETRY_RANDOM                                                   \
    "\xCF\x21\xAD\x74\xE5\x9A\x61\x11\xBE\x1D\x8C\x02\x1E\x65\xB8\x91" \
    "\xC2\xA2\x11\x16\x7A\xBB\x8C\x5E\x07\x9E\x09\xE2\xC8\xA8\x33\x9C"
#define PLAIN_RANDOM "0123456789abcdef0123456789abcdef"

static size_t open_record(struct bytes_writer *w, unsigned type)
{
    bytes_put(w, type, 1);
    bytes_put(w, 0x0303, 2);
    return bytes_open(w, 2);
}

static void put_hello(struct bytes_writer *w, const char *random, unsigned version,
                      unsigned group, bool has_key)
{
    bytes_put(w, 2, 1);
    size_t message = bytes_open(w, 3);
    bytes_put(w, 0x0303, 2);
    bytes_put_data(w, random, 32);
    bytes_put(w, 0, 1);
    bytes_put(w, 0x1302, 2);
    bytes_put(w, 0, 1);
    size_t extensions = bytes_open(w, 2);
    if (version != 0) {
        bytes_put(w, 43, 2);
        bytes_put(w, 2, 2);
        bytes_put(w, version, 2);
    }
    if (group != 0) {
        bytes_put(w, 51, 2);
        size_t extension = bytes_open(w, 2);
        bytes_put(w, group, 2);
        if (has_key) {
            bytes_put(w, 3, 2);
            bytes_put_data(w, "key", 3);
        }
        bytes_close(w, extension, 2);
    }
    bytes_close(w, extensions, 2);
    bytes_close(w, message, 3);
}

/* Every shorter stream is a part; the whole is `kind`. */
static void assert_read(const struct bytes_writer *w, enum raw_answer_kind kind,
                        unsigned version, unsigned group)
{
    struct raw_answer answer;
    assert_false(w->is_full);
    for (size_t n = 0; n < w->length; n++) {
        uint8_t *copy = malloc(n > 0 ? n : 1); /* its end is where a sanitizer looks */
        assert_non_null(copy);
        memcpy(copy, w->data, n);
        raw_answer_read(copy, n, &answer);
        assert_int_equal(answer.kind, RAW_ANSWER_PART);
        free(copy);
    }
    raw_answer_read(w->data, w->length, &answer);
    assert_int_equal(answer.kind, kind);
    assert_int_equal(answer.version, version);
    assert_int_equal(answer.group, group);
}

static void a_hello_and_a_retry_are_told_apart(void **state)
{
    (void)state;
    for (int is_retry = 0; is_retry < 2; is_retry++) {
        uint8_t data[512];
        struct bytes_writer w = bytes_write(data, sizeof data);
        size_t record = open_record(&w, 22);
        put_hello(&w, is_retry ? RETRY_RANDOM : PLAIN_RANDOM, 0x0304, 0x11ec, !is_retry);
        bytes_close(&w, record, 2);
        assert_read(&w, is_retry ? RAW_ANSWER_RETRY : RAW_ANSWER_HELLO, 0x0304, 0x11ec);
    }
}

static void a_hello_in_tiny_records_is_joined(void **state)
{
    (void)state;
    uint8_t message[512], data[4096];
    struct bytes_writer m = bytes_write(message, sizeof message);
    struct bytes_writer w = bytes_write(data, sizeof data);
    put_hello(&m, RETRY_RANDOM, 0x0304, 0x0017, false);
    for (size_t i = 0; i < m.length; i++) {
        size_t record = open_record(&w, 22);
        bytes_put(&w, message[i], 1);
        bytes_close(&w, record, 2);
    }
    assert_read(&w, RAW_ANSWER_RETRY, 0x0304, 0x0017);
}

/* RFC 8422, 5.4: the curve stands in ServerKeyExchange, behind the certificate. */
static void tls_12_names_its_curve_later(void **state)
{
    (void)state;
    uint8_t data[1024];
    struct bytes_writer w = bytes_write(data, sizeof data);
    size_t record = open_record(&w, 22);
    put_hello(&w, PLAIN_RANDOM, 0, 0, false);
    bytes_put(&w, 11, 1); /* Certificate */
    size_t certificate = bytes_open(&w, 3);
    bytes_put_data(&w, "certificates", 12);
    bytes_close(&w, certificate, 3);
    bytes_put(&w, 12, 1); /* ServerKeyExchange */
    size_t exchange = bytes_open(&w, 3);
    bytes_put(&w, 3, 1); /* named_curve */
    bytes_put(&w, 0x0018, 2);
    bytes_close(&w, exchange, 3);
    bytes_close(&w, record, 2);
    assert_read(&w, RAW_ANSWER_HELLO, 0x0303, 0x0018);
}

static void alerts_are_told_and_warnings_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        enum raw_answer_kind kind;
        unsigned alert;
    } cases[] = {
        {"\x15\x03\x03\x00\x02\x02\x28", 7, RAW_ANSWER_ALERT, 40},
        {"\x15\x03\x01\x00\x02\x02\x46", 7, RAW_ANSWER_ALERT, 70},
        {"\x15\x03\x03\x00\x02\x01\x00", 7, RAW_ANSWER_ALERT, 0},
        {"\x15\x03\x03\x00\x02\x01\x70", 7, RAW_ANSWER_PART, 112},
        {"\x15\x03\x03\x00\x02\x01\x70\x15\x03\x03\x00\x02\x02\x28", 14, RAW_ANSWER_ALERT, 40},
        {"\x15\x03\x03\x00\x01\x02", 6, RAW_ANSWER_FOREIGN, 0},
        {"HTTP/1.1 400 Bad Request", 24, RAW_ANSWER_FOREIGN, 0},
        {"\x16\x03\x03\x00\x04\x01\x00\x00\x00", 9, RAW_ANSWER_FOREIGN, 0},
        {"\x14\x03\x03\x00\x01\x01", 6, RAW_ANSWER_FOREIGN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct raw_answer answer;
        raw_answer_read((const uint8_t *)cases[i].bytes, cases[i].length, &answer);
        assert_int_equal(answer.kind, cases[i].kind);
        assert_int_equal(answer.alert, cases[i].alert);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hello_and_a_retry_are_told_apart),
        cmocka_unit_test(a_hello_in_tiny_records_is_joined),
        cmocka_unit_test(tls_12_names_its_curve_later),
        cmocka_unit_test(alerts_are_told_and_warnings_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
