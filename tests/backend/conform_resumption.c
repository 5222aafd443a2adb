/* SPDX-License-Identifier: Apache-2.0 */
/* Does a session resume when it should, as often as it should, and never unasked? */
#include <string.h>
#include "conformance.h"
#include "hello.h"
#include "lab.h"

#define TICKET 4u

static void resumption_works_or_is_refused_by_name(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec.client.resume = true;
    if (!lab_has(TLS_FEATURE_RESUMPTION)) {
        assert_refused(&spec.client, ERR_UNSUPPORTED, "resumption");
        return;
    }
    struct pair pair;
    spec_resume(&spec, 1);
    pair_shake(&pair, &spec);
    size_t full = pair.pump.to[CLIENT].total_bytes;
    spec.session = pair_session(&pair);
    assert_non_null(spec.session);
    assert_true(lab->session_lifetime_s(spec.session) > 0);
    pair_again(&pair, &spec);
    assert_true(pump_handshake(&pair.pump));
    for (int side = 0; side < SIDES; side++) {
        struct tls_info info = pair_info(&pair, side);
        assert_true(info.is_resumed);
        assert_string_equal(info.signature, "");
        assert_string_equal(info.group, "X25519"); /* psk_dhe_ke: a fresh exchange */
        assert_int_equal(info.early_data, TLS_EARLY_NONE);
    }
    assert_int_equal(seen_count(&pair, CLIENT, TLS_RECEIVED, 11), 0);
    assert_true(pair.pump.to[CLIENT].total_bytes < full);
    assert_talks(&pair);
    pair_close(&pair);
    lab->session_free(spec.session);
    lab->session_free(NULL);
}

/* D4: servers send 0, 2 or 20 tickets. */
static void as_many_tickets_come_as_were_asked_for(void **state)
{
    (void)state;
    static const unsigned counts[] = {0, 1, 2, 16, 20};
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        struct pair pair;
        spec_resume(&spec, counts[i]);
        if (lab->config_check(&spec.server, &e) != 0) {
            assert_true(counts[i] > 2);
            assert_refused(&spec.server, ERR_UNSUPPORTED, "tickets");
            continue;
        }
        pair_shake(&pair, &spec);
        struct tls_session *session = pair_session(&pair), *next;
        assert_int_equal(session != NULL, counts[i] > 0);
        assert_int_equal(seen_count(&pair, CLIENT, TLS_RECEIVED, TICKET), counts[i]);
        assert_int_equal(seen_count(&pair, SERVER, TLS_SENT, TICKET), counts[i]);
        /* Taken once, it is gone; the others that were kept follow. */
        unsigned taken = session != NULL;
        for (; (next = lab->session_take(pair.pump.conn[CLIENT])) != NULL; taken++)
            lab->session_free(next);
        assert_int_equal(taken, counts[i] < 4 ? counts[i] : 4);
        lab->session_free(session);
        pair_close(&pair);
    }
}

static void one_session_serves_many_connections(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_resume(&spec, 2);
    pair_shake(&pair, &spec);
    spec.session = pair_session(&pair);
    for (int i = 0; i < 4; i++) {
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_true(pair_info(&pair, CLIENT).is_resumed);
        assert_true(pair_info(&pair, SERVER).is_resumed);
    }
    lab->session_free(spec.session);
    pair_close(&pair);
}

/* Two tickets of one connection are two sessions, and each resumes. */
static void every_ticket_of_a_connection_resumes(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_resume(&spec, 2);
    if (lab->config_check(&spec.server, NULL) != 0)
        skip();
    pair_shake(&pair, &spec);
    struct tls_session *session[2] = {pair_session(&pair)};
    session[1] = lab->session_take(pair.pump.conn[CLIENT]);
    for (int i = 0; i < 2; i++) {
        assert_non_null(session[i]);
        spec.session = session[i];
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_true(pair_info(&pair, CLIENT).is_resumed);
    }
    for (int i = 0; i < 2; i++)
        lab->session_free(session[i]);
    pair_close(&pair);
}

/* Both connections are freed without close_notify before the session is used. */
static void a_session_outlives_an_unclean_close(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_resume(&spec, 2);
    pair_shake(&pair, &spec);
    struct tls_session *sessions[3] = {pair_session(&pair)};
    for (int i = 0; i < 2; i++) {
        spec.session = sessions[i];
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_true(pair_info(&pair, CLIENT).is_resumed);
        sessions[i + 1] = pair_session(&pair);
        assert_non_null(sessions[i + 1]);
    }
    for (int i = 0; i < 3; i++)
        lab->session_free(sessions[i]);
    pair_close(&pair);
}

