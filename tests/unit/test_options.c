/* SPDX-License-Identifier: Apache-2.0 */
/* Does one row really drive argv, values, defaults and the echo, and is nonsense refused? */
#include "cmocka_all.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpu.h"
#include "cli/argv.h"
#include "cli/options.h"

struct values {
    uint64_t wait_ns, size_bytes, count, other;
    double rate_per_s, link_per_s, share, number;
    bool is_quiet, has_table;
    char *name;
    unsigned order;
    struct option_list items;
    struct cpu_set cores;
};

static int refuse_bad(const char *value, struct err *e)
{
    return strcmp(value, "bad") == 0 ? err_set(e, ERR_USAGE, "'bad' is bad; give good") : 0;
}

static const struct option rows[] = {
    {.name = "wait",
     .kind = OPTION_DURATION,
     .argument = "TIME",
     .initial = "250ms",
     .help = "h",
     .low = 1e6,
     .high = 6e10,
     .offset = offsetof(struct values, wait_ns)},
    {.name = "rate",
     .kind = OPTION_RATE,
     .argument = "RATE",
     .initial = "300",
     .help = "h",
     .low = 0.001,
     .high = 1000,
     .offset = offsetof(struct values, rate_per_s)},
    {.name = "size",
     .kind = OPTION_BYTES,
     .argument = "BYTES",
     .initial = "1KiB",
     .help = "h",
     .offset = offsetof(struct values, size_bytes)},
    {.name = "link",
     .kind = OPTION_BITS,
     .argument = "RATE",
     .help = "h",
     .offset = offsetof(struct values, link_per_s)},
    {.name = "count",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .initial = "2k",
     .help = "h",
     .low = 1,
     .high = 5000,
     .letter = 'c',
     .offset = offsetof(struct values, count)},
    {.name = "other-count",
     .kind = OPTION_COUNT,
     .argument = "COUNT",
     .help = "h",
     .offset = offsetof(struct values, other)},
    {.name = "share",
     .kind = OPTION_SHARE,
     .argument = "SHARE",
     .initial = "50%",
     .help = "h",
     .offset = offsetof(struct values, share)},
    {.name = "number",
     .kind = OPTION_NUMBER,
     .argument = "N",
     .initial = "0.5",
     .help = "h",
     .low = 0,
     .high = 2,
     .offset = offsetof(struct values, number)},
    {.name = "quiet",
     .kind = OPTION_SWITCH,
     .initial = "off",
     .help = "h",
     .letter = 'q',
     .offset = offsetof(struct values, is_quiet)},
    {.name = "table",
     .kind = OPTION_SWITCH,
     .initial = "on",
     .help = "h",
     .offset = offsetof(struct values, has_table)},
    {.name = "name",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "h",
     .check = refuse_bad,
     .offset = offsetof(struct values, name)},
    {.name = "order",
     .kind = OPTION_CHOICE,
     .argument = "ORDER",
     .initial = "trial",
     .help = "h",
     .choices = "trial|connection|in",
     .offset = offsetof(struct values, order)},
    {.name = "item",
     .kind = OPTION_LIST,
     .argument = "TEXT",
     .initial = "first",
     .help = "h",
     .check = refuse_bad,
     .offset = offsetof(struct values, items)},
    {.name = "cores",
     .kind = OPTION_CORES,
     .argument = "LIST",
     .help = "h",
     .offset = offsetof(struct values, cores)},
    {.name = NULL},
};

struct setting {
    struct options o;
    struct values v;
    struct argv_operands operands;
    struct err e;
};

/* Read the words, NULL-terminated, into a fresh setting. */
static int read_words(struct setting *s, char **words)
{
    int count = 0;
    while (words[count])
        count++;
    memset(s, 0, sizeof *s);
    options_init(&s->o, rows, &s->v);
    return argv_parse(&s->o, count, words, &s->operands, &s->e);
}

static void forget(struct setting *s)
{
    argv_operands_free(&s->operands);
    options_fini(&s->o);
}

#define WORDS(...) ((char *[]){__VA_ARGS__})

static void without_words_every_member_has_its_default(void **state)
{
    struct setting s;
    (void)state;
    assert_int_equal(read_words(&s, WORDS(NULL)), 0);
    assert_int_equal(s.v.wait_ns, 250000000);
    assert_int_equal(s.v.count, 2000);
    assert_int_equal(s.v.size_bytes, 1024);
    assert_true(s.v.rate_per_s == 300 && s.v.share == 0.5 && s.v.number == 0.5);
    assert_true(!s.v.is_quiet && s.v.has_table && !s.v.name && s.v.order == 0);
    assert_int_equal(s.v.items.count, 1);
    assert_int_equal(s.v.cores.count, 0);
    assert_false(options_is_given(&s.o, "count"));
    forget(&s);
}

