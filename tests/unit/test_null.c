/* SPDX-License-Identifier: Apache-2.0 */
/* Does the null backend behave like TLS 1.3 on the wire, and take just the time asked? */
#include "null_pair.h"
#include <stdlib.h>
#include "base/clock.h"
#include "tls/groups.h"

#define MS 1000000u

/* ---- handshakes ---- */

static void both_sides_agree_on_what_was_negotiated(void **state)
{
    struct pair p;
    struct tls_info info;
    (void)state;
    pair_init(&p, NULL);
    use_groups(&p, "x25519mlkem768:P-256", NULL);
    p.config[DUPLEX_CLIENT].ciphers = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
    p.config[DUPLEX_SERVER].ciphers = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
    pair_handshake(&p);
    assert_done(&p);
    for (int i = 0; i < 2; i++) {
        p.tls->info(p.conn[i], &info);
        assert_int_equal(info.version, TLS_VERSION_13);
        assert_string_equal(info.group, "X25519MLKEM768");
        assert_string_equal(info.cipher, "TLS_CHACHA20_POLY1305_SHA256");
        assert_string_equal(info.signature, "ecdsa_secp256r1_sha256");
        assert_false(info.is_hrr || info.is_resumed);
    }
    pair_fini(&p);
}

static void the_messages_are_those_of_tls_13_and_both_sides_see_them(void **state)
{
    static const unsigned plain[] = {1, 2, 8, 11, 15, 20, 20};
    static const unsigned retried[] = {1, 6, 1, 2, 8, 11, 15, 20, 20};
    struct pair p;
    (void)state;
    for (int is_hrr = 0; is_hrr < 2; is_hrr++) {
        const unsigned *types = is_hrr ? retried : plain;
        pair_init(&p, NULL);
        use_groups(&p, "X25519:MLKEM768", is_hrr ? "MLKEM768" : "X25519");
        pair_handshake(&p);
        assert_done(&p);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(p.seen[i].count, is_hrr ? COUNT_OF(retried) : COUNT_OF(plain));
            for (unsigned m = 0; m < p.seen[i].count; m++)
                assert_int_equal(p.seen[i].message[m].type, types[m]);
        }
        for (unsigned m = 0; m < p.seen[0].count; m++) {
            assert_int_equal(p.seen[0].message[m].bytes, p.seen[1].message[m].bytes);
            assert_int_not_equal(p.seen[0].message[m].direction,
                                 p.seen[1].message[m].direction);
        }
        pair_fini(&p);
    }
}

/* Bytes of a handshake by side. */
static void bytes_of(const char *groups, uint64_t bytes[2])
{
    struct pair p;
    struct duplex_counts counts;
    pair_init(&p, NULL);
    use_groups(&p, groups, NULL);
    pair_handshake(&p);
    assert_done(&p);
    duplex_read_counts(p.duplex, &counts);
    assert_int_equal(counts.flights, 3);
    bytes[0] = counts.sent_bytes[0];
    bytes[1] = counts.sent_bytes[1];
    pair_fini(&p);
}

static void sizes_differ_by_the_key_shares(void **state)
{
    uint64_t classical[2], other[2];
    (void)state;
    bytes_of("X25519", classical);
    for (const struct tls_group *const *at = tls_group_all(); *at != NULL; at++) {
        bytes_of((*at)->name, other);
        assert_int_equal(other[0] - classical[0], (*at)->client_share_bytes - 32);
        assert_int_equal(other[1] - classical[1], (*at)->server_share_bytes - 32);
    }
}

/* Without the 17 bytes that protect each of the five records after ServerHello. */
static void certificates_have_near_real_sizes(void **state)
{
    static const struct {
        const char *kind;
        enum tls_chain chain;
        unsigned real_bytes;
    } cases[] = {
        {"ecdsa-p256", TLS_CHAIN_BARE, 651},
        {"rsa-2048", TLS_CHAIN_BARE, 1233},
        {"ecdsa-p256", TLS_CHAIN_INTERMEDIATE, 1133},
        {"rsa-2048", TLS_CHAIN_INTERMEDIATE, 2111},
        {"mldsa44", TLS_CHAIN_INTERMEDIATE, 10675},
        {"mldsa65", TLS_CHAIN_INTERMEDIATE, 14622},
        {"mldsa87", TLS_CHAIN_INTERMEDIATE, 19856},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tls_identity_spec spec = {cases[i].kind, cases[i].chain, "localhost"};
        struct duplex_counts counts;
        struct pair p;
        pair_init(&p, &spec);
        use_groups(&p, "X25519", NULL);
        p.config[DUPLEX_CLIENT].verify_name = false;
        pair_handshake(&p);
        assert_done(&p);
        duplex_read_counts(p.duplex, &counts);
        int64_t more = (int64_t)counts.sent_bytes[1] + 4 * 17 - (int64_t)cases[i].real_bytes;
        if (more < -100 || more > 100)
            fail_msg("%s: %ld bytes too many", cases[i].kind, (long)more);
        pair_fini(&p);
    }
}

