/* SPDX-License-Identifier: Apache-2.0 */
/* Are numbers with units read strictly and written so that they read back? */
#include "cmocka_all.h"
#include "comma_locale.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/units.h"

/* What no parser of this module may take, whatever its unit. */
static const char *const nonsense[] = {
    "",           " ",   "-",        "+",     ".",     "-1",   "-0",    "+1",    "nan",
    "NaN",        "inf", "infinity", "-inf",  "1e400", "1e3",  "1E3",   "0x10",  "10x",
    "0x1p4",      "1,5", "1'000",    "1_000", "1.",    ".5",   "1..5",  "1.5.2", " 1",
    "1 ",         "1\n", "\t1",      "1 s",   "s",     "ms",   "k",     "%",     "/",
    "1/",         "/3",  "1//3",     "1/0",   "1/0/s", "1/-3", "1/s/s", "1/3/d", "1/3/s/s",
    "one",        "1s2", "1ss",      "1sm",   "--",    "0b1",  "1e",    "1e+2",  "\xef\xbc\x91",
    "1\xc2\xa0s", "1k2", "1kk",      "k1",    "1 k",
};

struct bad {
    const char *text, *says; /* says NULL: any text */
};

static void must_name_the_value(const struct err *e, const char *text, const char *says)
{
    char quoted[600];
    snprintf(quoted, sizeof quoted, "'%.80s", text);
    assert_int_equal(e->kind, ERR_USAGE);
    assert_int_equal(strncmp(e->text, quoted, strlen(quoted)), 0);
    if (says)
        assert_string_equal(e->text, says);
}

static void nonsense_is_refused_by_every_parser(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(nonsense); i++) {
        const char *text = nonsense[i];
        for (int parser = 0; parser < 8; parser++) {
            struct err e = ERR_INIT;
            uint64_t u = 77;
            double d = 77;
            int b = 77, status = 0;
            switch (parser) {
            case 0:
                status = units_parse_duration_ns(text, &u, &e);
                break;
            case 1:
                status = units_parse_rate_per_s(text, &d, &e);
                break;
            case 2:
                status = units_parse_bytes(text, &u, &e);
                break;
            case 3:
                status = units_parse_bits_per_s(text, &d, &e);
                break;
            case 4:
                status = units_parse_count(text, 0, UINT64_MAX, &u, &e);
                break;
            case 5:
                status = units_parse_share(text, &d, &e);
                break;
            case 6:
                status = units_parse_number(text, &d, &e);
                break;
            default:
                status = units_parse_switch(text, &b, &e);
            }
            if (status != -1)
                fail_msg("parser %d took '%s'", parser, text);
            must_name_the_value(&e, text, NULL);
            assert_true(u == 77 && d == 77 && b == 77);
        }
    }
}

static void durations_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        {"0", 0},
        {"0s", 0},
        {"0.0", 0},
        {"000", 0},
        {"1ns", 1},
        {"1us", 1000},
        {"250ms", 250000000},
        {"30s", 30000000000},
        {"5m", 300000000000},
        {"2h", 7200000000000},
        {"1.5s", 1500000000},
        {"0.1s", 100000000},
        {"0.000000001s", 1},
        {"1.50000000000000000000000000000000s", 1500000000},
        {"0.5us", 500},
        {"0.25m", 15000000000},
        {"1.1h", 3960000000000},
        {"0.0000000001h", 360},
        {"00012ms", 12000000},
        {"1000000000s", 1000000000000000000},
        {"1000000000000000000ns", 1000000000000000000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = ERR_INIT;
        uint64_t ns = 77;
        if (units_parse_duration_ns(cases[i].text, &ns, &e) != 0)
            fail_msg("%s", e.text);
        assert_true(ns == cases[i].ns);
        assert_int_equal(units_parse_duration_ns(cases[i].text, &ns, NULL), 0);
    }
}

