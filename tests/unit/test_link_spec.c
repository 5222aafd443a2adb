/* SPDX-License-Identifier: Apache-2.0 */
/* Is a link read as it was meant, and nonsense refused with its name? */
#include "cmocka_all.h"
#include <string.h>
#include "net/link_spec.h"

#define MS 1000000u

static struct link_spec read_spec(const char *text)
{
    struct link_spec spec;
    struct err e = ERR_INIT;
    if (link_spec_parse(text, &spec, &e) != 0)
        fail_msg("%s: %s", text, e.text);
    return spec;
}

static void every_key_reaches_its_place(void **state)
{
    (void)state;
    const struct link_spec s = read_spec("rtt=50ms,jitter=2ms,loss=1%,burst=4,rate=10mbit,"
                                         "queue=100,mtu=1400,initcwnd=24,cc=reno");
    for (unsigned i = 0; i < LINK_WAYS; i++) {
        assert_int_equal(s.way[i].delay_ns, 25 * MS);
        assert_int_equal(s.way[i].jitter_ns, 2 * MS);
        assert_true(s.way[i].loss > 0.00999 && s.way[i].loss < 0.01001);
        assert_true(s.way[i].burst_packets > 3.99 && s.way[i].burst_packets < 4.01);
        assert_true(s.way[i].rate_bits_per_s > 9999999 && s.way[i].rate_bits_per_s < 10000001);
        assert_int_equal(s.way[i].queue_packets, 100);
        assert_int_equal(s.way[i].initcwnd_packets, 24);
    }
    assert_int_equal(s.mtu_bytes, 1400);
    assert_string_equal(s.cc, "reno");
    assert_string_equal(s.profile, "");
}

static void a_way_can_differ_from_the_other(void **state)
{
    (void)state;
    const struct link_spec s = read_spec("loss=1%,up.loss=5%,down.delay=7ms");
    assert_true(s.way[LINK_UP].loss > 0.04 && s.way[LINK_DOWN].loss < 0.02);
    assert_int_equal(s.way[LINK_UP].delay_ns, 0);
    assert_int_equal(s.way[LINK_DOWN].delay_ns, 7 * MS);
}

static void an_odd_rtt_is_not_rounded(void **state)
{
    (void)state;
    const struct link_spec s = read_spec("rtt=5ns");
    assert_int_equal(link_spec_rtt_ns(&s), 5);
}

static void a_profile_can_be_changed_behind_its_name(void **state)
{
    (void)state;
    const struct link_spec plain = read_spec("lte-m"), s = read_spec("lte-m,loss=0,rtt=10ms");
    assert_string_equal(s.profile, "lte-m");
    assert_true(plain.way[LINK_UP].loss > 0.05 && s.way[LINK_UP].loss < 0.01);
    assert_int_equal(s.way[LINK_UP].delay_ns, 5 * MS);
    assert_true(s.way[LINK_DOWN].rate_bits_per_s < 1.1e6);
}

static void every_profile_is_well_formed(void **state)
{
    (void)state;
    size_t i = 0;
    for (; link_profile_name(i) != NULL; i++)
        assert_string_equal(read_spec(link_profile_name(i)).profile, link_profile_name(i));
    assert_int_equal(i, 8);
    assert_null(link_profile_text(i));
}

static void what_is_written_reads_back_the_same(void **state)
{
    static const char *const texts[] = {
        "rtt=50ms",        "netem,rtt=5ms,loss=1%",
        "satellite",       "lte-m",
        "rtt=3ns",         "up.loss=0.3,burst=2.5,rate=1.5kbit",
        "up.largest=1400", "delay=1ms,jitter=1ms,down.queue=7,up.initcwnd=3,mtu=9000,cc=bbr"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char text[LINK_SPEC_TEXT_MAX], again[LINK_SPEC_TEXT_MAX];
        struct link_spec s = read_spec(texts[i]);
        link_spec_format(&s, text, sizeof(text));
        const struct link_spec t = read_spec(text);
        assert_string_equal(link_spec_format(&t, again, sizeof(again)), text);
        memset(s.profile, 0, sizeof(s.profile));
        assert_memory_equal(&s.way, &t.way, sizeof(s.way));
        assert_int_equal(s.mtu_bytes, t.mtu_bytes);
        assert_int_equal(s.is_netem, t.is_netem);
    }
}

static void the_kernels_emulator_is_a_word_or_a_key(void **state)
{
    (void)state;
    assert_true(read_spec("netem,rtt=5ms").is_netem);
    assert_true(read_spec("lan,netem").is_netem);
    assert_true(read_spec("emulator=netem").is_netem);
    assert_false(read_spec("netem,emulator=own").is_netem);
    assert_false(read_spec("lan").is_netem);
}

static void nonsense_is_refused_by_name(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "empty"},
        {"moon", "'moon'"},
        {"rtt", "KEY=VALUE"},
        {"rtt=50", "rtt: "},
        {"rtt=-1ms", "rtt: "},
        {"rtt=21s", "more than 20s"},
        {"delay=11s", "more than 10s"},
        {"loss=100%", "loss: "},
        {"loss=nan", "loss: "},
        {"up.los=1%", "no key 'up.los'"},
        {"up.rtt=1ms", "no key 'up.rtt'"},
        {"up.mtu=1500", "no key 'up.mtu'"},
        {"burst=0.5", "between 1 and 1000"},
        {"rate=0bit", "rate: "},
        {"rate=10", "rate: "},
        {"queue=0", "queue: "},
        {"mtu=575", "mtu: "},
        {"mtu=9217", "mtu: "},
        {"initcwnd=0", "initcwnd: "},
        {"largest=59", "largest: "},
        {"emulator=tc", "none of own, netem"},
        {"netem,largest=1400", "netem has no 'largest'"},
        {"cc=", "cc: "},
        {"cc=Cubic", "cc: "},
        {"cc=a-name-much-too-long", "cc: "},
        {"rtt=1ms,", "behind the last ','"},
        {"lan,", "lan"},
        {"rtt=1ms,,loss=1%", "KEY=VALUE"},
        {"rtt=1ms,lan", "stands first"},
        {"jitter=1ms", "jitter is more than the delay"},
        {"loss=0.9,burst=2", "too much"},
        {"rtt=1ms,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1",
         "too long"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct link_spec spec;
        struct err e = ERR_INIT;
        if (link_spec_parse(cases[i].text, &spec, &e) == 0)
            fail_msg("accepted: '%s'", cases[i].text);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, cases[i].part) == NULL)
            fail_msg("'%s': %s", cases[i].text, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_reaches_its_place),
        cmocka_unit_test(a_way_can_differ_from_the_other),
        cmocka_unit_test(an_odd_rtt_is_not_rounded),
        cmocka_unit_test(a_profile_can_be_changed_behind_its_name),
        cmocka_unit_test(every_profile_is_well_formed),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(the_kernels_emulator_is_a_word_or_a_key),
        cmocka_unit_test(nonsense_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