static void every_kind_of_certificate_is_named_by_its_signature(void **state)
{
    static const char *const kinds[][2] = {
        {"ecdsa-p256", "ecdsa_secp256r1_sha256"},
        {"ecdsa-p384", "ecdsa_secp384r1_sha384"},
        {"rsa-2048", "rsa_pss_rsae_sha256"},
        {"rsa-3072", "rsa_pss_rsae_sha256"},
        {"ed25519", "ed25519"},
        {"mldsa44", "mldsa44"},
        {"mldsa65", "mldsa65"},
        {"mldsa87", "mldsa87"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct tls_identity_spec spec = {kinds[i][0], TLS_CHAIN_LEAF, "localhost"};
        struct tls_info info;
        struct pair p;
        assert_string_equal(tls_null_backend()->certificates[i], kinds[i][0]);
        pair_init(&p, &spec);
        pair_handshake(&p);
        assert_done(&p);
        p.tls->info(p.conn[DUPLEX_CLIENT], &info);
        assert_string_equal(info.signature, kinds[i][1]);
        pair_fini(&p);
    }
}

static void a_retry_is_asked_for_when_the_share_is_missing(void **state)
{
    static const struct {
        const char *client, *server, *group; /* group NULL: alert 40 */
        bool is_hrr;
    } cases[] = {
        {"X25519", "X25519", "X25519", false},
        {"X25519:MLKEM768", "MLKEM768", "MLKEM768", true},
        {"*X25519:*MLKEM768", "MLKEM768", "MLKEM768", false},
        {"X25519:*MLKEM768", "X25519", "X25519", true},
        {"X25519:MLKEM768", "MLKEM768:X25519", "MLKEM768", true},
        {"X25519:MLKEM768", "X25519:MLKEM768", "X25519", false},
        {"X25519:X25519MLKEM768", NULL, "X25519", false},
        {"X25519:X25519MLKEM768", "DEFAULT", "X25519MLKEM768", true},
        {"MLKEM512:X25519", NULL, "MLKEM512", false},
        {NULL, NULL, "X25519MLKEM768", false},
        {NULL, "X25519", "X25519", false},
        {NULL, "ffdhe3072", "ffdhe3072", true},
        {"X25519", "P-256", NULL, false},
        {"MLKEM512", "DEFAULT", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tls_info info;
        struct pair p;
        pair_init(&p, NULL);
        use_groups(&p, cases[i].client, cases[i].server);
        pair_handshake(&p);
        if (cases[i].group == NULL) {
            assert_failed(&p, DUPLEX_SERVER, TLS_CAUSE_ALERT_SENT, 40);
            assert_failed(&p, DUPLEX_CLIENT, TLS_CAUSE_ALERT_RECEIVED, 40);
        } else {
            assert_done(&p);
            for (int side = 0; side < 2; side++) {
                p.tls->info(p.conn[side], &info);
                assert_string_equal(info.group, cases[i].group);
                assert_int_equal(info.is_hrr, cases[i].is_hrr);
            }
        }
        pair_fini(&p);
    }
}

static void no_common_cipher_is_alert_40(void **state)
{
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    p.config[DUPLEX_CLIENT].ciphers = "TLS_CHACHA20_POLY1305_SHA256";
    p.config[DUPLEX_SERVER].ciphers = "TLS_AES_128_GCM_SHA256";
    pair_handshake(&p);
    assert_failed(&p, DUPLEX_SERVER, TLS_CAUSE_ALERT_SENT, 40);
    assert_failed(&p, DUPLEX_CLIENT, TLS_CAUSE_ALERT_RECEIVED, 40);
    pair_fini(&p);
}

static void a_certificate_is_verified(void **state)
{
    static const struct {
        enum tls_chain chain;
        const char *roots; /* "own", "other", NULL */
        bool verify, verify_name;
        const char *name;
        int code; /* 0: is taken */
        int alert;
    } cases[] = {
        {TLS_CHAIN_SELF_SIGNED, "own", true, true, "localhost", 0, 0},
        {TLS_CHAIN_LEAF, "own", true, true, "LocalHost.", 0, 0},
        {TLS_CHAIN_INTERMEDIATE, "own", true, true, "localhost", 0, 0},
        {TLS_CHAIN_SELF_SIGNED, "other", true, true, "localhost", TLS_NULL_VERIFY_ROOT, 48},
        {TLS_CHAIN_LEAF, "other", true, false, "localhost", TLS_NULL_VERIFY_ROOT, 48},
        {TLS_CHAIN_SELF_SIGNED, NULL, true, false, NULL, TLS_NULL_VERIFY_ROOT, 48},
        {TLS_CHAIN_SELF_SIGNED, "own", true, true, "local", TLS_NULL_VERIFY_NAME, 42},
        {TLS_CHAIN_SELF_SIGNED, "own", true, true, NULL, TLS_NULL_VERIFY_NAME, 42},
        {TLS_CHAIN_BARE, "own", true, true, "localhost", TLS_NULL_VERIFY_NAME, 42},
        {TLS_CHAIN_BARE, "own", true, false, "localhost", 0, 0},
        {TLS_CHAIN_SELF_SIGNED, "own", true, false, "elsewhere", 0, 0},
        {TLS_CHAIN_SELF_SIGNED, "other", false, true, "elsewhere", 0, 0},
    };
    struct pair other;
    (void)state;
    pair_init(&other, NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tls_identity_spec spec = {"ecdsa-p256", cases[i].chain, "localhost"};
        struct pair p;
        pair_init(&p, &spec);
        struct tls_config *client = &p.config[DUPLEX_CLIENT];
        client->verify = cases[i].verify;
        client->verify_name = cases[i].verify_name;
        if (cases[i].roots == NULL)
            client->roots_pem = NULL;
        else if (strcmp(cases[i].roots, "other") == 0)
            client->roots_pem = other.identity.root_pem;
        p.server_name = cases[i].name;
        pair_handshake(&p);
        if (cases[i].code == 0) {
            assert_done(&p);
        } else {
            assert_failed(&p, DUPLEX_CLIENT, TLS_CAUSE_VERIFY, cases[i].code);
            assert_failed(&p, DUPLEX_SERVER, TLS_CAUSE_ALERT_RECEIVED, cases[i].alert);
        }
        pair_fini(&p);
    }
    pair_fini(&other);
}

static size_t hello_bytes(const char *server_name)
{
    struct pair p;
    pair_init(&p, NULL);
    p.server_name = server_name;
    pair_connect(&p);
    assert_int_equal(p.tls->handshake(p.conn[DUPLEX_CLIENT]), TLS_STATUS_WANT_READ);
    size_t bytes = p.seen[DUPLEX_CLIENT].message[0].bytes;
    pair_fini(&p);
    return bytes;
}

static void a_server_name_is_sent_unless_it_is_an_address(void **state)
{
    (void)state;
    size_t without = hello_bytes(NULL);
    assert_int_equal(hello_bytes("localhost"), without + 9 + strlen("localhost"));
    assert_int_equal(hello_bytes("localhost."), without + 9 + strlen("localhost"));
    assert_int_equal(hello_bytes("127.0.0.1"), without);
    assert_int_equal(hello_bytes("::1"), without);
}

/* ---- data ---- */

static enum tls_status send_all(struct pair *p, enum duplex_side side, const uint8_t *data,
                                size_t length, size_t *sent)
{
    size_t count;
    enum tls_status status = TLS_STATUS_OK;
    while (*sent < length && status == TLS_STATUS_OK) {
        status = p->tls->write(p->conn[side], data + *sent, length - *sent, &count);
        *sent += count;
    }
    return status;
}

static void data_passes_a_small_ring_whole(void **state)
{
    enum { LENGTH = 1 << 20 };
    uint8_t *data = malloc(LENGTH), *back = malloc(LENGTH);
    size_t sent = 0, got = 0, count;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    duplex_free(p.duplex);
    p.duplex = duplex_new(512); /* a flight, too, must go in parts */
    pair_handshake(&p);
    assert_done(&p);
    for (size_t i = 0; i < LENGTH; i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    while (got < LENGTH) {
        enum tls_status status = send_all(&p, DUPLEX_SERVER, data, LENGTH, &sent);
        assert_true(status == TLS_STATUS_OK || status == TLS_STATUS_WANT_WRITE);
        while (p.tls->read(p.conn[DUPLEX_CLIENT], back + got, LENGTH - got, &count) ==
               TLS_STATUS_OK) {
            assert_true(count > 0);
            got += count;
        }
    }
    assert_int_equal(sent, LENGTH);
    assert_memory_equal(data, back, LENGTH);
    pair_fini(&p);
    free(data);
    free(back);
}

static void many_records_are_read_in_small_pieces(void **state)
{
    uint8_t piece[3];
    size_t got = 0, count;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    pair_handshake(&p);
    assert_done(&p);
    for (int i = 0; i < 300; i++)
        assert_int_equal(p.tls->write(p.conn[DUPLEX_CLIENT], "abcdefgh", 8, &count),
                         TLS_STATUS_OK);
    while (p.tls->read(p.conn[DUPLEX_SERVER], piece, sizeof(piece), &count) == TLS_STATUS_OK) {
        for (size_t i = 0; i < count; i++)
            assert_int_equal(piece[i], "abcdefgh"[(got + i) % 8]);
        got += count;
    }
    assert_int_equal(got, 300 * 8);
    pair_fini(&p);
}

static void tickets_come_behind_the_handshake(void **state)
{
    uint8_t byte;
    size_t count;
    struct pair p;
    struct duplex_counts before, after;
    (void)state;
    pair_init(&p, NULL);
    pair_handshake(&p);
    duplex_read_counts(p.duplex, &before);
    pair_fini(&p);
    pair_init(&p, NULL);
    p.config[DUPLEX_SERVER].tickets = 20;
    pair_handshake(&p);
    assert_done(&p);
    duplex_read_counts(p.duplex, &after);
    assert_int_equal(after.sent_bytes[1], before.sent_bytes[1] + 20 * 238);
    assert_int_equal(after.flights, 4);
    unsigned messages = p.seen[0].count;
    assert_int_equal(p.tls->read(p.conn[0], &byte, 1, &count), TLS_STATUS_WANT_READ);
    assert_int_equal(p.seen[0].count, messages + 20);
    assert_int_equal(p.seen[0].message[messages].type, 4);
    assert_null(p.tls->session_take(p.conn[0]));
    pair_fini(&p);
}

static void a_close_is_seen_as_what_it_is(void **state)
{
    uint8_t byte;
    size_t count;
    struct pair p;
    struct tls_failure failure;
    (void)state;
    for (int is_clean = 0; is_clean < 2; is_clean++) {
        pair_init(&p, NULL);
        pair_handshake(&p);
        assert_done(&p);
        assert_int_equal(p.tls->write(p.conn[1], "x", 1, &count), TLS_STATUS_OK);
        if (is_clean)
            assert_int_equal(p.tls->shutdown(p.conn[1]), TLS_STATUS_OK);
        duplex_close(p.duplex, DUPLEX_SERVER);
        assert_int_equal(p.tls->read(p.conn[0], &byte, 1, &count), TLS_STATUS_OK);
        enum tls_status status = p.tls->read(p.conn[0], &byte, 1, &count);
        p.tls->failure(p.conn[0], &failure);
        assert_int_equal(status, is_clean ? TLS_STATUS_CLOSED : TLS_STATUS_FAILED);
        assert_int_equal(failure.cause, is_clean ? TLS_CAUSE_NONE : TLS_CAUSE_EOF);
        if (is_clean)
            assert_int_equal(p.tls->write(p.conn[0], "y", 1, &count), TLS_STATUS_OK);
        pair_fini(&p);
    }
}

/* ---- time ---- */

struct cpu {
    uint64_t ns[2];
};

static void cpu_handshake(struct pair *p, struct cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    pair_connect(p);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 2; i++) {
            uint64_t start = clock_thread_cpu_ns();
            if (is_waiting(p->status[i]))
                p->status[i] = p->tls->handshake(p->conn[i]);
            cpu->ns[i] += clock_thread_cpu_ns() - start;
        }
    }
    assert_done(p);
    pair_disconnect(p);
}

/* The least of several, as anything else on the core only adds. */
static void each_side_takes_the_cpu_time_asked_for(void **state)
{
    static const uint64_t asked[][2] = {
        {2 * MS, 5 * MS}, {3 * MS, 0}, {0, 4 * MS}, {MS / 2, MS / 2}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct cpu cpu, least = {{UINT64_MAX, UINT64_MAX}};
        struct pair p;
        pair_init(&p, NULL);
        p.config[DUPLEX_CLIENT].null_work.client_spin_ns = asked[i][0];
        p.config[DUPLEX_CLIENT].null_work.server_spin_ns = asked[i][1];
        for (int repeat = 0; repeat < 10; repeat++) {
            cpu_handshake(&p, &cpu);
            for (int side = 0; side < 2; side++)
                if (cpu.ns[side] < least.ns[side])
                    least.ns[side] = cpu.ns[side];
        }
        for (int side = 0; side < 2; side++) {
            uint64_t most = asked[i][side] + asked[i][side] / 50 + MS / 5;
            if (least.ns[side] < asked[i][side] || least.ns[side] > most)
                fail_msg("side %d: asked %lu, took %lu ns", side, (unsigned long)asked[i][side],
                         (unsigned long)least.ns[side]);
        }
        pair_fini(&p);
    }
}

static void the_asked_share_of_handshakes_is_delayed(void **state)
{
    static const double shares[] = {0, 0.01, 0.1, 0.5, 1};
    enum { HANDSHAKES = 200, DELAY = 2 * MS };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        double delayed = 0;
        struct pair p;
        pair_init(&p, NULL);
        p.config[DUPLEX_CLIENT].null_work.delay_ns = DELAY;
        p.config[DUPLEX_CLIENT].null_work.delay_share = shares[i];
        for (int n = 0; n < HANDSHAKES; n++) {
            struct cpu cpu;
            cpu_handshake(&p, &cpu);
            delayed += cpu.ns[DUPLEX_SERVER] >= DELAY;
        }
        const double handshakes = HANDSHAKES, expected = shares[i] * handshakes;
        if (delayed < expected - 2 || delayed > expected + 2 ||
            (shares[i] == 0 && delayed > 0) || (shares[i] == 1 && delayed < handshakes))
            fail_msg("share %g: %g delayed", shares[i], delayed);
        pair_fini(&p);
    }
}

