/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_flow.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>

#define RTO_LEAST_NS 200000000u
#define ROUNDS_MOST 250u
#define NS_PER_US 1000u

/* Of a segment what matters here; ports as the client sees them. */
struct segment {
    uint16_t client_port, server_port;
    uint32_t sequence, length; /* SYN and FIN take one each */
    uint32_t payload_bytes;
    bool is_syn, is_ack;
};

void link_flows_init(struct link_flows *f, uint64_t rtt_ns)
{
    f->timeout_ns = rtt_ns + RTO_LEAST_NS;
}

static bool read_segment(enum link_way way, const void *packet, size_t bytes,
                         struct segment *out)
{
    struct iphdr ip;
    struct tcphdr tcp;
    if (bytes < sizeof(ip))
        return false;
    memcpy(&ip, packet, sizeof(ip));
    const size_t ip_bytes = ip.ihl * 4u, total = ntohs(ip.tot_len);
    if (ip.version != 4 || ip.protocol != IPPROTO_TCP || ip_bytes < sizeof(ip) ||
        (ntohs(ip.frag_off) & IP_OFFMASK) != 0 || total > bytes ||
        total < ip_bytes + sizeof(tcp))
        return false;
    memcpy(&tcp, (const char *)packet + ip_bytes, sizeof(tcp));
    const size_t tcp_bytes = tcp.doff * 4u;
    if (tcp_bytes < sizeof(tcp) || total < ip_bytes + tcp_bytes)
        return false;
    const uint16_t source = ntohs(tcp.source), destination = ntohs(tcp.dest);
    out->client_port = way == LINK_UP ? source : destination;
    out->server_port = way == LINK_UP ? destination : source;
    out->sequence = ntohl(tcp.seq);
    out->payload_bytes = (uint32_t)(total - ip_bytes - tcp_bytes);
    out->length = out->payload_bytes + tcp.syn + tcp.fin;
    out->is_syn = tcp.syn;
    out->is_ack = tcp.ack;
    return true;
}

/* NULL: of no connection whose beginning was seen. */
static struct link_flow *find(struct link_flows *f, enum link_way way, const struct segment *s)
{
    struct link_flow *flow = &f->flow[s->client_port];
    const bool is_first = way == LINK_UP && s->is_syn && !s->is_ack;
    const bool is_same = flow->is_used && flow->server_port == s->server_port;
    if (is_first && !(is_same && flow->first_sequence == s->sequence)) {
        const uint8_t generation = (uint8_t)(flow->generation + 1);
        memset(flow, 0, sizeof(*flow));
        flow->generation = generation;
        flow->server_port = s->server_port;
        flow->first_sequence = s->sequence;
        flow->is_used = true;
        return flow;
    }
    return is_same ? flow : NULL;
}

static void count_retransmit(const struct link_flows *f, struct link_flow *flow,
                             enum link_way way, const struct segment *s, uint64_t now_ns)
{
    const bool is_late = now_ns - flow->last_sent_ns[way] >= f->timeout_ns;
    flow->retransmits[way]++;
    flow->timeouts[way] = (uint16_t)(flow->timeouts[way] + (s->is_syn || is_late));
}

static void count_sequence(const struct link_flows *f, struct link_flow *flow,
                           enum link_way way, const struct segment *s, uint64_t now_ns)
{
    const uint32_t end = s->sequence + s->length;
    if (flow->has_sent[way] && (int32_t)(s->sequence - flow->end_sequence[way]) < 0)
        count_retransmit(f, flow, way, s, now_ns);
    if (!flow->has_sent[way] || (int32_t)(end - flow->end_sequence[way]) > 0)
        flow->end_sequence[way] = end;
    flow->has_sent[way] = true;
}

static void count_data(struct link_flow *flow, enum link_way way, const struct segment *s,
                       uint64_t now_ns)
{
    flow->data_segments[way]++;
    flow->payload_bytes[way] += s->payload_bytes;
    /* One more than the round, so that 0 is none. */
    const uint8_t round = (uint8_t)(flow->round[way] + 1);
    if (flow->flight_round[way] == round)
        return;
    if (flow->flights[way] < LINK_FLIGHTS)
        flow->flight_us[way][flow->flights[way]] =
            (uint32_t)((now_ns - flow->began_ns) / NS_PER_US);
    flow->flights[way]++;
    flow->flight_round[way] = round;
}

uint16_t link_flow_sent(struct link_flows *f, enum link_way way, const void *packet,
                        size_t bytes, uint64_t now_ns, bool is_dropped)
{
    struct segment s;
    if (!read_segment(way, packet, bytes, &s))
        return 0;
    struct link_flow *flow = find(f, way, &s);
    if (flow == NULL)
        return 0;
    if (flow->segments[LINK_UP] == 0)
        flow->began_ns = now_ns;
    flow->segments[way]++;
    flow->dropped[way] = (uint16_t)(flow->dropped[way] + is_dropped);
    if (s.length > 0)
        count_sequence(f, flow, way, &s, now_ns);
    if (s.payload_bytes > 0)
        count_data(flow, way, &s, now_ns);
    flow->last_sent_ns[way] = now_ns;
    return (uint16_t)(flow->generation << 8 | flow->round[way]);
}

void link_flow_arrived(struct link_flows *f, enum link_way way, const void *packet,
                       size_t bytes, uint16_t mark)
{
    struct segment s;
    if (!read_segment(way, packet, bytes, &s))
        return;
    struct link_flow *flow = &f->flow[s.client_port];
    if (!flow->is_used || flow->server_port != s.server_port || flow->generation != mark >> 8)
        return;
    const unsigned receiver = way == LINK_UP ? LINK_DOWN : LINK_UP;
    const unsigned round = (mark & 0xffu) + (way == LINK_DOWN);
    if (round > flow->round[receiver] && round <= ROUNDS_MOST)
        flow->round[receiver] = (uint8_t)round;
}

void link_flow_lost(struct link_flows *f, enum link_way way, uint16_t client_port,
                    uint16_t mark)
{
    struct link_flow *flow = &f->flow[client_port];
    if (flow->is_used && flow->generation == mark >> 8)
        flow->dropped[way]++;
}

uint16_t link_flow_port(enum link_way way, const void *packet, size_t bytes)
{
    struct segment s;
    return read_segment(way, packet, bytes, &s) ? s.client_port : 0;
}