static void bad_durations_say_what_is_accepted(void **state)
{
    static const struct bad cases[] = {
        {"10x",
         "'10x' is not a duration; give a number with ns, us, ms, s, m or h, like 250ms"},
        {"", "'' is not a duration; give a number with ns, us, ms, s, m or h, like 250ms"},
        {"1", "'1' is not a duration; give a number with ns, us, ms, s, m or h, like 250ms"},
        {"1S", NULL},
        {"1min", NULL},
        {"1d", NULL},
        {"1 ms", NULL},
        {"1%", NULL},
        {"0.5ns", "'0.5ns' is not a whole number of nanoseconds"},
        {"0.0000000001s", "'0.0000000001s' is not a whole number of nanoseconds"},
        {"0.0000000000000000001h", NULL},
        {"1000000000.000000001s", "'1000000000.000000001s' is too large; the most is 277777h"},
        {"1000000000000000001ns", NULL},
        {"277778h", "'277778h' is too large; the most is 277777h"},
        {"99999999999999999999999999999999999999999999999999h", NULL},
        {"18446744073709551616ns", NULL},
        {"18446744073709551617ns", NULL},
        {"340282366920938463463374607431768211457ns", NULL}, /* 2^128 + 1 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = ERR_INIT;
        uint64_t ns = 77;
        assert_int_equal(units_parse_duration_ns(cases[i].text, &ns, &e), -1);
        must_name_the_value(&e, cases[i].text, cases[i].says);
        assert_true(ns == 77);
    }
}

static void rates_are_real_numbers(void **state)
{
    static const struct {
        const char *text;
        double per_s;
    } cases[] = {
        {"300", 300},           {"300/s", 300},       {"0.5", 0.5},
        {"0.5/s", 0.5},         {"1/3", 1.0 / 3},     {"1/3/s", 1.0 / 3},
        {"50k", 50000},         {"50k/s", 50000},     {"1M/s", 1000000},
        {"90/m", 1.5},          {"3600/h", 1},        {"1/h", 1.0 / 3600},
        {"1k/7/s", 1000.0 / 7}, {"1/3/m", 1.0 / 180}, {"2.5/0.5", 5},
        {"0.1", 0.1},           {"1.1k", 1100},       {"1000M", 1e9},
        {"0.000000001", 1e-9},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = ERR_INIT;
        double rate = 77;
        if (units_parse_rate_per_s(cases[i].text, &rate, &e) != 0)
            fail_msg("%s", e.text);
        assert_true(rate == cases[i].per_s);
    }
}

static void a_rate_is_above_zero_and_within_reason(void **state)
{
    static const struct bad cases[] = {
        {"0", "'0' is not a rate; give a number above 0 and up to 1000M, like 300, 50k/s, 20/m "
              "or 1/3/s"},
        {"0/s", NULL},
        {"0.0", NULL},
        {"0k", NULL},
        {"0/3/s", NULL},
        {"1/0.0/s", NULL},
        {"1001M", NULL},
        {"1/1k", NULL},
        {"10/ms", NULL},
        {"10s", NULL},
        {"10K", NULL},
        {"10m", NULL},
        {"1/s/3", NULL},
        {"0.0000000001", NULL},
    };
    char huge[400];
    struct err e = ERR_INIT;
    double rate = 77;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(units_parse_rate_per_s(cases[i].text, &rate, &e), -1);
        must_name_the_value(&e, cases[i].text, cases[i].says);
    }
    memset(huge, '9', sizeof huge - 1);
    for (size_t length = 1; length < sizeof huge; length++) {
        huge[length] = '\0';
        assert_int_equal(units_parse_rate_per_s(huge, &rate, &e), length <= 9 ? 0 : -1);
        if (length > 9)
            must_name_the_value(&e, huge, NULL);
        else
            rate = 77;
        huge[length] = '9';
    }
    assert_true(rate == 77);
}

static void bytes_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"3", 3},
        {"3B", 3},
        {"1k", 1000},
        {"1kB", 1000},
        {"1KiB", 1024},
        {"1M", 1000000},
        {"1MB", 1000000},
        {"1MiB", 1048576},
        {"2GB", 2000000000},
        {"1GiB", 1073741824},
        {"1.5KiB", 1536},
        {"0.001k", 1},
        {"9223372036854775807", 9223372036854775807u},
        {"8589934591GiB", 9223372035781033984u},
    };
    static const struct bad bad[] = {
        {"1.5", "'1.5' is not a whole number of bytes"},
        {"0.0001k", NULL},
        {"1.1KiB", NULL},
        {"9223372036854775808",
         "'9223372036854775808' is too large; the most is 8589934591GiB"},
        {"8589934592GiB", NULL},
        {"18446744073709551617", NULL},
        {"1K",
         "'1K' is not a size; give a number of bytes, or one with k, kB, KiB, M, MB, MiB, "
         "GB or GiB"},
        {"1mb", NULL},
        {"1TB", NULL},
        {"1b", NULL},
    };
    (void)state;
    uint64_t bytes = 77;
    struct err e = ERR_INIT;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(units_parse_bytes(bad[i].text, &bytes, &e), -1);
        must_name_the_value(&e, bad[i].text, bad[i].says);
        assert_true(bytes == 77);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (units_parse_bytes(cases[i].text, &bytes, &e) != 0)
            fail_msg("%s", e.text);
        assert_true(bytes == cases[i].bytes);
    }
}

static void bit_rates_take_any_case(void **state)
{
    static const struct {
        const char *text;
        double bits;
    } cases[] = {
        {"10mbit", 1e7}, {"10Mbit", 1e7},  {"1GBIT", 1e9},        {"1.5kbit", 1500},
        {"1bit", 1},     {"0.1mbit", 1e5}, {"1000000gbit", 1e15},
    };
    static const char *const bad[] = {"10",       "0mbit",       "0",      "10mb", "10mbps",
                                      "10mbit/s", "1000001gbit", "10tbit", "10m"};
    double bits = 77;
    struct err e = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(units_parse_bits_per_s(bad[i], &bits, &e), -1);
        must_name_the_value(&e, bad[i], NULL);
        assert_true(bits == 77);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(units_parse_bits_per_s(cases[i].text, &bits, &e), 0);
        assert_true(bits == cases[i].bits);
    }
}

static void a_count_is_whole_and_in_its_range(void **state)
{
    static const struct {
        const char *text;
        uint64_t low, high, value;
    } cases[] = {
        {"1", 1, 1, 1},
        {"0", 0, 5, 0},
        {"2k", 1, 5000, 2000},
        {"3M", 1, UINT64_MAX, 3000000},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX},
    };
    static const struct {
        const char *text;
        uint64_t low, high;
        const char *says;
    } bad[] = {
        {"0", 1, 64, "'0' is not a valid count; give a whole number from 1 to 64"},
        {"65", 1, 64, "'65' is not a valid count; give a whole number from 1 to 64"},
        {"1k", 1, 999, NULL},
        {"1.5", 0, 10, NULL},
        {"1.0", 0, 10, NULL},
        {"1.5k", 0, 10000, NULL},
        {"1/s", 0, 10, NULL},
        {"18446744073709551616", 0, UINT64_MAX,
         "'18446744073709551616' is not a valid count; give a whole number from 0, like 20 or "
         "1k"},
        {"18446744073709552k", 0, UINT64_MAX, NULL},
    };
    uint64_t value = 77;
    struct err e = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(units_parse_count(bad[i].text, bad[i].low, bad[i].high, &value, &e),
                         -1);
        must_name_the_value(&e, bad[i].text, bad[i].says);
        assert_true(value == 77);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(
            units_parse_count(cases[i].text, cases[i].low, cases[i].high, &value, &e), 0);
        assert_true(value == cases[i].value);
    }
}

static void shares_are_fractions_or_percentages(void **state)
{
    static const struct {
        const char *text;
        double share;
    } cases[] = {
        {"0", 0},  {"1", 1},        {"0.9", 0.9},     {"90%", 0.9}, {"100%", 1},
        {"0%", 0}, {"0.5%", 0.005}, {"12.3%", 0.123}, {"1.0", 1},
    };
    static const char *const bad[] = {"1.1",   "101%", "100.1%",   "2",
                                      "0.9%%", "50 %", "1.0000001"};
    double share = 77;
    struct err e = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(units_parse_share(bad[i], &share, &e), -1);
        must_name_the_value(&e, bad[i], NULL);
        assert_true(share == 77);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(units_parse_share(cases[i].text, &share, &e), 0);
        assert_true(share == cases[i].share);
    }
}

static void plain_numbers_are_read_to_the_nearest_double(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"17.25", 17.25},
        {"0.1", 0.1},
        {"123456789012345678", 123456789012345678.0},
        {"0.30000000000000004", 0.1 + 0.2},
        {"9007199254740993", 9007199254740992.0}, /* tie to even */
    };
    char digits[400];
    double value = 77;
    struct err e = ERR_INIT;
    (void)state;
    memset(digits, '1', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    assert_int_equal(units_parse_number(digits, &value, &e), -1); /* no double holds it */
    must_name_the_value(&e, digits, NULL);
    digits[310] = '\0';
    assert_int_equal(units_parse_number(digits, &value, &e), -1);
    assert_true(value == 77);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(units_parse_number(cases[i].text, &value, &e), 0);
        assert_true(value == cases[i].value);
    }
}