/* ---- configurations ---- */

static void what_null_cannot_do_is_refused_beforehand(void **state)
{
    static const struct {
        struct tls_config config;
        enum err_kind kind;
        const char *part;
    } cases[] = {
        {{.version_min = TLS_VERSION_12, .version_max = TLS_VERSION_12},
         ERR_UNSUPPORTED,
         "1.2"},
        {{.resume = true}, ERR_UNSUPPORTED, "resumption"},
        {{.early_data_bytes = 1}, ERR_UNSUPPORTED, "early data"},
        {{.tickets = 65}, ERR_UNSUPPORTED, "tickets"},
        {{.groups = ""}, ERR_USAGE, "empty"},
        {{.groups = "?bogus"}, ERR_USAGE, "bogus"},
        {{.groups = "X25519/-X25519"}, ERR_USAGE, "removed"},
        {{.groups = "X25519/X448", .role = TLS_ROLE_SERVER}, ERR_UNSUPPORTED, "tuples"},
        {{.groups = "DEFAULT:MLKEM512"}, ERR_UNSUPPORTED, "DEFAULT"},
        {{.ciphers = ""}, ERR_UNSUPPORTED, "cipher"},
        {{.ciphers = "TLS_AES_256_GCM_SHA384:"}, ERR_UNSUPPORTED, "cipher"},
        {{.ciphers = "TLS_AES_256_GCM_SHA384:TLS_AES_256_GCM_SHA384"}, ERR_USAGE, "twice"},
        {{.ciphers = "RC4"}, ERR_UNSUPPORTED, "RC4"},
        {{.null_work.client_spin_ns = TLS_NULL_SPIN_MAX_NS + 1}, ERR_USAGE, "second"},
        {{.null_work.server_spin_ns = UINT64_MAX}, ERR_USAGE, "second"},
        {{.null_work.delay_share = 1.5}, ERR_USAGE, "share"},
        {{.null_work.delay_share = -0.1}, ERR_USAGE, "share"},
        {{.null_work.delay_share = 0.0 / 0.0}, ERR_USAGE, "share"},
    };
    const struct tls_backend *tls = tls_null_backend();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = ERR_INIT;
        if (tls->config_check(&cases[i].config, &e) != -1)
            fail_msg("case %zu was taken", i);
        assert_int_equal(e.kind, cases[i].kind);
        assert_non_null(strstr(e.text, cases[i].part));
        assert_null(tls->context_new(&cases[i].config, &e));
    }
    struct tls_config good = {.version_min = TLS_VERSION_12, .groups = "DEFAULT", .tickets = 2};
    struct err e = ERR_INIT;
    assert_int_equal(tls->config_check(&good, &e), 0);
}

