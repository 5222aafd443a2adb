/* SPDX-License-Identifier: Apache-2.0 */
/* Does a scenario file mean what the command line would, and is nothing in it overlooked? */
#include "cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/scenario.h"

static const struct tls_backends no_backends;
static const struct err no_error = ERR_INIT;
static const volatile sig_atomic_t no_stop;
static const struct command_context context = {
    .backends = &no_backends, .backends_error = &no_error, .stop = &no_stop};

static int build(const char *text, struct scenario *out, struct err *e)
{
    struct inifile file;
    if (inifile_parse(text, strlen(text), "f.ini", &file, e) != 0)
        return -1;
    int failed = scenario_build(&file, &context, out, e);
    inifile_free(&file);
    return failed;
}

/* An option of a step as the result will echo it; "" none. */
static const char *echo_of(const struct scenario *s, size_t step, const char *name, char *buf,
                           size_t size)
{
    struct result_pairs pairs = {0};
    options_echo(&s->step[step].call.options, &pairs);
    const char *value = pairs_find(&pairs, name);
    snprintf(buf, size, "%s", value ? value : "");
    pairs_free(&pairs);
    return buf;
}

static void assert_echo(const struct scenario *s, size_t step, const char *name,
                        const char *expected)
{
    char buf[300];
    assert_string_equal(echo_of(s, step, name, buf, sizeof buf), expected);
}

static void sections_become_steps_with_their_options(void **state)
{
    struct scenario s;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(build("[scenario]\ntitle = T\nsource = S\n[cpu]\nhandshakes = 1k\n"
                           "[cpu long]\nrepeats = 9\nprimitives = off\n",
                           &s, &e),
                     0);
    assert_string_equal(s.title, "T");
    assert_string_equal(s.source, "S");
    assert_null(s.description);
    assert_int_equal(s.steps, 2);
    assert_string_equal(s.step[0].label, "cpu");
    assert_string_equal(s.step[1].label, "cpu long");
    assert_string_equal(s.step[1].slug, "cpu-long");
    assert_echo(&s, 0, "handshakes", "1000");
    assert_echo(&s, 1, "handshakes", "2000");
    assert_echo(&s, 1, "repeats", "9");
    assert_echo(&s, 1, "primitives", "off");
    scenario_free(&s);
}

static void arms_go_to_the_sections_they_are_for(void **state)
{
    struct scenario s;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(build("[arm a]\ngroups = X25519\n[cpu arm b]\ncert = rsa-2048\n[cpu]\n"
                           "[cpu two]\narm = c: groups=MLKEM768\n[arm d]\n",
                           &s, &e),
                     0);
    assert_echo(&s, 0, "arm.1", "a: groups=X25519");
    assert_echo(&s, 0, "arm.2", "b: cert=rsa-2048");
    assert_echo(&s, 0, "arm.3", "d:");
    assert_echo(&s, 0, "arm.4", "");
    assert_echo(&s, 1, "arm.4", "c: groups=MLKEM768");
    scenario_free(&s);
}

static void an_arm_of_one_command_stays_out_of_the_other(void **state)
{
    struct scenario s;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(build("[cpu]\n[load]\n[arm a]\n[cpu arm b]\n[load arm c]\n", &s, &e), 0);
    assert_echo(&s, 0, "arm.1", "a:");
    assert_echo(&s, 0, "arm.2", "b:");
    assert_echo(&s, 0, "arm.3", "");
    assert_echo(&s, 1, "arm.2", "c:");
    assert_echo(&s, 1, "arm.3", "");
    scenario_free(&s);
}

