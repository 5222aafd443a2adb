/* SPDX-License-Identifier: Apache-2.0 */
/* Does a handshake complete, and is what is told about it true? */
#include <stdio.h>
#include <string.h>
#include "conformance.h"
#include "hello.h"
#include "lab.h"

static void a_handshake_completes_and_both_ends_tell_the_same(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_shake(&pair, &spec);
    for (int side = 0; side < SIDES; side++) {
        struct tls_info info = pair_info(&pair, side);
        assert_int_equal(info.version, TLS_VERSION_13);
        assert_string_equal(info.group, "X25519");
        assert_true(lab_is_listed(lab->ciphers, info.cipher));
        assert_string_equal(info.signature, "ecdsa_secp256r1_sha256");
        assert_false(info.is_hrr);
        assert_false(info.is_resumed);
        assert_int_equal(info.early_data, TLS_EARLY_NONE);
        assert_int_equal(pair_failure(&pair, side).cause, TLS_CAUSE_NONE);
    }
    assert_talks(&pair);
    pair_close(&pair);
}

static void a_finished_handshake_stays_finished(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_shake(&pair, &spec);
    size_t sent = pair.pump.to[SERVER].total_bytes;
    assert_int_equal(lab->handshake(pair.pump.conn[CLIENT]), TLS_STATUS_OK);
    assert_int_equal(lab->handshake(pair.pump.conn[SERVER]), TLS_STATUS_OK);
    assert_int_equal(pair.pump.to[SERVER].total_bytes, sent);
    pair_close(&pair);
}

static void making_and_freeing_a_connection_moves_no_byte(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_open(&pair, &spec);
    for (int side = 0; side < SIDES; side++) {
        lab->conn_free(pair.pump.conn[side]);
        pair.pump.conn[side] = NULL;
    }
    assert_int_equal(pair.pump.to[CLIENT].total_bytes + pair.pump.to[SERVER].total_bytes, 0);
    pair_again(&pair, &spec);
    assert_true(pump_handshake(&pair.pump));
    size_t before = pair.pump.to[CLIENT].total_bytes + pair.pump.to[SERVER].total_bytes;
    for (int side = 0; side < SIDES; side++) {
        lab->conn_free(pair.pump.conn[side]);
        pair.pump.conn[side] = NULL;
    }
    assert_int_equal(pair.pump.to[CLIENT].total_bytes + pair.pump.to[SERVER].total_bytes,
                     before);
    pair_close(&pair);
    lab->conn_free(NULL);
    lab->context_free(NULL);
}

static void both_ends_see_the_same_messages_in_the_same_order(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec.server.tickets = 1;
    struct pair pair;
    pair_shake(&pair, &spec);
    uint8_t buf[4];
    enum tls_status status;
    pump_read_all(&pair.pump, CLIENT, buf, sizeof(buf), &status);
    if (!lab_has(TLS_FEATURE_MESSAGES)) {
        assert_int_equal(pair.pump.seen[CLIENT].count, 0);
        pair_close(&pair);
        return;
    }
    const struct seen *client = &pair.pump.seen[CLIENT], *server = &pair.pump.seen[SERVER];
    assert_int_equal(client->count, server->count);
    for (int from = 0; from < SIDES; from++) {
        const struct seen *sender = from == CLIENT ? client : server;
        const struct seen *taker = from == CLIENT ? server : client;
        unsigned at = 0;
        for (unsigned i = 0; i < sender->count; i++) {
            if (sender->message[i].direction != TLS_SENT)
                continue;
            while (taker->message[at].direction != TLS_RECEIVED)
                at++;
            assert_int_equal(taker->message[at].type, sender->message[i].type);
            assert_int_equal(taker->message[at++].bytes, sender->message[i].bytes);
        }
    }
    static const unsigned expected[] = {1, 2, 8, 11, 15, 20, 20, 4};
    assert_int_equal(client->count, sizeof(expected) / sizeof(expected[0]));
    for (unsigned i = 0; i < client->count; i++)
        assert_int_equal(client->message[i].type, expected[i]);
    pair_close(&pair);
}

/* Records add at least 5 bytes and at most 5 + 1 + 16 per message, and each end sends one
 * ChangeCipherSpec of 6 for compatibility. */
static void messages_account_for_the_bytes_sent(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_MESSAGES))
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    pair_shake(&pair, &spec);
    for (int side = 0; side < SIDES; side++) {
        size_t sent = pair.pump.to[1 - side].total_bytes;
        size_t messages = seen_bytes(&pair, side, TLS_SENT);
        size_t count = 0;
        for (unsigned i = 0; i < pair.pump.seen[side].count; i++)
            count += pair.pump.seen[side].message[i].direction == TLS_SENT;
        assert_in_range(sent, messages + 5, messages + 6 + 22 * count);
    }
    struct hello hello;
    assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
    assert_int_equal(pair.pump.seen[CLIENT].message[0].bytes + 5, hello.bytes);
    pair_close(&pair);
}

