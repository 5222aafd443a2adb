/* SPDX-License-Identifier: Apache-2.0 */
/* Is each way to fail told apart, and does none of them harm the next connection? */
#include <errno.h>
#include <string.h>
#include "conformance.h"
#include "lab.h"

/* A client that has sent its hello and waits. */
static void open_client(struct pair *pair)
{
    struct spec spec = spec_new();
    pair_open(pair, &spec);
    assert_int_equal(pump_turn(&pair->pump, CLIENT), TLS_STATUS_WANT_READ);
}

static void assert_failed(const struct pair *pair, int side, enum tls_cause cause, int code)
{
    struct tls_failure failure = pair_failure(pair, side);
    assert_int_equal(pair->pump.status[side], TLS_STATUS_FAILED);
    if (failure.cause != cause)
        fail_msg("cause %d instead of %d: %s", failure.cause, cause, failure.detail);
    assert_int_equal(failure.code, code);
    assert_string_not_equal(failure.detail, "");
    assert_true(memchr(failure.detail, '\0', sizeof(failure.detail)) != NULL);
}

static void fatal_alerts_are_told_by_number(void **state)
{
    (void)state;
    static const uint8_t numbers[] = {40, 47, 80, 112, 20};
    for (size_t i = 0; i < sizeof(numbers); i++) {
        uint8_t alert[] = {21, 3, 3, 0, 2, 2, numbers[i]};
        struct pair pair;
        open_client(&pair);
        pump_inject(&pair.pump, CLIENT, alert, sizeof(alert));
        pump_turn(&pair.pump, CLIENT);
        assert_failed(&pair, CLIENT, TLS_CAUSE_ALERT_RECEIVED, numbers[i]);
        pair_close(&pair);
    }
}

/* Versions that do not meet have a cause of their own, whoever finds out. */
static void an_alert_about_the_version_is_a_version_failure(void **state)
{
    (void)state;
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 70};
    struct pair pair;
    open_client(&pair);
    pump_inject(&pair.pump, CLIENT, alert, sizeof(alert));
    pump_turn(&pair.pump, CLIENT);
    assert_failed(&pair, CLIENT, TLS_CAUSE_VERSION, 70);
    pair_close(&pair);
}

static void versions_that_do_not_meet_are_told(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_TLS12))
        skip();
    static const enum tls_version versions[][2] = {{TLS_VERSION_13, TLS_VERSION_12},
                                                   {TLS_VERSION_12, TLS_VERSION_13}};
    for (int i = 0; i < 2; i++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_version(&spec, versions[i][0], versions[i][1]);
        pair_open(&pair, &spec);
        assert_false(pump_handshake(&pair.pump));
        assert_failed(&pair, CLIENT, TLS_CAUSE_VERSION, 70);
        assert_failed(&pair, SERVER, TLS_CAUSE_VERSION, 70);
        pair_close(&pair);
    }
}

/* C4: an alert 40 alone would leave everybody guessing. */
static void groups_that_cannot_work_in_tls_12_are_hinted_at(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_TLS12))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_version(&spec, TLS_VERSION_ANY, TLS_VERSION_12);
    spec_groups(&spec, "X25519MLKEM768", NULL);
    pair_open(&pair, &spec);
    assert_false(pump_handshake(&pair.pump));
    assert_failed(&pair, CLIENT, TLS_CAUSE_ALERT_RECEIVED, 40);
    assert_contains(pair_failure(&pair, CLIENT).detail, "no group that is offered");
    pair_close(&pair);
    spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
    spec_groups(&spec, "X25519", NULL);
    pair_open(&pair, &spec);
    assert_false(pump_handshake(&pair.pump));
    assert_contains(pair_failure(&pair, CLIENT).detail, "secp256r1");
    pair_close(&pair);
}

static void a_warning_does_not_spin(void **state)
{
    (void)state;
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 1, 112};
    struct pair pair;
    open_client(&pair);
    pump_inject(&pair.pump, CLIENT, alert, sizeof(alert));
    enum tls_status status = pump_turn(&pair.pump, CLIENT);
    if (status == TLS_STATUS_WANT_READ) { /* passed over: the handshake goes on */
        assert_true(pump_handshake(&pair.pump));
        assert_int_equal(pair_failure(&pair, CLIENT).cause, TLS_CAUSE_NONE);
    } else { /* in TLS 1.3 a warning may be taken for an error (RFC 8446, 6) */
        assert_int_equal(status, TLS_STATUS_FAILED);
        assert_int_not_equal(pair_failure(&pair, CLIENT).cause, TLS_CAUSE_NONE);
    }
    pair_close(&pair);
}

static void close_notify_instead_of_an_answer_ends_it(void **state)
{
    (void)state;
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 1, 0};
    struct pair pair;
    open_client(&pair);
    pump_inject(&pair.pump, CLIENT, alert, sizeof(alert));
    pump_close(&pair.pump, SERVER);
    assert_int_equal(pump_turn(&pair.pump, CLIENT), TLS_STATUS_CLOSED);
    assert_int_equal(pair_failure(&pair, CLIENT).cause, TLS_CAUSE_NONE);
    pair_close(&pair);
}

static void a_stream_cut_anywhere_is_an_eof(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_shake(&pair, &spec);
    size_t whole = pair.pump.to[CLIENT].total_bytes;
    for (size_t cut = 0; cut + 80 < whole; cut += 1 + whole / 37) {
        pair_again(&pair, &spec);
        pump_turn(&pair.pump, CLIENT);
        pump_turn(&pair.pump, SERVER);
        pair.pump.to[CLIENT].end = cut; /* the rest is lost */
        pump_close(&pair.pump, SERVER);
        pump_turn(&pair.pump, CLIENT);
        assert_failed(&pair, CLIENT, TLS_CAUSE_EOF, 0);
    }
    /* And the other way round: the client goes after its hello. */
    pair_again(&pair, &spec);
    pump_turn(&pair.pump, CLIENT);
    pump_turn(&pair.pump, SERVER);
    pump_close(&pair.pump, CLIENT);
    pump_turn(&pair.pump, SERVER);
    assert_failed(&pair, SERVER, TLS_CAUSE_EOF, 0);
    pair_close(&pair);
}