static void a_server_needs_an_identity_that_null_made(void **state)
{
    const struct tls_backend *tls = tls_null_backend();
    struct tls_identity_spec spec = {"ecdsa-p256", TLS_CHAIN_LEAF, "localhost"};
    struct tls_identity a, b;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(tls->identity_make(&spec, &a, &e), 0);
    assert_int_equal(tls->identity_make(&spec, &b, &e), 0);
    assert_string_not_equal(a.root_pem, b.root_pem);
    struct tls_identity text = {"x", "y", "z"}, mixed = {a.key_pem, b.chain_pem, b.root_pem};
    const struct tls_identity *const refused[] = {NULL, &text, &mixed};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct tls_config config = {.role = TLS_ROLE_SERVER, .identity = refused[i]};
        assert_null(tls->context_new(&config, &e));
        assert_non_null(strstr(e.text, "server certificate"));
    }
    spec.kind = "dsa";
    struct tls_identity none;
    assert_int_equal(tls->identity_make(&spec, &none, &e), -1);
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
    spec = (struct tls_identity_spec){"ed25519", TLS_CHAIN_LEAF, "two words"};
    assert_int_equal(tls->identity_make(&spec, &none, &e), -1);
    tls_identity_free(&a);
    tls_identity_free(&b);
    tls_identity_free(&b);
    tls_identity_free(NULL);
}

