/* SPDX-License-Identifier: Apache-2.0 */
/* Does a predicted key share go where the server would choose, and change nothing else? */
#include "cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run/first_hello.h"
#include "run/predict.h"
#include "tls/null.h"

static const struct tls_backend *installed[1];

static struct predict_from from_nowhere(struct tls_backends *backends)
{
    installed[0] = tls_null_backend();
    *backends = (struct tls_backends){.count = 1, .backend = installed};
    return (struct predict_from){.backends = backends};
}

static void a_list_is_read_by_number_and_by_name(void **state)
{
    (void)state;
    uint16_t list[PREDICT_LIST_MAX];
    size_t count;
    struct err e = ERR_INIT;
    assert_int_equal(predict_read_list("4588,x25519,P-256,0,65535", list, &count, &e), 0);
    assert_int_equal(count, 5);
    const uint16_t expected[] = {0x11ec, 0x001d, 0x0017, 0, 65535};
    assert_memory_equal(list, expected, sizeof(expected));
}

static void what_is_no_prediction_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",          ",",       "29,",        ",29",     "29,,23",      "29,29",
        "29,X25519", "65536",   "4294967325", "-1",      "+29",         "0x1d",
        "1k",        "29 ,23",  "bogus",      "DNS",     "dns:",        "dns:9p",
        "dns:a.b",   "dns:a:b", "dnsx",       "*X25519", "X25519:X448",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err e = ERR_INIT;
        if (predict_check(bad[i], &e) == 0)
            fail_msg("'%s' is accepted", bad[i]);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.text, "accepted: "));
    }
}

static void what_is_accepted_reads_back(void **state)
{
    (void)state;
    static const char *const good[] = {"off", "dns", "dns:imaps", "dns:a-9", "29", "X25519,23"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct arm arm;
        struct err e = ERR_INIT;
        char value[ARM_TEXT_MAX + 1];
        arm_init(&arm, "a");
        if (arm_set(&arm, "predict", good[i], &e) != 0)
            fail_msg("%s: %s", good[i], e.text);
        assert_string_equal(arm_get(&arm, "predict", value, sizeof(value)), good[i]);
        assert_true(predict_is_dns(value) == (strncmp(value, "dns", 3) == 0));
    }
}

