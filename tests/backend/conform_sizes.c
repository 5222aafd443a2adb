/* SPDX-License-Identifier: Apache-2.0 */
/* Do the sizes come out that were published for OpenSSL 3.5 (and hold for the server's side
 * of later versions; their hello offers one point format, not three)? */
#include <string.h>
#include "conformance.h"
#include "lab.h"

/* An ECDSA signature of P-256 takes 70 to 72 bytes; a flight holds up to three of them. */
struct row {
    const char *client, *server, *kind;
    enum tls_chain chain;
    size_t client_bytes, server_bytes, slack;
};

static bool is_openssl(const char *version)
{
    return strcmp(lab->name, "openssl") == 0 &&
           strncmp(lab->version, version, strlen(version)) == 0;
}

static void assert_row(const struct pair *pair, const struct row *row)
{
    if (is_openssl("3.5."))
        assert_int_equal(pair->pump.to[SERVER].total_bytes, row->client_bytes);
    assert_in_range(pair->pump.to[CLIENT].total_bytes, row->server_bytes - row->slack,
                    row->server_bytes + row->slack);
}

/* TLS 1.3 alone, no SNI, no tickets. */
static void without_sni_and_tickets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"X25519", "X25519", "ecdsa-p256", TLS_CHAIN_BARE, 297, 651, 3},
        {"X25519MLKEM768", "X25519MLKEM768", "ecdsa-p256", TLS_CHAIN_BARE, 1473, 1739, 3},
        {"MLKEM1024", "MLKEM1024", "ecdsa-p256", TLS_CHAIN_BARE, 1825, 2187, 3},
        {"X25519", "X25519", "rsa-2048", TLS_CHAIN_BARE, 297, 1233, 0},
        {"X25519MLKEM768", "X25519MLKEM768", "mldsa65", TLS_CHAIN_BARE, 1473, 10103, 0},
        {"X25519", "X25519", "ecdsa-p256", TLS_CHAIN_INTERMEDIATE, 297, 1133, 4},
        {"X25519", "X25519", "rsa-2048", TLS_CHAIN_INTERMEDIATE, 297, 2111, 0},
        {"X25519", "X25519", "mldsa44", TLS_CHAIN_INTERMEDIATE, 297, 10675, 0},
        {"X25519", "X25519", "mldsa65", TLS_CHAIN_INTERMEDIATE, 297, 14622, 0},
        {"X25519", "X25519", "mldsa87", TLS_CHAIN_INTERMEDIATE, 297, 19856, 0},
        {"X25519MLKEM768", "X25519MLKEM768", "ecdsa-p256", TLS_CHAIN_INTERMEDIATE, 1473, 2222,
         4},
        {"X25519MLKEM768", "X25519MLKEM768", "rsa-2048", TLS_CHAIN_INTERMEDIATE, 1473, 3199, 0},
        {"X25519MLKEM768", "X25519MLKEM768", "mldsa87", TLS_CHAIN_INTERMEDIATE, 1473, 20944, 0},
        {"X25519MLKEM768:X25519:MLKEM1024", "MLKEM1024", "ecdsa-p256", TLS_CHAIN_BARE, 3242,
         2281, 3},
    };
    if (!is_openssl(""))
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_use(&spec, lab_identity(rows[i].kind, rows[i].chain));
        spec_groups(&spec, rows[i].client, rows[i].server);
        spec.name = NULL;
        spec.client.verify_name = false;
        pair_shake(&pair, &spec);
        assert_row(&pair, &rows[i]);
        pair_close(&pair);
    }
}

static struct spec spec_with_sni(void)
{
    struct spec spec = spec_new();
    spec_use(&spec, lab_identity("ecdsa-p256", TLS_CHAIN_BARE));
    spec_version(&spec, TLS_VERSION_ANY, TLS_VERSION_ANY);
    spec_resume(&spec, 2);
    return spec;
}

/* A client that offers TLS 1.2 too, SNI "localhost", two tickets. */
static void with_sni_and_tickets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"X25519", "X25519", NULL, TLS_CHAIN_BARE, 388, 1160, 3},
        {"X25519MLKEM768", "X25519MLKEM768", NULL, TLS_CHAIN_BARE, 1564, 2248, 3},
        {NULL, NULL, NULL, TLS_CHAIN_BARE, 1622, 2249, 3},
        {"SecP256r1MLKEM768", "SecP256r1MLKEM768", NULL, TLS_CHAIN_BARE, 1597, 2282, 3},
        {"SecP384r1MLKEM1024", "SecP384r1MLKEM1024", NULL, TLS_CHAIN_BARE, 2013, 2792, 4},
        {"X25519MLKEM768:X25519", "X25519", NULL, TLS_CHAIN_BARE, 1884, 1252, 4},
        {"*X25519MLKEM768:*X25519", "X25519", NULL, TLS_CHAIN_BARE, 1610, 1160, 3},
    };
    if (!is_openssl(""))
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct spec spec = spec_with_sni();
        struct pair pair;
        spec_groups(&spec, rows[i].client, rows[i].server);
        pair_shake(&pair, &spec);
        lab->session_free(pair_session(&pair));
        assert_row(&pair, &rows[i]);
        pair_close(&pair);
    }
}

static void resumed_with_one_ticket(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"X25519", "X25519", NULL, TLS_CHAIN_BARE, 659, 496, 0},
        {"X25519MLKEM768", "X25519MLKEM768", NULL, TLS_CHAIN_BARE, 1755 + 80, 1584, 0},
    };
    if (!is_openssl(""))
        skip();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct spec spec = spec_with_sni();
        struct pair pair;
        spec_groups(&spec, rows[i].client, rows[i].server);
        pair_shake(&pair, &spec);
        spec.session = pair_session(&pair);
        pair_again(&pair, &spec);
        assert_true(pump_handshake(&pair.pump));
        assert_row(&pair, &rows[i]);
        lab->session_free(spec.session);
        pair_close(&pair);
    }
}

/* C2: a version that lost the tuples of its default list would not retry. */
static void the_default_list_keeps_its_tuples(void **state)
{
    (void)state;
    if (!is_openssl(""))
        skip();
    struct spec spec = spec_with_sni();
    struct pair pair;
    spec_groups(&spec, "X25519:X25519MLKEM768", "DEFAULT");
    pair_shake(&pair, &spec);
    assert_true(pair_info(&pair, CLIENT).is_hrr);
    assert_string_equal(pair_info(&pair, CLIENT).group, "X25519MLKEM768");
    if (is_openssl("3.5."))
        assert_int_equal(pair.pump.to[SERVER].total_bytes, 1884);
    pair_close(&pair);
    spec.server.groups = "X25519MLKEM768:X25519"; /* one tuple: the share that came will do */
    pair_shake(&pair, &spec);
    assert_false(pair_info(&pair, CLIENT).is_hrr);
    assert_string_equal(pair_info(&pair, CLIENT).group, "X25519");
    pair_close(&pair);
}

int conform_sizes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_sni_and_tickets),
        cmocka_unit_test(with_sni_and_tickets),
        cmocka_unit_test(resumed_with_one_ticket),
        cmocka_unit_test(the_default_list_keeps_its_tuples),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