static void every_listed_group_and_cipher_works(void **state)
{
    const struct tls_backend *tls = tls_null_backend();
    struct err e = ERR_INIT;
    size_t groups = 0;
    (void)state;
    for (const char *const *at = tls->groups; *at != NULL; at++, groups++)
        assert_int_equal(tls->config_check(&(struct tls_config){.groups = *at}, &e), 0);
    for (const struct tls_group *const *at = tls_group_all(); *at != NULL; at++, groups--)
        assert_int_equal(tls->config_check(&(struct tls_config){.groups = (*at)->name}, &e), 0);
    assert_int_equal(groups, 0);
    for (const char *const *at = tls->ciphers; *at != NULL; at++)
        assert_int_equal(tls->config_check(&(struct tls_config){.ciphers = *at}, &e), 0);
    assert_null(tls->primitive_new(TLS_PRIMITIVE_KEYGEN, "X25519", &e));
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_agree_on_what_was_negotiated),
        cmocka_unit_test(the_messages_are_those_of_tls_13_and_both_sides_see_them),
        cmocka_unit_test(sizes_differ_by_the_key_shares),
        cmocka_unit_test(certificates_have_near_real_sizes),
        cmocka_unit_test(every_kind_of_certificate_is_named_by_its_signature),
        cmocka_unit_test(a_retry_is_asked_for_when_the_share_is_missing),
        cmocka_unit_test(no_common_cipher_is_alert_40),
        cmocka_unit_test(a_certificate_is_verified),
        cmocka_unit_test(a_server_name_is_sent_unless_it_is_an_address),
        cmocka_unit_test(data_passes_a_small_ring_whole),
        cmocka_unit_test(many_records_are_read_in_small_pieces),
        cmocka_unit_test(tickets_come_behind_the_handshake),
        cmocka_unit_test(a_close_is_seen_as_what_it_is),
        cmocka_unit_test(each_side_takes_the_cpu_time_asked_for),
        cmocka_unit_test(the_asked_share_of_handshakes_is_delayed),
        cmocka_unit_test(what_null_cannot_do_is_refused_beforehand),
        cmocka_unit_test(a_server_needs_an_identity_that_null_made),
        cmocka_unit_test(every_listed_group_and_cipher_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
