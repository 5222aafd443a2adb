/* SPDX-License-Identifier: Apache-2.0 */
/* Are named groups found under every name, and group lists read as OpenSSL 3.5 reads them? */
#include "cmocka_all.h"
#include <stdio.h>
#include <string.h>
#include "tls/groups.h"

/* Sizes: RFC 8446 4.2.8, RFC 7919, FIPS 203, draft-ietf-tls-ecdhe-mlkem. */
static const struct {
    const char *name;
    unsigned code, client_bytes, server_bytes;
    bool is_hybrid, is_post_quantum;
} standards[] = {
    {"X25519", 0x001d, 32, 32, false, false},
    {"X448", 0x001e, 56, 56, false, false},
    {"secp256r1", 0x0017, 65, 65, false, false},
    {"secp384r1", 0x0018, 97, 97, false, false},
    {"secp521r1", 0x0019, 133, 133, false, false},
    {"ffdhe2048", 0x0100, 256, 256, false, false},
    {"ffdhe3072", 0x0101, 384, 384, false, false},
    {"MLKEM512", 0x0200, 800, 768, false, true},
    {"MLKEM768", 0x0201, 1184, 1088, false, true},
    {"MLKEM1024", 0x0202, 1568, 1568, false, true},
    {"SecP256r1MLKEM768", 0x11eb, 65 + 1184, 65 + 1088, true, true},
    {"X25519MLKEM768", 0x11ec, 1184 + 32, 1088 + 32, true, true},
    {"SecP384r1MLKEM1024", 0x11ed, 97 + 1568, 97 + 1568, true, true},
};

static void every_group_has_its_code_and_sizes(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct tls_group *const *at = tls_group_all(); *at != NULL; at++)
        count++;
    assert_int_equal(count, COUNT_OF(standards));
    for (size_t i = 0; i < COUNT_OF(standards); i++) {
        const struct tls_group *group = tls_group_by_code(standards[i].code);
        assert_non_null(group);
        assert_ptr_equal(group, tls_group_by_name(standards[i].name));
        assert_string_equal(group->name, standards[i].name);
        assert_int_equal(group->client_share_bytes, standards[i].client_bytes);
        assert_int_equal(group->server_share_bytes, standards[i].server_bytes);
        assert_int_equal(group->is_hybrid, standards[i].is_hybrid);
        assert_int_equal(group->is_post_quantum, standards[i].is_post_quantum);
    }
}

static void names_are_found_without_case_and_by_alias(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"x25519", "X25519"},
        {"P-256", "secp256r1"},
        {"p-256", "secp256r1"},
        {"prime256v1", "secp256r1"},
        {"P-384", "secp384r1"},
        {"P-521", "secp521r1"},
        {"x25519mlkem768", "X25519MLKEM768"},
        {"SECP256R1", "secp256r1"},
        {"mlkem1024", "MLKEM1024"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_non_null(tls_group_by_name(names[i][0]));
        assert_string_equal(tls_group_by_name(names[i][0])->name, names[i][1]);
    }
    static const char *const unknown[] = {
        "", " ", "X2551", "X25519 ", "P-256 prime256v1", "prime256v", "DEFAULT", "*X25519"};
    for (size_t i = 0; i < COUNT_OF(unknown); i++)
        assert_null(tls_group_by_name(unknown[i]));
    assert_null(tls_group_by_code(0));
    assert_null(tls_group_by_code(0x6399));
}

/* A list as text again: "*A:?B/C", with "?" alone for an unknown name. */
static const char *describe(const struct tls_group_list *list, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const struct tls_group_entry *entry = &list->entry[i];
        const char *joint = i == 0 ? "" : entry->tuple != entry[-1].tuple ? "/" : ":";
        used += (size_t)snprintf(buf + used, size - used, "%s%s%s%s", joint,
                                 entry->has_share ? "*" : "", entry->is_optional ? "?" : "",
                                 entry->group != NULL ? entry->group->name : "");
    }
    return buf;
}

