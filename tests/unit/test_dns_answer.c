/* SPDX-License-Identifier: Apache-2.0 */
/* Is a DNS message taken for an answer only where it is one, and only for what was asked? */
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>
#include "net/dns.h"

struct wire {
    uint8_t data[4096];
    size_t length;
};

static void put(struct wire *w, unsigned value)
{
    w->data[w->length++] = (uint8_t)(value >> 8);
    w->data[w->length++] = (uint8_t)value;
}

static void put_name(struct wire *w, const char *name)
{
    while (*name != '\0') {
        size_t n = strcspn(name, ".");
        w->data[w->length++] = (uint8_t)n;
        memcpy(w->data + w->length, name, n);
        w->length += n;
        name += n + (name[n] == '.');
    }
    w->data[w->length++] = 0;
}

/* Header and question; every record put later counts itself. */
static struct wire begin(unsigned flags, const char *name, unsigned type)
{
    struct wire w = {.length = 0};
    put(&w, 0x1234);
    put(&w, flags);
    put(&w, 1);
    put(&w, 0);
    put(&w, 0);
    put(&w, 0);
    put_name(&w, name);
    put(&w, type);
    put(&w, 1);
    return w;
}

static size_t open_record(struct wire *w, const char *name, unsigned type)
{
    w->data[7]++;
    put_name(w, name);
    put(w, type);
    put(w, 1);
    put(w, 0);
    put(w, 60);
    put(w, 0);
    return w->length;
}

static void close_record(struct wire *w, size_t at)
{
    w->data[at - 2] = (uint8_t)((w->length - at) >> 8);
    w->data[at - 1] = (uint8_t)(w->length - at);
}

static void put_cname(struct wire *w, const char *name, const char *to)
{
    size_t at = open_record(w, name, 5);
    put_name(w, to);
    close_record(w, at);
}

/* code 0: without tls-supported-groups. */
static void put_https(struct wire *w, const char *name, unsigned priority, const char *target,
                      unsigned code)
{
    size_t at = open_record(w, name, DNS_HTTPS);
    put(w, priority);
    put_name(w, target);
    if (code != 0) {
        put(w, SVCB_KEY_GROUPS);
        put(w, 2);
        put(w, code);
    }
    close_record(w, at);
}

#define ANSWER 0x8180u

static int read_wire(const struct wire *w, struct dns_answer *out, struct err *e)
{
    uint8_t *exact = malloc(w->length);
    assert_non_null(exact);
    memcpy(exact, w->data, w->length);
    int status = dns_answer_read(exact, w->length, "a.test", DNS_HTTPS, out, e);
    free(exact);
    return status;
}

static struct dns_answer answer_of(const struct wire *w)
{
    struct dns_answer answer;
    struct err e = ERR_INIT;
    if (read_wire(w, &answer, &e) != 0)
        fail_msg("%s", e.text);
    return answer;
}

static void records_come_in_order_of_priority(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "a.test", 3, "", 23);
    put_https(&w, "A.TEST", 1, "", 29);
    put_https(&w, "a.test", 2, "", 24);
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 3);
    assert_int_equal(answer.record[0].group[0], 29);
    assert_int_equal(answer.record[1].group[0], 24);
    assert_int_equal(answer.record[2].group[0], 23);
    dns_answer_free(&answer);
}

static void records_of_others_do_not_count(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "b.test", 1, "", 29);
    put_https(&w, "test", 1, "", 29);
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 0);
    assert_false(answer.is_elsewhere);
    assert_string_equal(answer.reason, "no such record");
}

static void a_cname_is_followed_within_the_answer_and_beyond(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "c.test", 1, "", 29);
    put_cname(&w, "b.test", "c.test");
    put_cname(&w, "a.test", "b.test");
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 1);
    assert_string_equal(answer.name, "c.test");
    dns_answer_free(&answer);
    w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_cname(&w, "a.test", "b.test");
    put_https(&w, "c.test", 1, "", 29);
    answer = answer_of(&w);
    assert_int_equal(answer.records, 0);
    assert_true(answer.is_elsewhere);
    assert_string_equal(answer.name, "b.test");
}

static void a_circle_of_cnames_ends(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_cname(&w, "a.test", "b.test");
    put_cname(&w, "b.test", "a.test");
    struct dns_answer answer = answer_of(&w);
    assert_false(answer.is_elsewhere);
    assert_non_null(strstr(answer.reason, "aliases"));
}

static void an_alias_leads_elsewhere_whatever_stands_beside_it(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "a.test", 1, "", 29);
    put_https(&w, "a.test", 0, "pool.test", 0);
    struct dns_answer answer = answer_of(&w);
    assert_true(answer.is_elsewhere);
    assert_string_equal(answer.name, "pool.test");
    assert_int_equal(answer.records, 0);
    w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "a.test", 0, "", 0);
    answer = answer_of(&w);
    assert_false(answer.is_elsewhere);
    assert_non_null(strstr(answer.reason, "no such service"));
}

static void one_malformed_record_spoils_the_set(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    put_https(&w, "a.test", 1, "", 29);
    size_t at = open_record(&w, "a.test", DNS_HTTPS);
    put(&w, 2);
    put_name(&w, "");
    put(&w, SVCB_KEY_GROUPS);
    put(&w, 0);
    close_record(&w, at);
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 0);
    assert_non_null(strstr(answer.reason, "an empty list"));
}

