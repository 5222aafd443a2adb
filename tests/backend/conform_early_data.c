/* SPDX-License-Identifier: Apache-2.0 */
/* Is early data taken once, refused when it must be, and never lost unnoticed? */
#include <string.h>
#include "conformance.h"
#include "hello.h"
#include "lab.h"

static const char early[] = "GET / HTTP/1.1\r\n\r\n";
#define EARLY_BYTES (sizeof(early) - 1)

static struct spec early_spec(bool no_anti_replay)
{
    struct spec spec = spec_new();
    spec_resume(&spec, 1);
    spec.client.early_data_bytes = EARLY_BYTES;
    spec.server.early_data_bytes = 1000;
    spec.server.no_anti_replay = no_anti_replay;
    return spec;
}

static bool can(const struct spec *spec)
{
    return lab->config_check(&spec->client, NULL) == 0 &&
           lab->config_check(&spec->server, NULL) == 0;
}

/* A server with early data reads it first, as the contract wants.  What came of it. */
static size_t serve_early(struct pair *pair, char *buf, size_t size)
{
    struct pump *pump = &pair->pump;
    size_t total = 0;
    for (int turn = 0; turn < 20; turn++) {
        size_t count = 0;
        enum tls_status status =
            lab->read_early(pump->conn[SERVER], buf + total, size - total, &count);
        if (status == TLS_STATUS_OK) {
            assert_true(count > 0);
            total += count;
        } else if (status == TLS_STATUS_WANT_READ) {
            pump_turn(pump, CLIENT);
        } else {
            assert_int_equal(status, TLS_STATUS_CLOSED);
            break;
        }
    }
    return total;
}

/* A handshake in which the server is ready for early data; bytes of it that came. */
static size_t shake_early(struct pair *pair, bool do_write)
{
    char buf[64] = "";
    size_t count = 0;
    if (do_write) {
        assert_int_equal(lab->write_early(pair->pump.conn[CLIENT], early, EARLY_BYTES, &count),
                         TLS_STATUS_OK);
        assert_int_equal(count, EARLY_BYTES);
    }
    pump_turn(&pair->pump, CLIENT);
    size_t got = serve_early(pair, buf, sizeof(buf));
    assert_true(pump_handshake(&pair->pump));
    if (got > 0)
        assert_memory_equal(buf, early, EARLY_BYTES);
    return got;
}

/* The first, full handshake; its session. */
static struct tls_session *first_session(struct pair *pair, const struct spec *spec)
{
    pair_open(pair, spec);
    assert_int_equal(shake_early(pair, false), 0);
    assert_int_equal(pair_info(pair, CLIENT).early_data, TLS_EARLY_NONE);
    assert_int_equal(pair_info(pair, SERVER).early_data, TLS_EARLY_NONE);
    struct tls_session *session = pair_session(pair);
    assert_non_null(session);
    return session;
}

static void assert_early(const struct pair *pair, enum tls_early_data outcome)
{
    assert_int_equal(pair_info(pair, CLIENT).early_data, outcome);
    assert_int_equal(pair_info(pair, SERVER).early_data, outcome);
}