static const struct {
    const char *text, *seen;
    size_t shares;
    unsigned tuples;
} good[] = {
    {"X25519", "*X25519", 1, 1},
    {"X25519MLKEM768:X25519", "*X25519MLKEM768:X25519", 1, 1},
    {"*X25519MLKEM768:*X25519:P-256", "*X25519MLKEM768:*X25519:secp256r1", 2, 1},
    {"X25519:*x448", "X25519:*X448", 1, 1},
    {"X25519MLKEM768/X25519", "*X25519MLKEM768/X25519", 1, 2},
    {"X25519 : P-256 / P-384", "*X25519:secp256r1/secp384r1", 1, 2},
    {" \tX25519\n", "*X25519", 1, 1},
    {"?bogus:X25519", "?:*X25519", 1, 1},
    {"?*bogus:X25519", "*?:*X25519", 1, 1},
    {"?X25519", "*?X25519", 1, 1},
    {"*?X25519:?*X448", "*?X25519:*?X448", 2, 1},
    {"?bogus/X25519", "?:*X25519", 1, 1},
    {"X25519/?bogus/X448", "*X25519:?/X448", 1, 2},
    {"X25519:-X25519:X448", "*X448", 1, 1},
    {"X25519/-X25519/X448", "*X448", 1, 1},
    {"*X448:X25519:-X448", "*X25519", 1, 1},
    {"X25519:-X448", "*X25519", 1, 1},
    {"X25519:?-bogus", "*X25519", 1, 1},
    {"X25519:-X25519:X25519", "*X25519", 1, 1},
    {"*X25519:*X448:*P-256:*P-384", "*X25519:*X448:*secp256r1:*secp384r1", 4, 1},
    /* OpenSSL 3.5's own default. */
    {"?*X25519MLKEM768 / ?*X25519:?secp256r1 / ?X448:?secp384r1:?secp521r1 / "
     "?ffdhe2048:?ffdhe3072",
     "*?X25519MLKEM768/*?X25519:?secp256r1/?X448:?secp384r1:?secp521r1/?ffdhe2048:?ffdhe3072",
     2, 4},
};

static void good_lists_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct tls_group_list list;
        struct err e = ERR_INIT;
        char seen[512];
        if (tls_groups_parse(good[i].text, &list, &e) != 0)
            fail_msg("'%s': %s", good[i].text, e.text);
        assert_string_equal(describe(&list, seen, sizeof(seen)), good[i].seen);
        if (list.shares != good[i].shares || list.tuples != good[i].tuples)
            fail_msg("'%s': %zu shares, %u tuples", good[i].text, list.shares, list.tuples);
        assert_false(list.is_default);
    }
}

static const struct {
    const char *text, *part; /* `part` must stand in the message */
} bad[] = {
    {"", "empty"},
    {" ", "empty"},
    {":", "empty"},
    {"/", "empty"},
    {"X25519:", "empty"},
    {":X25519", "empty"},
    {"X25519::X448", "empty"},
    {"X25519//X448", "empty"},
    {"X25519:/X448", "empty"},
    {"X25519 X448", "unknown"},
    {"X25519,X448", "unknown"},
    {"bogus", "unknown"},
    {"X25519:bogus", "'bogus'"},
    {"-bogus:X25519", "unknown"},
    {"?bogus", "no known group"},
    {"?bogus:?another", "no known group"},
    {"*", "without a name"},
    {"?:X25519", "without a name"},
    {"X25519:-", "without a name"},
    {"**X25519", "twice"},
    {"??X25519", "twice"},
    {"X25519:--X25519", "twice"},
    {"X25519:*-X25519", "exclude"},
    {"* X25519", "unknown"},
    {"X25519/-X25519", "removed"},
    {"X25519:-X25519", "removed"},
    {"-X25519", "removed"},
    {"X25519:x25519", "twice"},
    {"X25519/X25519", "twice"},
    {"P-256:prime256v1", "twice"},
    {"*X25519:*X448:*P-256:*P-384:*P-521", "more than 4"},
    {"?DEFAULT", "DEFAULT"},
    {"DEFAULT:-DEFAULT", "DEFAULT"},
    {"DEFAULT:default", "DEFAULT"},
    {"DEFAULT:X25519:X25519", "twice"},
    {"X25519MLKEM768X25519MLKEM768X25519MLKEM768X25519MLKEM768X25519MLKEM768", "too long"},
    {"X25519\x01", "unknown"},
};

