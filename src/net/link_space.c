/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "net/link_route.h"

#define TUN_PATH "/dev/net/tun"
#define DEVICE "link0"

/* ---- rights ---- */

static bool has_rights(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    const uint32_t wanted = 1u << CAP_SYS_ADMIN | 1u << CAP_NET_ADMIN;
    memset(data, 0, sizeof(data));
    return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & wanted) == wanted;
}

static int write_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const bool is_written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    const int error = errno;
    close(fd);
    errno = error;
    return is_written ? 0 : -1;
}

static int refuse(struct err *e, const char *what, const char *wants)
{
    err_set_errno(e, "%s", what);
    if (e != NULL) {
        const size_t length = strlen(e->text);
        e->kind = ERR_UNSUPPORTED;
        snprintf(e->text + length, sizeof(e->text) - length, "; %s", wants);
    }
    return -1;
}

#define WANTS_USER_SPACE                                                    \
    "run as root, or allow user namespaces (sysctl "                        \
    "user.max_user_namespaces > 0, kernel.unprivileged_userns_clone=1 and " \
    "kernel.apparmor_restrict_unprivileged_userns=0 where the kernel has them)"

int link_space_gain_rights(struct err *e)
{
    char users[64], groups[64];
    if (has_rights())
        return 0;
    snprintf(users, sizeof(users), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) != 0)
        return refuse(e, "a user namespace", WANTS_USER_SPACE);
    if (write_file("/proc/self/setgroups", "deny") != 0 ||
        write_file("/proc/self/uid_map", users) != 0 ||
        write_file("/proc/self/gid_map", groups) != 0)
        return refuse(e, "the user namespace's map of users", WANTS_USER_SPACE);
    if (!has_rights()) {
        errno = EPERM;
        return refuse(e, "rights in the user namespace", WANTS_USER_SPACE);
    }
    return 0;
}

/* ---- a namespace ---- */

static int open_tun(const char *name, int *fd, unsigned *index, struct err *e)
{
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    *fd = open(TUN_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0)
        return refuse(e, TUN_PATH,
                      errno == EACCES
                          ? "run as root, or let users read and write it (mode 0666, as most "
                            "systems have it)"
                          : "the kernel's TUN driver is needed (modprobe tun)");
    if (ioctl(*fd, TUNSETIFF, &request) != 0)
        return refuse(e, "a TUN device",
                      "the kernel's TUN driver is needed, and the right to "
                      "use it in a network namespace");
    *index = if_nametoindex(name);
    return *index > 0 ? 0 : err_set_errno(e, "the TUN device's number");
}

/* What would let connections of one run disturb each other; where /proc/sys cannot be
 * written, they do a little. */
static void set_knobs(void)
{
    (void)write_file("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
    (void)write_file("/proc/sys/net/ipv4/tcp_tw_reuse", "1");
    (void)write_file("/proc/sys/net/ipv4/ip_local_port_range", "1024 65535");
    (void)write_file("/proc/sys/net/ipv4/tcp_max_syn_backlog", "65536");
    (void)write_file("/proc/sys/net/core/somaxconn", "65536");
    (void)write_file("/proc/sys/net/ipv6/conf/" DEVICE "/disable_ipv6", "1");
}

int link_space_make_empty(struct err *e)
{
    if (unshare(CLONE_NEWNET) == 0)
        return 0;
    return refuse(e, "a network namespace",
                  "the kernel's network namespaces are needed (CONFIG_NET_NS, sysctl "
                  "user.max_net_namespaces > 0)");
}

int link_space_add_device(const char *name, unsigned mtu_bytes, int *tun_fd, unsigned *index,
                          struct err *e)
{
    (void)write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    if (open_tun(name, tun_fd, index, e) != 0)
        return -1;
    return link_route_bring_up(*index, mtu_bytes, e);
}

int link_space_make(enum link_end end, const struct link_spec *spec, int *tun_fd, int *space_fd,
                    struct err *e)
{
    const struct link_route route = {
        .address = end == LINK_CLIENT ? LINK_CLIENT_HOST : LINK_SERVER_HOST,
        .peer = end == LINK_CLIENT ? LINK_SERVER_HOST : LINK_CLIENT_HOST,
        .mtu_bytes = spec->mtu_bytes,
        .initcwnd_packets = spec->way[end].initcwnd_packets,
        .cc = spec->cc};
    unsigned index;
    if (link_space_make_empty(e) != 0)
        return -1;
    *space_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*space_fd < 0)
        return err_set_errno(e, "/proc/self/ns/net");
    if (open_tun(DEVICE, tun_fd, &index, e) != 0)
        return -1;
    set_knobs();
    return link_route_set(index, &route, e);
}
