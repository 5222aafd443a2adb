/* SPDX-License-Identifier: Apache-2.0 */
/* Are round trips, flights and retransmits counted to the packet? */
#include "cmocka_all.h"
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include "net/link_flow.h"

#define MS 1000000u
#define CLIENT_PORT 40000u
#define SERVER_PORT 443u

enum { SYN = 1, ACK = 2, FIN = 4 };

struct bench {
    struct link_flows *flows;
    uint64_t now_ns;
};

static size_t make_packet(unsigned char *packet, enum link_way way, unsigned flags,
                          uint32_t sequence, size_t payload)
{
    struct iphdr ip = {.version = 4, .ihl = 5, .protocol = IPPROTO_TCP};
    struct tcphdr tcp = {.doff = 5};
    ip.tot_len = htons((uint16_t)(40 + payload));
    tcp.source = htons(way == LINK_UP ? CLIENT_PORT : SERVER_PORT);
    tcp.dest = htons(way == LINK_UP ? SERVER_PORT : CLIENT_PORT);
    tcp.seq = htonl(sequence);
    tcp.syn = (flags & SYN) != 0;
    tcp.ack = (flags & ACK) != 0;
    tcp.fin = (flags & FIN) != 0;
    memcpy(packet, &ip, sizeof(ip));
    memcpy(packet + 20, &tcp, sizeof(tcp));
    return 40 + payload;
}

static uint16_t send_only(struct bench *b, enum link_way way, unsigned flags, uint32_t sequence,
                          size_t payload)
{
    unsigned char packet[2048] = {0};
    const size_t n = make_packet(packet, way, flags, sequence, payload);
    return link_flow_sent(b->flows, way, packet, n, b->now_ns, false);
}

static void arrive(struct bench *b, enum link_way way, uint16_t mark)
{
    unsigned char packet[64] = {0};
    const size_t n = make_packet(packet, way, ACK, 0, 0);
    link_flow_arrived(b->flows, way, packet, n, mark);
}

static void cross(struct bench *b, enum link_way way, unsigned flags, uint32_t sequence,
                  size_t payload)
{
    arrive(b, way, send_only(b, way, flags, sequence, payload));
}

static const struct link_flow *flow_of(const struct bench *b)
{
    return &b->flows->flow[CLIENT_PORT];
}

static int begin(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    b->flows = calloc(1, sizeof(*b->flows));
    b->now_ns = 1000 * (uint64_t)MS;
    link_flows_init(b->flows, 50 * MS);
    *state = b;
    return 0;
}

static int end(void **state)
{
    struct bench *b = *state;
    free(b->flows);
    free(b);
    return 0;
}

static void connect_tcp(struct bench *b)
{
    cross(b, LINK_UP, SYN, 999, 0);
    cross(b, LINK_DOWN, SYN | ACK, 4999, 0);
    cross(b, LINK_UP, ACK, 1000, 0);
}

static void a_handshake_in_one_window_takes_two_round_trips(void **state)
{
    struct bench *b = *state;
    connect_tcp(b);
    assert_int_equal(flow_of(b)->round[LINK_UP], 1);
    cross(b, LINK_UP, ACK, 1000, 300);
    for (uint32_t i = 0; i < 10; i++)
        cross(b, LINK_DOWN, ACK, 5000 + i * 1448, 1448);
    assert_int_equal(flow_of(b)->round[LINK_UP], 2);
    assert_int_equal(flow_of(b)->flights[LINK_UP], 1);
    assert_int_equal(flow_of(b)->flights[LINK_DOWN], 1);
    assert_int_equal(flow_of(b)->data_segments[LINK_DOWN], 10);
    assert_int_equal(flow_of(b)->payload_bytes[LINK_DOWN], 14480);
    assert_int_equal(flow_of(b)->segments[LINK_UP], 3);
}

static void a_flight_begins_when_its_first_segment_does(void **state)
{
    struct bench *b = *state;
    connect_tcp(b);
    b->now_ns += 100 * MS;
    cross(b, LINK_UP, ACK, 1000, 1448);
    b->now_ns += MS;
    cross(b, LINK_UP, ACK, 2448, 100);
    b->now_ns += 50 * MS;
    cross(b, LINK_DOWN, ACK, 5000, 1448);
    b->now_ns += 100 * MS;
    cross(b, LINK_UP, ACK, 2548, 100);
    assert_int_equal(flow_of(b)->flights[LINK_UP], 2);
    assert_int_equal(flow_of(b)->flight_us[LINK_UP][0], 100000);
    assert_int_equal(flow_of(b)->flight_us[LINK_UP][1], 251000);
    assert_int_equal(flow_of(b)->flight_us[LINK_DOWN][0], 151000);
}

static void what_waits_for_an_acknowledgement_is_one_round_trip_more(void **state)
{
    struct bench *b = *state;
    connect_tcp(b);
    cross(b, LINK_UP, ACK, 1000, 300);
    const uint16_t first = send_only(b, LINK_DOWN, ACK, 5000, 1448);
    arrive(b, LINK_DOWN, first);
    const uint16_t ack = send_only(b, LINK_UP, ACK, 1300, 0);
    /* Sent before the acknowledgement is there: of the same flight. */
    cross(b, LINK_DOWN, ACK, 6448, 1448);
    assert_int_equal(flow_of(b)->round[LINK_UP], 2);
    arrive(b, LINK_UP, ack);
    cross(b, LINK_DOWN, ACK, 7896, 100);
    assert_int_equal(flow_of(b)->round[LINK_UP], 3);
    assert_int_equal(flow_of(b)->flights[LINK_DOWN], 2);
}

