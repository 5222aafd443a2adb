/* SPDX-License-Identifier: Apache-2.0 */
/* Are certificates of every kind made, sent and believed, and wrong ones refused? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance.h"
#include "hello.h"
#include "lab.h"

#define MESSAGE_CERTIFICATE 11u
#define ALERT_UNKNOWN_CA 48

static const char *const all_kinds[] = {"ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072",
                                        "ed25519",    "mldsa44",    "mldsa65",  "mldsa87"};
static const char *const signatures[] = {"ecdsa_secp256r1_sha256",
                                         "ecdsa_secp384r1_sha384",
                                         "rsa_pss_rsae_sha256",
                                         "rsa_pss_rsae_sha256",
                                         "ed25519",
                                         "mldsa44",
                                         "mldsa65",
                                         "mldsa87"};
#define KINDS (sizeof(all_kinds) / sizeof(all_kinds[0]))

static size_t certificate_bytes(const struct pair *pair)
{
    const struct seen *seen = &pair->pump.seen[CLIENT];
    for (unsigned i = 0; i < seen->count; i++)
        if (seen->message[i].type == MESSAGE_CERTIFICATE)
            return seen->message[i].bytes;
    return 0;
}

/* A verified handshake; the size of the Certificate message. */
static size_t shake_with(const char *kind, const char *signature, enum tls_chain chain)
{
    struct spec spec = spec_new();
    struct pair pair;
    spec_use(&spec, lab_identity(kind, chain));
    if (chain == TLS_CHAIN_BARE) { /* it carries no subjectAltName */
        spec.client.verify_name = false;
        spec.name = NULL;
    }
    pair_shake(&pair, &spec);
    assert_string_equal(pair_info(&pair, CLIENT).signature, signature);
    assert_string_equal(pair_info(&pair, SERVER).signature, signature);
    size_t bytes = certificate_bytes(&pair);
    pair_close(&pair);
    return bytes;
}

static void every_listed_kind_is_verified_in_every_chain(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        if (!lab_is_listed(lab->certificates, all_kinds[i]))
            continue;
        size_t bare = shake_with(all_kinds[i], signatures[i], TLS_CHAIN_BARE);
        size_t alone = shake_with(all_kinds[i], signatures[i], TLS_CHAIN_SELF_SIGNED);
        size_t leaf = shake_with(all_kinds[i], signatures[i], TLS_CHAIN_LEAF);
        size_t both = shake_with(all_kinds[i], signatures[i], TLS_CHAIN_INTERMEDIATE);
        if (!lab_has(TLS_FEATURE_MESSAGES))
            continue;
        assert_true(bare < alone);
        assert_true(leaf >= alone - 3 && leaf < alone + 100);
        assert_in_range(both, 2 * bare, 2 * leaf + 100);
    }
}

static void kinds_not_listed_are_refused_by_name(void **state)
{
    (void)state;
    const char *kinds[KINDS + 2] = {"dsa-1024", ""};
    memcpy(kinds + 2, all_kinds, sizeof(all_kinds));
    for (size_t i = 0; i < KINDS + 2; i++) {
        struct tls_identity_spec spec = {kinds[i], TLS_CHAIN_SELF_SIGNED, HOST};
        struct tls_identity identity;
        struct err e = ERR_INIT;
        if (lab_is_listed(lab->certificates, kinds[i]))
            continue;
        assert_int_equal(lab->identity_make(&spec, &identity, &e), -1);
        assert_int_equal(e.kind, ERR_UNSUPPORTED);
        assert_contains(e.text, kinds[i]);
        assert_contains(e.text, lab_label());
    }
}

static void two_identities_are_never_the_same(void **state)
{
    (void)state;
    struct tls_identity identity[2];
    for (int i = 0; i < 2; i++) {
        struct tls_identity_spec spec = {lab->certificates[0], TLS_CHAIN_LEAF, HOST};
        assert_int_equal(lab->identity_make(&spec, &identity[i], NULL), 0);
    }
    assert_string_not_equal(identity[0].key_pem, identity[1].key_pem);
    assert_string_not_equal(identity[0].chain_pem, identity[1].chain_pem);
    assert_string_not_equal(identity[0].root_pem, identity[1].root_pem);
    for (int i = 0; i < 2; i++) {
        tls_identity_free(&identity[i]);
        assert_null(identity[i].key_pem);
    }
}

/* The client must refuse the certificate and the server hear of it. */
static void assert_not_verified(struct spec *spec)
{
    struct pair pair;
    pair_open(&pair, spec);
    assert_false(pump_handshake(&pair.pump));
    struct tls_failure client = pair_failure(&pair, CLIENT),
                       server = pair_failure(&pair, SERVER);
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_FAILED);
    assert_int_equal(client.cause, TLS_CAUSE_VERIFY);
    assert_int_not_equal(client.code, 0);
    assert_string_not_equal(client.detail, "");
    assert_int_equal(pair.pump.status[SERVER], TLS_STATUS_FAILED);
    assert_int_equal(server.cause, TLS_CAUSE_ALERT_RECEIVED);
    assert_in_range(server.code, 42, ALERT_UNKNOWN_CA);
    pair_close(&pair);
}

