/* SPDX-License-Identifier: Apache-2.0 */
/* Do a reader and a writer of wire formats stay within their bytes? */
#include "cmocka_all.h"
#include <string.h>
#include "base/bytes.h"

static void a_reader_gives_nothing_once_something_is_missing(void **state)
{
    static const uint8_t data[] = {0x01, 0x02, 0x03};
    (void)state;
    struct bytes_reader r = bytes_read(data, sizeof data);
    assert_int_equal(bytes_get(&r, 2), 0x0102);
    assert_int_equal(bytes_get(&r, 2), 0);
    assert_true(r.is_bad);
    assert_int_equal(bytes_get(&r, 1), 0);
    assert_true(bytes_get_part(&r, 0).is_bad);
}

static void a_vector_longer_than_its_bytes_is_bad_and_empty(void **state)
{
    static const uint8_t data[] = {0x00, 0x03, 0xaa, 0xbb};
    (void)state;
    struct bytes_reader r = bytes_read(data, sizeof data);
    struct bytes_reader v = bytes_get_vector(&r, 2);
    assert_true(v.is_bad && r.is_bad);
    assert_int_equal(v.left, 0);
}

static void a_writer_counts_its_vectors_and_keeps_to_its_room(void **state)
{
    static const uint8_t expected[] = {0x05, 0x00, 0x02, 0xab, 0xcd};
    uint8_t data[6] = {0};
    (void)state;
    struct bytes_writer w = bytes_write(data, 5);
    bytes_put(&w, 5, 1);
    size_t mark = bytes_open(&w, 2);
    bytes_put_data(&w, "\xab\xcd", 2);
    bytes_close(&w, mark, 2);
    assert_false(w.is_full);
    assert_memory_equal(data, expected, sizeof expected);
    bytes_put(&w, 0xff, 1);
    assert_true(w.is_full);
    assert_int_equal(w.length, 5);
    assert_int_equal(data[5], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_gives_nothing_once_something_is_missing),
        cmocka_unit_test(a_vector_longer_than_its_bytes_is_bad_and_empty),
        cmocka_unit_test(a_writer_counts_its_vectors_and_keeps_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