static void what_is_sent_again_is_a_retransmit(void **state)
{
    struct bench *b = *state;
    connect_tcp(b);
    cross(b, LINK_UP, ACK, 1000, 300);
    (void)send_only(b, LINK_DOWN, ACK, 5000, 1448);
    cross(b, LINK_DOWN, ACK, 6448, 1448);
    b->now_ns += 50 * MS;
    cross(b, LINK_DOWN, ACK, 5000, 1448);
    assert_int_equal(flow_of(b)->retransmits[LINK_DOWN], 1);
    assert_int_equal(flow_of(b)->timeouts[LINK_DOWN], 0);
    assert_int_equal(flow_of(b)->retransmits[LINK_UP], 0);
    b->now_ns += 250 * MS;
    cross(b, LINK_DOWN, ACK, 5000, 1448);
    assert_int_equal(flow_of(b)->timeouts[LINK_DOWN], 1);
}

static void a_syn_sent_again_is_a_timeout_of_the_same_connection(void **state)
{
    struct bench *b = *state;
    (void)send_only(b, LINK_UP, SYN, 999, 0);
    b->now_ns += 100 * MS;
    cross(b, LINK_UP, SYN, 999, 0);
    assert_int_equal(flow_of(b)->retransmits[LINK_UP], 1);
    assert_int_equal(flow_of(b)->timeouts[LINK_UP], 1);
    assert_int_equal(flow_of(b)->segments[LINK_UP], 2);
}

static void a_port_used_again_begins_anew(void **state)
{
    struct bench *b = *state;
    connect_tcp(b);
    cross(b, LINK_UP, ACK, 1000, 300);
    const uint16_t late = send_only(b, LINK_DOWN, ACK, 5000, 100);
    (void)send_only(b, LINK_UP, SYN, 77, 0);
    assert_int_equal(flow_of(b)->segments[LINK_UP], 1);
    assert_int_equal(flow_of(b)->round[LINK_UP], 0);
    arrive(b, LINK_DOWN, late); /* of the old one */
    assert_int_equal(flow_of(b)->round[LINK_UP], 0);
}

static void sequence_numbers_may_wrap(void **state)
{
    struct bench *b = *state;
    cross(b, LINK_UP, SYN, 0xffffffff, 0);
    cross(b, LINK_UP, ACK, 0, 300);
    cross(b, LINK_UP, ACK, 300, 300);
    assert_int_equal(flow_of(b)->retransmits[LINK_UP], 0);
    cross(b, LINK_UP, ACK, 0, 300);
    assert_int_equal(flow_of(b)->retransmits[LINK_UP], 1);
}

static void what_is_lost_on_the_way_is_lost_to_its_own_connection(void **state)
{
    struct bench *b = *state;
    unsigned char packet[2048] = {0};
    connect_tcp(b);
    const uint16_t mark = send_only(b, LINK_UP, ACK, 1000, 300);
    const size_t n = make_packet(packet, LINK_UP, ACK, 1000, 300);
    assert_int_equal(link_flow_port(LINK_UP, packet, n), CLIENT_PORT);
    assert_int_equal(link_flow_port(LINK_DOWN, packet, n), SERVER_PORT);
    assert_int_equal(link_flow_port(LINK_UP, packet, n - 301), 0);
    link_flow_lost(b->flows, LINK_UP, CLIENT_PORT + 1, mark);
    assert_int_equal(flow_of(b)->dropped[LINK_UP], 0);
    link_flow_lost(b->flows, LINK_UP, CLIENT_PORT, mark);
    assert_int_equal(flow_of(b)->dropped[LINK_UP], 1);
    assert_int_equal(flow_of(b)->dropped[LINK_DOWN], 0);
    cross(b, LINK_UP, SYN, 70000, 0); /* the port's next connection */
    link_flow_lost(b->flows, LINK_UP, CLIENT_PORT, mark);
    assert_int_equal(flow_of(b)->dropped[LINK_UP], 0);
}

static void a_packet_cut_anywhere_is_passed_over(void **state)
{
    struct bench *b = *state;
    unsigned char packet[2048] = {0};
    const size_t n = make_packet(packet, LINK_UP, SYN, 5, 0);
    for (size_t i = 0; i < n; i++) {
        unsigned char *cut = malloc(i + 1); /* so that a sanitizer sees what is read */
        memcpy(cut, packet, i);
        assert_int_equal(link_flow_sent(b->flows, LINK_UP, cut, i, 0, false), 0);
        link_flow_arrived(b->flows, LINK_UP, cut, i, 0);
        free(cut);
    }
    assert_int_equal(flow_of(b)->segments[LINK_UP], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_handshake_in_one_window_takes_two_round_trips, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_flight_begins_when_its_first_segment_does, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            what_waits_for_an_acknowledgement_is_one_round_trip_more, begin, end),
        cmocka_unit_test_setup_teardown(what_is_sent_again_is_a_retransmit, begin, end),
        cmocka_unit_test_setup_teardown(a_syn_sent_again_is_a_timeout_of_the_same_connection,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_port_used_again_begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(sequence_numbers_may_wrap, begin, end),
        cmocka_unit_test_setup_teardown(what_is_lost_on_the_way_is_lost_to_its_own_connection,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_packet_cut_anywhere_is_passed_over, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
