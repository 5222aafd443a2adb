/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench report: a result file in any format. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/result_file.h"
#include "report/format.h"

struct report_values {
    unsigned format; /* index into FORMATS, the order of enum report_format_id */
    char *output, *html, *hlog;
    struct output_options look;
};
#define FORMATS "text|json|csv|markdown|html|hlog"

static const struct option rows[] = {
    {.name = "format",
     .kind = OPTION_CHOICE,
     .argument = "FORMAT",
     .initial = "text",
     .help = "how to show it; with --output FILE what the file's name ends with, such as .html",
     .choices = FORMATS,
     .offset = offsetof(struct report_values, format)},
    {.name = "output",
     .kind = OPTION_TEXT,
     .letter = 'o',
     .argument = "FILE",
     .help = "write into this file",
     .unset_note = "standard output",
     .offset = offsetof(struct report_values, output)},
    {.name = "html",
     .kind = OPTION_TEXT,
     .argument = "FILE",
     .help = "write a page with charts into this file; the same as --format html --output FILE",
     .offset = offsetof(struct report_values, html)},
    {.name = "hlog",
     .kind = OPTION_TEXT,
     .argument = "FILE",
     .help = "write the histograms as a log of HdrHistogram; the same as --format hlog "
             "--output FILE",
     .offset = offsetof(struct report_values, hlog)},
    OUTPUT_DETAILS_ROW(offsetof(struct report_values, look)),
    OUTPUT_ASCII_ROW(offsetof(struct report_values, look)),
    {.name = NULL},
};

/* What is to be written where; path NULL: standard output. */
struct report_target {
    enum report_format_id format;
    const char *path, *option; /* that said so, or NULL */
};

/* --html and --hlog are format and file in one. */
static int find_target(const struct command_call *call, struct report_target *out,
                       struct err *e)
{
    const struct report_values *v = call->options.values;
    const bool has_format = options_is_given(&call->options, "format");
    const char *option = v->html ? "--html" : "--hlog";
    *out = (struct report_target){(enum report_format_id)v->format, v->output, "--output"};
    if (!v->html && !v->hlog) {
        if (v->output && !has_format)
            report_format_of_path(v->output, &out->format);
        return 0;
    }
    if (has_format || v->output || (v->html && v->hlog))
        return err_set(e, ERR_USAGE, "%s: says format and file already; leave %s out", option,
                       has_format  ? "--format"
                       : v->output ? "--output"
                                   : "--hlog");
    *out = (struct report_target){v->html ? REPORT_HTML : REPORT_HLOG,
                                  v->html ? v->html : v->hlog, option};
    return 0;
}

static int check(struct command_call *call, struct err *e)
{
    struct report_target target;
    if (find_target(call, &target, e) != 0)
        return -1;
    const bool is_many = target.format == REPORT_TEXT || target.format == REPORT_MARKDOWN;
    if (!is_many && call->operands > 1)
        return err_set(e, ERR_USAGE, "--format: %s shows one result; %zu were given",
                       report_format_of(target.format)->name, call->operands);
    if (target.path && outfile_probe(target.path, e) != 0)
        return err_add_context(e, "%s", target.option);
    return 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct report_values *v = call->options.values;
    struct report_target target;
    struct report_options look = output_look(&v->look);
    struct text content = {0};
    int failed = find_target(call, &target, e);
    if (target.path) {
        look.has_colour = false;
        look.columns = 100;
    }
    for (size_t i = 0; i < call->operands && !failed; i++) {
        struct result *result = result_file_read(call->operand[i], e);
        if (result) {
            text_add(&content, i > 0 && target.format == REPORT_TEXT ? "\n" : "");
            report_format_of(target.format)->add(result, &content, &look);
        } else {
            failed = -1;
        }
        result_free(result);
    }
    if (!failed)
        failed = outfile_write(target.path ? target.path : "-", &content, e);
    text_free(&content);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench report results/quick",
    "pqc-bench report --format markdown results/quick/result.json",
    "pqc-bench report -o report.html results/quick",
    NULL,
};

const struct command cmd_report = {
    .name = "report",
    .summary = "Show results that were written before, as text, a page with charts, CSV, "
               "Markdown or JSON",
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