static void a_list_of_as_many_as_there_is_room_for_is_read(void **state)
{
    (void)state;
    char text[1024] = "0";
    uint16_t list[PREDICT_LIST_MAX];
    size_t count;
    struct err e = ERR_INIT;
    for (unsigned i = 1; i < PREDICT_LIST_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%u", i);
    assert_int_equal(predict_read_list(text, list, &count, &e), 0);
    assert_int_equal(count, PREDICT_LIST_MAX);
    strcat(text, ",999");
    assert_int_equal(predict_read_list(text, list, &count, &e), -1);
}

static void the_servers_order_decides(void **state)
{
    (void)state;
    static const uint16_t client[] = {0x11ec, 0x001d, 0x0017};
    static const struct {
        uint16_t server[4];
        size_t servers, chosen;
    } rows[] = {
        {{0x0017, 0x001d, 0x11ec}, 3, 0}, /* not the client's first */
        {{0x0a0a, 0x0018, 0x001d, 0x0017}, 4, 2},
        {{0x11ec}, 1, 0},
        {{0x0018, 0x0019}, 2, 2},
        {{0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(predict_choose(rows[i].server, rows[i].servers, client, 3),
                         rows[i].chosen);
    assert_int_equal(predict_choose(rows[0].server, 3, NULL, 0), 3);
}

/* As the command does it: parse, predict, and hand out what is sent. */
static struct arm predicted(const char *text)
{
    struct tls_backends backends;
    const struct predict_from from = from_nowhere(&backends);
    struct arm_list *arms = calloc(1, sizeof(*arms));
    struct err e = ERR_INIT;
    assert_non_null(arms);
    arms->count = 1;
    if (arm_parse(text, &arms->arm[0], &e) != 0 || predict_arms(arms, &from, &e) != 0)
        fail_msg("%s: %s", text, e.text);
    struct arm arm = arms->arm[0];
    free(arms);
    return arm;
}

static void one_share_is_marked_and_the_list_stays(void **state)
{
    (void)state;
    static const struct {
        const char *arm, *sent, *share;
    } rows[] = {
        {"a: groups=X25519MLKEM768:X25519:secp256r1 predict=29",
         "X25519MLKEM768:*X25519:secp256r1", "X25519"},
        {"a: groups=*X25519MLKEM768:*X25519 predict=4588,29", "*X25519MLKEM768:X25519",
         "X25519MLKEM768"},
        {"a: groups=?bogus:?X25519/secp256r1 predict=9,23", "X25519:*secp256r1", "secp256r1"},
        {"a: groups=X25519:X448 predict=30000,23", "X25519:X448", ""},
        {"a: groups=X25519:X448 predict=off", "X25519:X448", ""},
        {"a: groups=X25519:X448", "X25519:X448", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "%s backend=null", rows[i].arm);
        struct arm arm = predicted(text);
        assert_string_equal(arm_groups_sent(&arm), rows[i].sent);
        assert_string_equal(arm.prediction.share, rows[i].share);
    }
}

static struct hello hello_of(const char *groups)
{
    struct hello hello;
    struct err e = ERR_INIT;
    const struct tls_config config = {
        .role = TLS_ROLE_CLIENT,
        .version_min = TLS_VERSION_13,
        .version_max = TLS_VERSION_13,
        .groups = groups,
    };
    if (first_hello(tls_null_backend(), &config, &hello, &e) != 0)
        fail_msg("%s", e.text);
    return hello;
}

static void the_librarys_own_list_stays_too(void **state)
{
    (void)state;
    struct hello before = hello_of(NULL);
    struct arm arm = predicted("a: backend=null predict=1,23");
    struct hello after = hello_of(arm_groups_sent(&arm));
    assert_true(before.groups > 2);
    assert_int_equal(after.groups, before.groups);
    assert_memory_equal(after.group, before.group, sizeof(before.group));
    assert_int_equal(after.shares, 1);
    assert_int_equal(after.share[0], 23);
    assert_int_not_equal(before.share[0], 23);
}

static void what_cannot_be_predicted_is_refused_by_name(void **state)
{
    (void)state;
    struct tls_backends backends;
    const struct predict_from from = from_nowhere(&backends);
    struct arm_list *arms = calloc(1, sizeof(*arms));
    struct err e = ERR_INIT;
    assert_non_null(arms);
    arms->count = 1;
    assert_int_equal(arm_parse("old: tls=1.2 backend=null predict=29", &arms->arm[0], &e), 0);
    assert_int_equal(predict_arms(arms, &from, &e), -1);
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "arm old: predict"));
    free(arms);
}

/* A result with one arm that saw so many HelloRetryRequests. */
static struct result *told(const char *text, uint64_t hrr)
{
    struct arm_list *arms = calloc(1, sizeof(*arms));
    struct result *result = result_new(RESULT_KIND_CPU);
    assert_non_null(arms);
    arms->count = 1;
    arms->arm[0] = predicted(text);
    struct result_arm *out = result_add_arm(result, "a");
    negotiated_add(&out->negotiated, "X25519", 10);
    out->negotiated.hrr = hrr;
    predict_tell(arms, result);
    free(arms);
    return result;
}

static void a_wrong_prediction_is_said_and_no_fault(void **state)
{
    (void)state;
    struct result *result = told("a: groups=X25519:X448 backend=null predict=30,29", 10);
    assert_int_equal(result->problems, 1);
    assert_string_equal(result->problem[0].code, "wrong-prediction");
    assert_true(result->is_valid);
    assert_string_equal(pairs_find(&result->arm[0].prediction, "share"), "X448");
    assert_string_equal(pairs_find(&result->arm[0].prediction, "server"), "30,29");
    result_free(result);
    result = told("a: groups=X25519:X448 backend=null predict=30", 0);
    assert_int_equal(result->problems, 0);
    result_free(result);
    result = told("a: groups=X25519:X448 backend=null predict=23", 0);
    assert_int_equal(result->problems, 1);
    assert_string_equal(result->problem[0].code, "no-prediction");
    assert_null(pairs_find(&result->arm[0].prediction, "share"));
    result_free(result);
    result = told("a: groups=X25519:X448 backend=null", 10);
    assert_int_equal(result->problems, 0);
    assert_int_equal(result->arm[0].prediction.count, 0);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_read_by_number_and_by_name),
        cmocka_unit_test(what_is_accepted_reads_back),
        cmocka_unit_test(what_is_no_prediction_is_refused),
        cmocka_unit_test(a_list_of_as_many_as_there_is_room_for_is_read),
        cmocka_unit_test(the_servers_order_decides),
        cmocka_unit_test(one_share_is_marked_and_the_list_stays),
        cmocka_unit_test(the_librarys_own_list_stays_too),
        cmocka_unit_test(what_cannot_be_predicted_is_refused_by_name),
        cmocka_unit_test(a_wrong_prediction_is_said_and_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
