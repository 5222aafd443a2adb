/* SPDX-License-Identifier: Apache-2.0 */
/* Is what a user writes for an address taken as it was meant, or refused with a reason? */
#include "cmocka_all.h"
#include <string.h>
#include "net/address.h"

#define NAME_63 "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-123456789"

static const struct {
    const char *text;
    enum address_use use;
    unsigned default_port;
    const char *host, *server_name;
    unsigned port;
    bool is_literal;
} good[] = {
    {"localhost:8443", ADDRESS_CONNECT, 0, "localhost", "localhost", 8443, false},
    {"localhost", ADDRESS_CONNECT, 443, "localhost", "localhost", 443, false},
    {"localhost:8443", ADDRESS_CONNECT, 443, "localhost", "localhost", 8443, false},
    {"localhost.:443", ADDRESS_CONNECT, 0, "localhost.", "localhost", 443, false},
    {"www.Example.ORG.", ADDRESS_CONNECT, 443, "www.Example.ORG.", "www.Example.ORG", 443,
     false},
    {"xn--bcher-kva.example:1", ADDRESS_CONNECT, 0, "xn--bcher-kva.example",
     "xn--bcher-kva.example", 1, false},
    {"my_host:65535", ADDRESS_CONNECT, 0, "my_host", "my_host", 65535, false},
    {"a1.b2:80", ADDRESS_CONNECT, 0, "a1.b2", "a1.b2", 80, false},
    {"1and1.com:80", ADDRESS_CONNECT, 0, "1and1.com", "1and1.com", 80, false},
    {"0xcafe.cafe:80", ADDRESS_CONNECT, 0, "0xcafe.cafe", "0xcafe.cafe", 80, false},
    {NAME_63 ".example:80", ADDRESS_CONNECT, 0, NAME_63 ".example", NAME_63 ".example", 80,
     false},
    {"127.0.0.1:8443", ADDRESS_CONNECT, 0, "127.0.0.1", "", 8443, true},
    {"127.0.0.1", ADDRESS_CONNECT, 443, "127.0.0.1", "", 443, true},
    {"[::1]:8443", ADDRESS_CONNECT, 0, "::1", "", 8443, true},
    {"[::1]", ADDRESS_CONNECT, 443, "::1", "", 443, true},
    {"::1", ADDRESS_CONNECT, 443, "::1", "", 443, true},
    {"[fe80::1%eth0]:443", ADDRESS_CONNECT, 0, "fe80::1%eth0", "", 443, true},
    {"fe80::1%lo", ADDRESS_CONNECT, 443, "fe80::1%lo", "", 443, true},
    {"[::ffff:192.0.2.1]:443", ADDRESS_CONNECT, 0, "::ffff:192.0.2.1", "", 443, true},
    {"127.0.0.1:0", ADDRESS_LISTEN, 0, "127.0.0.1", "", 0, true},
    {"[::]:0", ADDRESS_LISTEN, 443, "::", "", 0, true},
    {":8443", ADDRESS_LISTEN, 0, "", "", 8443, false},
    {"localhost:00443", ADDRESS_CONNECT, 0, "localhost", "localhost", 443, false},
};

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct address_name name;
        struct err e = ERR_INIT;
        if (address_parse(good[i].text, good[i].use, good[i].default_port, &name, &e) != 0)
            fail_msg("'%s': %s", good[i].text, e.text);
        assert_string_equal(name.host, good[i].host);
        assert_string_equal(name.server_name, good[i].server_name);
        assert_int_equal(name.port, good[i].port);
        assert_int_equal(name.is_literal, good[i].is_literal);
    }
}