static void a_flight_goes_out_as_one_send(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec_groups(&spec, "X25519MLKEM768", "X25519MLKEM768");
    struct pair pair;
    pair_open(&pair, &spec);
    assert_int_equal(pump_turn(&pair.pump, CLIENT), TLS_STATUS_WANT_READ);
    assert_int_equal(pair.pump.to[SERVER].sends, 1);
    assert_int_equal(pump_turn(&pair.pump, SERVER), TLS_STATUS_WANT_READ);
    assert_int_equal(pair.pump.to[CLIENT].sends, 1);
    assert_int_equal(pump_turn(&pair.pump, CLIENT), TLS_STATUS_OK);
    assert_int_equal(pair.pump.to[SERVER].sends, 2);
    pair_close(&pair);
}

static void without_an_observer_the_bytes_are_the_same(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec_use(&spec, lab_identity("rsa-2048", TLS_CHAIN_SELF_SIGNED));
    struct pair pair;
    pair_shake(&pair, &spec);
    size_t bytes = pair.pump.to[CLIENT].total_bytes;
    pump_fini(&pair.pump);
    pump_init(&pair.pump, lab, lab);
    struct tls_connect c = {.server_name = HOST};
    assert_true(pump_connect_as(&pair.pump, CLIENT, pair.context[CLIENT], c));
    c.server_name = NULL;
    assert_true(pump_connect_as(&pair.pump, SERVER, pair.context[SERVER], c));
    assert_true(pump_handshake(&pair.pump));
    assert_int_equal(pair.pump.to[CLIENT].total_bytes, bytes);
    assert_false(pair_info(&pair, CLIENT).is_hrr);
    pair_close(&pair);
}

static void the_key_log_is_in_the_nss_format(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    pair_open(&pair, &spec);
    pump_fini(&pair.pump);
    pump_init(&pair.pump, lab, lab);
    for (int side = 0; side < SIDES; side++) {
        struct tls_connect c = {.observer = pump_observer(&pair.pump, side, true),
                                .server_name = side == CLIENT ? HOST : NULL};
        assert_true(pump_connect_as(&pair.pump, side, pair.context[side], c));
    }
    assert_true(pump_handshake(&pair.pump));
    if (lab_has(TLS_FEATURE_KEY_LOG)) {
        char label[64], random[80], secret[130], rest[2];
        assert_true(pair.pump.seen[CLIENT].key_lines >= 4);
        assert_int_equal(pair.pump.seen[CLIENT].key_lines, pair.pump.seen[SERVER].key_lines);
        assert_int_equal(sscanf(pair.pump.seen[CLIENT].key_line, "%63s %79s %129s %1s", label,
                                random, secret, rest),
                         3);
        assert_int_equal(strlen(random), 64);
        assert_null(strchr(pair.pump.seen[CLIENT].key_line, '\n'));
    } else {
        assert_int_equal(pair.pump.seen[CLIENT].key_lines, 0);
    }
    /* Another connection of the same context does not ask for keys and gets none. */
    pair_again(&pair, &spec);
    assert_true(pump_handshake(&pair.pump));
    assert_int_equal(pair.pump.seen[CLIENT].key_lines, 0);
    pair_close(&pair);
}

static bool is_suite(const char *cipher)
{
    return strncmp(cipher, "TLS_", 4) == 0;
}

static void every_listed_cipher_works(void **state)
{
    (void)state;
    for (const char *const *cipher = lab->ciphers; *cipher != NULL; cipher++) {
        struct spec spec = spec_new();
        spec.client.ciphers = *cipher;
        if (!is_suite(*cipher)) {
            bool is_rsa = strstr(*cipher, "RSA") != NULL && strstr(*cipher, "ECDSA") == NULL;
            spec_use(&spec,
                     lab_identity(is_rsa ? "rsa-2048" : "ecdsa-p256", TLS_CHAIN_SELF_SIGNED));
            spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
            spec_groups(&spec, "X25519:secp256r1", "X25519:secp256r1");
        }
        struct pair pair;
        pair_shake(&pair, &spec);
        assert_string_equal(pair_info(&pair, CLIENT).cipher, *cipher);
        assert_string_equal(pair_info(&pair, SERVER).cipher, *cipher);
        assert_talks(&pair);
        pair_close(&pair);
    }
}