static void a_record_with_a_foreign_mandatory_key_is_passed_over(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    size_t at = open_record(&w, "a.test", DNS_HTTPS);
    put(&w, 1);
    put_name(&w, "");
    put(&w, 0);
    put(&w, 2);
    put(&w, 667);
    put(&w, 667);
    put(&w, 0);
    close_record(&w, at);
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 0);
    assert_string_equal(answer.reason, "key 667 is mandatory, and not known here");
    put_https(&w, "a.test", 2, "", 29);
    answer = answer_of(&w);
    assert_int_equal(answer.records, 1);
    assert_int_equal(answer.record[0].priority, 2);
    dns_answer_free(&answer);
}

static void a_name_that_is_not_there_has_no_records(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER | 3u, "a.test", DNS_HTTPS);
    struct dns_answer answer = answer_of(&w);
    assert_string_equal(answer.reason, "no such name");
}

static void what_is_no_answer_is_refused_by_name(void **state)
{
    (void)state;
    const struct {
        struct wire wire;
        const char *why;
    } rows[] = {
        {begin(0x0100, "a.test", DNS_HTTPS), "not an answer"},
        {begin(ANSWER | 0x0800u, "a.test", DNS_HTTPS), "not an answer"},
        {begin(ANSWER, "b.test", DNS_HTTPS), "another question"},
        {begin(ANSWER, "a.test", DNS_SVCB), "another question"},
        {begin(ANSWER | 0x0200u, "a.test", DNS_HTTPS), "cut off"},
        {begin(ANSWER | 2u, "a.test", DNS_HTTPS), "error 2"},
        {begin(ANSWER | 5u, "a.test", DNS_HTTPS), "error 5"},
        {{.length = 3}, "malformed"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dns_answer answer;
        struct err e = ERR_INIT;
        if (read_wire(&rows[i].wire, &answer, &e) != -1 || strstr(e.text, rows[i].why) == NULL)
            fail_msg("row %zu: '%s' instead of '%s'", i, e.text, rows[i].why);
    }
}

static void counts_that_the_message_does_not_hold_are_refused(void **state)
{
    (void)state;
    for (size_t at = 4; at < 12; at += 2) {
        struct dns_answer answer;
        struct err e = ERR_INIT;
        struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
        put_https(&w, "a.test", 1, "", 29);
        w.data[at] = w.data[at + 1] = 0xff;
        assert_int_equal(read_wire(&w, &answer, &e), -1);
        assert_int_equal(answer.records, 0);
    }
}

static void a_message_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct wire whole = begin(ANSWER, "a.test", DNS_HTTPS);
    put_cname(&whole, "a.test", "b.test");
    put_https(&whole, "b.test", 1, "", 29);
    for (size_t n = 1; n < whole.length; n++) {
        struct dns_answer answer;
        struct err e = ERR_INIT;
        struct wire w = whole;
        w.length = n;
        assert_int_equal(read_wire(&w, &answer, &e), -1);
    }
}

static void more_records_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    struct wire w = begin(ANSWER, "a.test", DNS_HTTPS);
    for (unsigned i = 0; i <= DNS_RECORDS_MAX; i++)
        put_https(&w, "a.test", i + 1, "", 29);
    struct dns_answer answer = answer_of(&w);
    assert_int_equal(answer.records, 0);
    assert_non_null(strstr(answer.reason, "64"));
}

/* RFC 9460, 9.1: the default port of HTTPS has no prefix. */
static void the_name_to_ask_for_depends_on_port_and_scheme(void **state)
{
    (void)state;
    char name[SVCB_NAME_SIZE];
    char longest[ADDRESS_HOST_MAX + 1];
    struct err e = ERR_INIT;
    assert_int_equal(dns_service_name("a.test", 443, NULL, name, sizeof(name), &e), 0);
    assert_string_equal(name, "a.test");
    assert_int_equal(dns_service_name("a.test", 8443, NULL, name, sizeof(name), &e), 0);
    assert_string_equal(name, "_8443._https.a.test");
    assert_int_equal(dns_service_name("a.test", 993, "imaps", name, sizeof(name), &e), 0);
    assert_string_equal(name, "_993._imaps.a.test");
    memset(longest, 'a', ADDRESS_HOST_MAX);
    longest[ADDRESS_HOST_MAX] = '\0';
    assert_int_equal(dns_service_name(longest, 8443, NULL, name, sizeof(name), &e), -1);
    assert_int_equal(e.kind, ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order_of_priority),
        cmocka_unit_test(records_of_others_do_not_count),
        cmocka_unit_test(a_cname_is_followed_within_the_answer_and_beyond),
        cmocka_unit_test(a_circle_of_cnames_ends),
        cmocka_unit_test(an_alias_leads_elsewhere_whatever_stands_beside_it),
        cmocka_unit_test(one_malformed_record_spoils_the_set),
        cmocka_unit_test(a_record_with_a_foreign_mandatory_key_is_passed_over),
        cmocka_unit_test(a_name_that_is_not_there_has_no_records),
        cmocka_unit_test(what_is_no_answer_is_refused_by_name),
        cmocka_unit_test(counts_that_the_message_does_not_hold_are_refused),
        cmocka_unit_test(a_message_cut_anywhere_is_refused),
        cmocka_unit_test(more_records_than_there_is_room_for_are_refused),
        cmocka_unit_test(the_name_to_ask_for_depends_on_port_and_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
