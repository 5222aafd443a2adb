/* SPDX-License-Identifier: Apache-2.0 */
/* Are a ClientHello's key shares read as they are on the wire, and nothing beyond it? */
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include "run/hello.h"

struct wire {
    uint8_t data[4096];
    size_t length;
};

static void put(struct wire *w, uint64_t value, size_t width)
{
    for (size_t i = width; i-- > 0;)
        w->data[w->length++] = (uint8_t)(value >> (8 * i));
}

/* Put the length of what was written since `at` into the `width` bytes there. */
static void close_vector(struct wire *w, size_t at, size_t width)
{
    size_t n = w->length - at - width;
    for (size_t i = 0; i < width; i++)
        w->data[at + i] = (uint8_t)(n >> (8 * (width - 1 - i)));
}

static size_t open_vector(struct wire *w, size_t width)
{
    size_t at = w->length;
    put(w, 0, width);
    return at;
}

static void put_shares(struct wire *w, const unsigned *groups, size_t n)
{
    put(w, 51, 2); /* key_share */
    size_t extension = open_vector(w, 2);
    size_t shares = open_vector(w, 2);
    for (size_t i = 0; i < n; i++) {
        put(w, groups[i], 2);
        size_t key = open_vector(w, 2);
        for (size_t k = 0; k < 32; k++)
            put(w, 0xab, 1);
        close_vector(w, key, 2);
    }
    close_vector(w, shares, 2);
    close_vector(w, extension, 2);
}

/* The same groups, offered. */
static void put_offer(struct wire *w, const unsigned *groups, size_t n)
{
    put(w, 10, 2); /* supported_groups */
    size_t extension = open_vector(w, 2);
    size_t list = open_vector(w, 2);
    for (size_t i = 0; i < n; i++)
        put(w, groups[i], 2);
    close_vector(w, list, 2);
    close_vector(w, extension, 2);
}

/* A handshake message without record; n == SIZE_MAX: without extensions. */
static struct wire make_message(const unsigned *groups, size_t n)
{
    struct wire w = {.length = 0};
    put(&w, 1, 1);
    size_t body = open_vector(&w, 3);
    put(&w, 0x0303, 2);
    for (int i = 0; i < 32; i++)
        put(&w, 7, 1);
    put(&w, 0, 1); /* session id */
    put(&w, 2, 2); /* cipher suites */
    put(&w, 0x1302, 2);
    put(&w, 1, 1); /* compression */
    put(&w, 0, 1);
    if (n != SIZE_MAX) {
        size_t extensions = open_vector(&w, 2);
        put(&w, 43, 2); /* supported_versions */
        size_t versions = open_vector(&w, 2);
        put(&w, 2, 1);
        put(&w, 0x0304, 2);
        close_vector(&w, versions, 2);
        if (n > 0) {
            put_offer(&w, groups, n);
            put_shares(&w, groups, n);
        }
        close_vector(&w, extensions, 2);
    }
    close_vector(&w, body, 3);
    return w;
}

/* The message in records of at most `size` bytes. */
static struct wire in_records(const struct wire *message, size_t size)
{
    struct wire w = {.length = 0};
    for (size_t at = 0; at < message->length; at += size) {
        size_t n = message->length - at < size ? message->length - at : size;
        put(&w, 22, 1);
        put(&w, 0x0301, 2);
        put(&w, n, 2);
        memcpy(w.data + w.length, message->data + at, n);
        w.length += n;
    }
    return w;
}

static void the_shares_are_read_in_order(void **state)
{
    (void)state;
    static const unsigned groups[] = {0x11ec, 0x001d};
    struct wire message = make_message(groups, 2), w = in_records(&message, 4000);
    struct hello hello;
    assert_true(hello_read(w.data, w.length, &hello));
    assert_int_equal(hello.record_bytes, w.length);
    assert_int_equal(hello.shares, 2);
    assert_int_equal(hello.share[0], 0x11ec);
    assert_int_equal(hello.share[1], 0x001d);
    assert_int_equal(hello.groups, 2);
    assert_int_equal(hello.group[0], 0x11ec);
    assert_int_equal(hello.group[1], 0x001d);
}

