/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "cli/help.h"

static void add_words(struct text *out, const struct command *command)
{
    for (const struct option *row = command->options; row->name; row++) {
        text_addf(out, "--%s ", row->name);
        if (row->kind == OPTION_SWITCH)
            text_addf(out, "--no-%s ", row->name);
    }
    text_add(out, "--help");
}

static void add_choices(struct text *out, const char *choices)
{
    for (; *choices; choices++)
        text_add_bytes(out, *choices == '|' ? " " : choices, 1);
}

/* Values of the options that take one of a few words, and files for those that take one. */
static void add_values(struct text *out, const struct command *command)
{
    for (const struct option *row = command->options; row->name; row++) {
        if (row->kind == OPTION_SWITCH)
            continue;
        text_addf(out, "    %s:--%s) ", command->name, row->name);
        if (row->choices) {
            text_add(out, "words='");
            add_choices(out, row->choices);
            text_add(out, "' ;;\n");
        } else if (strcmp(row->argument, "DIR") == 0) {
            text_add(out, "files=-d ;;\n");
        } else if (strcmp(row->argument, "FILE") == 0) {
            text_add(out, "files=-f ;;\n");
        } else {
            text_add(out, ";;\n");
        }
    }
}

static void add_command_names(struct text *out)
{
    for (const struct command *const *at = command_all(); *at; at++)
        text_addf(out, "%s ", (*at)->name);
    text_add(out, "--help --version");
}

void completion_add_script(struct text *out)
{
    text_add(out, "# bash completion for pqc-bench, made by pqc-bench --print-completion\n"
                  "_pqc_bench() {\n"
                  "    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
                  "    local previous=${COMP_WORDS[COMP_CWORD-1]} words='' files=''\n"
                  "    COMPREPLY=()\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    add_command_names(out);
    text_add(out, "'\n    else\n    case $command:$previous in\n");
    for (const struct command *const *at = command_all(); *at; at++)
        add_values(out, *at);
    text_add(out, "    *) case $command in\n");
    for (const struct command *const *at = command_all(); *at; at++) {
        text_addf(out, "    %s) words='", (*at)->name);
        add_words(out, *at);
        text_addf(out, "'%s ;;\n", (*at)->operands ? " files=-f" : "");
    }
    text_add(out, "    esac ;;\n    esac\n    fi\n"
                  "    case $current in -*) files='' ;; esac\n"
                  "    mapfile -t COMPREPLY < <(compgen ${files:+$files} "
                  "${words:+-W \"$words\"} -- \"$current\")\n"
                  "    [ -z \"$files\" ] || compopt -o filenames\n"
                  "}\ncomplete -F _pqc_bench pqc-bench\n");
}
