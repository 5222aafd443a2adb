/* SPDX-License-Identifier: Apache-2.0 */
/* Which backends are found and loaded, and which one does a name mean? */
#include "cmocka_all.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tls/loader.h"

/* ---- a directory of modules ---- */

struct place {
    char root[64];
};

static void place_make(struct place *p)
{
    snprintf(p->root, sizeof(p->root), "/tmp/pqc-bench-loader-XXXXXX");
    assert_non_null(mkdtemp(p->root));
}

static void place_remove(struct place *p)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", p->root);
    assert_int_equal(system(command), 0);
}

static void copy_file(const char *from, const char *to)
{
    char buf[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, buf, sizeof(buf))) > 0;)
        assert_int_equal(write(out, buf, (size_t)n), n);
    close(in);
    close(out);
}

static const char *path_in(const struct place *p, const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", p->root, name);
    return path;
}

/* "openssl_3.5" makes a module that calls itself openssl 3.5. */
static void add_module(const struct place *p, const char *name)
{
    char file[128];
    snprintf(file, sizeof(file), "pqc-bench-tls-%s.so", name);
    copy_file(FAKE_MODULE, path_in(p, file));
}

static int load(const struct place *p, struct tls_backends *out, char **warnings, struct err *e)
{
    const char *const directories[] = {"/nonexistent", p->root, NULL};
    return tls_backends_load_from(directories, out, warnings, e);
}

static const char *names_of(const struct tls_backends *b, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < b->count; i++) {
        char name[64];
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? " " : "",
                                 tls_backend_full_name(b->backend[i], name, sizeof(name)));
    }
    return buf;
}

/* ---- tests ---- */

static void versions_compare_as_numbers(void **state)
{
    static const char *const ascending[] = {"",
                                            "0.9",
                                            "1",
                                            "3.5",
                                            "3.5.7",
                                            "3.5.10",
                                            "3.9",
                                            "3.9.1",
                                            "3.10-dev",
                                            "3.10-beta1",
                                            "3.10-beta2",
                                            "3.10",
                                            "3.10.1",
                                            "3.10a",
                                            "20",
                                            "99999999999999999999998",
                                            "99999999999999999999999"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ascending); i++) {
        for (size_t j = 0; j < COUNT_OF(ascending); j++) {
            int order = tls_version_compare(ascending[i], ascending[j]);
            bool is_dev = strstr(ascending[i], "3.10-") && strstr(ascending[j], "3.10-");
            if (!is_dev && ((order < 0) != (i < j) || (order > 0) != (i > j)))
                fail_msg("%s against %s: %d", ascending[i], ascending[j], order);
        }
    }
    assert_int_equal(tls_version_compare("3.05", "3.5"), 0);
}

static void modules_are_sorted_newest_first(void **state)
{
    static const char *const modules[] = {"openssl_3.9",   "null_1",        "openssl_3.10.0",
                                          "aws-lc_1.55.0", "openssl_3.5.7", "aws-lc_1.9.0"};
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    char *warnings = NULL, names[256];
    (void)state;
    place_make(&p);
    for (size_t i = 0; i < COUNT_OF(modules); i++)
        add_module(&p, modules[i]);
    assert_int_equal(load(&p, &b, &warnings, &e), 0);
    assert_null(warnings);
    assert_string_equal(names_of(&b, names, sizeof(names)),
                        "aws-lc-1.55.0 aws-lc-1.9.0 null-1 openssl-3.10.0 openssl-3.9 "
                        "openssl-3.5.7");
    assert_non_null(strstr(b.path[0], "pqc-bench-tls-aws-lc_1.55.0.so"));
    assert_non_null(strstr(b.path[5], "pqc-bench-tls-openssl_3.5.7.so"));
    tls_backends_free(&b);
    tls_backends_free(&b); /* is empty now */
    place_remove(&p);
}