static void records_may_be_small_and_more_may_follow(void **state)
{
    (void)state;
    static const unsigned groups[] = {0x0017};
    struct wire message = make_message(groups, 1);
    for (size_t size = 1; size < 60; size++) {
        struct wire w = in_records(&message, size);
        size_t length = w.length;
        struct hello hello;
        put(&w, 20, 1); /* ChangeCipherSpec behind it */
        put(&w, 0x0303000101, 5);
        assert_true(hello_read(w.data, w.length, &hello));
        assert_int_equal(hello.record_bytes, length);
        assert_int_equal(hello.shares, 1);
    }
}

static void a_hello_may_have_no_shares_and_no_extensions(void **state)
{
    (void)state;
    struct hello hello;
    struct wire message = make_message(NULL, 0), w = in_records(&message, 4000);
    assert_true(hello_read(w.data, w.length, &hello));
    assert_int_equal(hello.shares, 0);
    message = make_message(NULL, SIZE_MAX);
    w = in_records(&message, 4000);
    assert_true(hello_read(w.data, w.length, &hello));
    assert_int_equal(hello.shares, 0);
}

static void shares_beyond_the_room_are_left_out(void **state)
{
    (void)state;
    unsigned groups[20];
    for (unsigned i = 0; i < 20; i++)
        groups[i] = i;
    struct wire message = make_message(groups, 20), w = in_records(&message, 4000);
    struct hello hello;
    assert_true(hello_read(w.data, w.length, &hello));
    assert_int_equal(hello.shares, HELLO_SHARES_MAX);
    assert_int_equal(hello.groups, 20);
}

static void groups_beyond_the_room_are_left_out(void **state)
{
    (void)state;
    unsigned groups[HELLO_GROUPS_MAX + 1];
    for (unsigned i = 0; i < HELLO_GROUPS_MAX + 1; i++)
        groups[i] = i;
    struct wire message = make_message(groups, HELLO_GROUPS_MAX + 1);
    struct wire w = in_records(&message, 4000);
    struct hello hello;
    assert_true(hello_read(w.data, w.length, &hello));
    assert_int_equal(hello.groups, HELLO_GROUPS_MAX);
    assert_int_equal(hello.group[HELLO_GROUPS_MAX - 1], HELLO_GROUPS_MAX - 1);
}

/* Every prefix lies in memory of its own, so that a sanitizer sees a step too far. */
static void what_is_cut_off_is_no_hello(void **state)
{
    (void)state;
    static const unsigned groups[] = {0x11ec, 0x001d};
    struct wire message = make_message(groups, 2), w = in_records(&message, 50);
    for (size_t n = 0; n < w.length; n++) {
        uint8_t *copy = malloc(n + 1);
        struct hello hello;
        memcpy(copy, w.data, n);
        assert_false(hello_read(copy, n, &hello));
        assert_int_equal(hello.shares, 0);
        free(copy);
    }
}

static void broken_bytes_do_no_harm(void **state)
{
    (void)state;
    static const unsigned groups[] = {0x11ec, 0x001d};
    struct wire message = make_message(groups, 2), good = in_records(&message, 4000);
    for (size_t i = 0; i < good.length; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct wire w = good;
            struct hello hello;
            w.data[i] ^= (uint8_t)(1u << bit);
            if (hello_read(w.data, w.length, &hello))
                assert_true(hello.shares <= HELLO_SHARES_MAX &&
                            hello.groups <= HELLO_GROUPS_MAX);
        }
    }
    struct hello hello;
    good.data[0] = 23; /* no handshake record */
    assert_false(hello_read(good.data, good.length, &hello));
    assert_false(hello_read((const uint8_t *)"HTTP/1.1 400 Bad Request\r\n\r\n", 28, &hello));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shares_are_read_in_order),
        cmocka_unit_test(records_may_be_small_and_more_may_follow),
        cmocka_unit_test(a_hello_may_have_no_shares_and_no_extensions),
        cmocka_unit_test(shares_beyond_the_room_are_left_out),
        cmocka_unit_test(groups_beyond_the_room_are_left_out),
        cmocka_unit_test(what_is_cut_off_is_no_hello),
        cmocka_unit_test(broken_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