static void a_long_bad_value_is_shown_cut_between_characters(void **state)
{
    char text[200] = "x";
    double value;
    struct err e = ERR_INIT;
    (void)state;
    for (int i = 0; i < 60; i++)
        strcat(text, "\xe2\x82\xac");
    assert_int_equal(units_parse_number(text, &value, &e), -1);
    assert_memory_equal(e.text + 1, text, 79); /* x and 26 euro signs */
    assert_int_equal(strncmp(e.text + 80, "' is not a number; give ", 24), 0);
}

static void switches_have_six_words(void **state)
{
    static const struct {
        const char *text;
        int value;
    } cases[] = {{"on", 1}, {"yes", 1}, {"true", 1}, {"off", 0}, {"no", 0}, {"false", 0}};
    static const char *const bad[] = {"On", "1", "0", "enable", "o", "onn"};
    int value = 77;
    struct err e = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(units_parse_switch(bad[i], &value, &e), -1);
        must_name_the_value(&e, bad[i], NULL);
        assert_int_equal(value, 77);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(units_parse_switch(cases[i].text, &value, &e), 0);
        assert_int_equal(value, cases[i].value);
    }
}

static void a_person_reads_three_significant_digits(void **state)
{
    static const struct {
        uint64_t ns;
        const char *shown;
    } cases[] = {
        {0, "0 ns"},
        {1, "1 ns"},
        {999, "999 ns"},
        {1000, "1 us"},
        {1005, "1.01 us"},
        {1004, "1 us"},
        {17300, "17.3 us"},
        {17349, "17.3 us"},
        {17350, "17.4 us"},
        {999499, "999 us"},
        {999500, "1 ms"},
        {9994, "9.99 us"},
        {9995, "10 us"},
        {99949, "99.9 us"},
        {99950, "100 us"},
        {250000000, "250 ms"},
        {1500000000, "1.5 s"},
        {59949999999, "59.9 s"},
        {59950000000, "1 min"},
        {60000000000, "1 min"},
        {90000000000, "1.5 min"},
        {3570000000000, "59.5 min"},
        {3597000000000, "1 h"},
        {3600000000000, "1 h"},
        {8100000000000, "2.25 h"},
        {1000000000000000000, "277778 h"},
        {UINT64_MAX, "5124096 h"},
    };
    char buf[32], tiny[4];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(units_format_duration(cases[i].ns, buf, sizeof buf),
                            cases[i].shown);
    assert_string_equal(units_format_duration(17300, tiny, sizeof tiny), "17.");
}

