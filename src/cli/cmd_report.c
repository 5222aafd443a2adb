/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench report: a result file in any format. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/text.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "report/format.h"
#include "report/json_read.h"

struct report_values {
    unsigned format; /* index into FORMATS, the order of enum report_format_id */
    char *output;
    struct output_options look;
};
#define FORMATS "text|json|csv|markdown"

static const struct option rows[] = {
    {.name = "format",
     .kind = OPTION_CHOICE,
     .argument = "FORMAT",
     .initial = "text",
     .help = "how to show it",
     .choices = FORMATS,
     .offset = offsetof(struct report_values, format)},
    {.name = "output",
     .kind = OPTION_TEXT,
     .letter = 'o',
     .argument = "FILE",
     .help = "write into this file",
     .unset_note = "standard output",
     .offset = offsetof(struct report_values, output)},
    OUTPUT_DETAILS_ROW(offsetof(struct report_values, look)),
    OUTPUT_ASCII_ROW(offsetof(struct report_values, look)),
    {.name = NULL},
};

/* A directory stands for the result.json in it. */
static struct result *read_operand(const char *path, struct err *e)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return json_read_file(path, e);
    char *file = outfile_join(path, "result.json");
    struct result *result = json_read_file(file, e);
    free(file);
    return result;
}

static int check(struct command_call *call, struct err *e)
{
    const struct report_values *v = call->options.values;
    bool is_one = v->format == REPORT_JSON || v->format == REPORT_CSV;
    if (is_one && call->operands > 1)
        return err_set(e, ERR_USAGE, "--format: json and csv show one result; %zu were given",
                       call->operands);
    if (v->output && outfile_probe(v->output, e) != 0)
        return err_add_context(e, "--output");
    return 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct report_values *v = call->options.values;
    const struct report_format *format = report_format_of((enum report_format_id)v->format);
    struct report_options look = output_look(&v->look);
    struct text content = {0};
    int failed = 0;
    if (v->output) {
        look.has_colour = false;
        look.columns = 100;
    }
    for (size_t i = 0; i < call->operands && !failed; i++) {
        struct result *result = read_operand(call->operand[i], e);
        if (result) {
            text_add(&content, i > 0 && v->format == REPORT_TEXT ? "\n" : "");
            format->add(result, &content, &look);
        } else {
            failed = -1;
        }
        result_free(result);
    }
    if (!failed)
        failed = outfile_write(v->output ? v->output : "-", &content, e);
    text_free(&content);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench report results/quick",
    "pqc-bench report --format markdown results/quick/result.json",
    NULL,
};

const struct command cmd_report = {
    .name = "report",
    .summary = "Show results that were written before, as text, JSON, CSV or Markdown",
    .operands = "RESULT...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = rows,
    .values_size = sizeof(struct report_values),
    .examples = examples,
    .details = "RESULT is a result.json, or a directory that holds one. Whatever is shown is "
               "made from that file alone.",
    .check = check,
    .run = run,
};
