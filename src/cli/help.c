/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "base/units.h"
#include "cli/help.h"
#include "run/arm.h"

#define LINE_COLUMNS 80u
#define HELP_COLUMN 26u /* where the second column begins */

const struct help_status *help_statuses(void)
{
    static const struct help_status statuses[] = {
        {"0", "done"},
        {"1", "the measurement failed, or is not valid and --strict was given; doctor: this "
              "machine's results would be worthless"},
        {"2", "the command line or the scenario is wrong, or asks for what is not here"},
        {"3", "it was measured, and what was asked for does not hold; probe: a server does not "
              "negotiate a hybrid group with a browser's hello"},
        {"128+N", "ended by signal N (130: Ctrl-C) after what was finished had been written; a "
                  "second Ctrl-C ends at once and writes nothing"},
        {NULL, NULL},
    };
    return statuses;
}

static size_t add_spaces(struct text *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_add(out, " ");
    return count;
}

/* Words of `s`, broken at LINE_COLUMNS; the line stands at `column`, later ones begin at
 * `indent`. */
static void add_wrapped(struct text *out, const char *s, size_t column, size_t indent)
{
    bool is_first = true;
    while (*s) {
        size_t length = strcspn(s, " \n");
        if (!is_first && column + 1 + length > LINE_COLUMNS) {
            text_add(out, "\n");
            column = add_spaces(out, indent);
        } else if (!is_first) {
            text_add(out, " ");
            column++;
        }
        text_add_bytes(out, s, length);
        column += length;
        is_first = false;
        s += length;
        s += strspn(s, " \n");
    }
    text_add(out, "\n");
}

/* "  NAME   explanation", broken and aligned. */
static void add_entry(struct text *out, const char *name, const char *explanation)
{
    text_addf(out, "  %s", name);
    size_t column = 2 + text_columns(name);
    if (column + 2 > HELP_COLUMN) {
        text_add(out, "\n");
        column = 0;
    }
    column += add_spaces(out, HELP_COLUMN - column);
    add_wrapped(out, explanation, column, HELP_COLUMN);
}

static bool is_on_by_default(const struct option *row)
{
    return row->kind == OPTION_SWITCH && row->initial && strcmp(row->initial, "on") == 0;
}

void help_add_option_name(struct text *out, const struct option *row)
{
    if (row->letter)
        text_addf(out, "-%c, ", row->letter);
    text_addf(out, "--%s%s", is_on_by_default(row) ? "no-" : "", row->name);
    if (row->argument)
        text_addf(out, " %s", row->argument);
}

static void add_limit(struct text *out, const struct option *row, double limit)
{
    char buf[64];
    if (row->kind == OPTION_DURATION)
        text_add(out, units_format_duration_exact((uint64_t)limit, buf, sizeof buf));
    else
        text_add(out, units_format_number(limit, buf, sizeof buf));
}

void help_add_option_facts(struct text *out, const struct option *row)
{
    size_t start = out->length;
    if (row->initial && row->kind != OPTION_SWITCH)
        text_addf(out, "default %s", row->initial);
    else if (row->unset_note)
        text_addf(out, "default: %s", row->unset_note);
    if (row->choices) {
        text_add(out, out->length > start ? "; " : "");
        text_add(out, row->choices);
    }
    if (row->low != 0 || row->high != 0) {
        text_add(out, out->length > start ? "; " : "");
        add_limit(out, row, row->low);
        text_add(out, " to ");
        add_limit(out, row, row->high);
    }
}

static void add_option(struct text *out, const struct option *row)
{
    struct text name = {0}, help = {0}, facts = {0};
    help_add_option_name(&name, row);
    help_add_option_facts(&facts, row);
    text_add(&help, row->help);
    if (facts.length > 0)
        text_addf(&help, " [%s]", text_str(&facts));
    add_entry(out, text_str(&name), text_str(&help));
    text_free(&name);
    text_free(&help);
    text_free(&facts);
}

static bool takes_arms(const struct command *command)
{
    return options_find(command->options, "arm") != NULL;
}

void help_add_arm_keys(struct text *out)
{
    for (const struct arm_key *key = arm_keys(); key->name; key++) {
        struct text name = {0}, help = {0};
        text_addf(&name, "%s=%s", key->name, key->argument);
        text_addf(&help, "%s [default %s]", key->help, key->initial);
        add_entry(out, text_str(&name), text_str(&help));
        text_free(&name);
        text_free(&help);
    }
}

static void add_usage(struct text *out, const struct command *command)
{
    text_addf(out, "Usage: pqc-bench %s [OPTION]...%s%s\n\n", command->name,
              command->operands ? " " : "", command->operands ? command->operands : "");
}

/* Paragraphs, parted by an empty line. */
static void add_details(struct text *out, const char *details)
{
    while (details && *details) {
        const char *end = strstr(details, "\n\n");
        size_t length = end ? (size_t)(end - details) : strlen(details);
        struct text paragraph = {0};
        text_add_bytes(&paragraph, details, length);
        text_add(out, "\n");
        add_wrapped(out, text_str(&paragraph), 0, 0);
        text_free(&paragraph);
        details = end ? end + 2 : NULL;
    }
}

void help_add_command(struct text *out, const struct command *command)
{
    add_usage(out, command);
    struct text summary = {0};
    text_addf(&summary, "%s.", command->summary);
    add_wrapped(out, text_str(&summary), 0, 0);
    text_free(&summary);
    add_details(out, command->details);
    text_add(out, "\nOptions:\n");
    for (const struct option *row = command->options; row->name; row++)
        add_option(out, row);
    add_entry(out, "--help", "this text");
    if (takes_arms(command)) {
        text_add(out, "\nKeys of an arm ('NAME: KEY=VALUE KEY=VALUE ...'):\n");
        help_add_arm_keys(out);
    }
    text_add(out, command->examples[1] ? "\nExamples:\n" : "\nExample:\n");
    for (const char *const *example = command->examples; *example; example++)
        text_addf(out, "  %s\n", *example);
}

void help_add_program(struct text *out)
{
    text_add(out, "Usage: pqc-bench COMMAND [OPTION]...\n\n"
                  "Measures what post-quantum key exchange costs TLS on this machine.\n\n"
                  "Commands:\n");
    for (const struct command *const *at = command_all(); *at; at++) {
        struct text name = {0};
        text_addf(&name, "%s%s%s", (*at)->name, (*at)->operands ? " " : "",
                  (*at)->operands ? (*at)->operands : "");
        add_entry(out, text_str(&name), (*at)->summary);
        text_free(&name);
    }
    text_add(out, "\nOptions:\n");
    add_entry(out, "--help", "this text; behind a command: about that command");
    add_entry(out, "--version", "the version, and that of every TLS library");
    text_add(out, "\nExit status:\n");
    for (const struct help_status *row = help_statuses(); row->status; row++)
        add_entry(out, row->status, row->meaning);
    text_add(out, "\nExample:\n  pqc-bench cpu --arm 'classical: groups=X25519' "
                  "--arm 'pq: groups=X25519MLKEM768'\n");
}
