/* SPDX-License-Identifier: Apache-2.0 */
/* Can every single operation be run, over and over? */
#include "conformance.h"
#include "lab.h"

/* A backend has all operations of what it lists, or none (then by name). */
static bool has_operations(void)
{
    struct err e = ERR_INIT;
    struct tls_primitive_op *op = lab->primitive_new(TLS_PRIMITIVE_KEYGEN, lab->groups[0], &e);
    if (op == NULL) {
        assert_int_equal(e.kind, ERR_UNSUPPORTED);
        assert_contains(e.text, lab_label());
    }
    lab->primitive_free(op);
    return op != NULL;
}

static void run_some(enum tls_primitive what, const char *name)
{
    struct err e = ERR_INIT;
    struct tls_primitive_op *op = lab->primitive_new(what, name, &e);
    if (op == NULL)
        fail_msg("%s: %s", name, e.text);
    for (int i = 0; i < 5; i++)
        assert_int_equal(lab->primitive_run(op), 0);
    lab->primitive_free(op);
}

static void every_group_has_its_operations(void **state)
{
    (void)state;
    if (!has_operations())
        skip();
    for (const char *const *name = lab->groups; *name != NULL; name++) {
        run_some(TLS_PRIMITIVE_KEYGEN, *name);
        run_some(TLS_PRIMITIVE_DERIVE, *name);
        run_some(TLS_PRIMITIVE_ENCAPSULATE, *name);
    }
}

static void every_certificate_kind_has_its_operations(void **state)
{
    (void)state;
    if (!has_operations())
        skip();
    for (const char *const *name = lab->certificates; *name != NULL; name++) {
        run_some(TLS_PRIMITIVE_SIGN, *name);
        run_some(TLS_PRIMITIVE_VERIFY, *name);
    }
}

static void both_key_schedules_can_be_run(void **state)
{
    (void)state;
    if (!has_operations())
        skip();
    struct err e = ERR_INIT;
    run_some(TLS_PRIMITIVE_SCHEDULE, "SHA256");
    run_some(TLS_PRIMITIVE_SCHEDULE, "SHA384");
    assert_null(lab->primitive_new(TLS_PRIMITIVE_SCHEDULE, "SHA512", &e));
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "bogus", "ecdsa-p256"};
    for (size_t i = 0; i < 3; i++) {
        struct err e = ERR_INIT;
        assert_null(lab->primitive_new(TLS_PRIMITIVE_KEYGEN, bad[i], &e));
        assert_int_equal(e.kind, ERR_UNSUPPORTED);
        assert_contains(e.text, bad[i]);
    }
    struct err e = ERR_INIT;
    assert_null(lab->primitive_new(TLS_PRIMITIVE_SIGN, "X25519", &e));
    lab->primitive_free(NULL);
}

/* A failed operation must leave nothing behind for a handshake. */
static void operations_and_handshakes_do_not_disturb_each_other(void **state)
{
    (void)state;
    if (!has_operations())
        skip();
    struct spec spec = spec_new();
    struct pair pair;
    pair_open(&pair, &spec);
    for (int turn = 0; turn < 6; turn++) {
        assert_null(lab->primitive_new(TLS_PRIMITIVE_KEYGEN, "bogus", NULL));
        run_some(TLS_PRIMITIVE_DERIVE, "X25519MLKEM768");
        pump_turn(&pair.pump, turn % 2);
    }
    assert_int_equal(pair.pump.status[CLIENT], TLS_STATUS_OK);
    assert_int_equal(pair.pump.status[SERVER], TLS_STATUS_OK);
    pair_close(&pair);
}

int conform_primitive(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_has_its_operations),
        cmocka_unit_test(every_certificate_kind_has_its_operations),
        cmocka_unit_test(both_key_schedules_can_be_run),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(operations_and_handshakes_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests_name("primitives", tests, NULL, NULL);
}