static void early_data_works_or_is_refused_by_name(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    if (!lab_has(TLS_FEATURE_EARLY_DATA)) {
        spec.client.resume = false;
        assert_refused(&spec.client, ERR_UNSUPPORTED, "early data");
        return;
    }
    struct pair pair;
    spec.session = first_session(&pair, &spec);
    assert_true(lab->session_early_data_bytes(spec.session) >= 1000);
    pair_again(&pair, &spec);
    assert_int_equal(shake_early(&pair, true), EARLY_BYTES);
    assert_early(&pair, TLS_EARLY_ACCEPTED);
    assert_true(pair_info(&pair, CLIENT).is_resumed);
    struct hello hello;
    assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
    assert_true(hello.has_early_data);
    assert_talks(&pair);
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* What the client writes behind its Finished is there before the server asks again. */
static void early_data_and_what_follows_are_kept_apart(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    struct pair pair;
    char buf[64];
    size_t count = 0;
    enum tls_status status;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    spec.session = first_session(&pair, &spec);
    pair_again(&pair, &spec);
    struct tls_conn *client = pair.pump.conn[CLIENT], *server = pair.pump.conn[SERVER];
    assert_int_equal(lab->write_early(client, early, EARLY_BYTES, &count), TLS_STATUS_OK);
    assert_int_equal(lab->read_early(server, buf, 5, &count), TLS_STATUS_OK);
    assert_int_equal(count, 5);
    assert_int_equal(pump_turn(&pair.pump, CLIENT), TLS_STATUS_OK);
    assert_true(pump_write_all(&pair.pump, CLIENT, "late", 4));
    size_t total = 5;
    while ((status = lab->read_early(server, buf + total, sizeof(buf) - total, &count)) ==
           TLS_STATUS_OK)
        total += count;
    assert_int_equal(status, TLS_STATUS_CLOSED);
    assert_int_equal(total, EARLY_BYTES);
    assert_memory_equal(buf, early, EARLY_BYTES);
    assert_int_equal(pump_turn(&pair.pump, SERVER), TLS_STATUS_OK);
    assert_early(&pair, TLS_EARLY_ACCEPTED);
    assert_int_equal(pump_read_all(&pair.pump, SERVER, (uint8_t *)buf, sizeof(buf), &status),
                     4);
    assert_memory_equal(buf, "late", 4);
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* RFC 8446, 2.3: the server's answer is there before it has seen the client's Finished. */
static void early_data_is_answered_ahead_of_the_finished(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    struct pair pair;
    char buf[64];
    size_t count = 0;
    enum tls_status status;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    spec.session = first_session(&pair, &spec);
    pair_again(&pair, &spec);
    struct tls_conn *client = pair.pump.conn[CLIENT], *server = pair.pump.conn[SERVER];
    assert_int_equal(lab->write_early(client, early, EARLY_BYTES, &count), TLS_STATUS_OK);
    assert_int_equal(lab->read_early(server, buf, sizeof(buf), &count), TLS_STATUS_OK);
    assert_int_equal(lab->write_early(server, "answer", 6, &count), TLS_STATUS_OK);
    assert_int_equal(count, 6);
    assert_int_equal(pump_turn(&pair.pump, CLIENT), TLS_STATUS_OK);
    assert_int_equal(pump_read_all(&pair.pump, CLIENT, (uint8_t *)buf, sizeof(buf), &status),
                     6);
    assert_memory_equal(buf, "answer", 6);
    assert_int_equal(lab->read_early(server, buf, sizeof(buf), &count), TLS_STATUS_CLOSED);
    assert_int_equal(pump_turn(&pair.pump, SERVER), TLS_STATUS_OK);
    assert_early(&pair, TLS_EARLY_ACCEPTED);
    assert_talks(&pair);
    pair_close(&pair);
    lab->session_free(spec.session);
}

static void early_data_in_tls_12_is_refused(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct spec spec = early_spec(true);
    spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
    spec_groups(&spec, NULL, NULL);
    assert_int_equal(lab->config_check(&spec.client, &e), -1);
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
}

static void without_early_data_nothing_announces_it(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    struct pair pair;
    struct hello hello;
    spec.session = first_session(&pair, &spec);
    pair_again(&pair, &spec);
    assert_int_equal(shake_early(&pair, false), 0);
    assert_early(&pair, TLS_EARLY_NONE);
    assert_true(pair_info(&pair, CLIENT).is_resumed);
    assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
    assert_false(hello.has_early_data);
    pair_close(&pair);
    lab->session_free(spec.session);
    /* A server that takes none says so in its tickets. */
    spec = early_spec(true);
    spec.server.early_data_bytes = 0;
    spec.session = first_session(&pair, &spec);
    assert_int_equal(lab->session_early_data_bytes(spec.session), 0);
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* Use one ticket three times. */
static void replay(const struct spec *with_session, struct pair *pair,
                   const enum tls_early_data outcome[3])
{
    for (int i = 0; i < 3; i++) {
        pair_again(pair, with_session);
        size_t got = shake_early(pair, true);
        assert_early(pair, outcome[i]);
        assert_int_equal(got, outcome[i] == TLS_EARLY_ACCEPTED ? EARLY_BYTES : 0);
        if (outcome[i] == TLS_EARLY_ACCEPTED)
            continue;
        /* Refused bytes are sent again, once, and arrive once. */
        uint8_t buf[64];
        enum tls_status status;
        assert_true(pump_write_all(&pair->pump, CLIENT, early, EARLY_BYTES));
        assert_int_equal(pump_read_all(&pair->pump, SERVER, buf, sizeof(buf), &status),
                         EARLY_BYTES);
        assert_int_equal(status, TLS_STATUS_WANT_READ);
    }
}

/* D6. */
static void a_ticket_used_again_is_refused_with_anti_replay(void **state)
{
    (void)state;
    static const enum tls_early_data once[3] = {TLS_EARLY_ACCEPTED, TLS_EARLY_REJECTED,
                                                TLS_EARLY_REJECTED};
    struct spec spec = early_spec(false);
    struct pair pair;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    if (!can(&spec)) {
        assert_refused(&spec.server, ERR_UNSUPPORTED, "anti-replay");
        return;
    }
    spec.session = first_session(&pair, &spec);
    replay(&spec, &pair, once);
    pair_close(&pair);
    lab->session_free(spec.session);
}

static void a_ticket_used_again_is_taken_without_anti_replay(void **state)
{
    (void)state;
    static const enum tls_early_data always[3] = {TLS_EARLY_ACCEPTED, TLS_EARLY_ACCEPTED,
                                                  TLS_EARLY_ACCEPTED};
    struct spec spec = early_spec(true);
    struct pair pair;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    spec.session = first_session(&pair, &spec);
    replay(&spec, &pair, always);
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* D7: the server insists on a group without a share.  Anti-replay may have spent the ticket
 * on the first hello: the handshake is then a full one. */
static void early_data_that_meets_a_retry_is_refused(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    for (int no_anti_replay = 0; no_anti_replay < 2; no_anti_replay++) {
        struct spec spec = early_spec(no_anti_replay != 0);
        struct pair pair;
        spec_groups(&spec, "X25519:secp256r1", "secp256r1");
        if (!can(&spec))
            continue;
        spec.session = first_session(&pair, &spec);
        pair_again(&pair, &spec);
        assert_int_equal(shake_early(&pair, true), 0);
        assert_early(&pair, TLS_EARLY_REJECTED);
        assert_true(pair_info(&pair, CLIENT).is_hrr);
        if (no_anti_replay)
            assert_true(pair_info(&pair, CLIENT).is_resumed);
        assert_talks(&pair);
        pair_close(&pair);
        lab->session_free(spec.session);
    }
}

/* D5 with early data. */
static void early_data_under_an_unknown_ticket_is_refused(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    struct pair pair;
    if (!lab_has(TLS_FEATURE_EARLY_DATA))
        skip();
    spec.session = first_session(&pair, &spec);
    pair_close(&pair);
    pair_open(&pair, &spec);
    assert_int_equal(shake_early(&pair, true), 0);
    assert_early(&pair, TLS_EARLY_REJECTED);
    assert_false(pair_info(&pair, CLIENT).is_resumed);
    assert_talks(&pair);
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* D8: the server was downgraded. */
static void an_early_client_that_gets_tls_12_fails_by_version(void **state)
{
    (void)state;
    struct spec spec = early_spec(true);
    struct pair pair;
    size_t count;
    if (!lab_has(TLS_FEATURE_EARLY_DATA) || !lab_has(TLS_FEATURE_TLS12))
        skip();
    spec.client.version_min = TLS_VERSION_12;
    spec_groups(&spec, "X25519:secp256r1", "X25519:secp256r1");
    if (!can(&spec)) /* shares as this library sends them */
        spec.client.groups = NULL;
    spec.session = first_session(&pair, &spec);
    pair_close(&pair);
    spec.server.early_data_bytes = 0;
    spec.server.version_min = spec.server.version_max = TLS_VERSION_12;
    pair_open(&pair, &spec);
    assert_int_equal(lab->write_early(pair.pump.conn[CLIENT], early, EARLY_BYTES, &count),
                     TLS_STATUS_OK);
    assert_false(pump_handshake(&pair.pump));
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_FAILED);
    assert_int_equal(pair_failure(&pair, CLIENT).cause, TLS_CAUSE_VERSION);
    pair_close(&pair);
    lab->session_free(spec.session);
}

int conform_early_data(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_data_works_or_is_refused_by_name),
        cmocka_unit_test(early_data_and_what_follows_are_kept_apart),
        cmocka_unit_test(early_data_is_answered_ahead_of_the_finished),
        cmocka_unit_test(early_data_in_tls_12_is_refused),
        cmocka_unit_test(without_early_data_nothing_announces_it),
        cmocka_unit_test(a_ticket_used_again_is_refused_with_anti_replay),
        cmocka_unit_test(a_ticket_used_again_is_taken_without_anti_replay),
        cmocka_unit_test(early_data_that_meets_a_retry_is_refused),
        cmocka_unit_test(early_data_under_an_unknown_ticket_is_refused),
        cmocka_unit_test(an_early_client_that_gets_tls_12_fails_by_version),
    };
    return cmocka_run_group_tests_name("early data", tests, NULL, NULL);
}
