/* SPDX-License-Identifier: Apache-2.0 */
/* Is the group that was asked for the group that is used, and at its size? */
#include <stdio.h>
#include <string.h>
#include "conformance.h"
#include "hello.h"
#include "lab.h"

/* A signature of constant size, so that sizes can be compared exactly. */
static struct spec steady_spec(void)
{
    struct spec spec = spec_new();
    spec_use(&spec, lab_identity("rsa-2048", TLS_CHAIN_SELF_SIGNED));
    return spec;
}

static size_t server_bytes(const char *group)
{
    struct spec spec = steady_spec();
    struct pair pair;
    spec_groups(&spec, group, group);
    pair_shake(&pair, &spec);
    size_t bytes = pair.pump.to[CLIENT].total_bytes;
    pair_close(&pair);
    return bytes;
}

static void every_listed_group_is_used_at_its_size(void **state)
{
    (void)state;
    size_t base = server_bytes("X25519");
    for (const char *const *name = lab->groups; *name != NULL; name++) {
        const struct tls_group *group = tls_group_by_name(*name);
        struct spec spec = steady_spec();
        struct pair pair;
        struct hello hello;
        assert_non_null(group);
        assert_string_equal(group->name, *name);
        spec_groups(&spec, *name, *name);
        pair_shake(&pair, &spec);
        assert_string_equal(pair_info(&pair, CLIENT).group, *name);
        assert_string_equal(pair_info(&pair, SERVER).group, *name);
        assert_false(pair_info(&pair, CLIENT).is_hrr);
        assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
        assert_int_equal(hello.groups, 1);
        assert_int_equal(hello.shares, 1);
        assert_int_equal(hello.share[0].group, group->code);
        assert_int_equal(hello.share[0].bytes, group->client_share_bytes);
        assert_int_equal(pair.pump.to[CLIENT].total_bytes,
                         base + group->server_share_bytes - 32);
        assert_talks(&pair);
        pair_close(&pair);
    }
}

static void groups_not_listed_are_refused_by_name(void **state)
{
    (void)state;
    for (const struct tls_group *const *group = tls_group_all(); *group != NULL; group++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        char list[128];
        if (lab_is_listed(lab->groups, (*group)->name))
            continue;
        for (int side = 0; side < SIDES; side++) {
            struct tls_config *config = side == CLIENT ? &spec.client : &spec.server;
            config->groups = (*group)->name;
            assert_refused(config, ERR_UNSUPPORTED, (*group)->name);
            assert_int_equal(lab->config_check(config, &e), -1);
            assert_contains(e.text, lab->name);
            assert_contains(e.text, lab->version);
        }
        /* Behind '?' it may be missing. */
        snprintf(list, sizeof(list), "X25519:?%s", (*group)->name);
        spec_groups(&spec, list, "X25519");
        struct pair pair;
        pair_shake(&pair, &spec);
        pair_close(&pair);
    }
}

static void names_are_taken_without_case_and_by_alias(void **state)
{
    (void)state;
    static const struct {
        const char *list, *group;
    } cases[] = {{"x25519mlkem768", "X25519MLKEM768"},
                 {"P-256", "secp256r1"},
                 {"prime256v1", "secp256r1"},
                 {"x25519", "X25519"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        spec_groups(&spec, cases[i].list, cases[i].list);
        pair_shake(&pair, &spec);
        assert_string_equal(pair_info(&pair, CLIENT).group, cases[i].group);
        pair_close(&pair);
    }
}

/* Lists that a library accepts, and then fails every handshake. */
static void hopeless_lists_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "?bogus",  "X25519/-X25519", "bogus",
                                      "X25519:", ":X25519", "**X25519",       "X25519:X25519",
                                      "X25519,", "-X25519"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (int side = 0; side < SIDES; side++) {
            struct spec spec = spec_new();
            struct tls_config *config = side == CLIENT ? &spec.client : &spec.server;
            config->groups = bad[i];
            assert_refused(config, ERR_USAGE, "groups");
        }
    }
}

/* DEFAULT with everything taken out again: the parser cannot know, the library must. */
static void a_default_list_that_is_emptied_is_refused(void **state)
{
    (void)state;
    static const char list[] = "DEFAULT:-X25519MLKEM768:-X25519:-secp256r1:-X448:-secp384r1:"
                               "-secp521r1:-ffdhe2048:-ffdhe3072";
    for (int side = 0; side < SIDES; side++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        struct tls_config *config = side == CLIENT ? &spec.client : &spec.server;
        config->groups = list;
        struct tls_context *context = lab->context_new(config, &e);
        if (lab->config_check(config, NULL) != 0)
            assert_null(context);
        else
            assert_string_equal(lab->name, "null"); /* it has a fixed list */
        lab->context_free(context);
    }
}

