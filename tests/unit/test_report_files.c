/* SPDX-License-Identifier: Apache-2.0 */
/* Is a report file there whole or not at all, and does a bad path fail before a run? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/text.h"
#include "report/files.h"
#include "report/json_read.h"

/* A fresh directory, and a path in it; both live until the next call. */
static char directory[64];

static const char *in_directory(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof(path[0]), "%s/%s", directory, name);
    return out;
}

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "%s", "/tmp/pqc-bench-test-XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_directory(void **state)
{
    (void)state;
    DIR *open = opendir(directory);
    for (const struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        char path[sizeof(directory) + sizeof(entry->d_name) + 1];
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (unlink(path) != 0)
            rmdir(path);
    }
    closedir(open);
    return rmdir(directory);
}

static unsigned count_entries(void)
{
    unsigned n = 0;
    DIR *open = opendir(directory);
    while (readdir(open) != NULL)
        n++;
    closedir(open);
    return n - 2;
}

static void check_content(const char *path, const char *want)
{
    char got[256] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, want);
}

static void write_text(const char *path, const char *content)
{
    struct err e = ERR_INIT;
    struct text text = {0};
    text_add(&text, content);
    if (report_write_file(path, &text, &e) != 0)
        fail_msg("%s", e.text);
    text_free(&text);
}

static void a_file_is_replaced_whole_and_nothing_is_left_over(void **state)
{
    (void)state;
    write_text(in_directory("a"), "one\n");
    write_text(in_directory("a"), "two\n");
    write_text(in_directory("b"), "");
    check_content(in_directory("a"), "two\n");
    check_content(in_directory("b"), "");
    assert_int_equal(count_entries(), 2);
}

static void a_link_is_replaced_and_not_followed(void **state)
{
    (void)state;
    struct stat facts;
    write_text(in_directory("victim"), "old\n");
    assert_int_equal(symlink("victim", in_directory("link")), 0);
    write_text(in_directory("link"), "new\n");
    check_content(in_directory("victim"), "old\n");
    check_content(in_directory("link"), "new\n");
    assert_int_equal(lstat(in_directory("link"), &facts), 0);
    assert_true(S_ISREG(facts.st_mode));
}

static void a_link_where_the_new_file_would_be_is_left_alone(void **state)
{
    (void)state;
    char name[64];
    write_text(in_directory("victim"), "old\n");
    snprintf(name, sizeof(name), "a.%ld-0.tmp", (long)getpid());
    assert_int_equal(symlink("victim", in_directory(name)), 0);
    write_text(in_directory("a"), "new\n");
    check_content(in_directory("victim"), "old\n");
    check_content(in_directory("a"), "new\n");
}

static void the_umask_holds(void **state)
{
    (void)state;
    struct stat facts;
    const mode_t before = umask(027);
    write_text(in_directory("a"), "x");
    umask(before);
    assert_int_equal(stat(in_directory("a"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
}

static void what_cannot_be_written_is_named_and_leaves_nothing(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct text text = {0};
    char want[256];
    assert_int_equal(report_write_file(in_directory("no/a"), &text, &e), -1);
    snprintf(want, sizeof(want), "%s: No such file or directory", in_directory("no/a"));
    assert_string_equal(e.text, want);
    assert_int_equal(e.kind, ERR_SYSTEM);
    /* A directory is no file: the rename fails and the temporary file goes. */
    assert_int_equal(mkdir(in_directory("sub"), 0777), 0);
    assert_int_equal(report_write_file(in_directory("sub"), &text, &e), -1);
    assert_int_equal(count_entries(), 1);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct text text = {0};
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    text_add(&text, "x");
    assert_int_equal(report_write_fd(fileno(full), &text, &e), -1);
    assert_string_equal(e.text, "cannot write: No space left on device");
    fclose(full);
    text_free(&text);
}

static void a_directory_is_made_and_tried(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    assert_int_equal(report_probe_directory(in_directory("out"), &e), 0);
    assert_int_equal(report_probe_directory(in_directory("out"), &e), 0);
    assert_int_equal(rmdir(in_directory("out")), 0); /* the trial file is gone */
    write_text(in_directory("file"), "");
    assert_int_equal(report_probe_directory(in_directory("file"), &e), -1);
    assert_non_null(strstr(e.text, "file: Not a directory"));
    assert_int_equal(report_probe_directory(in_directory("file/out"), &e), -1);
    assert_int_equal(report_probe_directory(in_directory("no/out"), &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
}

static void every_format_is_written_and_json_reads_back(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct result *r = result_new(RESULT_KIND_CPU);
    result_add_arm(r, "pq");
    assert_int_equal(report_write_all(r, directory, &e), 0);
    assert_int_equal(count_entries(), 5);
    struct result *again = json_read_file(in_directory("result.json"), &e);
    assert_non_null(again);
    assert_string_equal(again->arm[0].name, "pq");
    result_free(again);
    result_free(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_replaced_whole_and_nothing_is_left_over),
        TEST(a_link_is_replaced_and_not_followed),
        TEST(a_link_where_the_new_file_would_be_is_left_alone),
        TEST(the_umask_holds),
        TEST(what_cannot_be_written_is_named_and_leaves_nothing),
        TEST(a_full_disk_is_an_error),
        TEST(a_directory_is_made_and_tried),
        TEST(every_format_is_written_and_json_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
