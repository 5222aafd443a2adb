/* SPDX-License-Identifier: Apache-2.0 */
/* Do all modules live in one process, keep to themselves, and understand each other?
 *   together MODULE.so... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lab.h"

#define MODULES_MAX 16

static const struct tls_backend *module[MODULES_MAX];
static int modules;

static void every_module_is_another_library(void **state)
{
    (void)state;
    for (int i = 0; i < modules; i++) {
        assert_int_equal(module[i]->abi, TLS_BACKEND_ABI);
        for (int k = 0; k < i; k++)
            assert_false(strcmp(module[i]->name, module[k]->name) == 0 &&
                         strcmp(module[i]->version, module[k]->version) == 0);
        /* The library that was linked in answers, not a neighbour of the same name. */
        assert_contains(module[i]->description, module[i]->name);
        if (strcmp(module[i]->name, "null") != 0)
            assert_contains(module[i]->description, module[i]->version);
    }
}

/* null speaks to itself alone. */
static bool is_real(const struct tls_backend *backend)
{
    return strcmp(backend->name, "null") != 0;
}

static struct tls_context *open_context(const struct tls_backend *backend,
                                        const struct tls_config *config)
{
    struct err e = ERR_INIT;
    struct tls_context *context = backend->context_new(config, &e);
    if (context == NULL)
        fail_msg("%s", e.text);
    return context;
}

static void shake_across(const struct tls_backend *client, const struct tls_backend *server,
                         const char *group, const char *kind)
{
    lab = server; /* whose identities these are */
    struct spec spec = spec_new();
    struct tls_identity identity;
    struct tls_identity_spec wanted = {kind, TLS_CHAIN_INTERMEDIATE, HOST};
    assert_int_equal(server->identity_make(&wanted, &identity, NULL), 0);
    spec_use(&spec, &identity);
    spec_groups(&spec, group, group);
    struct tls_context *context[SIDES] = {open_context(client, &spec.client),
                                          open_context(server, &spec.server)};
    struct pump pump;
    pump_init(&pump, client, server);
    assert_true(pump_connect(&pump, context[CLIENT], context[SERVER], HOST, NULL));
    if (!pump_handshake(&pump)) {
        struct tls_failure failure;
        client->failure(pump.conn[CLIENT], &failure);
        fail_msg("%s %s to %s %s, %s, %s: %s", client->name, client->version, server->name,
                 server->version, group, kind, failure.detail);
    }
    struct tls_info info[SIDES];
    for (int side = 0; side < SIDES; side++)
        pump.backend[side]->info(pump.conn[side], &info[side]);
    assert_string_equal(info[CLIENT].group, group);
    assert_string_equal(info[SERVER].group, group);
    assert_string_equal(info[CLIENT].cipher, info[SERVER].cipher);
    assert_string_equal(info[CLIENT].signature, info[SERVER].signature);
    pump_fini(&pump);
    client->context_free(context[CLIENT]);
    server->context_free(context[SERVER]);
    tls_identity_free(&identity);
}

static void every_client_understands_every_server(void **state)
{
    (void)state;
    static const char *const kinds[] = {"ecdsa-p256", "ed25519", "mldsa44", "mldsa65",
                                        "mldsa87"};
    for (int c = 0; c < modules; c++) {
        for (int s = 0; s < modules; s++) {
            if (!is_real(module[c]) || !is_real(module[s]))
                continue;
            for (const char *const *group = module[c]->groups; *group != NULL; group++)
                if (lab_is_listed(module[s]->groups, *group))
                    shake_across(module[c], module[s], *group, "ecdsa-p256");
            for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
                if (lab_is_listed(module[c]->certificates, kinds[k]) &&
                    lab_is_listed(module[s]->certificates, kinds[k]))
                    shake_across(module[c], module[s], "X25519MLKEM768", kinds[k]);
        }
    }
}

/* A machine's configuration would change groups, ciphers and versions. */
static char config_path[] = "/tmp/pqc-bench-conf-XXXXXX";

static void write_config(void)
{
    static const char text[] = "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n"
                               "[c]\nGroups = secp521r1\nMaxProtocol = TLSv1.2\n";
    int fd = mkstemp(config_path);
    if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1)) {
        perror(config_path);
        exit(1);
    }
    close(fd);
    setenv("OPENSSL_CONF", config_path, 1);
    setenv("SSL_CERT_FILE", config_path, 1);
    setenv("OPENSSL_MODULES", "/nonexistent", 1);
}

static void the_machines_configuration_is_not_read(void **state)
{
    (void)state;
    for (int i = 0; i < modules; i++) {
        lab = module[i];
        struct tls_identity identity;
        struct tls_identity_spec wanted = {lab->certificates[0], TLS_CHAIN_LEAF, HOST};
        assert_int_equal(lab->identity_make(&wanted, &identity, NULL), 0);
        struct spec spec = spec_new();
        struct pair pair;
        spec_use(&spec, &identity);
        spec_version(&spec, TLS_VERSION_ANY, TLS_VERSION_ANY);
        spec_groups(&spec, NULL, NULL);
        pair_shake(&pair, &spec);
        assert_int_equal(pair_info(&pair, CLIENT).version, TLS_VERSION_13);
        assert_string_equal(pair_info(&pair, CLIENT).group, "X25519MLKEM768");
        pair_close(&pair);
        tls_identity_free(&identity);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_module_is_another_library),
        cmocka_unit_test(the_machines_configuration_is_not_read),
        cmocka_unit_test(every_client_understands_every_server),
    };
    if (argc < 2 || argc > MODULES_MAX) {
        fprintf(stderr, "usage: %s MODULE.so...\n", argv[0]);
        return 2;
    }
    write_config();
    while (modules < argc - 1) {
        module[modules] = lab_load(argv[modules + 1]);
        modules++;
    }
    int failed = cmocka_run_group_tests_name("together", tests, NULL, NULL);
    lab_fini();
    unlink(config_path);
    return failed == 0 ? 0 : 1;
}