/* The groups that got a share, in order, as "X25519 secp256r1". */
static void shares_sent(const char *list, char *out, size_t size)
{
    struct spec spec = spec_new();
    struct pair pair;
    struct hello hello;
    spec.client.groups = list;
    pair_open(&pair, &spec);
    pump_turn(&pair.pump, CLIENT);
    assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
    pair_close(&pair);
    out[0] = '\0';
    for (unsigned i = 0; i < hello.shares; i++) {
        const struct tls_group *group = tls_group_by_code(hello.share[i].group);
        assert_non_null(group);
        assert_int_equal(hello.share[i].bytes, group->client_share_bytes);
        size_t length = strlen(out);
        snprintf(out + length, size - length, "%s%s", i > 0 ? " " : "", group->name);
    }
}

/* Either the shares asked for go out, or the list is refused: never others. */
static void shares_are_sent_as_asked_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *list, *shares;
    } cases[] = {
        {"X25519:secp256r1", "X25519"},
        {"X25519MLKEM768:X25519", "X25519MLKEM768"},
        {"X25519:X25519MLKEM768", "X25519"},
        {"*X25519MLKEM768:*X25519", "X25519MLKEM768 X25519"},
        {"*X25519MLKEM768:*X25519:secp256r1", "X25519MLKEM768 X25519"},
        {"X25519MLKEM768:*X25519", "X25519"},
        {"*X25519:*secp256r1", "X25519 secp256r1"},
        {"*X25519MLKEM768:*X25519:*secp256r1:*secp384r1",
         "X25519MLKEM768 X25519 secp256r1 secp384r1"},
    };
    unsigned refused = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spec spec = spec_new();
        struct err e = ERR_INIT;
        char sent[256];
        spec.client.groups = cases[i].list;
        if (lab->config_check(&spec.client, &e) != 0) {
            refused++;
            assert_refused(&spec.client, ERR_UNSUPPORTED, cases[i].list);
            assert_contains(e.text, lab_label());
            continue;
        }
        shares_sent(cases[i].list, sent, sizeof(sent));
        assert_string_equal(sent, cases[i].shares);
    }
    assert_int_equal(refused > 0, !lab_has(TLS_FEATURE_SHARE_CHOICE));
    struct spec spec = spec_new();
    spec.client.groups = "*X25519MLKEM768:*X25519:*secp256r1:*secp384r1:*secp521r1";
    assert_refused(&spec.client, ERR_USAGE, "4");
}

static void assert_retried(const struct pair *pair, const char *group)
{
    for (int side = 0; side < SIDES; side++) {
        assert_true(pair_info(pair, side).is_hrr);
        assert_string_equal(pair_info(pair, side).group, group);
    }
    if (!lab_has(TLS_FEATURE_MESSAGES))
        return;
    assert_int_equal(seen_count(pair, SERVER, TLS_SENT, 6), 1);
    assert_int_equal(seen_count(pair, CLIENT, TLS_RECEIVED, 6), 1);
    assert_int_equal(seen_count(pair, CLIENT, TLS_SENT, 1), 2);
    assert_int_equal(seen_count(pair, CLIENT, TLS_RECEIVED, 2), 1);
    assert_int_equal(seen_count(pair, CLIENT, TLS_RECEIVED, 254), 0);
}

/* One round trip more: the second hello differs by its share, and the server answers with
 * a HelloRetryRequest besides. */
static void a_missing_share_costs_a_retry_that_is_seen(void **state)
{
    (void)state;
    struct spec spec = steady_spec();
    struct pair pair;
    struct hello first, second;
    spec_groups(&spec, "X25519:secp256r1", "secp256r1");
    pair_shake(&pair, &spec);
    assert_retried(&pair, "secp256r1");
    assert_true(hello_read(&pair.pump.to[SERVER], 0, &first));
    /* A ChangeCipherSpec record of 6 bytes stands between the two. */
    assert_true(hello_read(&pair.pump.to[SERVER], first.bytes + 6, &second));
    assert_int_equal(first.share[0].group, 0x001d);
    assert_int_equal(second.shares, 1);
    assert_int_equal(second.share[0].group, 0x0017);
    size_t with_retry = pair.pump.to[CLIENT].total_bytes;
    pair_close(&pair);
    /* Record, header, version, random, session id, cipher, compression, extensions:
     * supported_versions and a key_share of the group alone. */
    size_t retry = 5 + 4 + 2 + 32 + 1 + 32 + 2 + 1 + 2 + 6 + 6;
    assert_int_equal(with_retry, server_bytes("secp256r1") + retry);
}

