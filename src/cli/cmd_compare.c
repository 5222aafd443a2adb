/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench compare: results of other days, versions or machines against one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/results.h"
#include "report/across.h"
#include "run/across.h"

struct compare_values {
    struct option_list arms, limits;
    double run_noise;
    bool is_forced, is_quiet;
    char *json, *csv, *markdown, *html;
    struct output_options look;
};

static int check_pair(const char *text, struct err *e)
{
    const char *equals = strchr(text, '=');
    if (equals != NULL && equals != text && equals[1] != '\0' &&
        strchr(equals + 1, '=') == NULL)
        return 0;
    return err_set(e, ERR_USAGE, "'%s': not two names of arms (accepted: A=B)", text);
}

static int check_limit(const char *text, struct err *e)
{
    struct across_bound bound;
    return across_bound_parse(text, &bound, e);
}

#define ROW(option, type, word, text, member, ...)                     \
    {                                                                  \
        .name = option, .kind = type, .argument = word, .help = text,  \
        .offset = offsetof(struct compare_values, member), __VA_ARGS__ \
    }

static const struct option rows[] = {
    ROW("fail-if", OPTION_LIST, "LIMIT",
        "exit with status 3 if the whole interval lies beyond it, as in 'pq:cpu_us.server > "
        "+5%'; may be repeated",
        limits, .unset_note = "no limit", .check = check_limit),
    ROW("arm", OPTION_LIST, "A=B",
        "arm A of the reference is arm B of the others; may be repeated", arms,
        .unset_note = "by name, else by settings", .check = check_pair),
    ROW("anyway", OPTION_SWITCH, NULL,
        "compare other machines, groups or certificates, and results that are not valid",
        is_forced, .initial = "off"),
    ROW("run-noise", OPTION_SHARE, "SHARE",
        "what two runs of one build differ by here, as a standard deviation", run_noise,
        .initial = "0.01", .low = 0.0001, .high = 0.5),
    ROW("json", OPTION_TEXT, "FILE",
        "write the comparison as JSON; - is standard output, in place of the tables", json,
        .unset_note = "no file"),
    ROW("csv", OPTION_TEXT, "FILE", "the same as CSV, one figure a row", csv,
        .unset_note = "no file"),
    ROW("markdown", OPTION_TEXT, "FILE", "the same as Markdown", markdown,
        .unset_note = "no file"),
    ROW("html", OPTION_TEXT, "FILE", "the same as a page with charts, in one file", html,
        .unset_note = "no file"),
    OUTPUT_DETAILS_ROW(offsetof(struct compare_values, look)),
    OUTPUT_ASCII_ROW(offsetof(struct compare_values, look)),
    ROW("quiet", OPTION_SWITCH, NULL, "show nothing; the exit status and the files tell",
        is_quiet, .letter = 'q'),
    {.name = NULL},
};

/* ---- where it goes ---- */

struct taker {
    const char *option, *path;
    void (*add)(const struct across *a, struct text *out);
};
#define TAKERS 4u

static void list_takers(const struct compare_values *v, struct taker out[TAKERS])
{
    out[0] = (struct taker){"--json", v->json, across_add_json};
    out[1] = (struct taker){"--csv", v->csv, across_add_csv};
    out[2] = (struct taker){"--markdown", v->markdown, across_add_markdown};
    out[3] = (struct taker){"--html", v->html, across_add_html};
}

static bool is_stdout(const struct taker *taker)
{
    return taker->path != NULL && outfile_is_stdout(taker->path);
}

static int check(struct command_call *call, struct err *e)
{
    struct taker takers[TAKERS];
    const struct taker *first = NULL;
    list_takers(call->options.values, takers);
    for (size_t i = 0; i < TAKERS; i++) {
        if (is_stdout(&takers[i]) && first != NULL)
            return err_set(e, ERR_USAGE, "%s -: standard output is taken by %s already",
                           takers[i].option, first->option);
        if (is_stdout(&takers[i]))
            first = &takers[i];
        if (takers[i].path != NULL && outfile_probe(takers[i].path, e) != 0)
            return err_add_context(e, "%s", takers[i].option);
    }
    return 0;
}

static int write_taker(const struct taker *taker, const struct across *a, struct err *e)
{
    struct text content = {0};
    taker->add(a, &content);
    const int failed = outfile_write(taker->path, &content, e);
    text_free(&content);
    return failed == 0 ? 0 : err_add_context(e, "%s", taker->option);
}

static void show_text(const struct compare_values *v, const struct across *a, bool is_refused)
{
    struct text out = {0};
    const struct report_options look = output_look(&v->look);
    if (is_refused)
        across_add_facts_text(a, &out, &look);
    else
        across_add_text(a, &out, &look);
    fwrite(text_str(&out), 1, out.length, stdout);
    text_free(&out);
}

/* Files first, standard output last. */
static int show(const struct compare_values *v, const struct across *a, struct err *e)
{
    struct taker takers[TAKERS];
    bool is_taken = false;
    list_takers(v, takers);
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < TAKERS; i++) {
            if (takers[i].path == NULL || is_stdout(&takers[i]) != (pass == 1))
                continue;
            is_taken = is_taken || pass == 1;
            if (write_taker(&takers[i], a, e) != 0)
                return -1;
        }
    if (!is_taken && !v->is_quiet)
        show_text(v, a, false);
    return 0;
}

