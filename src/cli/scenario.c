/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/argv.h"
#include "cli/scenario.h"
#include "run/arm.h"

/* Words of a section's name, at most three: "cpu", "arm", "pq". */
struct section_words {
    size_t count;
    char word[3][INIFILE_SECTION_MAX + 1];
};

struct builder {
    const struct inifile *file;
    const struct command_context *context;
    struct scenario *out;
    struct err *e;
};

static const struct option scenario_rows[] = {
    {.name = "title",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "what is measured",
     .offset = offsetof(struct scenario, title)},
    {.name = "description",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "and why",
     .offset = offsetof(struct scenario, description)},
    {.name = "source",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "who measured it first",
     .offset = offsetof(struct scenario, source)},
    {.name = NULL},
};

/* Put "FILE:LINE: " in front of what is there. */
static int at_line(struct builder *b, unsigned line)
{
    return err_add_context(b->e, "%s:%u", b->file->name, line);
}

/* False where there are more than three words. */
static bool split_words(const char *name, struct section_words *out)
{
    *out = (struct section_words){0};
    while (*name) {
        size_t length = strcspn(name, " ");
        if (out->count == 3)
            return false;
        memcpy(out->word[out->count], name, length);
        out->word[out->count++][length] = '\0';
        name += length;
        name += strspn(name, " ");
    }
    return true;
}

/* "[arm NAME]" or "[SECTION arm NAME]"; *command NULL for the first. */
static bool is_arm_section(const struct section_words *w, const struct command **command)
{
    *command = w->count == 3 ? command_find_section(w->word[0]) : NULL;
    if (w->count == 2)
        return strcmp(w->word[0], "arm") == 0;
    return w->count == 3 && *command && strcmp(w->word[1], "arm") == 0;
}

static bool is_step_section(const struct section_words *w)
{
    if (w->count == 2 && strcmp(w->word[1], "arm") == 0)
        return false;
    return (w->count == 1 || w->count == 2) && command_find_section(w->word[0]);
}

static bool is_scenario_section(const struct section_words *w)
{
    return w->count == 1 && strcmp(w->word[0], "scenario") == 0;
}

static int refuse_section(struct builder *b, const struct inifile_section *section)
{
    const struct command *command;
    struct section_words w;
    if (split_words(section->name, &w) && w.count == 2 && strcmp(w.word[1], "arm") == 0)
        return err_set(b->e, ERR_USAGE, "%s:%u: [%s]: the arm needs a name", b->file->name,
                       section->line, section->name);
    struct text known = {0};
    text_add(&known, "[scenario], [arm NAME]");
    for (const struct command *const *at = command_all(); (command = *at) != NULL; at++)
        if (command->section)
            text_addf(&known, ", [%s], [%s NAME], [%s arm NAME]", command->section,
                      command->section, command->section);
    err_set(b->e, ERR_USAGE, "%s:%u: [%s]: no such section; there are %s", b->file->name,
            section->line, section->name, text_str(&known));
    text_free(&known);
    return -1;
}

