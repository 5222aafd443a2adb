/* SPDX-License-Identifier: Apache-2.0 */
/* Is an arm read strictly, written so that it reads back, and refused by name before a run? */
#include "cmocka_all.h"
#include <stdio.h>
#include <string.h>
#include "run/arm.h"
#include "tls/null.h"

static struct arm parse(const char *text)
{
    struct arm arm;
    struct err e = ERR_INIT;
    if (arm_parse(text, &arm, &e) != 0)
        fail_msg("%s: %s", text, e.text);
    return arm;
}

static void every_key_has_a_default_that_reads_back(void **state)
{
    (void)state;
    struct arm arm;
    char value[ARM_TEXT_MAX + 1];
    arm_init(&arm, "a");
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++) {
        assert_true(strlen(key->initial) > 0);
        assert_true(strlen(key->help) > 0);
        assert_string_equal(arm_get(&arm, key->name, value, sizeof value), key->initial);
    }
    assert_true(arm.verify);
    assert_true(arm.sni);
    assert_int_equal(arm.tls, TLS_VERSION_13);
    assert_int_equal(arm.tickets, -1);
    assert_string_equal(arm.groups, "");
}

static void what_is_set_reads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "groups=*X25519MLKEM768:?X25519/secp256r1",
        "server-groups=X25519MLKEM768/X25519",
        "predict=4588,29",
        "cert=mldsa65",
        "chain=leaf+intermediate",
        "chain=bare",
        "cipher=TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256",
        "tls=1.2",
        "resume=0.9",
        "early-data=1024",
        "server-early-data=500",
        "anti-replay=off",
        "tickets=3",
        "payload=1048576",
        "verify=off",
        "sni=off",
        "backend=openssl-3.5",
        "server-backend=aws-lc",
        "baseline=classical",
        "null-client=200us",
        "null-server=100us",
        "null-delay=20ms",
        "null-delay-share=0.01",
    };
    char line[400] = "all:";
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char one[300], key[64], value[ARM_TEXT_MAX + 1];
        snprintf(one, sizeof one, "x: %s", texts[i]);
        struct arm arm = parse(one);
        snprintf(key, sizeof key, "%.*s", (int)strcspn(texts[i], "="), texts[i]);
        assert_string_equal(arm_get(&arm, key, value, sizeof value), strchr(texts[i], '=') + 1);
        if (strcmp(texts[i], "chain=bare") != 0 && strlen(line) + strlen(one) < sizeof line)
            strcat(strcat(line, " "), texts[i]);
    }
    parse(line);
}

static void units_and_names_are_understood(void **state)
{
    (void)state;
    struct arm arm = parse("  b-1.x_y+z :\tgroups=x25519   resume=90%  payload=1MiB ");
    assert_string_equal(arm.name, "b-1.x_y+z");
    assert_string_equal(arm.groups, "x25519");
    assert_true(arm.resume == 0.9);
    assert_int_equal(arm.payload_bytes, 1 << 20);
    assert_string_equal(parse("only:").name, "only");
    arm = parse("a: groups=default cipher=auto server-groups=auto baseline=first backend=auto");
    assert_string_equal(arm.groups, "");
    assert_string_equal(arm.baseline, "");
}

