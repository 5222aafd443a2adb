/* SPDX-License-Identifier: Apache-2.0 */
/* Is a ClientHello written by hand what a server must take, share by share? */
#include "cmocka_all.h"
#include <string.h>
#include "base/bytes.h"
#include "tls/group_codes.h"
#include "tls/groups.h"
#include "tls/raw_hello.h"

#define MLKEM_PRIME 3329u

static size_t write_hello(const struct raw_hello *hello, uint8_t *out, size_t room)
{
    struct rng rng;
    rng_init(&rng, 1);
    return raw_hello_write(hello, &rng, out, room);
}

/* The body of an extension of a whole hello; left 0 and bad where it is absent. */
static struct bytes_reader find_extension(const uint8_t *data, size_t length, size_t type)
{
    struct bytes_reader r = bytes_read(data, length);
    bytes_get(&r, 1 + 2);
    struct bytes_reader record = bytes_get_vector(&r, 2);
    assert_int_equal(r.left, 0);
    assert_int_equal(bytes_get(&record, 1), 1);
    struct bytes_reader body = bytes_get_vector(&record, 3);
    assert_int_equal(record.left, 0);
    bytes_get_part(&body, 2 + 32);
    bytes_get_vector(&body, 1);
    bytes_get_vector(&body, 2);
    bytes_get_vector(&body, 1);
    struct bytes_reader extensions = bytes_get_vector(&body, 2);
    assert_false(body.is_bad);
    assert_int_equal(body.left, 0);
    struct bytes_reader found = {.is_bad = true};
    while (extensions.left > 0) {
        size_t at = bytes_get(&extensions, 2);
        struct bytes_reader one = bytes_get_vector(&extensions, 2);
        assert_false(extensions.is_bad);
        if (at == type)
            found = one;
    }
    return found;
}

/* Every group that a library of ours has must have a share here too, of its length. */
static void each_share_is_as_long_as_its_standard_says(void **state)
{
    (void)state;
    for (const struct tls_group *const *g = tls_group_all(); *g != NULL; g++) {
        uint8_t data[8192];
        struct raw_hello hello = {.groups = 1,
                                  .group = {(*g)->code},
                                  .shares = 1,
                                  .share = {(*g)->code},
                                  .offers_13 = true};
        size_t length = write_hello(&hello, data, sizeof data);
        assert_int_not_equal(length, 0);
        struct bytes_reader extension = find_extension(data, length, 51);
        struct bytes_reader shares = bytes_get_vector(&extension, 2);
        assert_int_equal(bytes_get(&shares, 2), (*g)->code);
        assert_int_equal(bytes_get_vector(&shares, 2).left, (*g)->client_share_bytes);
        assert_false(shares.is_bad);
        assert_int_equal(shares.left, 0);
    }
}

/* FIPS 203, 7.2: a server refuses a key with a coefficient of the prime or more. */
static void coefficients_are_below_the_prime(void **state)
{
    (void)state;
    uint8_t data[8192];
    struct raw_hello hello = {
        .groups = 1, .group = {0x0202}, .shares = 1, .share = {0x0202}, .offers_13 = true};
    size_t length = write_hello(&hello, data, sizeof data);
    struct bytes_reader extension = find_extension(data, length, 51);
    struct bytes_reader shares = bytes_get_vector(&extension, 2);
    bytes_get(&shares, 2);
    struct bytes_reader key = bytes_get_vector(&shares, 2);
    size_t seen = 0;
    while (key.left > 32) {
        size_t a = bytes_get(&key, 1), b = bytes_get(&key, 1), c = bytes_get(&key, 1);
        assert_true((a | (b & 0xf) << 8) < MLKEM_PRIME);
        assert_true((b >> 4 | c << 4) < MLKEM_PRIME);
        seen += 2;
    }
    assert_int_equal(seen, 4 * 256);
}

static void padding_makes_the_record_exactly_as_long_as_asked(void **state)
{
    (void)state;
    uint8_t data[8192];
    struct raw_hello hello = {.groups = 1,
                              .group = {0x001d},
                              .shares = 1,
                              .share = {0x001d},
                              .offers_12 = true,
                              .offers_13 = true,
                              .server_name = "a.test"};
    size_t bare = write_hello(&hello, data, sizeof data);
    for (size_t more = 4; more < 2000; more += 499) {
        hello.record_bytes = bare + more;
        size_t length = write_hello(&hello, data, sizeof data);
        assert_int_equal(length, bare + more);
        assert_int_equal(find_extension(data, length, 21).left, more - 4);
    }
    hello.record_bytes = bare + 3; /* no room for the extension's header */
    assert_int_equal(write_hello(&hello, data, sizeof data), bare);
}

static void what_cannot_be_written_is_nothing(void **state)
{
    (void)state;
    uint8_t data[256];
    struct raw_hello unknown = {
        .groups = 1, .group = {0x1234}, .shares = 1, .share = {0x1234}, .offers_13 = true};
    struct raw_hello large = {
        .groups = 1, .group = {0x11ec}, .shares = 1, .share = {0x11ec}, .offers_13 = true};
    assert_int_equal(write_hello(&unknown, data, sizeof data), 0);
    assert_int_equal(write_hello(&large, data, sizeof data), 0);
}

static void the_tables_of_groups_agree(void **state)
{
    (void)state;
    for (const struct tls_group *const *g = tls_group_all(); *g != NULL; g++) {
        const struct group_code *code = group_code_find((*g)->code);
        assert_non_null(code);
        assert_string_equal(code->name, (*g)->name);
        assert_int_equal(code->kind == GROUP_HYBRID, (*g)->is_hybrid);
        assert_int_equal(code->kind != GROUP_CLASSICAL, (*g)->is_post_quantum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_share_is_as_long_as_its_standard_says),
        cmocka_unit_test(coefficients_are_below_the_prime),
        cmocka_unit_test(padding_makes_the_record_exactly_as_long_as_asked),
        cmocka_unit_test(what_cannot_be_written_is_nothing),
        cmocka_unit_test(the_tables_of_groups_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
