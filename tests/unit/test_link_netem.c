/* SPDX-License-Identifier: Apache-2.0 */
/* Is tc told what was asked for?  tests/cli/test_link_netem.py has the packets. */
#include "cmocka_all.h"
#include <string.h>
#include "net/link_netem.h"

static void assert_words(const char *spec_text, enum link_way way, const char *expected)
{
    struct link_spec spec;
    struct err e = ERR_INIT;
    struct link_netem_words words;
    char joined[sizeof(words.text) + 1] = "";
    if (link_spec_parse(spec_text, &spec, &e) != 0)
        fail_msg("%s", e.text);
    link_netem_words(&spec.way[way], spec.mtu_bytes, "up0", &words);
    for (size_t i = 0; words.word[i] != NULL; i++) {
        strcat(joined, i > 0 ? " " : "");
        strcat(joined, words.word[i]);
    }
    assert_string_equal(joined, expected);
}

/* Of limits: 10 Mbit/s over 25 ms are 31250 bytes, 21 packets of 1500; over 26 ms 21.67.
 * Of bursts of four: 1 % are lost where the good state is left with 0.01 / 0.99 / 4. */
static void tc_is_told_what_was_asked_for(void **state)
{
    (void)state;
    assert_words("netem", LINK_UP, "qdisc replace dev up0 root netem limit 100000");
    assert_words("netem,rtt=50ms", LINK_DOWN,
                 "qdisc replace dev up0 root netem limit 100000 delay 25000us");
    assert_words("netem,rtt=1us", LINK_UP,
                 "qdisc replace dev up0 root netem limit 100000 delay 0.5us");
    assert_words("netem,rtt=50ms,jitter=1ms,rate=10mbit,queue=100", LINK_UP,
                 "qdisc replace dev up0 root netem limit 122 delay 25000us 1000us rate "
                 "10000000bit -12");
    assert_words(
        "netem,rtt=50ms,rate=10mbit,queue=100", LINK_UP,
        "qdisc replace dev up0 root netem limit 121 delay 25000us rate 10000000bit -12");
    assert_words("netem,up.loss=0.5%", LINK_UP,
                 "qdisc replace dev up0 root netem limit 100000 loss random 0.5%");
    assert_words("netem,up.loss=0.5%", LINK_DOWN,
                 "qdisc replace dev up0 root netem limit 100000");
    assert_words(
        "netem,loss=20%,burst=4", LINK_UP,
        "qdisc replace dev up0 root netem limit 100000 loss gemodel 6.25% 25% 100% 0%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tc_is_told_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