static void bad_lists_are_refused_naming_the_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct tls_group_list list;
        struct err e = ERR_INIT;
        if (tls_groups_parse(bad[i].text, &list, &e) == 0)
            fail_msg("'%s' was taken", bad[i].text);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, bad[i].part) == NULL)
            fail_msg("'%s': '%s' does not say '%s'", bad[i].text, e.text, bad[i].part);
        assert_non_null(strstr(e.text, "accepted"));
    }
}

static void a_list_that_is_too_long_is_refused(void **state)
{
    struct tls_group_list list;
    struct err e = ERR_INIT;
    char text[2000];
    size_t used = 0;
    (void)state;
    for (unsigned i = 0; i < TLS_GROUPS_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "?unknown%u:", i);
    text[used - 1] = '\0';
    assert_int_equal(tls_groups_parse(text, &list, &e), -1);
    assert_non_null(strstr(e.text, "no known group"));
    snprintf(text + used - 1, sizeof(text) - used, ":X25519");
    assert_int_equal(tls_groups_parse(text, &list, &e), -1);
    assert_non_null(strstr(e.text, "more than 32"));
}

static void the_default_keyword_leaves_the_list_to_the_library(void **state)
{
    struct tls_group_list list;
    struct err e = ERR_INIT;
    char seen[100];
    (void)state;
    assert_int_equal(tls_groups_parse("DEFAULT", &list, &e), 0);
    assert_true(list.is_default);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.shares, 0);
    assert_int_equal(tls_groups_parse("default:*MLKEM1024", &list, &e), 0);
    assert_true(list.is_default);
    assert_string_equal(describe(&list, seen, sizeof(seen)), "*MLKEM1024");
    assert_int_equal(tls_groups_parse("*DEFAULT:-X448", &list, &e), 0);
    assert_int_equal(list.count, 0);
}

static void a_backend_keeps_the_groups_that_it_has(void **state)
{
    static const char *const supported[] = {"X25519", "secp256r1", "X25519MLKEM768", NULL};
    static const struct {
        const char *text, *seen; /* NULL: unsupported */
    } cases[] = {
        {"X25519:P-256", "*X25519:secp256r1"},
        {"?MLKEM512:X25519:P-256", "*X25519:secp256r1"},
        {"?*MLKEM512/X25519", "*X25519"},
        {"?bogus:*P-256", "*secp256r1"},
        {"X25519MLKEM768/?X448/P-256", "*X25519MLKEM768/secp256r1"},
        {"DEFAULT", ""},
        {"MLKEM512:X25519", NULL},
        {"?MLKEM512:?X448", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tls_group_list list;
        struct err e = ERR_INIT;
        char seen[200];
        assert_int_equal(tls_groups_parse(cases[i].text, &list, &e), 0);
        int rc = tls_groups_restrict(&list, supported, "test 1.2", &e);
        assert_int_equal(rc, cases[i].seen != NULL ? 0 : -1);
        if (rc == 0) {
            assert_string_equal(describe(&list, seen, sizeof(seen)), cases[i].seen);
        } else {
            assert_int_equal(e.kind, ERR_UNSUPPORTED);
            assert_non_null(strstr(e.text, "test 1.2"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_has_its_code_and_sizes),
        cmocka_unit_test(names_are_found_without_case_and_by_alias),
        cmocka_unit_test(good_lists_are_read),
        cmocka_unit_test(bad_lists_are_refused_naming_the_part),
        cmocka_unit_test(a_list_that_is_too_long_is_refused),
        cmocka_unit_test(the_default_keyword_leaves_the_list_to_the_library),
        cmocka_unit_test(a_backend_keeps_the_groups_that_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