static void a_certificate_of_an_unknown_issuer_is_refused(void **state)
{
    (void)state;
    static const enum tls_chain chains[] = {TLS_CHAIN_SELF_SIGNED, TLS_CHAIN_LEAF,
                                            TLS_CHAIN_INTERMEDIATE};
    for (size_t i = 0; i < 3; i++) {
        struct tls_identity_spec made = {lab->certificates[0], chains[i], HOST};
        struct tls_identity stranger;
        assert_int_equal(lab->identity_make(&made, &stranger, NULL), 0);
        struct spec spec = spec_new();
        spec_use(&spec, lab_identity(lab->certificates[0], chains[i]));
        spec.client.roots_pem = stranger.root_pem;
        assert_not_verified(&spec);
        /* Nobody is trusted when no root is given... */
        spec.client.roots_pem = NULL;
        assert_not_verified(&spec);
        /* ...but to a client that does not verify. */
        spec.client.verify = false;
        struct pair pair;
        pair_shake(&pair, &spec);
        pair_close(&pair);
        tls_identity_free(&stranger);
    }
}

static void a_certificate_of_another_name_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"example.org", "127.0.0.1", "::1", "sub.localhost"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct spec spec = spec_new();
        spec.name = names[i];
        assert_not_verified(&spec);
        spec.client.verify_name = false;
        struct pair pair;
        pair_shake(&pair, &spec);
        pair_close(&pair);
    }
}

static void addresses_are_verified_as_addresses(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "::1", "2001:db8::7"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        struct tls_identity_spec made = {lab->certificates[0], TLS_CHAIN_LEAF, hosts[i]};
        struct tls_identity identity;
        struct pair pair;
        assert_int_equal(lab->identity_make(&made, &identity, NULL), 0);
        struct spec spec = spec_new();
        spec_use(&spec, &identity);
        spec.name = hosts[i];
        pair_shake(&pair, &spec);
        pair_close(&pair);
        spec.name = "127.0.0.9";
        assert_not_verified(&spec);
        tls_identity_free(&identity);
    }
}

static void an_impossible_host_is_refused(void **state)
{
    (void)state;
    struct tls_identity_spec spec = {lab->certificates[0], TLS_CHAIN_LEAF, ""};
    struct tls_identity identity;
    struct err e = ERR_INIT;
    assert_int_equal(lab->identity_make(&spec, &identity, &e), -1);
    assert_int_equal(e.kind, ERR_USAGE);
}

static void a_server_needs_a_certificate_that_fits(void **state)
{
    (void)state;
    const struct tls_identity *one = lab_identity(lab->certificates[0], TLS_CHAIN_SELF_SIGNED);
    const struct tls_identity *two = lab_identity(lab->certificates[0], TLS_CHAIN_LEAF);
    char empty[] = "",
         garbage[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const struct tls_identity bad[] = {
        {one->key_pem, two->chain_pem, two->root_pem},
        {one->key_pem, empty, empty},
        {empty, one->chain_pem, one->root_pem},
        {one->key_pem, garbage, garbage},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        spec.server.identity = &bad[i];
        assert_null(lab->context_new(&spec.server, &e));
        assert_contains(e.text, "server");
    }
    struct spec spec = spec_new();
    struct err e = ERR_INIT;
    spec.server.identity = NULL;
    assert_null(lab->context_new(&spec.server, &e));
    assert_contains(e.text, "certificate");
}

/* OpenSSL's and AWS-LC's limit is 100 KiB: who meets it must read of it. */
static void a_chain_over_the_limit_is_refused_and_the_limit_named(void **state)
{
    (void)state;
    const struct tls_identity *leaf = lab_identity("rsa-2048", TLS_CHAIN_SELF_SIGNED);
    size_t length = strlen(leaf->chain_pem), copies = 160;
    char *chain = malloc(length * copies + 1);
    assert_non_null(chain);
    for (size_t i = 0; i <= copies; i++)
        memcpy(chain + (i < copies ? i * length : copies * length),
               i < copies ? leaf->chain_pem : "", i < copies ? length : 1);
    struct tls_identity big = {leaf->key_pem, chain, leaf->root_pem};
    struct spec spec = spec_new();
    spec_use(&spec, &big);
    struct pair pair;
    pair_open(&pair, &spec);
    if (!pump_handshake(&pair.pump)) { /* a library without a limit is no worse */
        struct tls_failure failure = pair_failure(&pair, CLIENT);
        assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
        assert_int_equal(failure.code, 47);
        assert_contains(failure.detail, "102400");
        assert_int_equal(pair_failure(&pair, SERVER).code, 47);
    }
    pair_close(&pair);
    free(chain);
}

int conform_certificate(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_kind_is_verified_in_every_chain),
        cmocka_unit_test(kinds_not_listed_are_refused_by_name),
        cmocka_unit_test(two_identities_are_never_the_same),
        cmocka_unit_test(a_certificate_of_an_unknown_issuer_is_refused),
        cmocka_unit_test(a_certificate_of_another_name_is_refused),
        cmocka_unit_test(addresses_are_verified_as_addresses),
        cmocka_unit_test(an_impossible_host_is_refused),
        cmocka_unit_test(a_server_needs_a_certificate_that_fits),
        cmocka_unit_test(a_chain_over_the_limit_is_refused_and_the_limit_named),
    };
    return cmocka_run_group_tests_name("certificates", tests, NULL, NULL);
}
