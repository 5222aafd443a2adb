/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/argv.h"

#define NAME_LONGEST 63 /* longer ones are nobody's typing error */

/* Where the reading stands. */
struct reader {
    struct options *o;
    char **argv;
    int argc, at;
    struct err *e;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that turn a into b: insert, delete, replace, swap neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LONGEST + 2];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        above[j] = j;
    memset(before, 0, sizeof rows[0]);
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(replaced, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[length];
}

static bool is_begun_by(const char *name, const char *start)
{
    return strlen(start) >= 3 && strncmp(name, start, strlen(start)) == 0;
}

/* Less is nearer; the result of a name that is too far is SIZE_MAX. */
static size_t name_distance(const char *name, const char *typed)
{
    if (strlen(name) > NAME_LONGEST || strlen(typed) > NAME_LONGEST)
        return SIZE_MAX;
    size_t distance = is_begun_by(name, typed) ? 1 : edit_distance(typed, name);
    return distance * 3 <= strlen(name) + 2 ? distance : SIZE_MAX;
}

static void keep_nearer(const char *name, const char *typed, const char **best, size_t *least)
{
    size_t distance = name_distance(name, typed);
    if (distance < *least) {
        *least = distance;
        *best = name;
    }
}

const char *argv_nearest_name(const char *const *names, size_t count, const char *name)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        keep_nearer(names[i], name, &best, &least);
    return best;
}

const char *argv_nearest_option(const struct option *rows, const char *name)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (; rows->name; rows++)
        keep_nearer(rows->name, name, &best, &least);
    return best;
}

static int refuse_unknown(const struct reader *r, const char *typed, const char *name)
{
    const char *nearest = argv_nearest_option(r->o->rows, name);
    if (nearest)
        return err_set(r->e, ERR_USAGE, "%s: no such option; did you mean --%s?", typed,
                       nearest);
    return err_set(r->e, ERR_USAGE, "%s: no such option; see --help", typed);
}

/* The value of an option that takes one: behind '=', or the next word. */
static int take_value(struct reader *r, const struct option *row, const char *typed,
                      const char *attached)
{
    const char *value = attached;
    if (!value) {
        if (r->at >= r->argc)
            return err_set(r->e, ERR_USAGE, "%s: needs a value (%s)", typed, row->argument);
        value = r->argv[r->at++];
    }
    if (options_set(r->o, row, value, r->e) != 0)
        return err_add_context(r->e, "%s", typed);
    return 0;
}

static int take_switch(struct reader *r, const struct option *row, const char *typed,
                       const char *attached)
{
    if (options_set(r->o, row, attached ? attached : "on", r->e) != 0)
        return err_add_context(r->e, "%s", typed);
    return 0;
}

/* "--no-NAME" of a switch, or NULL. */
static const struct option *find_negated(const struct option *rows, const char *name)
{
    const struct option *row =
        strncmp(name, "no-", 3) == 0 ? options_find(rows, name + 3) : NULL;
    return row && row->kind == OPTION_SWITCH ? row : NULL;
}

static int read_long(struct reader *r, const char *word)
{
    char *typed = mem_copy_string(word);
    char *equals = strchr(typed, '=');
    const char *attached = equals ? word + (equals - typed) + 1 : NULL;
    if (equals)
        *equals = '\0';
    const char *name = typed + 2;
    const struct option *row = options_find(r->o->rows, name);
    const struct option *negated = row ? NULL : find_negated(r->o->rows, name);
    int failed;
    if (row && row->kind == OPTION_SWITCH)
        failed = take_switch(r, row, typed, attached);
    else if (row)
        failed = take_value(r, row, typed, attached);
    else if (negated && attached)
        failed = err_set(r->e, ERR_USAGE, "%s: takes no value", typed);
    else if (negated)
        failed = options_set(r->o, negated, "off", r->e);
    else
        failed = refuse_unknown(r, typed, name);
    free(typed);
    return failed;
}

static int read_short(struct reader *r, const char *word)
{
    char typed[] = {'-', word[1], '\0'};
    for (const struct option *row = r->o->rows; row->name; row++) {
        if (row->letter != word[1])
            continue;
        if (row->kind != OPTION_SWITCH)
            return take_value(r, row, typed, word[2] ? word + 2 : NULL);
        if (!word[2])
            return take_switch(r, row, typed, NULL);
    }
    return err_set(r->e, ERR_USAGE, "%s: no such option; see --help", word);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int argv_parse(struct options *o, int argc, char **argv, struct argv_operands *out,
               struct err *e)
{
    struct reader r = {.o = o, .argv = argv, .argc = argc, .e = e};
    bool is_options_over = false;
    *out = (struct argv_operands){0};
    out->word = mem_alloc_zeroed((size_t)argc + 1, sizeof *out->word);
    while (r.at < argc) {
        char *word = argv[r.at++];
        int failed = 0;
        if (is_options_over || word[0] != '-' || !word[1])
            out->word[out->count++] = word;
        else if (strcmp(word, "--") == 0)
            is_options_over = true;
        else if (is_help(word))
            out->wants_help = true;
        else if (word[1] == '-')
            failed = read_long(&r, word);
        else
            failed = read_short(&r, word);
        if (failed || out->wants_help)
            return failed;
    }
    return 0;
}

void argv_operands_free(struct argv_operands *operands)
{
    free(operands->word);
    *operands = (struct argv_operands){0};
}