static void transport_errors_are_told_by_errno(void **state)
{
    (void)state;
    static const int errors[] = {ECONNRESET, ETIMEDOUT, EPIPE};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        open_client(&pair);
        pair.pump.to[CLIENT].recv_errno = errors[i];
        pump_turn(&pair.pump, CLIENT);
        assert_failed(&pair, CLIENT, TLS_CAUSE_IO, errors[i]);
        pair_again(&pair, &spec);
        pair.pump.to[SERVER].send_errno = errors[i];
        pump_turn(&pair.pump, CLIENT);
        assert_failed(&pair, CLIENT, TLS_CAUSE_IO, errors[i]);
        pair_close(&pair);
    }
}

static void peers_that_do_not_speak_tls_are_told(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "220 mail ESMTP\r\n",
        "<html>",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (int side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            struct spec spec = spec_new();
            struct pair pair;
            pair_open(&pair, &spec);
            if (side == CLIENT)
                pump_turn(&pair.pump, CLIENT);
            pump_inject(&pair.pump, side, texts[i], strlen(texts[i]));
            pump_close(&pair.pump, 1 - side);
            pump_turn(&pair.pump, side);
            assert_failed(&pair, side, TLS_CAUSE_NOT_TLS, 0);
            pair_close(&pair);
        }
    }
}

static void garbage_inside_tls_is_refused_with_an_alert(void **state)
{
    (void)state;
    static const uint8_t garbage[] = {22, 3, 3, 0, 8, 2, 0, 0, 4, 1, 2, 3, 4};
    struct pair pair;
    open_client(&pair);
    size_t sent = pair.pump.to[SERVER].total_bytes;
    pump_inject(&pair.pump, CLIENT, garbage, sizeof(garbage));
    pump_turn(&pair.pump, CLIENT);
    struct tls_failure failure = pair_failure(&pair, CLIENT);
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
    assert_in_range(failure.code, 10, 120);
    assert_int_equal(pair.pump.to[SERVER].total_bytes, sent + 7);
    pair_close(&pair);
}

static void a_changed_flight_is_refused(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    if (strcmp(lab->name, "null") == 0)
        skip(); /* it protects nothing */
    pair_shake(&pair, &spec);
    size_t whole = pair.pump.to[CLIENT].total_bytes;
    for (size_t at = 200; at < whole; at += 97) {
        pair_again(&pair, &spec);
        pump_turn(&pair.pump, CLIENT);
        pump_turn(&pair.pump, SERVER);
        if (at < pair.pump.to[CLIENT].end)
            pair.pump.to[CLIENT].data[at] ^= 1;
        pump_turn(&pair.pump, CLIENT);
        /* A length that grew waits for more; nothing else goes on. */
        assert_int_not_equal(pair.pump.status[CLIENT], TLS_STATUS_OK);
    }
    pair_close(&pair);
}

/* A stale entry in the thread's error queue kills a healthy connection. */
static void a_failing_connection_does_not_harm_its_neighbour(void **state)
{
    (void)state;
    static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    struct spec spec = spec_new(), stranger = spec_new();
    stranger.client.roots_pem = NULL;
    struct pair good, bad;
    pair_open(&good, &spec);
    for (int step = 0; step < 8; step++) {
        pair_open(&bad, &stranger);
        if (step % 2 == 0) {
            assert_false(pump_handshake(&bad.pump));
            assert_int_equal(pair_failure(&bad, CLIENT).cause, TLS_CAUSE_VERIFY);
        } else {
            pump_inject(&bad.pump, SERVER, text, sizeof(text));
            assert_int_equal(pump_turn(&bad.pump, SERVER), TLS_STATUS_FAILED);
        }
        /* Between two failures the healthy one makes one step. */
        pump_turn(&good.pump, step % 2);
        assert_int_not_equal(good.pump.status[step % 2], TLS_STATUS_FAILED);
        pair_close(&bad);
    }
    assert_int_equal(good.pump.status[CLIENT], TLS_STATUS_OK);
    assert_int_equal(good.pump.status[SERVER], TLS_STATUS_OK);
    assert_talks(&good);
    uint8_t buf[4];
    enum tls_status status;
    pump_read_all(&good.pump, CLIENT, buf, sizeof(buf), &status);
    assert_int_equal(status, TLS_STATUS_WANT_READ);
    pair_close(&good);
}

int conform_failure(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fatal_alerts_are_told_by_number),
        cmocka_unit_test(an_alert_about_the_version_is_a_version_failure),
        cmocka_unit_test(versions_that_do_not_meet_are_told),
        cmocka_unit_test(groups_that_cannot_work_in_tls_12_are_hinted_at),
        cmocka_unit_test(a_warning_does_not_spin),
        cmocka_unit_test(close_notify_instead_of_an_answer_ends_it),
        cmocka_unit_test(a_stream_cut_anywhere_is_an_eof),
        cmocka_unit_test(transport_errors_are_told_by_errno),
        cmocka_unit_test(peers_that_do_not_speak_tls_are_told),
        cmocka_unit_test(garbage_inside_tls_is_refused_with_an_alert),
        cmocka_unit_test(a_changed_flight_is_refused),
        cmocka_unit_test(a_failing_connection_does_not_harm_its_neighbour),
    };
    return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
