/* SPDX-License-Identifier: Apache-2.0 */
/* Does a backend bear any way in which a transport delivers bytes, and its end? */
#include <stdlib.h>
#include <string.h>
#include "conformance.h"
#include "lab.h"

/* C10. */
static void bytes_may_come_one_by_one(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 20};
    for (size_t i = 0; i < 2; i++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_groups(&spec, "X25519MLKEM768", "X25519MLKEM768");
        pair_open(&pair, &spec);
        pair.pump.to[CLIENT].recv_max = pair.pump.to[SERVER].recv_max = pieces[i];
        assert_true(pump_handshake(&pair.pump));
        assert_talks(&pair);
        pair_close(&pair);
    }
}

/* C9: a ClientHello of some 1400 bytes whose second part comes later. */
static void a_hello_split_anywhere_waits_for_its_rest(void **state)
{
    (void)state;
    static const size_t splits[] = {1, 4, 5, 6, 9, 700, 0}; /* 0: all but one byte */
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_groups(&spec, "X25519MLKEM768", "X25519MLKEM768");
        pair_open(&pair, &spec);
        pump_turn(&pair.pump, CLIENT);
        size_t all_but_one = pair.pump.to[SERVER].total_bytes - 1;
        pair.pump.to[SERVER].visible_bytes = splits[i] > 0 ? splits[i] : all_but_one;
        for (int again = 0; again < 3; again++)
            assert_int_equal(pump_turn(&pair.pump, SERVER), TLS_STATUS_WANT_READ);
        assert_int_equal(pair.pump.to[CLIENT].total_bytes, 0);
        pair.pump.to[SERVER].visible_bytes = 0;
        assert_true(pump_handshake(&pair.pump));
        pair_close(&pair);
    }
}

static void every_step_may_find_too_little(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_open(&pair, &spec);
    /* One more byte at a time, so that every call but a few is left waiting. */
    for (size_t visible = 1; visible < 4000 && pair.pump.status[SERVER] != TLS_STATUS_OK;
         visible++) {
        for (int side = 0; side < SIDES; side++) {
            pair.pump.to[side].visible_bytes = visible;
            assert_int_not_equal(pump_turn(&pair.pump, side), TLS_STATUS_FAILED);
        }
    }
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_OK);
    assert_int_equal(pair.pump.status[SERVER], TLS_STATUS_OK);
    pair.pump.to[CLIENT].visible_bytes = pair.pump.to[SERVER].visible_bytes = 0;
    assert_talks(&pair);
    pair_close(&pair);
}

static void a_full_transport_is_waited_for(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    spec.server.tickets = 2;
    spec_use(&spec, lab_identity("rsa-2048", TLS_CHAIN_INTERMEDIATE));
    pair_open(&pair, &spec);
    bool was_blocked[SIDES] = {false, false};
    for (int turn = 0; turn < 100; turn++) {
        int side = turn % 2;
        size_t before = pair.pump.to[1 - side].total_bytes;
        pair.pump.to[1 - side].send_blocks = turn % 3 == 0;
        pump_turn(&pair.pump, side);
        assert_int_not_equal(pair.pump.status[side], TLS_STATUS_FAILED);
        if (pair.pump.status[side] == TLS_STATUS_WANT_WRITE) {
            was_blocked[side] = true;
            assert_int_equal(pair.pump.to[1 - side].total_bytes, before);
        }
    }
    assert_true(was_blocked[CLIENT]);
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_OK);
    assert_int_equal(pair.pump.status[SERVER], TLS_STATUS_OK);
    pair.pump.to[CLIENT].send_blocks = pair.pump.to[SERVER].send_blocks = 0;
    assert_talks(&pair);
    pair_close(&pair);
}

static void a_blocked_write_goes_on_from_another_buffer(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    size_t count = 0;
    uint8_t buf[16];
    enum tls_status status;
    char text[] = "payload", copy[] = "payload";
    pair_shake(&pair, &spec);
    pair.pump.to[SERVER].send_blocks = 1;
    status = lab->write(pair.pump.conn[CLIENT], text, 7, &count);
    assert_int_equal(status, TLS_STATUS_WANT_WRITE);
    memset(text, 0, sizeof(text));
    assert_true(pump_write_all(&pair.pump, CLIENT, copy, 7));
    assert_int_equal(pump_read_all(&pair.pump, SERVER, buf, sizeof(buf), &status), 7);
    assert_memory_equal(buf, "payload", 7);
    pair_close(&pair);
}