static const struct {
    const char *text;
    enum address_use use;
    const char *part; /* of the message */
} bad[] = {
    {"", ADDRESS_CONNECT, "no host"},
    {":443", ADDRESS_CONNECT, "no host"},
    {"localhost", ADDRESS_CONNECT, "no port"},
    {"::1", ADDRESS_CONNECT, "no port"},
    {"[::1]", ADDRESS_LISTEN, "no port"},
    {"localhost:", ADDRESS_CONNECT, "port"},
    {"localhost:0", ADDRESS_CONNECT, "port 0"},
    {"localhost:65536", ADDRESS_CONNECT, "65535"},
    {"localhost:4294967739", ADDRESS_CONNECT, "65535"},
    {"localhost:99999999999999999999999", ADDRESS_CONNECT, "65535"},
    {"localhost:-1", ADDRESS_CONNECT, "port"},
    {"localhost:+443", ADDRESS_CONNECT, "port"},
    {"localhost: 443", ADDRESS_CONNECT, "port"},
    {"localhost:443 ", ADDRESS_CONNECT, "port"},
    {"localhost:0x1bb", ADDRESS_CONNECT, "port"},
    {"localhost:https", ADDRESS_CONNECT, "port"},
    {"localhost:443/path", ADDRESS_CONNECT, "port"},
    {"https://localhost:443", ADDRESS_CONNECT, "brackets"},
    {"https://localhost", ADDRESS_CONNECT, "port"},
    {"::1:8443:", ADDRESS_CONNECT, "brackets"},
    {"1:2:3", ADDRESS_CONNECT, "brackets"},
    {"[::1", ADDRESS_CONNECT, "brackets"},
    {"[::1]443", ADDRESS_CONNECT, "brackets"},
    {"[::1]x:443", ADDRESS_CONNECT, "brackets"},
    {"[]:443", ADDRESS_CONNECT, "brackets"},
    {"[127.0.0.1]:443", ADDRESS_CONNECT, "brackets"},
    {"[localhost]:443", ADDRESS_CONNECT, "brackets"},
    {"[fe80::1%]:443", ADDRESS_CONNECT, "brackets"},
    {"[fe80::1%a b]:443", ADDRESS_CONNECT, "brackets"},
    {"[fe80::1%0123456789abcdef]:443", ADDRESS_CONNECT, "brackets"},
    {"bücher.example:443", ADDRESS_CONNECT, "A-label"},
    {"\xff\xfe:443", ADDRESS_CONNECT, "A-label"},
    {"local host:443", ADDRESS_CONNECT, "character"},
    {"local\thost:443", ADDRESS_CONNECT, "character"},
    {"user@host:443", ADDRESS_CONNECT, "character"},
    {"host/443:1", ADDRESS_CONNECT, "character"},
    {"-host:443", ADDRESS_CONNECT, "'-'"},
    {"a..b:443", ADDRESS_CONNECT, "empty part"},
    {".a:443", ADDRESS_CONNECT, "empty part"},
    {".:443", ADDRESS_CONNECT, "empty part"},
    {"a..:443", ADDRESS_CONNECT, "empty part"},
    {"127.1:443", ADDRESS_CONNECT, "four decimal"},
    {"2130706433:443", ADDRESS_CONNECT, "four decimal"},
    {"0x7f.0.0.0x1:443", ADDRESS_CONNECT, "four decimal"},
    {"127.0.0.256:443", ADDRESS_CONNECT, "four decimal"},
    {"1.2.3.4.5:443", ADDRESS_CONNECT, "four decimal"},
    {"127.0.0.1.:443", ADDRESS_CONNECT, "four decimal"},
    {NAME_63 "x.example:443", ADDRESS_CONNECT, "63"},
    {NAME_63 "." NAME_63 "." NAME_63 "." NAME_63 ":443", ADDRESS_CONNECT, "253"},
    {NAME_63 "." NAME_63 "." NAME_63 "." NAME_63 "." NAME_63 ":443", ADDRESS_CONNECT, "253"},
};

static void bad_addresses_are_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct address_name name;
        struct err e = ERR_INIT;
        if (address_parse(bad[i].text, bad[i].use, 0, &name, &e) == 0)
            fail_msg("'%s' was taken", bad[i].text);
        assert_int_equal(e.kind, ERR_USAGE);
        if (strstr(e.text, bad[i].part) == NULL)
            fail_msg("'%s' does not say '%s'", e.text, bad[i].part);
        assert_non_null(strstr(e.text, "accepted"));
    }
}