static void a_bad_module_is_named_and_left_out(void **state)
{
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    char *warnings = NULL, names[64];
    (void)state;
    place_make(&p);
    copy_file("/proc/self/cmdline", path_in(&p, "pqc-bench-tls-text.so"));
    copy_file("/proc/self/cmdline", path_in(&p, "something-else.so"));
    copy_file("/proc/self/cmdline", path_in(&p, "pqc-bench-tls-notes.txt"));
    add_module(&p, "openssl_abi");
    add_module(&p, "openssl_incomplete");
    add_module(&p, "nameless");
    add_module(&p, "null_1");
    assert_int_equal(load(&p, &b, &warnings, &e), 0);
    assert_string_equal(names_of(&b, names, sizeof(names)), "null-1");
    assert_non_null(warnings);
    assert_non_null(strstr(warnings, "tls-text.so: "));
    assert_non_null(strstr(warnings, "openssl_abi.so: made for interface 2"));
    assert_non_null(strstr(warnings, "openssl_incomplete.so: an incomplete"));
    assert_non_null(strstr(warnings, "nameless.so: no TLS backend in it"));
    assert_null(strstr(warnings, "something-else"));
    assert_null(strstr(warnings, "notes"));
    free(warnings);
    tls_backends_free(&b);
    assert_int_equal(load(&p, &b, NULL, &e), 0); /* nobody wants the warnings */
    tls_backends_free(&b);
    place_remove(&p);
}

static void the_same_version_twice_is_taken_once(void **state)
{
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    char *warnings = NULL;
    (void)state;
    place_make(&p);
    add_module(&p, "openssl_3.5.7");
    add_module(&p, "openssl_3.5.07");
    assert_int_equal(load(&p, &b, &warnings, &e), 0);
    assert_int_equal(b.count, 1);
    assert_non_null(strstr(warnings, "is there already"));
    free(warnings);
    tls_backends_free(&b);
    place_remove(&p);
}