static void all_ways_to_write_an_option_mean_the_same(void **state)
{
    char **const ways[] = {
        WORDS("--count", "7", NULL),
        WORDS("--count=7", NULL),
        WORDS("-c", "7", NULL),
        WORDS("-c7", NULL),
        WORDS("--count", "8", "-c", "7", NULL), /* the later one counts */
        WORDS("operand", "--count", "7", NULL),
        WORDS("--count", "7", "--", "operand", NULL),
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct setting s;
        assert_int_equal(read_words(&s, ways[i]), 0);
        assert_int_equal(s.v.count, 7);
        assert_true(options_is_given(&s.o, "count"));
        assert_false(options_is_given(&s.o, "wait"));
        forget(&s);
    }
}

static void switches_go_on_and_off(void **state)
{
    struct setting s;
    (void)state;
    assert_int_equal(read_words(&s, WORDS("--quiet", "--no-table", NULL)), 0);
    assert_true(s.v.is_quiet && !s.v.has_table);
    forget(&s);
    assert_int_equal(read_words(&s, WORDS("-q", "--table=off", "--no-quiet", NULL)), 0);
    assert_true(!s.v.is_quiet && !s.v.has_table);
    forget(&s);
}

static void a_list_collects_and_replaces_its_default(void **state)
{
    struct setting s;
    (void)state;
    assert_int_equal(read_words(&s, WORDS("--item", "a", "--item=b: c=d", NULL)), 0);
    assert_int_equal(s.v.items.count, 2);
    assert_string_equal(s.v.items.item[0], "a");
    assert_string_equal(s.v.items.item[1], "b: c=d");
    forget(&s);
}

static void operands_keep_their_order_and_dashes_end_options(void **state)
{
    struct setting s;
    (void)state;
    assert_int_equal(read_words(&s, WORDS("a", "-q", "-", "--", "--count", "-q", NULL)), 0);
    assert_int_equal(s.operands.count, 4);
    assert_string_equal(s.operands.word[0], "a");
    assert_string_equal(s.operands.word[1], "-");
    assert_string_equal(s.operands.word[2], "--count");
    assert_string_equal(s.operands.word[3], "-q");
    forget(&s);
}

static void help_ends_the_reading(void **state)
{
    struct setting s;
    (void)state;
    assert_int_equal(read_words(&s, WORDS("--count", "7", "--help", "--bogus", NULL)), 0);
    assert_true(s.operands.wants_help);
    forget(&s);
}