static void literals_resolve_without_asking_anybody(void **state)
{
    static const char *const same[] = {"127.0.0.1:8443", "[::1]:443", "0.0.0.0:0",
                                       "[2001:db8::1]:1", "[fe80::1%lo]:2"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct address_name name;
        struct address a[4];
        struct err e = ERR_INIT;
        size_t count;
        char text[ADDRESS_TEXT_MAX];
        assert_int_equal(address_parse(same[i], ADDRESS_LISTEN, 0, &name, &e), 0);
        if (address_resolve(&name, a, COUNT_OF(a), &count, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(count, 1);
        assert_string_equal(address_format(&a[0], text, sizeof(text)), same[i]);
        address_set_port(&a[0], 77);
        assert_int_equal(address_port(&a[0]), 77);
    }
}

static void an_unknown_zone_does_not_resolve(void **state)
{
    struct address_name name;
    struct address a;
    struct err e = ERR_INIT;
    size_t count;
    (void)state;
    assert_int_equal(address_parse("[fe80::1%nothere0]:1", ADDRESS_CONNECT, 0, &name, &e), 0);
    assert_int_equal(address_resolve(&name, &a, 1, &count, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_non_null(strstr(e.text, "nothere0"));
}

static void localhost_and_nothing_resolve(void **state)
{
    struct address_name name;
    struct address a[8];
    struct err e = ERR_INIT;
    size_t count;
    (void)state;
    assert_int_equal(address_parse("localhost:1", ADDRESS_CONNECT, 0, &name, &e), 0);
    assert_int_equal(address_resolve(&name, a, COUNT_OF(a), &count, &e), 0);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++)
        assert_true(address_is_loopback(&a[i]));
    assert_int_equal(address_resolve(&name, a, 1, &count, &e), 0);
    assert_int_equal(count, 1);
    assert_int_equal(address_parse(":5", ADDRESS_LISTEN, 0, &name, &e), 0);
    assert_int_equal(address_resolve(&name, a, COUNT_OF(a), &count, &e), 0);
    assert_false(address_is_loopback(&a[0]));
    assert_int_equal(address_port(&a[0]), 5);
}

static void ranges_are_counted(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
        const char *first, *last;
    } cases[] = {
        {"127.0.0.2", 1, "127.0.0.2:0", "127.0.0.2:0"},
        {"127.0.0.2-127.0.0.9", 8, "127.0.0.2:0", "127.0.0.9:0"},
        {"127.0.0.9-127.0.0.9", 1, "127.0.0.9:0", "127.0.0.9:0"},
        {"10.0.0.0-10.0.255.255", 65536, "10.0.0.0:0", "10.0.255.255:0"},
        {"127.0.0.254-127.0.1.1", 4, "127.0.0.254:0", "127.0.1.1:0"},
        {"255.255.255.254-255.255.255.255", 2, "255.255.255.254:0", "255.255.255.255:0"},
        {"2001:db8::fffe-2001:db8::1:2", 5, "[2001:db8::fffe]:0", "[2001:db8::1:2]:0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct address_range range;
        struct address a;
        struct err e = ERR_INIT;
        char text[ADDRESS_TEXT_MAX];
        if (address_parse_range(cases[i].text, &range, &e) != 0)
            fail_msg("%s", e.text);
        assert_int_equal(range.count, cases[i].count);
        address_of_range(&range, 0, &a);
        assert_true(address_same(&a, &range.first));
        assert_string_equal(address_format(&a, text, sizeof(text)), cases[i].first);
        address_of_range(&range, range.count - 1, &a);
        assert_string_equal(address_format(&a, text, sizeof(text)), cases[i].last);
    }
    static const char *const refused[] = {
        "",
        "-",
        "127.0.0.2-",
        "-127.0.0.2",
        "127.0.0.9-127.0.0.2",
        "127.0.0.2-::1",
        "127.0.0.2-9",
        "127.0.0.2-127.0.0.3-127.0.0.4",
        "localhost",
        "127.0.0.2:5",
        "10.0.0.0-10.1.0.0",
        "0.0.0.0-255.255.255.255",
        "2001:db8::1-2001:db9::2",
        "[::1]",
        " 127.0.0.2",
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct address_range range;
        struct err e = ERR_INIT;
        if (address_parse_range(refused[i], &range, &e) == 0)
            fail_msg("'%s' was taken", refused[i]);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.text, "accepted"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(bad_addresses_are_refused_with_the_reason),
        cmocka_unit_test(literals_resolve_without_asking_anybody),
        cmocka_unit_test(an_unknown_zone_does_not_resolve),
        cmocka_unit_test(localhost_and_nothing_resolve),
        cmocka_unit_test(ranges_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