static void the_documented_retries_happen(void **state)
{
    (void)state;
    static const struct {
        const char *client, *server;
        enum tls_feature needs;
    } cases[] = {
        {"*X25519:X25519MLKEM768", "X25519MLKEM768", TLS_FEATURE_SHARE_CHOICE},
        {"*X25519:X25519MLKEM768", "X25519MLKEM768/X25519",
         (enum tls_feature)(TLS_FEATURE_SHARE_CHOICE | TLS_FEATURE_TUPLES)},
        {"X25519MLKEM768:X25519:MLKEM1024", "MLKEM1024", TLS_FEATURE_SHARE_CHOICE},
        {"*X25519:secp256r1", "secp256r1/X25519", TLS_FEATURE_TUPLES},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct spec spec = spec_new();
        struct pair pair;
        char wanted[32] = "";
        if ((lab->features & cases[i].needs) != cases[i].needs)
            continue;
        spec_groups(&spec, cases[i].client, cases[i].server);
        pair_shake(&pair, &spec);
        sscanf(cases[i].server, "%31[^/]", wanted);
        assert_retried(&pair, wanted);
        pair_close(&pair);
    }
}

static void tuples_work_or_are_refused_by_name(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    spec.server.groups = "secp256r1/X25519";
    if (!lab_has(TLS_FEATURE_TUPLES)) {
        assert_refused(&spec.server, ERR_UNSUPPORTED, "tuples");
        return;
    }
    struct pair pair;
    pair_shake(&pair, &spec); /* the client has X25519 alone: the second tuple serves */
    assert_false(pair_info(&pair, CLIENT).is_hrr);
    pair_close(&pair);
}

static void no_common_group_ends_with_alert_40(void **state)
{
    (void)state;
    struct spec spec = spec_new();
    struct pair pair;
    spec_groups(&spec, "X25519", "secp256r1");
    pair_open(&pair, &spec);
    assert_false(pump_handshake(&pair.pump));
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_FAILED);
    assert_int_equal(pair.pump.status[SERVER], TLS_STATUS_FAILED);
    assert_int_equal(pair_failure(&pair, CLIENT).cause, TLS_CAUSE_ALERT_RECEIVED);
    assert_int_equal(pair_failure(&pair, CLIENT).code, 40);
    assert_int_equal(pair_failure(&pair, SERVER).cause, TLS_CAUSE_ALERT_SENT);
    assert_int_equal(pair_failure(&pair, SERVER).code, 40);
    pair_close(&pair);
}

static void default_is_the_librarys_list(void **state)
{
    (void)state;
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        struct spec spec = spec_new();
        struct pair pair;
        struct hello hello;
        spec_groups(&spec, i == 0 ? NULL : "DEFAULT", i == 0 ? NULL : "DEFAULT");
        pair_shake(&pair, &spec);
        assert_true(hello_read(&pair.pump.to[SERVER], 0, &hello));
        assert_string_equal(pair_info(&pair, CLIENT).group,
                            tls_group_by_code(hello.share[0].group)->name);
        bytes[i] = pair.pump.to[SERVER].total_bytes;
        pair_close(&pair);
    }
    assert_int_equal(bytes[0], bytes[1]);
}

int conform_groups(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_group_is_used_at_its_size),
        cmocka_unit_test(groups_not_listed_are_refused_by_name),
        cmocka_unit_test(names_are_taken_without_case_and_by_alias),
        cmocka_unit_test(hopeless_lists_are_refused),
        cmocka_unit_test(a_default_list_that_is_emptied_is_refused),
        cmocka_unit_test(shares_are_sent_as_asked_or_refused),
        cmocka_unit_test(a_missing_share_costs_a_retry_that_is_seen),
        cmocka_unit_test(the_documented_retries_happen),
        cmocka_unit_test(tuples_work_or_are_refused_by_name),
        cmocka_unit_test(no_common_group_ends_with_alert_40),
        cmocka_unit_test(default_is_the_librarys_list),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
