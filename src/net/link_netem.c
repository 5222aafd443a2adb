/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_netem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/text.h"
#include "net/link_space.h"
#include "net/link_tc.h"

#define ROOM 65536u /* packets under way */
#define MAGIC 0x6e65746du
#define SEND_BUFFER_BYTES (256 << 20) /* what netem holds is charged to its sender */
#define SLACK_NS 10000000u

struct trailer {
    uint32_t magic, serial;
    uint16_t mark, zero;
};
_Static_assert(sizeof(struct trailer) == LINK_NETEM_TRAILER_BYTES, "as the header says");

enum state { UNDER_WAY, ARRIVED, LOST };
struct sent {
    uint64_t patience_ns; /* until then it may still come */
    struct link_netem_tag tag;
    uint8_t state;
};

struct link_netem {
    int tun_fd, socket_fd;
    unsigned device;
    uint64_t patience_ns;  /* after it was sent; 0: packets keep their order */
    uint32_t next, oldest; /* serials: the next one's, the first that is not settled */
    struct sent *sent;     /* by serial % ROOM */
    link_netem_lost_fn *lost;
    void *arg;
};

int link_netem_fd(const struct link_netem *n)
{
    return n->tun_fd;
}

void link_netem_hear(struct link_netem *n, link_netem_lost_fn *lost, void *arg)
{
    n->lost = lost;
    n->arg = arg;
}

/* ---- set up ---- */

static int open_socket(struct link_netem *n, struct err *e)
{
    const int wanted = SEND_BUFFER_BYTES;
    /* Protocol 0: it hears nothing. */
    n->socket_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (n->socket_fd < 0)
        return err_set_errno(e, "netem: a packet socket");
    if (setsockopt(n->socket_fd, SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof(wanted)) != 0)
        (void)setsockopt(n->socket_fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof(wanted));
    return 0;
}

static int make_way(enum link_way way, const struct link_spec *spec, struct link_netem **out,
                    struct err *e)
{
    const struct link_way_spec *s = &spec->way[way];
    const char *device = way == LINK_UP ? "up0" : "down0";
    struct link_netem_words words;
    struct link_netem *n = mem_alloc_zeroed(1, sizeof(*n));
    *out = n;
    n->socket_fd = -1;
    n->patience_ns = s->jitter_ns > 0 ? s->delay_ns + s->jitter_ns + SLACK_NS : 0;
    n->sent = mem_alloc_zeroed(ROOM, sizeof(*n->sent));
    if (link_space_add_device(device, spec->mtu_bytes + LINK_NETEM_TRAILER_BYTES, &n->tun_fd,
                              &n->device, e) != 0 ||
        open_socket(n, e) != 0)
        return -1;
    link_netem_words(s, spec->mtu_bytes, device, &words);
    return link_tc_run(words.word, e);
}

int link_netem_make(const struct link_spec *spec, struct link_netem *out[LINK_WAYS],
                    struct err *e)
{
    if (link_space_make_empty(e) != 0)
        return -1;
    for (unsigned i = 0; i < LINK_WAYS; i++)
        if (make_way((enum link_way)i, spec, &out[i], e) != 0)
            return -1;
    return 0;
}

void link_netem_free(struct link_netem *n)
{
    if (n == NULL)
        return;
    if (n->tun_fd >= 0)
        close(n->tun_fd);
    if (n->socket_fd >= 0)
        close(n->socket_fd);
    free(n->sent);
    free(n);
}

/* ---- packets ---- */

enum link_fate link_netem_send(struct link_netem *n, const void *packet, size_t bytes,
                               const struct link_netem_tag *tag, uint64_t now_ns)
{
    struct trailer trailer = {MAGIC, n->next, tag->mark, 0};
    struct iovec part[] = {{(void *)(uintptr_t)packet, bytes}, {&trailer, sizeof(trailer)}};
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_IP),
                             .sll_ifindex = (int)n->device};
    const struct msghdr message = {
        .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = part, .msg_iovlen = 2};
    if (n->next - n->oldest >= ROOM)
        return LINK_OVERFLOW;
    if (sendmsg(n->socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return errno == ENOBUFS ? LINK_QUEUE_FULL : LINK_OVERFLOW;
    n->sent[n->next++ % ROOM] =
        (struct sent){.patience_ns = now_ns + n->patience_ns, .tag = *tag, .state = UNDER_WAY};
    return LINK_PASSED;
}

/* Those before `serial`, which has arrived, in the order in which they were sent. */
static void settle(struct link_netem *n, uint32_t serial, uint64_t now_ns)
{
    for (; n->oldest != n->next; n->oldest++) {
        struct sent *s = &n->sent[n->oldest % ROOM];
        if (s->state == ARRIVED)
            continue;
        if ((int32_t)(n->oldest - serial) >= 0 ||
            (n->patience_ns > 0 && now_ns < s->patience_ns))
            return;
        s->state = LOST;
        if (n->lost != NULL)
            n->lost(n->arg, &s->tag);
    }
}

ssize_t link_netem_receive(struct link_netem *n, void *packet, size_t size, uint64_t now_ns,
                           uint16_t *mark, bool *is_back)
{
    struct trailer trailer;
    const ssize_t got = read(n->tun_fd, packet, size);
    if (got < (ssize_t)sizeof(trailer))
        return got < 0 ? -1 : 0;
    memcpy(&trailer, (char *)packet + got - sizeof(trailer), sizeof(trailer));
    /* Nothing but ours should be there; the kernel's own is passed over. */
    if (trailer.magic != MAGIC || n->next - trailer.serial - 1 >= ROOM)
        return 0;
    struct sent *s = &n->sent[trailer.serial % ROOM];
    if (s->state == ARRIVED) /* twice */
        return 0;
    *is_back = s->state == LOST;
    *mark = trailer.mark;
    s->state = ARRIVED;
    settle(n, trailer.serial, now_ns);
    return got - (ssize_t)sizeof(trailer);
}