static void other_ciphers_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "TLS_BOGUS", "", "TLS_AES_256_GCM_SHA384:", "TLS_AES_256_GCM_SHA384:NULL-SHA"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        spec.client.ciphers = bad[i];
        assert_int_equal(lab->config_check(&spec.client, &e), -1);
        assert_contains(e.text, "cipher");
        assert_null(lab->context_new(&spec.client, &e));
    }
}

static void tls_12_works_or_is_refused_by_name(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
    spec_groups(&spec, "X25519:secp256r1", "X25519:secp256r1");
    if (!lab_has(TLS_FEATURE_TLS12)) {
        assert_refused(&spec.client, ERR_UNSUPPORTED, "TLS 1.2");
        return;
    }
    struct pair pair;
    pair_shake(&pair, &spec);
    for (int side = 0; side < SIDES; side++) {
        struct tls_info info = pair_info(&pair, side);
        assert_int_equal(info.version, TLS_VERSION_12);
        assert_string_equal(info.group, "X25519");
        assert_string_equal(info.signature, "ecdsa_secp256r1_sha256");
    }
    assert_int_equal(seen_count(&pair, CLIENT, TLS_RECEIVED, 12), 1);
    assert_talks(&pair);
    pair_close(&pair);
}

static void what_does_not_exist_in_tls_12_is_refused_by_name(void **state)
{
    (void)state;
    if (!lab_has(TLS_FEATURE_TLS12))
        skip();
    struct spec spec = spec_new();
    struct err e = ERR_INIT;
    spec_version(&spec, TLS_VERSION_12, TLS_VERSION_12);
    spec.client.groups = "X25519MLKEM768:MLKEM768";
    assert_int_equal(lab->config_check(&spec.client, &e), -1);
    assert_contains(e.text, "X25519MLKEM768:MLKEM768");
    assert_contains(e.text, "TLS 1.2");
    spec.client.groups = NULL;
    spec.client.ciphers = "TLS_AES_256_GCM_SHA384";
    assert_int_equal(lab->config_check(&spec.client, &e), -1);
    assert_contains(e.text, "TLS_AES_256_GCM_SHA384");
    spec_version(&spec, TLS_VERSION_13, TLS_VERSION_13);
    spec.client.ciphers = "ECDHE-RSA-AES256-GCM-SHA384";
    assert_int_equal(lab->config_check(&spec.client, &e), -1);
    spec.client.ciphers = NULL;
    if (lab_is_listed(lab->certificates, "mldsa44")) {
        struct spec server = spec_new();
        spec_version(&server, TLS_VERSION_12, TLS_VERSION_12);
        spec_use(&server, lab_identity("mldsa44", TLS_CHAIN_SELF_SIGNED));
        assert_refused(&server.server, ERR_UNSUPPORTED, "certificate");
    }
    spec.client.version_max = TLS_VERSION_12;
    assert_int_equal(lab->config_check(&spec.client, &e), -1);
    assert_int_equal(e.kind, ERR_USAGE);
}

static void the_name_goes_out_as_sni(void **state)
{
    (void)state;
    static const struct {
        const char *name, *sni;
    } cases[] = {
        {HOST, HOST}, {HOST ".", HOST}, {"127.0.0.1", NULL}, {"::1", NULL}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        struct hello hello;
        spec.client.verify_name = cases[i].name != NULL;
        spec.name = cases[i].name;
        pair_open(&pair, &spec);
        pump_turn(&pair.pump, CLIENT);
        assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
        assert_int_equal(hello.has_sni, cases[i].sni != NULL);
        if (cases[i].sni != NULL)
            assert_string_equal(hello.sni, cases[i].sni);
        pair_close(&pair);
    }
}

int conform_handshake(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handshake_completes_and_both_ends_tell_the_same),
        cmocka_unit_test(a_finished_handshake_stays_finished),
        cmocka_unit_test(making_and_freeing_a_connection_moves_no_byte),
        cmocka_unit_test(both_ends_see_the_same_messages_in_the_same_order),
        cmocka_unit_test(messages_account_for_the_bytes_sent),
        cmocka_unit_test(a_flight_goes_out_as_one_send),
        cmocka_unit_test(without_an_observer_the_bytes_are_the_same),
        cmocka_unit_test(the_key_log_is_in_the_nss_format),
        cmocka_unit_test(every_listed_cipher_works),
        cmocka_unit_test(other_ciphers_are_refused_by_name),
        cmocka_unit_test(tls_12_works_or_is_refused_by_name),
        cmocka_unit_test(what_does_not_exist_in_tls_12_is_refused_by_name),
        cmocka_unit_test(the_name_goes_out_as_sni),
    };
    return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
