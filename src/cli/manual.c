/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "cli/build_info.h"
#include "cli/help.h"
#include "run/arm.h"

/* Text for roff: backslashes, hyphens that must stay ASCII, and dots or quotes that would
 * begin a request. */
static void add_roff(struct text *out, const char *s)
{
    bool is_line_start = out->length == 0 || out->data[out->length - 1] == '\n';
    for (; *s; s++) {
        if (is_line_start && (*s == '.' || *s == '\''))
            text_add(out, "\\&");
        if (*s == '\\')
            text_add(out, "\\e");
        else if (*s == '-')
            text_add(out, "\\-");
        else if (*s == '\'')
            text_add(out, "\\(aq");
        else
            text_add_bytes(out, s, 1);
        is_line_start = *s == '\n';
    }
}

static void add_paragraphs(struct text *out, const char *s)
{
    while (s && *s) {
        const char *end = strstr(s, "\n\n");
        size_t length = end ? (size_t)(end - s) : strlen(s);
        struct text paragraph = {0};
        text_add_bytes(&paragraph, s, length);
        text_add(out, ".PP\n");
        add_roff(out, text_str(&paragraph));
        text_add(out, "\n");
        text_free(&paragraph);
        s = end ? end + 2 : NULL;
    }
}

static void add_tagged(struct text *out, const char *tag, const char *explanation)
{
    text_add(out, ".TP\n.B ");
    add_roff(out, tag);
    text_add(out, "\n");
    add_roff(out, explanation);
    text_add(out, "\n");
}

static void add_option(struct text *out, const struct option *row)
{
    struct text name = {0}, help = {0}, facts = {0};
    help_add_option_name(&name, row);
    help_add_option_facts(&facts, row);
    text_addf(&help, "%s.", row->help);
    if (facts.length > 0)
        text_addf(&help, " [%s]", text_str(&facts));
    add_tagged(out, text_str(&name), text_str(&help));
    text_free(&name);
    text_free(&help);
    text_free(&facts);
}

static void add_example(struct text *out, const char *example)
{
    text_add(out, ".PP\n.nf\n.RS\n");
    add_roff(out, example);
    text_add(out, "\n.RE\n.fi\n");
}

static void add_command(struct text *out, const struct command *command)
{
    text_add(out, ".SS ");
    add_roff(out, command->name);
    text_add(out, "\n");
    struct text summary = {0};
    text_addf(&summary, "%s.", command->summary);
    add_roff(out, text_str(&summary));
    text_add(out, "\n");
    text_free(&summary);
    add_paragraphs(out, command->details);
    for (const struct option *row = command->options; row->name; row++)
        add_option(out, row);
    for (const char *const *example = command->examples; *example; example++)
        add_example(out, *example);
}

static void add_arms(struct text *out)
{
    text_add(out, ".SH ARMS\n");
    add_roff(out, "An arm is one configuration to compare, given as "
                  "'NAME: KEY=VALUE KEY=VALUE ...'. The first arm is the baseline, unless an "
                  "arm names another. An arm with the same settings as its baseline is a "
                  "control: its difference is the noise floor.\n");
    for (const struct arm_key *key = arm_keys(); key->name; key++) {
        struct text tag = {0}, help = {0};
        text_addf(&tag, "%s=%s", key->name, key->argument);
        text_addf(&help, "%s. [default %s]", key->help, key->initial);
        add_tagged(out, text_str(&tag), text_str(&help));
        text_free(&tag);
        text_free(&help);
    }
}

static void add_scenarios(struct text *out)
{
    text_add(out, ".SH SCENARIO FILES\n");
    add_roff(out, "A scenario is an INI file. Its sections are\n");
    add_tagged(out, "[scenario]", "title, description, source: text for people.");
    for (const struct command *const *at = command_all(); *at; at++) {
        if (!(*at)->section)
            continue;
        struct text tag = {0}, help = {0};
        text_addf(&tag, "[%s], [%s NAME]", (*at)->section, (*at)->section);
        text_addf(&help,
                  "Run the %s command; the keys are its options. There may be several, "
                  "with different names.",
                  (*at)->name);
        add_tagged(out, text_str(&tag), text_str(&help));
        text_free(&tag);
        text_free(&help);
    }
    add_tagged(out, "[arm NAME]", "An arm of every section that runs; keys as above.");
    add_tagged(out, "[COMMAND arm NAME]", "An arm of that command's sections alone.");
    add_paragraphs(out,
                   "A key stands on one line of at most 190 bytes. Lines that begin with # or "
                   "; are comments; there are no comments behind a value. An unknown section "
                   "or key, and a section or key given twice, are errors.");
}

static void add_statuses(struct text *out)
{
    text_add(out, ".SH EXIT STATUS\n");
    for (const struct help_status *row = help_statuses(); row->status; row++) {
        struct text meaning = {0};
        text_addf(&meaning, "%s.", row->meaning);
        add_tagged(out, row->status, text_str(&meaning));
        text_free(&meaning);
    }
}

void manual_add_page(struct text *out)
{
    text_addf(out,
              ".\\\" made by pqc-bench --print-man\n"
              ".TH PQC\\-BENCH 1 \"\" \"pqc\\-bench %s\" \"User Commands\"\n"
              ".SH NAME\npqc\\-bench \\- what post\\-quantum key exchange costs TLS\n"
              ".SH SYNOPSIS\n.B pqc\\-bench\n.I COMMAND\n[\\fIOPTION\\fR]...\n"
              ".br\n.B pqc\\-bench \\-\\-help\n.br\n.B pqc\\-bench \\-\\-version\n"
              ".SH DESCRIPTION\n",
              build_version());
    add_roff(out, "Measures, on this machine, what a key exchange group, a certificate, a "
                  "cipher or a TLS library costs a TLS handshake against another, in CPU time "
                  "and in bytes on each side, with intervals and a noise floor.\n");
    add_paragraphs(out, "Durations carry a unit (250ms, 30s, 5m), sizes and counts may (1k, "
                        "1MiB). Options are written --name VALUE or --name=VALUE and are not "
                        "abbreviated.");
    text_add(out, ".SH COMMANDS\n");
    for (const struct command *const *at = command_all(); *at; at++)
        add_command(out, *at);
    add_arms(out);
    add_scenarios(out);
    add_statuses(out);
    text_add(out, ".SH ENVIRONMENT\n");
    add_tagged(out, "NO_COLOR", "Set and not empty: no colours.");
    add_tagged(out, "LC_ALL, LC_CTYPE, LANG",
               "Whether the terminal shows UTF-8. Numbers have "
               "a decimal point in every locale.");
    text_add(out, ".SH FILES\n");
    add_tagged(out, "DIR/result.json",
               "Everything that a run found out. The tables are made "
               "from it, also later, by the report command.");
}
