/* SPDX-License-Identifier: Apache-2.0 */
/* Does the model say what pencil and paper do? */
#include "cmocka_all.h"
#include <math.h>
#include "result/link_model.h"

#define MS 1e6

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-3))
        fail_msg("got %.9g, want %.9g", got, want);
}

#define MBIT 1e6
enum { ETHERNET = 1500 };

/* Both ways alike: half of the round trip each, the same rate and initial window. */
static struct link_model_line line_of(double rtt_ms, double rate, unsigned window, unsigned mtu)
{
    const struct link_model_way way = {rtt_ms * MS / 2, rate, window};
    return (struct link_model_line){{way, way}, mtu};
}

static double model(struct link_model_line line, double client, double server)
{
    const struct link_model_flights flights = {2, {client, server}};
    return link_model_ns(&line, &flights);
}

/* A segment holds 1448 bytes: windows of 10, 20, 40 are 14480, 43440, 101360 in all. */
static void windows_double_and_cost_a_round_trip_each(void **state)
{
    static const struct {
        double server_bytes, round_trips;
    } cases[] = {{1, 1},     {14480, 1},  {14481, 2}, {43440, 2},
                 {43441, 3}, {101360, 3}, {101361, 4}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_near(model(line_of(100, 0, 0, ETHERNET), 300, cases[i].server_bytes),
                    cases[i].round_trips * 100 * MS);
    assert_near(model(line_of(100, 0, 24, ETHERNET), 300, 24 * 1448), 100 * MS);
    assert_near(model(line_of(100, 0, 1, ETHERNET), 300, 2 * 1448), 200 * MS);
    struct link_model_line line = line_of(100, 0, 0, ETHERNET);
    line.way[RESULT_CLIENT].initcwnd_packets = 1;
    assert_near(model(line, 2000, 20), 200 * MS);
    assert_near(model(line_of(100, 0, 2, 576), 300, 2 * 524), 100 * MS);
    assert_near(model(line_of(100, 0, 2, 576), 300, 2 * 524 + 1), 200 * MS);
}

/* At 1 Mbit/s a bit takes 1 us: 348 + 52 bytes 3.2 ms, 948 + 52 bytes 8 ms, 1500 bytes 12 ms.
 */
static void the_line_takes_its_time_for_heads_too(void **state)
{
    (void)state;
    assert_near(model(line_of(0, MBIT, 0, ETHERNET), 348, 948), (3.2 + 8) * MS);
    assert_near(model(line_of(40, MBIT, 0, ETHERNET), 348, 1448 + 948),
                (3.2 + 12 + 8 + 40) * MS);
    struct link_model_line line = line_of(0, MBIT, 0, ETHERNET);
    line.way[RESULT_CLIENT].rate_bits_per_s = 0;
    assert_near(model(line, 348, 948), 8 * MS);
}

/* Ten segments take 120 ms of line: with a round trip of 40 ms the acknowledgement of the
 * first is there long before, and the eleventh follows without a gap. */
static void a_slow_line_leaves_no_gap_between_windows(void **state)
{
    struct link_model_line line = line_of(40, MBIT, 0, ETHERNET);
    (void)state;
    line.way[RESULT_CLIENT].rate_bits_per_s = 0;
    assert_near(model(line, 348, 10 * 1448 + 948), (120 + 8 + 40) * MS);
    /* With 200 ms there is one: first segment 12, round trip 200, and the acknowledgement
     * takes no line on its way up. */
    line = line_of(200, MBIT, 0, ETHERNET);
    line.way[RESULT_CLIENT].rate_bits_per_s = 0;
    assert_near(model(line, 348, 10 * 1448 + 948), (12 + 200 + 8 + 200) * MS);
}

/* The window goes on growing: 10 segments are acknowledged with the first flight, so that 20
 * may follow at once. */
static void a_response_finds_the_window_that_the_handshake_left(void **state)
{
    struct link_model_line line = line_of(100, 0, 0, ETHERNET);
    const struct link_model_flights ten = {2, {300, 14480}}, one = {2, {300, 100}};
    (void)state;
    assert_near(link_model_response_ns(&line, &ten, 100, 20 * 1448), 100 * MS);
    assert_near(link_model_response_ns(&line, &ten, 100, 20 * 1448 + 1), 200 * MS);
    assert_near(link_model_response_ns(&line, &one, 100, 11 * 1448 + 1), 200 * MS);
    line = line_of(0, MBIT, 0, ETHERNET);
    /* 80 of Finished, 68 of request, 52 of head: 1.6 ms; 948 + 52: 8 ms. */
    assert_near(link_model_response_ns(&line, &one, 68, 948), 9.6 * MS);
}

static void connecting_is_two_small_packets(void **state)
{
    const struct link_model_line line = line_of(30, MBIT, 0, ETHERNET);
    (void)state;
    assert_near(link_model_connect_ns(&line), (30 + 2 * 0.48) * MS);
}

static void flights_are_those_that_were_seen(void **state)
{
    struct link_model_flights f;
    (void)state;
    struct result *r = result_new(RESULT_KIND_LOAD);
    struct result_arm *arm = result_add_arm(r, "a");
    link_model_flights_of(arm, &f);
    assert_int_equal(f.count, 0);
    range_add(&arm->bytes.client_hello, 308);
    range_add(&arm->bytes.handshake[RESULT_CLIENT], 388);
    range_add(&arm->bytes.handshake[RESULT_SERVER], 1160);
    negotiated_add(&arm->negotiated, "X25519", 10);
    link_model_flights_of(arm, &f);
    assert_int_equal(f.count, 0); /* which version is not known */
    result_set_text(&arm->negotiated.tls, "1.3");
    link_model_flights_of(arm, &f);
    assert_int_equal(f.count, 2);
    assert_near(f.bytes[0], 308);
    assert_near(f.bytes[1], 1160);
    arm->negotiated.hrr = 10;
    arm->bytes.handshake[RESULT_CLIENT] = (struct result_range){0};
    range_add(&arm->bytes.handshake[RESULT_CLIENT], 1884);
    link_model_flights_of(arm, &f);
    assert_int_equal(f.count, 4);
    assert_near(f.bytes[0] + f.bytes[2], 1884 - 80);
    assert_near(f.bytes[1] + f.bytes[3], 1160);
    result_set_text(&arm->negotiated.tls, "1.2");
    link_model_flights_of(arm, &f);
    assert_int_equal(f.count, 0);
    result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_double_and_cost_a_round_trip_each),
        cmocka_unit_test(the_line_takes_its_time_for_heads_too),
        cmocka_unit_test(a_slow_line_leaves_no_gap_between_windows),
        cmocka_unit_test(a_response_finds_the_window_that_the_handshake_left),
        cmocka_unit_test(connecting_is_two_small_packets),
        cmocka_unit_test(flights_are_those_that_were_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