/* A step's name becomes a directory, an arm's has rules of its own. */
static int check_step_name(const char *name, struct err *e)
{
    if (name[0] != '.' &&
        name[strspn(name,
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")] ==
            '\0')
        return 0;
    return err_set(e, ERR_USAGE,
                   "'%s' is no name; give letters, digits, and . _ + - behind them", name);
}

static int refuse_key(struct builder *b, const struct inifile_section *section,
                      const struct option *rows, const struct inifile_entry *entry)
{
    const char *nearest = argv_nearest_option(rows, entry->key);
    err_set(b->e, ERR_USAGE, "%s: [%s] has no such key%s%s%s", entry->key, section->name,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return at_line(b, entry->line);
}

/* The line on which the key stands already, 0 none. */
static unsigned given_before(const struct inifile_section *section, size_t entry)
{
    for (size_t i = 0; i < entry; i++)
        if (strcmp(section->entry[i].key, section->entry[entry].key) == 0)
            return section->entry[i].line;
    return 0;
}

static int set_entry(struct builder *b, struct options *o,
                     const struct inifile_section *section, size_t i)
{
    const struct inifile_entry *entry = &section->entry[i];
    const struct option *row = options_find(o->rows, entry->key);
    unsigned before = given_before(section, i);
    if (!row)
        return refuse_key(b, section, o->rows, entry);
    if (row->is_command_line_only)
        err_set(b->e, ERR_USAGE, "%s: only on the command line, not in a scenario", entry->key);
    else if (before > 0 && row->kind != OPTION_LIST)
        err_set(b->e, ERR_USAGE, "%s: given before, on line %u", entry->key, before);
    else if (options_set(o, row, entry->value, b->e) != 0)
        err_add_context(b->e, "%s", entry->key);
    else
        return 0;
    return at_line(b, entry->line);
}

static int set_entries(struct builder *b, struct options *o,
                       const struct inifile_section *section)
{
    for (size_t i = 0; i < section->entries; i++)
        if (set_entry(b, o, section, i) != 0)
            return -1;
    return 0;
}

static int read_arm_key(struct builder *b, struct arm *arm,
                        const struct inifile_section *section, size_t i)
{
    const struct inifile_entry *entry = &section->entry[i];
    unsigned before = given_before(section, i);
    if (before > 0)
        err_set(b->e, ERR_USAGE, "%s: given before, on line %u", entry->key, before);
    else if (strchr(entry->value, ' '))
        err_set(b->e, ERR_USAGE, "%s: '%s' has blanks; an arm's value has none", entry->key,
                entry->value);
    else if (arm_set(arm, entry->key, entry->value, b->e) == 0)
        return 0;
    return at_line(b, entry->line);
}

/* The section as the text of --arm. */
static int read_arm(struct builder *b, const struct inifile_section *section, const char *name,
                    struct text *out)
{
    struct arm arm;
    if (arm_check_name(name, b->e) != 0)
        return at_line(b, section->line);
    arm_init(&arm, name);
    text_addf(out, "%s:", name);
    for (size_t i = 0; i < section->entries; i++) {
        if (read_arm_key(b, &arm, section, i) != 0)
            return -1;
        text_addf(out, " %s=%s", section->entry[i].key, section->entry[i].value);
    }
    return 0;
}

/* Add the section's arm to the steps that it is for; at least one must be. */
static int add_arm(struct builder *b, const struct inifile_section *section,
                   const struct section_words *w, const struct command *only)
{
    struct text text = {0};
    bool is_used = false;
    int failed = read_arm(b, section, w->word[w->count - 1], &text);
    for (size_t i = 0; !failed && i < b->out->steps; i++) {
        struct command_call *call = &b->out->step[i].call;
        const struct option *row = options_find(call->options.rows, "arm");
        if (!row || (only && call->command != only))
            continue;
        is_used = true;
        failed = options_set(&call->options, row, text_str(&text), b->e);
        if (failed)
            at_line(b, section->line);
    }
    text_free(&text);
    if (!failed && !is_used)
        failed = err_set(b->e, ERR_USAGE, "%s:%u: [%s]: no section uses this arm",
                         b->file->name, section->line, section->name);
    return failed;
}

static int add_step(struct builder *b, const struct inifile_section *section,
                    const struct section_words *w)
{
    struct scenario *s = b->out;
    if (w->count == 2 && check_step_name(w->word[1], b->e) != 0)
        return at_line(b, section->line);
    if (s->steps == SCENARIO_STEPS_MAX)
        return err_set(b->e, ERR_USAGE, "%s:%u: more than %u sections that run", b->file->name,
                       section->line, SCENARIO_STEPS_MAX);
    s->step = mem_resize(s->step, s->steps + 1, sizeof *s->step);
    struct scenario_step *step = &s->step[s->steps++];
    *step = (struct scenario_step){.label = mem_copy_string(section->name),
                                   .slug = mem_copy_string(section->name)};
    char *blank = strchr(step->slug, ' ');
    if (blank)
        *blank = '-';
    command_call_init(&step->call, command_find_section(w->word[0]), b->context);
    step->call.title = step->label;
    return 0;
}

/* First pass: the sections are known, the steps exist, what the scenario is about is set. */
static int add_steps(struct builder *b, struct options *about)
{
    for (size_t i = 0; i < b->file->sections; i++) {
        const struct inifile_section *section = &b->file->section[i];
        const struct command *only;
        struct section_words w;
        int failed = 0;
        bool is_named = split_words(section->name, &w);
        if (is_named && is_scenario_section(&w))
            failed = set_entries(b, about, section);
        else if (is_named && is_step_section(&w))
            failed = add_step(b, section, &w);
        else if (!is_named || !is_arm_section(&w, &only))
            failed = refuse_section(b, section);
        if (failed)
            return -1;
    }
    return 0;
}

/* Second pass: the arms, in the order of the file. */
static int add_arms(struct builder *b)
{
    for (size_t i = 0; i < b->file->sections; i++) {
        const struct inifile_section *section = &b->file->section[i];
        const struct command *only;
        struct section_words w;
        if (split_words(section->name, &w) && is_arm_section(&w, &only) &&
            add_arm(b, section, &w, only) != 0)
            return -1;
    }
    return 0;
}

/* Third pass: the steps' own keys. */
static int set_steps(struct builder *b)
{
    size_t step = 0;
    for (size_t i = 0; i < b->file->sections; i++) {
        const struct inifile_section *section = &b->file->section[i];
        struct section_words w;
        if (split_words(section->name, &w) && is_step_section(&w) &&
            set_entries(b, &b->out->step[step++].call.options, section) != 0)
            return -1;
    }
    return 0;
}

int scenario_build(const struct inifile *file, const struct command_context *context,
                   struct scenario *out, struct err *e)
{
    struct builder b = {.file = file, .context = context, .out = out, .e = e};
    struct options about;
    *out = (struct scenario){0};
    options_init(&about, scenario_rows, out);
    int failed = add_steps(&b, &about);
    if (!failed && out->steps == 0)
        failed = err_set(e, ERR_USAGE, "%s: no section that runs; add [cpu]", file->name);
    if (!failed)
        failed = add_arms(&b);
    if (!failed)
        failed = set_steps(&b);
    if (failed)
        scenario_free(out);
    return failed ? -1 : 0;
}

void scenario_free(struct scenario *s)
{
    for (size_t i = 0; i < s->steps; i++) {
        command_call_fini(&s->step[i].call);
        free(s->step[i].label);
        free(s->step[i].slug);
    }
    free(s->step);
    free(s->title);
    free(s->description);
    free(s->source);
    *s = (struct scenario){0};
}

/* Lay it over one step; *is_used says whether the step knows the key. */
static int override_step(struct command_call *call, const char *key, const char *value,
                         bool *is_used, struct err *e)
{
    const struct option *row = options_find(call->options.rows, key);
    if (!row || row->is_command_line_only)
        return 0;
    *is_used = true;
    options_forget(&call->options, row);
    return options_set(&call->options, row, value, e) != 0 ? err_add_context(e, "%s", key) : 0;
}

int scenario_override(struct scenario *s, const char *setting, struct err *e)
{
    char *key = mem_copy_string(setting), *equals = strchr(key, '=');
    bool is_used = false;
    int failed = 0;
    if (!equals || equals == key)
        failed = err_set(e, ERR_USAGE,
                         "'%s' is no setting; give KEY=VALUE or SECTION.KEY=VALUE", setting);
    else
        *equals = '\0';
    char *dot = failed ? NULL : strchr(key, '.');
    if (dot)
        *dot = '\0';
    for (size_t i = 0; !failed && i < s->steps; i++) {
        struct command_call *call = &s->step[i].call;
        if (!dot || strcmp(call->command->section, key) == 0)
            failed = override_step(call, dot ? dot + 1 : key, equals + 1, &is_used, e);
    }
    if (!failed && !is_used)
        failed =
            err_set(e, ERR_USAGE, "'%s': no section of the scenario has this key", setting);
    free(key);
    return failed;
}