static void what_is_wrong_is_said_with_the_option_as_typed(void **state)
{
    static const struct {
        char *words[4];
        const char *says;
    } cases[] = {
        {{"--cuont", "7"}, "--cuont: no such option; did you mean --count?"},
        {{"--coun", "7"}, "--coun: no such option; did you mean --count?"},
        {{"--zzzzzz"}, "--zzzzzz: no such option; see --help"},
        {{"-x"}, "-x: no such option; see --help"},
        {{"-qx"}, "-qx: no such option; see --help"},
        {{"--count"}, "--count: needs a value (COUNT)"},
        {{"-c"}, "-c: needs a value (COUNT)"},
        {{"--no-count"}, NULL},
        {{"--no-quiet=on"}, "--no-quiet: takes no value"},
        {{"--order", "conn"}, "--order: 'conn' is none of trial|connection|in"},
        {{"--order", "trial|connection"},
         "--order: 'trial|connection' is none of trial|connection|in"},
        {{"--order="}, "--order: '' is none of trial|connection|in"},
        {{"--name="}, "--name: '' is empty; give TEXT"},
        {{"--name", "bad"}, "--name: 'bad' is bad; give good"},
        {{"--item", "bad"}, "--item: 'bad' is bad; give good"},
        {{"--wait", "100us"}, "--wait: '100us' is out of range; give 1ms to 1m"},
        {{"--wait", "2m"}, "--wait: '2m' is out of range; give 1ms to 1m"},
        {{"--rate", "1001"}, "--rate: '1001' is out of range; give 0.001 to 1000"},
        {{"--number", "2.5"}, "--number: '2.5' is out of range; give 0 to 2"},
        {{"--quiet=maybe"}, NULL},
        {{"--cores", "70000"}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct setting s;
        char *words[5] = {cases[i].words[0], cases[i].words[1], NULL};
        assert_int_equal(read_words(&s, words), -1);
        assert_int_equal(s.e.kind, ERR_USAGE);
        if (cases[i].says)
            assert_string_equal(s.e.text, cases[i].says);
        forget(&s);
    }
}

/* Bad for every kind that is a number; each must leave the member as it was. */
static void nonsense_is_refused_whatever_the_kind(void **state)
{
    static char *const nonsense[] = {"",    " ",     "-1",      "nan",
                                     "inf", "1e400", "10x",     "0x10",
                                     "1,5", "1 ",    "--count", "99999999999999999999999"};
    (void)state;
    for (const struct option *row = rows; row->name; row++) {
        if (row->kind == OPTION_TEXT || row->kind == OPTION_LIST)
            continue;
        for (size_t i = 0; i < COUNT_OF(nonsense); i++) {
            struct setting s, before;
            char name[40];
            snprintf(name, sizeof name, "--%s=%s", row->name, nonsense[i]);
            assert_int_equal(read_words(&before, WORDS(NULL)), 0);
            assert_int_equal(read_words(&s, WORDS(name, NULL)), -1);
            assert_int_equal(s.e.kind, ERR_USAGE);
            assert_memory_equal(&s.v, &before.v, offsetof(struct values, name));
            forget(&s);
            forget(&before);
        }
    }
}

static void the_echo_reads_back_to_the_same_values(void **state)
{
    struct setting s;
    struct result_pairs pairs = {0}, again = {0};
    struct options o;
    struct values v = {0};
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(
        read_words(&s, WORDS("--wait", "1500ms", "--rate", "1/3", "--link", "10mbit", "--order",
                             "in", "--item", "x", "--item", "y", "--name", "n", "--cores", "0",
                             "--share", "0.125", "-q", NULL)),
        0);
    options_echo(&s.o, &pairs);
    assert_string_equal(pairs_find(&pairs, "wait"), "1500ms");
    assert_string_equal(pairs_find(&pairs, "item.2"), "y");
    assert_string_equal(pairs_find(&pairs, "cores"), "0");
    assert_null(pairs_find(&pairs, "other-count"));
    options_init(&o, rows, &v);
    for (size_t i = 0; i < pairs.count; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s", pairs.pair[i].name);
        name[strcspn(name, ".")] = '\0';
        assert_int_equal(options_set(&o, options_find(rows, name), pairs.pair[i].value, &e), 0);
    }
    options_echo(&o, &again);
    assert_int_equal(again.count, pairs.count);
    for (size_t i = 0; i < pairs.count; i++)
        assert_string_equal(again.pair[i].value, pairs.pair[i].value);
    assert_true(v.rate_per_s == s.v.rate_per_s && v.link_per_s == 1e7);
    options_fini(&o);
    pairs_free(&pairs);
    pairs_free(&again);
    forget(&s);
}

static void the_nearest_name_is_near(void **state)
{
    static const struct {
        const char *typed, *nearest;
    } cases[] = {
        {"cout", "count"},
        {"raet", "rate"},
        {"qiuet", "quiet"},
        {"wai", "wait"},
        {"corse", "cores"},
        {"other", "other-count"},
        {"unrelated", NULL},
        {"", NULL},
        {"x", NULL},
        {"a-name-so-long-that-nobody-can-have-meant-one-of-ours-by-typing-it-here", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *nearest = argv_nearest_option(rows, cases[i].typed);
        if (!cases[i].nearest)
            assert_null(nearest);
        else
            assert_string_equal(nearest ? nearest : "(none)", cases[i].nearest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_words_every_member_has_its_default),
        cmocka_unit_test(all_ways_to_write_an_option_mean_the_same),
        cmocka_unit_test(switches_go_on_and_off),
        cmocka_unit_test(a_list_collects_and_replaces_its_default),
        cmocka_unit_test(operands_keep_their_order_and_dashes_end_options),
        cmocka_unit_test(help_ends_the_reading),
        cmocka_unit_test(what_is_wrong_is_said_with_the_option_as_typed),
        cmocka_unit_test(nonsense_is_refused_whatever_the_kind),
        cmocka_unit_test(the_echo_reads_back_to_the_same_values),
        cmocka_unit_test(the_nearest_name_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