static void exact_durations_read_back(void **state)
{
    static const struct {
        uint64_t ns;
        const char *shown;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {1500, "1500ns"},
        {1000, "1us"},
        {1500000000, "1500ms"},
        {30000000000, "30s"},
        {90000000000, "90s"},
        {300000000000, "5m"},
        {7200000000000, "2h"},
        {1000000000000000000, "1000000000s"},
    };
    char buf[32];
    uint64_t back;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        units_format_duration_exact(cases[i].ns, buf, sizeof buf);
        assert_string_equal(buf, cases[i].shown);
        assert_int_equal(units_parse_duration_ns(buf, &back, NULL), 0);
        assert_true(back == cases[i].ns);
    }
    for (uint64_t ns = 1; ns < 1000000000000000000u; ns = ns * 3 + 7) {
        units_format_duration_exact(ns, buf, sizeof buf);
        assert_int_equal(units_parse_duration_ns(buf, &back, NULL), 0);
        assert_true(back == ns);
    }
}

static void numbers_are_written_as_short_as_they_read_back(void **state)
{
    static const struct {
        double value;
        const char *shown;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {17.25, "17.25"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {100, "100"},
        {1e6, "1000000"},
        {123456, "123456"},
        {-2.5, "-2.5"},
        {0.001, "0.001"},
        {1e-9, "0.000000001"},
        {1.25e-9, "0.00000000125"},
        {1e-10, "1e-10"},
        {1.5e-300, "1.5e-300"},
        {1e20, "100000000000000000000"},
        {1e21, "1e21"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {5e-324, "5e-324"},
        {9007199254740993.0, "9007199254740992"},
    };
    char buf[32], tiny[3];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(units_format_number(cases[i].value, buf, sizeof buf),
                            cases[i].shown);
    assert_string_equal(units_format_number(17.25, tiny, sizeof tiny), "17");
}

static void numbers_read_back_to_the_same_double(void **state)
{
    uint64_t bits = 88172645463325252u;
    char buf[32];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        value = ldexp((double)(bits >> 11), -60 + (int)(bits % 70));
        if (value < 1e-9 || value >= 1e21)
            continue;
        units_format_number(value, buf, sizeof buf);
        if (units_parse_number(buf, &back, NULL) != 0 || back != value)
            fail_msg("%a became %s", value, buf);
    }
}

/* The same results under a locale whose decimal separator is a comma. */
static void a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (!comma_locale_use())
        skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    durations_are_read_exactly(state);
    rates_are_real_numbers(state);
    shares_are_fractions_or_percentages(state);
    plain_numbers_are_read_to_the_nearest_double(state);
    nonsense_is_refused_by_every_parser(state);
    a_person_reads_three_significant_digits(state);
    numbers_are_written_as_short_as_they_read_back(state);
    numbers_read_back_to_the_same_double(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused_by_every_parser),
        cmocka_unit_test(durations_are_read_exactly),
        cmocka_unit_test(bad_durations_say_what_is_accepted),
        cmocka_unit_test(rates_are_real_numbers),
        cmocka_unit_test(a_rate_is_above_zero_and_within_reason),
        cmocka_unit_test(bytes_are_read_exactly),
        cmocka_unit_test(bit_rates_take_any_case),
        cmocka_unit_test(a_count_is_whole_and_in_its_range),
        cmocka_unit_test(shares_are_fractions_or_percentages),
        cmocka_unit_test(plain_numbers_are_read_to_the_nearest_double),
        cmocka_unit_test(a_long_bad_value_is_shown_cut_between_characters),
        cmocka_unit_test(switches_have_six_words),
        cmocka_unit_test(a_person_reads_three_significant_digits),
        cmocka_unit_test(exact_durations_read_back),
        cmocka_unit_test(numbers_are_written_as_short_as_they_read_back),
        cmocka_unit_test(numbers_read_back_to_the_same_double),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