/* A connection that nobody took the session of must not leak or resume. */
static void nothing_resumes_unasked(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    spec.server.tickets = 2;
    pair_shake(&pair, &spec);
    assert_null(pair_session(&pair));
    for (int i = 0; i < 3; i++) {
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_false(pair_info(&pair, CLIENT).is_resumed);
        assert_false(pair_info(&pair, SERVER).is_resumed);
    }
    pair_close(&pair);
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        return;
    spec_resume(&spec, 2);
    pair_shake(&pair, &spec);
    for (int i = 0; i < 3; i++) {
        pair_again(&pair, &spec); /* no session is offered */
        assert_true(pump_handshake(&pair.pump));
        assert_false(pair_info(&pair, CLIENT).is_resumed);
    }
    pair_close(&pair);
}

/* D5: the server was restarted and has other keys. */
static void an_unknown_ticket_gives_a_full_handshake(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_resume(&spec, 1);
    pair_shake(&pair, &spec);
    spec.session = pair_session(&pair);
    pair_close(&pair);
    pair_shake(&pair, &spec); /* fresh contexts */
    assert_false(pair_info(&pair, CLIENT).is_resumed);
    assert_string_not_equal(pair_info(&pair, CLIENT).signature, "");
    pair_close(&pair);
    lab->session_free(spec.session);
}

/* Workers of one server: contexts of their own, one key. */
static void contexts_with_one_key_take_each_others_tickets(void **state)
{
    (void)state;
    uint8_t key[TLS_TICKET_KEY_BYTES];
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    for (int is_same = 0; is_same < 2; is_same++) {
        struct spec spec = spec_new();
        struct pair pair;
        memset(key, 7, sizeof(key));
        spec_resume(&spec, 1);
        spec.server.ticket_key = key;
        pair_shake(&pair, &spec);
        spec.session = pair_session(&pair);
        pair_close(&pair);
        memset(key, is_same ? 7 : 8, sizeof(key));
        pair_shake(&pair, &spec); /* fresh contexts */
        assert_int_equal(pair_info(&pair, CLIENT).is_resumed, is_same);
        pair_close(&pair);
        lab->session_free(spec.session);
    }
}

static void a_resumed_handshake_may_need_a_retry(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    spec_resume(&spec, 1);
    spec_groups(&spec, "X25519:secp256r1", "secp256r1");
    pair_shake(&pair, &spec);
    spec.session = pair_session(&pair);
    pair_again(&pair, &spec);
    assert_true(pump_handshake(&pair.pump));
    assert_true(pair_info(&pair, CLIENT).is_hrr);
    assert_true(pair_info(&pair, CLIENT).is_resumed);
    assert_string_equal(pair_info(&pair, CLIENT).group, "secp256r1");
    lab->session_free(spec.session);
    pair_close(&pair);
}

static void tls_12_sessions_resume(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_RESUMPTION) || !lab_has(TLS_FEATURE_TLS12))
        skip();
    for (unsigned tickets = 0; tickets < 2; tickets++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_resume(&spec, tickets);
        spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
        spec_groups(&spec, "X25519:secp256r1", "X25519:secp256r1");
        pair_shake(&pair, &spec);
        struct tls_session *session = pair_session(&pair);
        spec.session = session;
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_int_equal(pair_info(&pair, CLIENT).is_resumed, tickets > 0);
        if (tickets > 0)
            assert_string_equal(pair_info(&pair, CLIENT).signature, "");
        lab->session_free(session);
        pair_close(&pair);
    }
}

int conform_resumption(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumption_works_or_is_refused_by_name),
        cmocka_unit_test(as_many_tickets_come_as_were_asked_for),
        cmocka_unit_test(one_session_serves_many_connections),
        cmocka_unit_test(every_ticket_of_a_connection_resumes),
        cmocka_unit_test(a_session_outlives_an_unclean_close),
        cmocka_unit_test(nothing_resumes_unasked),
        cmocka_unit_test(an_unknown_ticket_gives_a_full_handshake),
        cmocka_unit_test(contexts_with_one_key_take_each_others_tickets),
        cmocka_unit_test(a_resumed_handshake_may_need_a_retry),
        cmocka_unit_test(tls_12_sessions_resume),
    };
    return cmocka_run_group_tests_name("resumption", tests, NULL, NULL);
}
