/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "report/files.h"
#include "report/json_read.h"

/* The options that take a file, one format each. */
struct taker {
    const char *option, *path;
    enum report_format_id format;
};
#define TAKERS 5u

static void list_takers(const struct output_options *o, struct taker out[TAKERS])
{
    out[0] = (struct taker){"--json", o->json, REPORT_JSON};
    out[1] = (struct taker){"--csv", o->csv, REPORT_CSV};
    out[2] = (struct taker){"--markdown", o->markdown, REPORT_MARKDOWN};
    out[3] = (struct taker){"--html", o->html, REPORT_HTML};
    out[4] = (struct taker){"--hlog", o->hlog, REPORT_HLOG};
}

struct report_options output_look(const struct output_options *o)
{
    return (struct report_options){
        .columns = terminal_is(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : 100,
        .has_colour = terminal_has_colours(STDOUT_FILENO),
        .has_utf8 = !o->is_ascii && terminal_has_utf8(),
        .is_detailed = o->is_detailed,
    };
}

static int prepare_directory(const char *directory, struct err *e)
{
    if (outfile_make_directory(directory, e) != 0 || report_probe_directory(directory, e) != 0)
        return err_add_context(e, "--output");
    return 0;
}

int output_prepare(const struct output_options *o, struct err *e)
{
    struct taker takers[TAKERS];
    const struct taker *stdout_taker = NULL;
    list_takers(o, takers);
    for (size_t i = 0; i < TAKERS; i++) {
        if (!takers[i].path)
            continue;
        if (outfile_is_stdout(takers[i].path) && stdout_taker)
            return err_set(e, ERR_USAGE, "%s -: standard output is taken by %s already",
                           takers[i].option, stdout_taker->option);
        if (outfile_is_stdout(takers[i].path))
            stdout_taker = &takers[i];
        if (outfile_probe(takers[i].path, e) != 0)
            return err_add_context(e, "%s", takers[i].option);
    }
    return o->directory ? prepare_directory(o->directory, e) : 0;
}

static int write_taker(const struct taker *taker, const struct output_options *o,
                       const struct result *result, struct err *e)
{
    struct report_options look = REPORT_OPTIONS_DEFAULT;
    struct text content = {0};
    look.is_detailed = o->is_detailed;
    report_format_of(taker->format)->add(result, &content, &look);
    int failed = outfile_write(taker->path, &content, e);
    text_free(&content);
    return failed ? err_add_context(e, "%s", taker->option) : 0;
}

static int write_directory(const char *directory, const struct result *result, struct err *e)
{
    /* It was there before the run; somebody may have removed it since. */
    if (outfile_make_directory(directory, e) != 0 ||
        report_write_all(result, directory, e) != 0)
        return err_add_context(e, "--output");
    return 0;
}

/* Where a result that found no place is put, so that the run was not in vain: a file for the
 * user alone, named in the error. */
static void rescue(const struct result *result, struct err *e)
{
    const char *folder = getenv("TMPDIR");
    struct text json = {0}, path = {0};
    struct err unwritten = ERR_INIT;
    text_addf(&path, "%s/pqc-bench-XXXXXX.json", folder && folder[0] == '/' ? folder : "/tmp");
    char *name = text_take(&path);
    const int fd = mkostemps(name, 5, O_CLOEXEC);
    if (fd >= 0) {
        report_add_json(result, &json, NULL);
        if (report_write_fd(fd, &json, &unwritten) == 0)
            err_set(e, e->kind, "%s; the result is in %s", e->text, name);
        else
            unlink(name);
        close(fd);
    }
    text_free(&json);
    free(name);
}

/* One that cannot be written is no reason to leave out the next.  The first error counts. */
static int write_files(const struct output_options *o, const struct taker *takers,
                       const struct result *result, struct err *e)
{
    struct err later = ERR_INIT, *next = e;
    bool has_json = false, has_lost = false;
    for (size_t i = 0; i < TAKERS; i++) {
        const struct taker *t = &takers[i];
        if (!t->path)
            continue;
        const bool is_written =
            outfile_is_stdout(t->path) || write_taker(t, o, result, next) == 0;
        has_json = has_json || (is_written && t->format == REPORT_JSON);
        has_lost = has_lost || !is_written;
        next = has_lost ? &later : e;
    }
    if (o->directory && write_directory(o->directory, result, next) != 0)
        has_lost = true;
    if (has_lost && !has_json)
        rescue(result, e);
    return has_lost ? -1 : 0;
}

static void show_table(const struct output_options *o, const struct result *result)
{
    struct report_options look = output_look(o);
    struct text table = {0};
    report_add_text(result, &table, &look);
    fwrite(text_str(&table), 1, table.length, stdout);
    text_free(&table);
}

static bool is_faultless(const struct result *result)
{
    bool is_found = !result->is_valid;
    for (size_t i = 0; i < result->problems; i++)
        is_found = is_found || result->problem[i].severity == RESULT_LEFT_OUT;
    return !is_found;
}

static int answer_strict(const struct result *result, struct err *e)
{
    for (size_t i = 0; i < result->problems; i++)
        if (result->problem[i].severity != RESULT_NOTE)
            return err_set(e, ERR_FAILED, "not valid: %s: %s", result->problem[i].code,
                           result->problem[i].message);
    return err_set(e, ERR_FAILED, "not valid");
}

/* The result as its file will tell it: digits that the file does not keep must not decide
 * how a figure is rounded now and later.  NULL for one too large to be read back. */
static struct result *as_in_file(const struct result *result)
{
    struct text json = {0};
    struct err e = ERR_INIT;
    report_add_json(result, &json, NULL);
    struct result *same = json_read_text(text_str(&json), json.length, &e);
    text_free(&json);
    return same;
}

static int show(const struct output_options *o, const struct result *result, struct err *e)
{
    struct taker takers[TAKERS];
    list_takers(o, takers);
    const int failed = write_files(o, takers, result, e);
    bool is_taken = false;
    for (size_t i = 0; i < TAKERS; i++) {
        if (!takers[i].path || !outfile_is_stdout(takers[i].path))
            continue;
        is_taken = true;
        (void)!write_taker(&takers[i], o, result, NULL); /* main asks how it went */
    }
    if (!is_taken && !o->is_quiet)
        show_table(o, result);
    if (failed)
        return -1;
    return o->is_strict && !is_faultless(result) ? answer_strict(result, e) : 0;
}

int output_show(const struct output_options *o, const struct result *result, struct err *e)
{
    struct result *same = as_in_file(result);
    int failed = show(o, same ? same : result, e);
    result_free(same);
    return failed;
}
