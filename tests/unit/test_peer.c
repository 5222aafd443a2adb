/* SPDX-License-Identifier: Apache-2.0 */
/* Do servers that others wrote get what the endpoints say, and is one known that cannot serve
 * it?  (tests/cli/test_servers.py starts them.) */
#include "cmocka_all.h"
#include <string.h>
#include "run/peer_config.h"

#define NGINX(version, rest) "nginx version: nginx/" version "\n" rest
#define HAPROXY(version, rest) "HAProxy version " version " 2026/01/01 - x\n" rest
#define WITH_SSL "configure arguments: --with-http_ssl_module"

static void versions_are_read_and_old_ones_refused(void **state)
{
    static const struct {
        enum peer_kind kind;
        const char *text;
        enum err_kind expected;
        const char *part; /* of the error; or the OpenSSL's version */
    } cases[] = {
        {PEER_NGINX, NGINX("1.26.0", "built with OpenSSL 3.5.0 8 Apr\n" WITH_SSL), ERR_NONE,
         "3.5.0"},
        {PEER_NGINX,
         NGINX("1.29.4 (Ubuntu)", "built with OpenSSL 3.4.1 x (running with OpenSSL 3.5.2 y)\n"
                                  "running with OpenSSL 3.5.2 y\n" WITH_SSL),
         ERR_NONE, "3.5.2"},
        {PEER_NGINX, NGINX("2.0.0", "built with OpenSSL 4.0.0 x\n" WITH_SSL), ERR_NONE,
         "4.0.0"},
        {PEER_NGINX, NGINX("1.9.15", "built with OpenSSL 3.5.0 x\n" WITH_SSL), ERR_UNSUPPORTED,
         "too old"},
        {PEER_NGINX, NGINX("1.26.0", "built with OpenSSL 3.5.0 x\n"), ERR_UNSUPPORTED,
         "http_ssl_module"},
        {PEER_NGINX, NGINX("1.26.0", "built with OpenSSL 3.0.15 x\n" WITH_SSL), ERR_UNSUPPORTED,
         "X25519MLKEM768"},
        {PEER_NGINX, NGINX("1.26.0", "built with LibreSSL 4.0.0\n" WITH_SSL), ERR_UNSUPPORTED,
         "without OpenSSL"},
        {PEER_NGINX, NGINX("x", WITH_SSL), ERR_USAGE, "no nginx"},
        {PEER_NGINX, "", ERR_USAGE, "no nginx"},
        {PEER_HAPROXY,
         HAPROXY("3.0.11-1+deb13u5", "Running on OpenSSL version : OpenSSL 3.5.9"), ERR_NONE,
         "3.5.9"},
        {PEER_HAPROXY, HAPROXY("2.9.9", "Running on OpenSSL version : OpenSSL 3.5.9"),
         ERR_UNSUPPORTED, "too old"},
        {PEER_HAPROXY,
         HAPROXY("3.2.0", "Built with OpenSSL version : OpenSSL 3.5.1\n"
                          "Running on OpenSSL version : OpenSSL 3.2.0"),
         ERR_UNSUPPORTED, "3.2.0"},
        {PEER_HAPROXY, NGINX("1.26.0", WITH_SSL), ERR_USAGE, "no haproxy"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct peer_program program = {.kind = PEER_NONE};
        struct err e = ERR_INIT;
        const int failed = peer_read_version(cases[i].kind, cases[i].text, &program, &e);
        assert_int_equal(e.kind, cases[i].expected);
        assert_int_equal(failed, cases[i].expected == ERR_NONE ? 0 : -1);
        if (failed == 0)
            assert_string_equal(program.tls_version, cases[i].part);
        else
            assert_non_null(strstr(e.text, cases[i].part));
    }
}

/* tickets of each listener -> the process that serves it */
static void haproxy_has_a_process_for_each_number_of_tickets_and_nginx_one(void **state)
{
    static const unsigned tickets[] = {2, 0, 2, 5, 0};
    static const size_t haproxy[] = {0, 1, 0, 2, 1};
    struct tls_config config[5] = {{.tickets = 0}};
    struct peer_listener listener[5];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        config[i].tickets = tickets[i];
        listener[i] = (struct peer_listener){.config = &config[i]};
    }
    assert_int_equal(peer_config_assign(PEER_NGINX, listener, 5), 1);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(listener[i].process, 0);
    assert_int_equal(peer_config_assign(PEER_HAPROXY, listener, 5), 3);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(listener[i].process, haproxy[i]);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void each_process_is_told_of_its_own_listeners(void **state)
{
    static const struct tls_config config[] = {
        {.version_max = TLS_VERSION_13, .ciphers = "TLS_A", .groups = "X25519", .tickets = 0},
        {.version_max = TLS_VERSION_13, .ciphers = "TLS_A", .groups = "MLKEM768", .tickets = 4},
        {.version_max = TLS_VERSION_12, .ciphers = "ECDHE-A", .tickets = 4},
    };
    static const uint64_t payloads[] = {20000};
    struct peer_listener listener[3];
    struct peer_program program = {.kind = PEER_HAPROXY};
    struct peer_config c = {.program = &program,
                            .folder = "/f",
                            .listener = listener,
                            .listeners = 3,
                            .payload_bytes = payloads,
                            .payloads = 1,
                            .cores = {.count = 3, .core = {0, 2, 3}},
                            .connections = 100};
    struct text text = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        listener[i] = (struct peer_listener){.config = &config[i], .fd = 7 + (int)i};
    assert_int_equal(peer_config_assign(PEER_HAPROXY, listener, 3), 2);
    c.process = 1;
    peer_config_write(&c, &text);
    assert_int_equal(occurrences(text_str(&text), "bind "), 2);
    assert_null(strstr(text_str(&text), "fd@7"));
    assert_non_null(strstr(text_str(&text),
                           "bind fd@8 ssl crt /f/1.both.pem ssl-min-ver TLSv1.3 "
                           "ssl-max-ver TLSv1.3 ciphersuites TLS_A curves "
                           "MLKEM768\n"));
    assert_non_null(strstr(text_str(&text),
                           "bind fd@9 ssl crt /f/2.both.pem ssl-min-ver TLSv1.2 "
                           "ssl-max-ver TLSv1.2 ciphers ECDHE-A\n"));
    assert_non_null(strstr(text_str(&text), "nbthread 3\n"));
    assert_non_null(strstr(text_str(&text), "cpu-map 1/2 2\n"));
    assert_non_null(strstr(text_str(&text), "file /f/bytes/20000 if { path /bytes/20000 }"));
    text_free(&text);
    peer_config_write_openssl(&c, &text);
    assert_non_null(strstr(text_str(&text), "NumTickets = 4\n"));
    text_free(&text);
    program.kind = PEER_NGINX;
    peer_config_write(&c, &text);
    assert_non_null(strstr(text_str(&text), "worker_processes 3;\n"));
    assert_non_null(strstr(text_str(&text), "worker_cpu_affinity 1 100 1000;\n"));
    text_free(&text);
    c.process = 0;
    peer_config_write_openssl(&c, &text);
    assert_non_null(strstr(text_str(&text), "NumTickets = 0\n"));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read_and_old_ones_refused),
        cmocka_unit_test(haproxy_has_a_process_for_each_number_of_tickets_and_nginx_one),
        cmocka_unit_test(each_process_is_told_of_its_own_listeners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