static void nonsense_is_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "NAME: KEY=VALUE"},
        {"classical groups=X25519", "NAME: KEY=VALUE"},
        {": groups=X25519", "not a name"},
        {"two words: groups=X25519", "not a name"},
        {"first: groups=X25519", "not a name"},
        {"a\x1b[31m: groups=X25519", "\\x1b"},
        {"a/b: groups=X25519", "not a name"},
        {"\xc3\xa4: groups=X25519", "not a name"},
        {"0123456789012345678901234567890123456789012345678901234567890123:", "not a name"},
        {"pq: groups", "'groups' is not KEY=VALUE"},
        {"pq: group=X25519", "'group': no such key (accepted: groups, server-groups"},
        {"pq: =X25519", "no such key"},
        {"pq: Groups=X25519", "no such key"},
        {"pq: groups=X25519 groups=X448", "groups: given twice"},
        {"pq: groups=", "groups: "},
        {"pq: groups=bogus", "bogus"},
        {"pq: groups=?bogus", "no known group"},
        {"pq: groups=X25519/-X25519", "removed"},
        {"pq: groups=X25519:", "empty part"},
        {"pq: groups=X25519::X448", "empty part"},
        {"pq: groups=X25519:x25519", "twice"},
        {"pq: groups=**X25519", "twice"},
        {"pq: groups=*", "without a name"},
        {"pq: server-groups=", "server-groups: "},
        {"pq: groups=X25519:\x1b[31m", "groups: 'X25519:\\x1b[31m' is not accepted"},
        {"pq: payload=1\x07", "payload: '1\\x07' is not accepted"},
        {"pq: cert=rsa", "cert: 'rsa' is not accepted (accepted: ecdsa-p256,"},
        {"pq: cert=", "cert"},
        {"pq: chain=root", "chain"},
        {"pq: tls=1.1", "tls: '1.1' is not accepted (accepted: 1.2, 1.3)"},
        {"pq: tls=13", "tls"},
        {"pq: cipher=a;b", "cipher"},
        {"pq: cipher=", "cipher"},
        {"pq: resume=1.1", "resume"},
        {"pq: resume=-1", "resume"},
        {"pq: resume=nan", "resume"},
        {"pq: resume=1e400", "resume"},
        {"pq: early-data=10x", "early-data"},
        {"pq: early-data=5GB", "early-data"},
        {"pq: payload=-1", "payload"},
        {"pq: payload=inf", "payload"},
        {"pq: verify=maybe", "verify"},
        {"pq: sni=2", "sni"},
        {"pq: tickets=21", "tickets"},
        {"pq: tickets=-1", "tickets"},
        {"pq: backend=../x", "backend"},
        {"pq: backend=", "backend"},
        {"pq: null-client=200", "null-client"},
        {"pq: null-client=2s", "null-client"},
        {"pq: null-delay-share=2", "null-delay-share"},
        {"pq: baseline=a,b", "baseline"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arm arm = {.name = "untouched"};
        struct err e = ERR_INIT;
        assert_int_equal(arm_parse(rows[i].text, &arm, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, rows[i].says) == NULL)
            fail_msg("\"%s\" says \"%s\", not \"%s\"", rows[i].text, e.text, rows[i].says);
        if (strncmp(rows[i].text, "pq:", 3) == 0)
            assert_non_null(strstr(e.text, "arm pq: "));
        assert_string_equal(arm.name, "untouched");
    }
}

static void a_refused_value_leaves_the_arm_as_it_was(void **state)
{
    (void)state;
    struct arm arm = parse("a: groups=X448 cipher=ABC tickets=2"), before = arm;
    struct err e = ERR_INIT;
    assert_int_equal(arm_set(&arm, "groups", "X25519:nonsense", &e), -1);
    assert_int_equal(arm_set(&arm, "cipher", "x y", &e), -1);
    assert_int_equal(arm_set(&arm, "tickets", "two", &e), -1);
    assert_memory_equal(&arm, &before, sizeof arm);
}

static void lists_that_are_too_long_are_refused(void **state)
{
    (void)state;
    char text[1000] = "a: groups=";
    struct arm arm;
    struct err e = ERR_INIT;
    for (int i = 0; i < 60; i++)
        strcat(text, "?bogus12345:");
    strcat(text, "X25519");
    assert_int_equal(arm_parse(text, &arm, &e), -1);
    assert_non_null(strstr(e.text, "255"));
}

static struct arm_list list_of(const char *const *texts, size_t n)
{
    struct arm_list list = {.count = n};
    for (size_t i = 0; i < n; i++)
        list.arm[i] = parse(texts[i]);
    return list;
}