/* ---- what comes of it ---- */

static int refuse(const struct compare_values *v, const struct across *a, struct err *e)
{
    const struct across_fact *fact = across_forbidding(a);
    if (!v->is_quiet)
        show_text(v, a, true);
    return err_set(e, ERR_FAILED,
                   "%.200s: %s%s%s differs from the reference: %.80s, not %.80s; --anyway "
                   "compares all the same",
                   a->side[fact->side].name, fact->arm != NULL ? fact->arm : fact->subject,
                   fact->arm != NULL ? "'s " : " ", fact->name,
                   fact->after != NULL ? fact->after : "none",
                   fact->before != NULL ? fact->before : "none");
}

static int answer(const struct across *a, struct err *e)
{
    struct text words = {0};
    int failed = 0;
    for (size_t i = 0; i < a->limits && failed == 0; i++)
        if (a->limit[i].broken > 0) {
            across_add_limit_words(a, &a->limit[i], &words);
            failed = err_set(e, ERR_UNMET, "--fail-if: %s", text_str(&words));
        }
    for (size_t i = 0; i < a->limits && failed == 0; i++)
        if (a->limit[i].unjudged == a->limit[i].rows)
            failed = err_set(e, ERR_FAILED,
                             "--fail-if '%s': cannot be judged: too few repeats, or not valid",
                             a->limit[i].text);
    text_free(&words);
    return failed;
}

static int compare(const struct compare_values *v, const struct across_options *options,
                   struct err *e)
{
    struct across *a = across_look(options, e);
    int failed = a == NULL ? -1 : 0;
    if (failed == 0 && !v->is_forced && across_forbidding(a) != NULL)
        failed = refuse(v, a, e);
    if (failed == 0)
        across_measure(options, a);
    for (size_t i = 0; i < v->limits.count && failed == 0; i++)
        failed = across_hold(a, v->limits.item[i], e);
    if (failed == 0)
        failed = show(v, a, e);
    if (failed == 0)
        failed = answer(a, e);
    across_free(a);
    return failed;
}

/* "A=B" in two; the names live as long as *copy. */
static void split_pairs(const struct option_list *texts, struct across_pair *pair, char **copy)
{
    for (size_t i = 0; i < texts->count; i++) {
        copy[i] = mem_copy_string(texts->item[i]);
        char *equals = strchr(copy[i], '=');
        *equals = '\0';
        pair[i] = (struct across_pair){copy[i], equals + 1};
    }
}

static int run(struct command_call *call, struct err *e)
{
    const struct compare_values *v = call->options.values;
    struct across_input sides[ACROSS_SIDES_MAX];
    struct results results = {0};
    struct across_pair *pair = mem_alloc_zeroed(v->arms.count + 1, sizeof *pair);
    char **copy = mem_alloc_zeroed(v->arms.count + 1, sizeof *copy);
    int failed = 0;
    for (size_t i = 0; i < call->operands && failed == 0; i++)
        failed = results_read(&results, call->operand[i], e);
    for (size_t i = 0; i < results.sides; i++)
        sides[i] = (struct across_input){
            .name = results.side[i].name,
            .runs = results.side[i].runs,
            .run = (const struct result *const *)results.side[i].run,
            .file = (const char *const *)results.side[i].file,
        };
    split_pairs(&v->arms, pair, copy);
    const struct across_options options = {.sides = results.sides,
                                           .side = sides,
                                           .pairs = v->arms.count,
                                           .pair = pair,
                                           .is_forced = v->is_forced,
                                           .run_deviation = v->run_noise};
    if (failed == 0)
        failed = compare(v, &options, e);
    for (size_t i = 0; i < v->arms.count; i++)
        free(copy[i]);
    free(copy);
    free(pair);
    results_free(&results);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench compare results/before results/after",
    "pqc-bench compare --fail-if 'cpu_us.server > +5%' results/before results/after",
    "pqc-bench compare before1,before2,before3 after1,after2,after3",
    "pqc-bench compare --anyway --arm pq=hybrid results/intel results/arm",
    NULL,
};

const struct command cmd_compare = {
    .name = "compare",
    .summary =
        "Compare results with each other: of other days, versions, libraries or machines",
    .operands = "RESULT RESULT...",
    .operands_min = 2,
    .operands_max = ACROSS_SIDES_MAX,
    .options = rows,
    .values_size = sizeof(struct compare_values),
    .examples = examples,
    .details =
        "The first RESULT is the reference. A RESULT is a result.json, a directory that holds "
        "one, a directory whose directories hold one each, or several of these with commas "
        "between: results of the same, whose scatter is then known and not assumed.\n\n"
        "What differs in host, library, options and negotiation comes first. Other machines, "
        "groups or certificates are not compared unless --anyway says so.\n\n"
        "LIMIT is [ARM:]METRIC > NUMBER or METRIC < NUMBER; with % a change in percent, else "
        "in "
        "the metric's unit. It is broken when the whole 95 % interval lies beyond it.\n\n"
        "The exit status is 0 if no limit is broken, 3 if one is, 1 if the results cannot be "
        "compared or a limit cannot be judged.",
    .check = check,
    .run = run,
};
