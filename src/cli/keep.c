/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/keep.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "cli/outfile.h"
#include "report/files.h"
#include "report/format.h"

#define COST_SHARE 0.1

/* Files of the result that was there before would belong to none. */
static void remove_others(const char *directory)
{
    for (unsigned i = 0; i < REPORT_FORMATS; i++) {
        const struct report_format *format = report_format_of((enum report_format_id)i);
        if (format->file == NULL || i == REPORT_JSON)
            continue;
        char *path = outfile_join(directory, format->file);
        (void)unlink(path);
        free(path);
    }
}

static int write_directory(const char *directory, const struct text *json, struct err *e)
{
    char *path = outfile_join(directory, report_format_of(REPORT_JSON)->file);
    int failed = outfile_make_directory(directory, e); /* somebody may have removed it */
    if (!failed)
        failed = report_write_file(path, json, e);
    if (!failed)
        remove_others(directory);
    free(path);
    return failed ? err_add_context(e, "--output") : 0;
}

static bool has_json_file(const struct output_options *o)
{
    return o->json != NULL && !outfile_is_stream(o->json);
}

static int write_both(const struct output_options *o, const struct text *json, struct err *e)
{
    if (has_json_file(o) && outfile_write(o->json, json, e) != 0)
        return err_add_context(e, "--json");
    return o->directory != NULL ? write_directory(o->directory, json, e) : 0;
}

static void keep_result(void *arg)
{
    struct keep *k = arg;
    const struct output_options *o = k->output;
    const uint64_t began_ns = clock_now_ns();
    struct text json = {0};
    struct err e = ERR_INIT;
    if (began_ns < k->next_ns || (o->directory == NULL && !has_json_file(o)))
        return;
    k->result->is_interrupted = true;
    int failed = result_check(k->result, &e);
    if (!failed)
        report_format_of(REPORT_JSON)->add(k->result, &json, NULL);
    k->result->is_interrupted = false;
    if (!failed)
        failed = write_both(o, &json, &e);
    if (failed && !k->has_failed) {
        k->has_failed = true;
        result_add_problem(k->result, RESULT_NOTE, "not-kept", NULL, 0, e.text);
    }
    text_free(&json);
    const uint64_t ended_ns = clock_now_ns();
    k->next_ns = ended_ns + (uint64_t)((double)(ended_ns - began_ns) / COST_SHARE);
}

struct run_keep keep_hook(struct keep *k)
{
    return (struct run_keep){.keep = keep_result, .arg = k};
}