static void the_first_arm_is_the_baseline_and_its_copy_the_control(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "classical: groups=X25519",
        "pq: groups=X25519MLKEM768",
        "control: groups=X25519",
        "almost: groups=X25519 verify=off",
    };
    struct arm_list list = list_of(texts, COUNT_OF(texts));
    struct err e = ERR_INIT;
    assert_int_equal(arms_check(&list, &e), 0);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(arms_baseline(&list, i), 0);
        assert_int_equal(arms_is_control(&list, i), i == 2);
    }
}

static void an_arm_may_name_its_baseline(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "o1: groups=X25519 backend=openssl",
        "o2: groups=X25519MLKEM768 backend=openssl",
        "a1: groups=X25519 backend=aws-lc",
        "a2: groups=X448 backend=aws-lc baseline=a1",
        "a3: groups=X25519 backend=aws-lc baseline=a1",
        "alone: groups=X25519 baseline=alone",
    };
    static const size_t baselines[] = {0, 0, 2, 2, 2, 5};
    struct arm_list list = list_of(texts, COUNT_OF(texts));
    struct err e = ERR_INIT;
    assert_int_equal(arms_check(&list, &e), 0);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(arms_baseline(&list, i), baselines[i]);
    assert_true(arms_is_control(&list, 4));
    assert_false(arms_is_control(&list, 3));
}

static void lists_of_arms_that_contradict_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *texts[3], *says;
    } rows[] = {
        {{NULL}, "no arm"},
        {{"a: groups=X25519", "a: groups=X448"}, "arm a: the name is given twice"},
        {{"a: groups=X25519", "b: baseline=c"}, "arm b: baseline=c: no such arm"},
        {{"a:", "b: baseline=c", "c: baseline=a"}, "arm b: its baseline c is itself compared"},
        {{"a: baseline=b", "b: baseline=a"}, "is itself compared"},
        {{"a: early-data=100"}, "arm a: early-data=100 needs sessions to resume"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = 0;
        struct err e = ERR_INIT;
        while (n < 3 && rows[i].texts[n] != NULL)
            n++;
        struct arm_list list = list_of(rows[i].texts, n);
        assert_int_equal(arms_check(&list, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, rows[i].says) == NULL)
            fail_msg("says \"%s\", not \"%s\"", e.text, rows[i].says);
    }
}

/* The null backend under another name and with other abilities. */
static struct tls_backend poor;
static const char *const poor_groups[] = {"X25519", "secp256r1", NULL};
static const char *const poor_certificates[] = {"ecdsa-p256", NULL};
static const struct tls_backend *installed[2];

static struct tls_backends backends(void)
{
    poor = *tls_null_backend();
    poor.name = "poor";
    poor.version = "1.2";
    poor.groups = poor_groups;
    poor.certificates = poor_certificates;
    poor.features = 0;
    installed[0] = tls_null_backend();
    installed[1] = &poor;
    return (struct tls_backends){.count = 2, .backend = installed};
}

static void a_plan_fills_both_ends(void **state)
{
    (void)state;
    struct tls_backends b = backends();
    struct arm arm = parse("pq: backend=null groups=?X25519MLKEM768:*X25519/secp256r1");
    struct arm_plan plan;
    struct err e = ERR_INIT;
    assert_int_equal(arm_plan(&arm, &b, &plan, &e), 0);
    assert_ptr_equal(plan.client, installed[0]);
    assert_ptr_equal(plan.server, installed[0]);
    assert_string_equal(plan.client_config.groups, arm.groups);
    assert_string_equal(plan.server_config.groups, "X25519MLKEM768:X25519:secp256r1");
    assert_string_equal(plan.client_config.ciphers, "TLS_AES_256_GCM_SHA384");
    assert_int_equal(plan.client_config.version_min, TLS_VERSION_13);
    assert_int_equal(plan.client_config.version_max, TLS_VERSION_13);
    assert_true(plan.client_config.verify && plan.client_config.verify_name);
    assert_int_equal(plan.server_config.tickets, 0);

    arm = parse("x: backend=null groups=X25519MLKEM768:X25519 server-backend=poor sni=off "
                "tickets=1");
    assert_int_equal(arm_plan(&arm, &b, &plan, &e), 0);
    assert_string_equal(plan.server_config.groups, "X25519"); /* what the server has of it */
    assert_true(plan.client_config.verify && !plan.client_config.verify_name);
    assert_int_equal(plan.server_config.tickets, 1);

    arm = parse("d: backend=null");
    assert_int_equal(arm_plan(&arm, &b, &plan, &e), 0);
    assert_null(plan.client_config.groups);
    assert_null(plan.server_config.groups);
}