/* E7: nothing stays inside the library without an event. */
static void many_records_in_one_segment_are_all_read(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    uint8_t record[100], buf[64];
    size_t total = 0, count = 0;
    enum tls_status status;
    memset(record, 'x', sizeof(record));
    pair_shake(&pair, &spec);
    for (int i = 0; i < 300; i++)
        assert_true(pump_write_all(&pair.pump, SERVER, record, sizeof(record)));
    while ((status = lab->read(pair.pump.conn[CLIENT], buf, sizeof(buf), &count)) ==
           TLS_STATUS_OK) {
        assert_in_range(count, 1, sizeof(buf));
        total += count;
    }
    assert_int_equal(status, TLS_STATUS_WANT_READ);
    assert_int_equal(total, 300 * sizeof(record));
    pair_close(&pair);
}

static void a_megabyte_goes_through(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct spec spec = spec_new();
    struct pair pair;
    enum tls_status status;
    uint8_t *sent = malloc(BYTES), *got = malloc(BYTES);
    assert_true(sent != NULL && got != NULL);
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 31 + i / 1000);
    pair_shake(&pair, &spec);
    assert_true(pump_write_all(&pair.pump, SERVER, sent, BYTES));
    assert_int_equal(pump_read_all(&pair.pump, CLIENT, got, BYTES, &status), BYTES);
    assert_memory_equal(sent, got, BYTES);
    pair_close(&pair);
    free(sent);
    free(got);
}

/* E5: a clean end and a cut are told apart. */
static void close_notify_and_a_cut_are_told_apart(void **state)
{
    (void)state;
    for (int side = 0; side < SIDES; side++) {
        struct spec spec = spec_new();
        struct pair pair;
        uint8_t buf[8];
        enum tls_status status;
        pair_shake(&pair, &spec);
        assert_true(pump_write_all(&pair.pump, side, "bye", 3));
        assert_int_equal(lab->shutdown(pair.pump.conn[side]), TLS_STATUS_OK);
        pump_close(&pair.pump, side);
        assert_int_equal(pump_read_all(&pair.pump, 1 - side, buf, sizeof(buf), &status), 3);
        assert_int_equal(status, TLS_STATUS_CLOSED);
        assert_int_equal(lab->shutdown(pair.pump.conn[1 - side]), TLS_STATUS_OK);

        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_true(pump_write_all(&pair.pump, side, "cut", 3));
        pump_close(&pair.pump, side);
        assert_int_equal(pump_read_all(&pair.pump, 1 - side, buf, sizeof(buf), &status), 3);
        assert_int_equal(status, TLS_STATUS_FAILED);
        assert_int_equal(pair_failure(&pair, 1 - side).cause, TLS_CAUSE_EOF);
        pair_close(&pair);
    }
}

static void close_notify_waits_for_room(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    uint8_t buf[8];
    enum tls_status status;
    pair_shake(&pair, &spec);
    pair.pump.to[SERVER].send_blocks = 1;
    assert_int_equal(lab->shutdown(pair.pump.conn[CLIENT]), TLS_STATUS_WANT_WRITE);
    assert_int_equal(lab->shutdown(pair.pump.conn[CLIENT]), TLS_STATUS_OK);
    assert_int_equal(lab->shutdown(pair.pump.conn[CLIENT]), TLS_STATUS_OK);
    pump_read_all(&pair.pump, SERVER, buf, sizeof(buf), &status);
    assert_int_equal(status, TLS_STATUS_CLOSED);
    pair_close(&pair);
}

int conform_stream(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_may_come_one_by_one),
        cmocka_unit_test(a_hello_split_anywhere_waits_for_its_rest),
        cmocka_unit_test(every_step_may_find_too_little),
        cmocka_unit_test(a_full_transport_is_waited_for),
        cmocka_unit_test(a_blocked_write_goes_on_from_another_buffer),
        cmocka_unit_test(many_records_in_one_segment_are_all_read),
        cmocka_unit_test(a_megabyte_goes_through),
        cmocka_unit_test(close_notify_and_a_cut_are_told_apart),
        cmocka_unit_test(close_notify_waits_for_room),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
