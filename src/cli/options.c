/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpu.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"

#define LARGEST_COUNT 9007199254740991.0 /* 2^53 - 1: every JSON reader keeps it */

const char *option_kind_name(enum option_kind kind)
{
    static const char *const names[OPTION_KINDS] = {
        "duration", "rate",   "bytes", "bits",   "count", "share",
        "number",   "switch", "text",  "choice", "list",  "cores",
    };
    return names[kind];
}

static size_t row_index(const struct options *o, const struct option *row)
{
    return (size_t)(row - o->rows);
}

static void *member_of(const struct options *o, const struct option *row)
{
    return (char *)o->values + row->offset;
}

const struct option *options_find(const struct option *rows, const char *name)
{
    for (const struct option *row = rows; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

bool options_is_given(const struct options *o, const char *name)
{
    const struct option *row = options_find(o->rows, name);
    assert(row);
    return o->is_given[row_index(o, row)];
}

static bool has_range(const struct option *row)
{
    return row->low != 0 || row->high != 0;
}

/* A limit as the user would type it. */
static char *format_limit(const struct option *row, double limit, char *buf, size_t size)
{
    if (row->kind == OPTION_DURATION)
        return units_format_duration_exact((uint64_t)limit, buf, size);
    return units_format_number(limit, buf, size);
}

static int check_range(const struct option *row, const char *text, double value, struct err *e)
{
    char low[48], high[48];
    if (!has_range(row) || (value >= row->low && value <= row->high))
        return 0;
    return err_set(e, ERR_USAGE, "'%s' is out of range; give %s to %s", text,
                   format_limit(row, row->low, low, sizeof low),
                   format_limit(row, row->high, high, sizeof high));
}

static int set_whole(const struct option *row, const char *text, uint64_t *member,
                     struct err *e)
{
    uint64_t value = 0;
    int failed;
    if (row->kind == OPTION_DURATION)
        failed = units_parse_duration_ns(text, &value, e);
    else if (row->kind == OPTION_BYTES)
        failed = units_parse_bytes(text, &value, e);
    else
        failed = units_parse_count(text, (uint64_t)row->low,
                                   (uint64_t)(has_range(row) ? row->high : LARGEST_COUNT),
                                   &value, e);
    if (failed || check_range(row, text, (double)value, e) != 0)
        return -1;
    *member = value;
    return 0;
}

static int set_real(const struct option *row, const char *text, double *member, struct err *e)
{
    double value = 0;
    int failed;
    if (row->kind == OPTION_RATE)
        failed = units_parse_rate_per_s(text, &value, e);
    else if (row->kind == OPTION_BITS)
        failed = units_parse_bits_per_s(text, &value, e);
    else if (row->kind == OPTION_SHARE)
        failed = units_parse_share(text, &value, e);
    else
        failed = units_parse_number(text, &value, e);
    if (failed || check_range(row, text, value, e) != 0)
        return -1;
    *member = value;
    return 0;
}

static int set_switch(const char *text, bool *member, struct err *e)
{
    int value = 0;
    if (units_parse_switch(text, &value, e) != 0)
        return -1;
    *member = value != 0;
    return 0;
}

static int set_choice(const struct option *row, const char *text, unsigned *member,
                      struct err *e)
{
    unsigned index = 0;
    for (const char *at = row->choices; at; index++) {
        size_t length = strcspn(at, "|");
        if (strlen(text) == length && strncmp(at, text, length) == 0) {
            *member = index;
            return 0;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    return err_set(e, ERR_USAGE, "'%s' is none of %s", text, row->choices);
}

static int check_text(const struct option *row, const char *text, struct err *e)
{
    if (!*text)
        return err_set(e, ERR_USAGE, "'' is empty; give %s", row->argument);
    return row->check ? row->check(text, e) : 0;
}

static int set_text(const struct option *row, const char *text, char **member, struct err *e)
{
    if (check_text(row, text, e) != 0)
        return -1;
    free(*member);
    *member = mem_copy_string(text);
    return 0;
}

static void list_clear(struct option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->item[i]);
    free(list->item);
    *list = (struct option_list){0};
}

static void list_add(struct option_list *list, const char *text)
{
    list->item = mem_resize(list->item, list->count + 1, sizeof *list->item);
    list->item[list->count++] = mem_copy_string(text);
}

static int set_list(struct options *o, const struct option *row, const char *text,
                    struct err *e)
{
    struct option_list *list = member_of(o, row);
    if (check_text(row, text, e) != 0)
        return -1;
    if (!o->is_given[row_index(o, row)])
        list_clear(list);
    list_add(list, text);
    return 0;
}

static int set_member(struct options *o, const struct option *row, const char *text,
                      struct err *e)
{
    switch (row->kind) {
    case OPTION_DURATION:
    case OPTION_BYTES:
    case OPTION_COUNT:
        return set_whole(row, text, member_of(o, row), e);
    case OPTION_RATE:
    case OPTION_BITS:
    case OPTION_SHARE:
    case OPTION_NUMBER:
        return set_real(row, text, member_of(o, row), e);
    case OPTION_SWITCH:
        return set_switch(text, member_of(o, row), e);
    case OPTION_CHOICE:
        return set_choice(row, text, member_of(o, row), e);
    case OPTION_TEXT:
        return set_text(row, text, member_of(o, row), e);
    case OPTION_LIST:
        return set_list(o, row, text, e);
    case OPTION_CORES:
        return cpu_parse_list(text, member_of(o, row), e);
    }
    return err_set(e, ERR_USAGE, "'%s' has no kind", row->name);
}

int options_set(struct options *o, const struct option *row, const char *value, struct err *e)
{
    if (set_member(o, row, value, e) != 0)
        return -1;
    o->is_given[row_index(o, row)] = true;
    return 0;
}

void options_forget(struct options *o, const struct option *row)
{
    o->is_given[row_index(o, row)] = false;
}

void options_init(struct options *o, const struct option *rows, void *values)
{
    *o = (struct options){.rows = rows, .values = values};
    for (const struct option *row = rows; row->name; row++) {
        struct err e = ERR_INIT;
        assert(row_index(o, row) < OPTIONS_MAX);
        int failed = row->initial ? set_member(o, row, row->initial, &e) : 0;
        assert(!failed);
        (void)failed;
    }
}

void options_fini(struct options *o)
{
    for (const struct option *row = o->rows; row && row->name; row++) {
        if (row->kind == OPTION_TEXT) {
            char **member = member_of(o, row);
            free(*member);
            *member = NULL;
        } else if (row->kind == OPTION_LIST) {
            list_clear(member_of(o, row));
        }
    }
}

static void echo_list(const struct option *row, const struct option_list *list,
                      struct result_pairs *out)
{
    for (size_t i = 0; i < list->count; i++) {
        struct text name = {0};
        text_addf(&name, "%s.%zu", row->name, i + 1);
        pairs_add(out, text_str(&name), list->item[i]);
        text_free(&name);
    }
}

static const char *choice_text(const struct option *row, unsigned index, char *buf, size_t size)
{
    const char *at = row->choices;
    while (index-- > 0)
        at += strcspn(at, "|") + 1;
    snprintf(buf, size, "%.*s", (int)strcspn(at, "|"), at);
    return buf;
}

static const char *bits_text(double value, char *buf, size_t size)
{
    size_t length = strlen(units_format_number(value, buf, size));
    snprintf(buf + length, size - length, "bit");
    return buf;
}

/* The member as text; NULL where it has no value. */
static const char *member_text(const struct options *o, const struct option *row, char *buf,
                               size_t size)
{
    const void *member = member_of(o, row);
    bool is_set = row->initial || o->is_given[row_index(o, row)];
    switch (row->kind) {
    case OPTION_DURATION:
        return is_set ? units_format_duration_exact(*(const uint64_t *)member, buf, size)
                      : NULL;
    case OPTION_BYTES:
    case OPTION_COUNT:
        snprintf(buf, size, "%" PRIu64, *(const uint64_t *)member);
        return is_set ? buf : NULL;
    case OPTION_RATE:
    case OPTION_SHARE:
    case OPTION_NUMBER:
        return is_set ? units_format_number(*(const double *)member, buf, size) : NULL;
    case OPTION_BITS:
        return is_set ? bits_text(*(const double *)member, buf, size) : NULL;
    case OPTION_SWITCH:
        return *(const bool *)member ? "on" : "off";
    case OPTION_CHOICE:
        return choice_text(row, *(const unsigned *)member, buf, size);
    case OPTION_TEXT:
        return *(char *const *)member;
    case OPTION_CORES: {
        const struct cpu_set *set = member;
        return set->count > 0 ? cpu_format_list(set, buf, size) : NULL;
    }
    case OPTION_LIST:
        return NULL; /* item by item, see echo_list */
    }
    return NULL;
}

void options_echo(const struct options *o, struct result_pairs *out)
{
    for (const struct option *row = o->rows; row->name; row++) {
        char buf[4096];
        if (row->is_without_echo)
            continue;
        if (row->kind == OPTION_LIST)
            echo_list(row, member_of(o, row), out);
        const char *text = member_text(o, row, buf, sizeof buf);
        if (text)
            pairs_add(out, row->name, text);
    }
}