static void what_a_library_has_not_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        enum err_kind kind;
    } rows[] = {
        {"pq: backend=poor groups=X25519MLKEM768",
         "arm pq: group X25519MLKEM768: not supported by poor-1.2 (has: X25519, secp256r1)",
         ERR_UNSUPPORTED},
        {"pq: backend=poor groups=X25519 server-groups=X448",
         "arm pq: server: group X448: not supported by poor-1.2", ERR_UNSUPPORTED},
        {"pq: backend=null server-backend=poor groups=X448:MLKEM768",
         "poor-1.2 has none of them (has: X25519, secp256r1)", ERR_UNSUPPORTED},
        {"pq: backend=poor groups=X25519 cert=mldsa65",
         "certificate mldsa65: not supported by poor-1.2 (has: ecdsa-p256)", ERR_UNSUPPORTED},
        {"pq: backend=poor groups=X25519 tls=1.2", "arm pq: tls=1.2: not supported by poor-1.2",
         ERR_UNSUPPORTED},
        {"pq: backend=poor groups=X25519 resume=0.5", "resume: not supported by poor-1.2",
         ERR_UNSUPPORTED},
        {"pq: backend=poor groups=X25519 resume=1 early-data=9", "not supported by poor-1.2",
         ERR_UNSUPPORTED},
        {"pq: groups=MLKEM768 tls=1.2 backend=null", "none of them exists in TLS 1.2",
         ERR_UNSUPPORTED},
        {"pq: groups=X25519 tls=1.2 cert=mldsa44 backend=null", "not in TLS 1.2",
         ERR_UNSUPPORTED},
        {"pq: groups=X25519 backend=boring", "arm pq: backend: ", ERR_USAGE},
        {"pq: groups=X25519 server-backend=boring backend=null", "server-backend: ", ERR_USAGE},
    };
    struct tls_backends b = backends();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arm arm = parse(rows[i].text);
        struct arm_plan plan;
        struct err e = ERR_INIT;
        assert_int_equal(arm_plan(&arm, &b, &plan, &e), -1);
        if (strstr(e.text, rows[i].says) == NULL)
            fail_msg("%s says \"%s\", not \"%s\"", rows[i].text, e.text, rows[i].says);
        assert_int_equal(e.kind, rows[i].kind);
    }
}

static void an_optional_group_may_be_missing(void **state)
{
    (void)state;
    struct tls_backends b = backends();
    struct arm arm = parse("a: backend=poor groups=?X448:X25519");
    struct arm_plan plan;
    struct err e = ERR_INIT;
    assert_int_equal(arm_plan(&arm, &b, &plan, &e), 0);
    assert_string_equal(plan.server_config.groups, "X25519");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_a_default_that_reads_back),
        cmocka_unit_test(what_is_set_reads_back),
        cmocka_unit_test(units_and_names_are_understood),
        cmocka_unit_test(nonsense_is_refused_and_named),
        cmocka_unit_test(a_refused_value_leaves_the_arm_as_it_was),
        cmocka_unit_test(lists_that_are_too_long_are_refused),
        cmocka_unit_test(the_first_arm_is_the_baseline_and_its_copy_the_control),
        cmocka_unit_test(an_arm_may_name_its_baseline),
        cmocka_unit_test(lists_of_arms_that_contradict_are_refused),
        cmocka_unit_test(a_plan_fills_both_ends),
        cmocka_unit_test(what_a_library_has_not_is_refused_by_name),
        cmocka_unit_test(an_optional_group_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
