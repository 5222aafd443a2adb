/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/file.h"

#define LOOPBACK 1u
#define QUEUE_PACKETS 10000u /* of the device, before the emulator reads them */
#define CC_LIST_BYTES 4096u

/* One request: its head, the family's struct, attributes. */
struct request {
    struct nlmsghdr head;
    char body[512];
};

static void *begin(struct request *r, unsigned type, unsigned flags, size_t body_bytes)
{
    memset(r, 0, sizeof(*r));
    r->head.nlmsg_type = (uint16_t)type;
    r->head.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    r->head.nlmsg_len = (uint32_t)NLMSG_LENGTH(body_bytes);
    return NLMSG_DATA(&r->head);
}

static struct rtattr *add(struct request *r, unsigned type, const void *value, size_t bytes)
{
    struct rtattr *a = (struct rtattr *)(void *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));
    a->rta_type = (uint16_t)type;
    a->rta_len = (uint16_t)RTA_LENGTH(bytes);
    if (bytes > 0)
        memcpy(RTA_DATA(a), value, bytes);
    r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(r->head.nlmsg_len) + RTA_ALIGN(a->rta_len));
    return a;
}

static void add_number(struct request *r, unsigned type, uint32_t value)
{
    add(r, type, &value, sizeof(value));
}

/* Returns 0, or -1 with errno as the kernel answered. */
static int ask(int fd, struct request *r)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[512];
    } answer;
    if (send(fd, r, r->head.nlmsg_len, 0) < 0)
        return -1;
    const ssize_t got = recv(fd, &answer, sizeof(answer), 0);
    if (got < (ssize_t)(sizeof(answer.head) + sizeof(answer.error)) ||
        answer.head.nlmsg_type != NLMSG_ERROR) {
        errno = EPROTO;
        return -1;
    }
    errno = -answer.error.error;
    return answer.error.error == 0 ? 0 : -1;
}

static int set_up(int fd, unsigned device, unsigned mtu_bytes)
{
    struct request r;
    struct ifinfomsg *info = begin(&r, RTM_NEWLINK, 0, sizeof(*info));
    info->ifi_index = (int)device;
    info->ifi_flags = info->ifi_change = IFF_UP;
    if (mtu_bytes > 0) {
        add_number(&r, IFLA_MTU, mtu_bytes);
        add_number(&r, IFLA_TXQLEN, QUEUE_PACKETS);
    }
    return ask(fd, &r);
}

static int add_address(int fd, unsigned device, const char *address)
{
    struct request r;
    struct ifaddrmsg *info = begin(&r, RTM_NEWADDR, NLM_F_CREATE, sizeof(*info));
    const in_addr_t binary = inet_addr(address);
    info->ifa_family = AF_INET;
    info->ifa_prefixlen = 32;
    info->ifa_index = device;
    add(&r, IFA_LOCAL, &binary, sizeof(binary));
    add(&r, IFA_ADDRESS, &binary, sizeof(binary));
    return ask(fd, &r);
}

static int add_route(int fd, unsigned device, const struct link_route *route)
{
    struct request r;
    struct rtmsg *info = begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*info));
    const in_addr_t peer = inet_addr(route->peer), own = inet_addr(route->address);
    info->rtm_family = AF_INET;
    info->rtm_dst_len = 32;
    info->rtm_table = RT_TABLE_MAIN;
    info->rtm_protocol = RTPROT_STATIC;
    info->rtm_scope = RT_SCOPE_LINK;
    info->rtm_type = RTN_UNICAST;
    add(&r, RTA_DST, &peer, sizeof(peer));
    add(&r, RTA_PREFSRC, &own, sizeof(own));
    add_number(&r, RTA_OIF, device);
    struct rtattr *metrics = add(&r, RTA_METRICS, NULL, 0);
    if (route->initcwnd_packets > 0)
        add_number(&r, RTAX_INITCWND, route->initcwnd_packets);
    add(&r, RTAX_CC_ALGO, route->cc, strlen(route->cc) + 1);
    metrics->rta_len = (uint16_t)((char *)&r + r.head.nlmsg_len - (char *)metrics);
    return ask(fd, &r);
}

/* The route's own answer to an unknown name is "invalid argument". */
static int check_cc(const char *cc, struct err *e)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set_errno(e, "a socket");
    const bool is_there =
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc)) == 0;
    close(fd);
    if (is_there)
        return 0;
    char *names = file_read_text("", "/proc/sys/net/ipv4/tcp_available_congestion_control",
                                 CC_LIST_BYTES);
    if (names != NULL)
        names[strcspn(names, "\n")] = '\0';
    err_set(e, ERR_UNSUPPORTED, "cc: '%s' is not in this kernel; it has %.100s", cc,
            names != NULL ? names : "others");
    free(names);
    return -1;
}

int link_route_set(unsigned device, const struct link_route *route, struct err *e)
{
    if (check_cc(route->cc, e) != 0)
        return -1;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return err_set_errno(e, "rtnetlink");
    int failed = 0;
    if (set_up(fd, LOOPBACK, 0) != 0 || set_up(fd, device, route->mtu_bytes) != 0)
        failed = err_set_errno(e, "the link's device");
    else if (add_address(fd, device, route->address) != 0)
        failed = err_set_errno(e, "the link's address %s", route->address);
    else if (add_route(fd, device, route) != 0)
        failed = err_set_errno(e, "the link's route to %s", route->peer);
    close(fd);
    return failed;
}

int link_route_bring_up(unsigned device, unsigned mtu_bytes, struct err *e)
{
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return err_set_errno(e, "rtnetlink");
    const int failed =
        set_up(fd, device, mtu_bytes) == 0 ? 0 : err_set_errno(e, "a device of the link");
    close(fd);
    return failed;
}
