/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench run: what a scenario file says. */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/outfile.h"
#include "cli/output.h"
#include "cli/scenario.h"
#include "cli/scenario_find.h"

struct run_values {
    uint64_t seed;
    struct option_list settings;
    struct output_options output;
    bool is_check_only;
};

static int check_setting(const char *text, struct err *e)
{
    const char *equals = strchr(text, '=');
    if (equals && equals != text && equals[1])
        return 0;
    return err_set(e, ERR_USAGE, "'%s' is no setting; give KEY=VALUE or SECTION.KEY=VALUE",
                   text);
}

static const struct option rows[] = {
    {.name = "output",
     .kind = OPTION_TEXT,
     .letter = 'o',
     .argument = "DIR",
     .help = "write the results into this directory; of several sections each into one below",
     .unset_note = "results/NAME-TIME",
     .offset = offsetof(struct run_values, output.directory)},
    {.name = "set",
     .kind = OPTION_LIST,
     .argument = "KEY=VALUE",
     .help = "change an option in every section that has it, or with SECTION.KEY=VALUE in the "
             "sections of one command; may be repeated",
     .check = check_setting,
     .offset = offsetof(struct run_values, settings)},
    {.name = "seed",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .help = "the same as --set seed=COUNT",
     .unset_note = "that of the file, or a fresh one",
     .low = 0,
     .high = 9007199254740991.0,
     .offset = offsetof(struct run_values, seed)},
    {.name = "check",
     .kind = OPTION_SWITCH,
     .initial = "off",
     .help = "only read the file and see whether it could run",
     .offset = offsetof(struct run_values, is_check_only)},
    OUTPUT_DETAILS_ROW(offsetof(struct run_values, output)),
    OUTPUT_ASCII_ROW(offsetof(struct run_values, output)),
    OUTPUT_QUIET_ROW(offsetof(struct run_values, output)),
    OUTPUT_STRICT_ROW(offsetof(struct run_values, output)),
    {.name = NULL},
};

static int apply_settings(const struct command_call *call, struct scenario *s, struct err *e)
{
    const struct run_values *v = call->options.values;
    for (size_t i = 0; i < v->settings.count; i++)
        if (scenario_override(s, v->settings.item[i], e) != 0)
            return err_add_context(e, "--set");
    if (!options_is_given(&call->options, "seed"))
        return 0;
    struct text setting = {0};
    text_addf(&setting, "seed=%" PRIu64, v->seed);
    int failed = scenario_override(s, text_str(&setting), e);
    text_free(&setting);
    return failed ? err_add_context(e, "--seed") : 0;
}

/* Give a step one of our own options. */
static int hand_on(struct command_call *step, const char *name, const char *value,
                   struct err *e)
{
    const struct option *row = options_find(step->options.rows, name);
    assert(row);
    return options_set(&step->options, row, value, e);
}

static int hand_on_output(const struct run_values *v, const struct scenario *s,
                          const char *directory, struct err *e)
{
    for (size_t i = 0; i < s->steps; i++) {
        struct scenario_step *step = &s->step[i];
        char *own =
            s->steps > 1 ? outfile_join(directory, step->slug) : mem_copy_string(directory);
        int failed = hand_on(&step->call, "output", own, e) != 0 ||
                     (v->output.is_detailed && hand_on(&step->call, "details", "on", e) != 0) ||
                     (v->output.is_ascii && hand_on(&step->call, "ascii", "on", e) != 0) ||
                     (v->output.is_strict && hand_on(&step->call, "strict", "on", e) != 0) ||
                     (v->output.is_quiet && hand_on(&step->call, "quiet", "on", e) != 0);
        free(own);
        if (failed)
            return -1;
    }
    return 0;
}

/* "results/one-process-20260102T030405Z" */
static char *default_directory(const char *path)
{
    char stamp[40];
    struct text out = {0};
    char *name = scenario_name(path);
    text_addf(&out, "results/%s-", name);
    for (const char *at = clock_wall_stamp(stamp, sizeof stamp); *at; at++)
        if (*at != '-' && *at != ':')
            text_add_bytes(&out, at, 1);
    free(name);
    return text_take(&out);
}

static void show_heading(const struct scenario *s)
{
    if (!s->title)
        return;
    printf("%s\n", s->title);
    if (s->source)
        printf("(%s)\n", s->source);
    printf("\n");
}

/* All of them are looked at before the first runs. */
static int check_steps(const struct scenario *s, struct err *e)
{
    for (size_t i = 0; i < s->steps; i++) {
        struct command_call *call = &s->step[i].call;
        if (call->command->check && call->command->check(call, e) != 0)
            return err_add_context(e, "[%s]", s->step[i].label);
    }
    return 0;
}

static int run_steps(const struct command_call *call, const struct scenario *s,
                     const char *directory, struct err *e)
{
    const struct run_values *v = call->options.values;
    struct err first = ERR_INIT;
    for (size_t i = 0; i < s->steps && *call->context->stop == 0; i++) {
        struct command_call *step = &s->step[i].call;
        struct err one = ERR_INIT;
        if (!v->output.is_quiet && s->steps > 1)
            printf("%s[%s]\n", i > 0 ? "\n" : "", s->step[i].label);
        if (step->command->run(step, &one) != 0 && first.kind == ERR_NONE) {
            err_add_context(&one, "[%s]", s->step[i].label);
            first = one;
        }
        fflush(stdout);
    }
    if (!v->output.is_quiet)
        printf("\nResults: %s\n", directory);
    if (first.kind != ERR_NONE) {
        *e = first;
        return -1;
    }
    return 0;
}

static int run_scenario(const struct command_call *call, const char *path, struct scenario *s,
                        struct err *e)
{
    const struct run_values *v = call->options.values;
    char *directory =
        v->output.directory ? mem_copy_string(v->output.directory) : default_directory(path);
    int failed = apply_settings(call, s, e);
    if (!failed && !v->is_check_only)
        failed = hand_on_output(v, s, directory, e);
    if (!failed)
        failed = check_steps(s, e);
    if (!failed && !v->is_check_only) {
        if (!v->output.is_quiet)
            show_heading(s);
        failed = run_steps(call, s, directory, e);
    }
    free(directory);
    return failed;
}

static int run(struct command_call *call, struct err *e)
{
    struct scenario scenario;
    struct inifile file;
    char *path = scenario_find(call->operand[0], e);
    if (!path)
        return -1;
    int failed = inifile_read(path, &file, e);
    if (!failed) {
        failed = scenario_build(&file, call->context, &scenario, e);
        if (!failed) {
            failed = run_scenario(call, path, &scenario, e);
            scenario_free(&scenario);
        }
        inifile_free(&file);
    }
    free(path);
    return failed;
}

static const char *const examples[] = {
    "pqc-bench run quick",
    "pqc-bench run scenarios/one-process.ini -o results/one-process",
    "pqc-bench run groups --set handshakes=500 --set repeats=3",
    NULL,
};

const struct command cmd_run = {
    .name = "run",
    .summary = "Run a scenario file",
    .operands = "SCENARIO",
    .operands_min = 1,
    .operands_max = 1,
    .options = rows,
    .values_size = sizeof(struct run_values),
    .examples = examples,
    .details = "SCENARIO is an INI file, or the name of one that comes with pqc-bench. Its "
               "sections are described in pqc-bench(1). Everything is checked before the first "
               "section runs; a section that fails does not stop the next ones, and the exit "
               "status tells of it.",
    .run = run,
};