static void no_module_at_all_is_an_error(void **state)
{
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    char *warnings = NULL;
    (void)state;
    place_make(&p);
    assert_int_equal(load(&p, &b, &warnings, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_non_null(strstr(e.text, p.root));
    assert_null(warnings);
    add_module(&p, "openssl_abi");
    assert_int_equal(load(&p, &b, &warnings, &e), -1);
    assert_non_null(strstr(e.text, "interface 2"));
    free(warnings);
    place_remove(&p);
}

static void a_name_means_the_newest_that_fits(void **state)
{
    static const char *const modules[] = {"openssl_3.5.7", "openssl_3.50.1", "openssl_3.5.10",
                                          "aws-lc_1.55.0", "null_1"};
    static const struct {
        const char *name, *found; /* NULL: none */
    } cases[] = {
        {NULL, "openssl-3.5.10"},
        {"", "openssl-3.5.10"},
        {"openssl", "openssl-3.50.1"},
        {"openssl-3.5", "openssl-3.5.10"},
        {"openssl-3.5.7", "openssl-3.5.7"},
        {"openssl-3", "openssl-3.50.1"},
        {"OpenSSL-3.5", "openssl-3.5.10"},
        {"aws-lc", "aws-lc-1.55.0"},
        {"aws-lc-1", "aws-lc-1.55.0"},
        {"null", "null-1"},
        {"openssl-", NULL},
        {"openssl-3.", NULL},
        {"openssl-3.5.", NULL},
        {"openssl-3.5.1", NULL},
        {"openssl-3.5.7.1", NULL},
        {"opens", NULL},
        {"openssl3", NULL},
        {"aws", NULL},
        {"wolfssl", NULL},
    };
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    (void)state;
    place_make(&p);
    for (size_t i = 0; i < COUNT_OF(modules); i++)
        add_module(&p, modules[i]);
    assert_int_equal(load(&p, &b, NULL, &e), 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[64];
        const struct tls_backend *found = tls_backends_find(&b, cases[i].name, &e);
        if (cases[i].found != NULL && found == NULL)
            fail_msg("%s: %s", cases[i].name, e.text);
        if (cases[i].found != NULL) {
            assert_string_equal(tls_backend_full_name(found, name, sizeof(name)),
                                cases[i].found);
        } else {
            assert_null(found);
            assert_int_equal(e.kind, ERR_USAGE);
            assert_non_null(strstr(e.text, "installed: aws-lc-1.55.0, null-1, openssl-3.50.1"));
        }
    }
    tls_backends_free(&b);
    place_remove(&p);
}

static void the_default_is_never_null(void **state)
{
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    (void)state;
    place_make(&p);
    add_module(&p, "null_1");
    assert_int_equal(load(&p, &b, NULL, &e), 0);
    assert_null(tls_backends_find(&b, NULL, &e));
    assert_int_equal(e.kind, ERR_UNSUPPORTED);
    tls_backends_free(&b);
    add_module(&p, "zzz_1");
    assert_int_equal(load(&p, &b, NULL, &e), 0);
    assert_string_equal(tls_backends_find(&b, "", &e)->name, "zzz");
    tls_backends_free(&b);
    place_remove(&p);
}

static void the_default_is_the_long_term_openssl_then_the_newest(void **state)
{
    static const char *const steps[][2] = {
        {"aws-lc_1.9.0", "aws-lc-1.9.0"},     {"openssl_3.9.0", "openssl-3.9.0"},
        {"openssl_3.50.1", "openssl-3.50.1"}, {"openssl_3.5.7", "openssl-3.5.7"},
        {"openssl_3.5.10", "openssl-3.5.10"},
    };
    struct place p;
    struct tls_backends b;
    struct err e = ERR_INIT;
    char name[64];
    (void)state;
    place_make(&p);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        add_module(&p, steps[i][0]);
        assert_int_equal(load(&p, &b, NULL, &e), 0);
        tls_backend_full_name(tls_backends_find(&b, NULL, &e), name, sizeof(name));
        assert_string_equal(name, steps[i][1]);
        tls_backends_free(&b);
    }
    place_remove(&p);
}

static void a_name_that_is_too_long_is_cut(void **state)
{
    char buf[8];
    struct tls_backend backend = {.name = "openssl", .version = "3.5.7"};
    (void)state;
    assert_string_equal(tls_backend_full_name(&backend, buf, sizeof(buf)), "openssl");
}

/* This program, copied to another place and run there, prints what it finds. */
static int print_backends(void)
{
    struct tls_backends b;
    struct err e = ERR_INIT;
    char names[256];
    if (tls_backends_load(&b, NULL, &e) != 0) {
        printf("%s", e.text);
        return 1;
    }
    printf("%s", names_of(&b, names, sizeof(names)));
    tls_backends_free(&b);
    return 0;
}

static void run_copy(const struct place *p, char *out, size_t size)
{
    char command[600];
    snprintf(command, sizeof(command), "cd / && %s --print", path_in(p, "bin/program"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, size - 1, pipe)] = '\0';
    pclose(pipe);
}

static void modules_are_looked_for_beside_the_program_then_where_installed(void **state)
{
    struct place p, module;
    char out[1024], command[1024], installed[512] = "";
    (void)state;
    place_make(&p);
    place_make(&module);
    assert_int_equal(mkdir(path_in(&p, "bin"), 0755), 0);
    copy_file("/proc/self/exe", path_in(&p, "bin/program"));
    run_copy(&p, out, sizeof(out));
    /* "no TLS backends (...) in ROOT/bin/modules, ROOT/bin/../lib/pqc-bench" */
    const char *second = strstr(out, "/bin/modules, ");
    assert_non_null(second);
    assert_int_equal(sscanf(second, "/bin/modules, %511s", installed), 1);
    assert_non_null(strstr(installed, "/bin/../lib"));

    add_module(&module, "openssl_3.5.7");
    snprintf(command, sizeof(command), "mkdir -p %s && cp %s/*.so %s", installed, module.root,
             installed);
    assert_int_equal(system(command), 0);
    run_copy(&p, out, sizeof(out));
    assert_string_equal(out, "openssl-3.5.7");

    assert_int_equal(mkdir(path_in(&p, "bin/modules"), 0755), 0);
    add_module(&p, "null_1");
    snprintf(command, sizeof(command), "mv %s/*.so %s/bin/modules/", p.root, p.root);
    assert_int_equal(system(command), 0);
    run_copy(&p, out, sizeof(out));
    assert_string_equal(out, "null-1");
    place_remove(&module);
    place_remove(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_compare_as_numbers),
        cmocka_unit_test(modules_are_sorted_newest_first),
        cmocka_unit_test(a_bad_module_is_named_and_left_out),
        cmocka_unit_test(the_same_version_twice_is_taken_once),
        cmocka_unit_test(no_module_at_all_is_an_error),
        cmocka_unit_test(a_name_means_the_newest_that_fits),
        cmocka_unit_test(the_default_is_never_null),
        cmocka_unit_test(the_default_is_the_long_term_openssl_then_the_newest),
        cmocka_unit_test(a_name_that_is_too_long_is_cut),
        cmocka_unit_test(modules_are_looked_for_beside_the_program_then_where_installed),
    };
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        return print_backends();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