static void mistakes_name_file_line_key_and_value(void **state)
{
    static const struct {
        const char *text, *says; /* the message begins so */
    } cases[] = {
        {"", "f.ini: no section that runs; add [cpu]"},
        {"[scenario]\ntitle = T\n", "f.ini: no section that runs; add [cpu]"},
        {"[cpu]\nhandshakes = 10x\n", "f.ini:2: handshakes: '10x' is not a"},
        {"[cpu]\nhandshakes =\n", "f.ini:2: handshakes: '' is not a"},
        {"[cpu]\nhandshakse = 1\n",
         "f.ini:2: handshakse: [cpu] has no such key; did you mean handshakes?"},
        {"[cpu]\nxyzzy = 1\n", "f.ini:2: xyzzy: [cpu] has no such key"},
        {"[cpu]\nrepeats = 2\nseed = 1\nrepeats = 3\n",
         "f.ini:4: repeats: given before, on line 2"},
        {"[cpu]\njson = -\n", "f.ini:2: json: only on the command line, not in a scenario"},
        {"[cpu]\noutput = x\n", "f.ini:2: output: only on the command line, not in a scenario"},
        {"[cpu]\narm = x\n", "f.ini:2: arm: "},
        {"[scenario]\nauthor = me\n[cpu]\n", "f.ini:2: author: [scenario] has no such key"},
        {"[cpus]\n",
         "f.ini:1: [cpus]: no such section; there are [scenario], [arm NAME], [cpu]"},
        {"[cpu a b]\n", "f.ini:1: [cpu a b]: no such section"},
        {"[cpu a b c d]\n", "f.ini:1: [cpu a b c d]: no such section"},
        {"[cpu]\n[arm]\n", "f.ini:2: [arm]: no such section"},
        {"[cpu]\n[cpu arm]\n", "f.ini:2: [cpu arm]: the arm needs a name"},
        {"[doctor]\n", "f.ini:1: [doctor]: no such section"},
        {"[cpu ../x]\n", "f.ini:1: '../x' is no name"},
        {"[cpu ..]\n", "f.ini:1: '..' is no name"},
        {"[cpu .x]\n", "f.ini:1: '.x' is no name"},
        {"[cpu]\n[load arm a]\n", "f.ini:2: [load arm a]: no section uses this arm"},
        {"[cpu]\n[arm a]\ngroups = X25519 : X448\n",
         "f.ini:3: groups: 'X25519 : X448' has blanks"},
        {"[cpu]\n[arm a]\ngroups = BOGUS\n", "f.ini:3: groups: "},
        {"[cpu]\n[arm a]\ngruops = X25519\n", "f.ini:3: 'gruops': no such key"},
        {"[cpu]\n[arm a]\ncert = x\ncert = y\n", "f.ini:3: cert: "},
        {"[cpu]\n[arm a]\ncert = ed25519\ncert = ed25519\n",
         "f.ini:4: cert: given before, on line 3"},
        {"[cpu]\n[arm a/b]\n", "f.ini:2: "},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scenario s;
        struct err e = ERR_INIT;
        assert_int_equal(build(cases[i].text, &s, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strncmp(e.text, cases[i].says, strlen(cases[i].says)) != 0)
            assert_string_equal(e.text, cases[i].says);
    }
}

static void overrides_reach_every_step_that_knows_the_key(void **state)
{
    struct scenario s;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(build("[arm a]\n[cpu]\nhandshakes = 5\n[cpu b]\n", &s, &e), 0);
    assert_int_equal(scenario_override(&s, "handshakes=7", &e), 0);
    assert_int_equal(scenario_override(&s, "cpu.repeats=2", &e), 0);
    assert_int_equal(scenario_override(&s, "arm=n: groups=X25519", &e), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_echo(&s, i, "handshakes", "7");
        assert_echo(&s, i, "repeats", "2");
        assert_echo(&s, i, "arm.1", "n: groups=X25519");
        assert_echo(&s, i, "arm.2", "");
    }
    scenario_free(&s);
}

static void an_override_that_reaches_nothing_is_an_error(void **state)
{
    static const struct {
        const char *setting, *says;
    } cases[] = {
        {"xyzzy=1", "'xyzzy=1': no section of the scenario has this key"},
        {"json=-", "'json=-': no section of the scenario has this key"},
        {"load.repeats=1", "'load.repeats=1': no section of the scenario has this key"},
        {"repeats", "'repeats' is no setting; give KEY=VALUE or SECTION.KEY=VALUE"},
        {"=1", "'=1' is no setting; give KEY=VALUE or SECTION.KEY=VALUE"},
        {"repeats=0", "repeats: '0' "},
    };
    struct scenario s;
    struct err e = ERR_INIT;
    (void)state;
    assert_int_equal(build("[cpu]\n", &s, &e), 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(scenario_override(&s, cases[i].setting, &e), -1);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_int_equal(strncmp(e.text, cases[i].says, strlen(cases[i].says)), 0);
    }
    scenario_free(&s);
}

static void the_scenarios_that_come_with_it_can_be_read(void **state)
{
    static const struct {
        const char *name;
        size_t arms;
    } files[] = {
        {"one-process", 8}, {"groups", 16}, {"certificates", 33},
        {"libraries", 12},  {"quick", 5},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct inifile file;
        struct scenario s;
        struct err e = ERR_INIT;
        char path[500], name[20], buf[300];
        snprintf(path, sizeof path, "%s/scenarios/%s.ini", SOURCE_ROOT, files[i].name);
        assert_int_equal(inifile_read(path, &file, &e), 0);
        assert_int_equal(scenario_build(&file, &context, &s, &e), 0);
        assert_non_null(s.title);
        snprintf(name, sizeof name, "arm.%zu", files[i].arms);
        assert_string_not_equal(echo_of(&s, 0, name, buf, sizeof buf), "");
        snprintf(name, sizeof name, "arm.%zu", files[i].arms + 1);
        assert_string_equal(echo_of(&s, 0, name, buf, sizeof buf), "");
        scenario_free(&s);
        inifile_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_become_steps_with_their_options),
        cmocka_unit_test(arms_go_to_the_sections_they_are_for),
        cmocka_unit_test(an_arm_of_one_command_stays_out_of_the_other),
        cmocka_unit_test(mistakes_name_file_line_key_and_value),
        cmocka_unit_test(overrides_reach_every_step_that_knows_the_key),
        cmocka_unit_test(an_override_that_reaches_nothing_is_an_error),
        cmocka_unit_test(the_scenarios_that_come_with_it_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
