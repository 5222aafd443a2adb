/* SPDX-License-Identifier: Apache-2.0 */
#include "run/poller.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "net/wait.h"

#define NS_PER_S 1000000000u

int poller_init(struct poller *p, bool is_spinning, struct err *e)
{
    p->is_spinning = is_spinning;
    p->waited_ns = 0;
    p->fd = epoll_create1(EPOLL_CLOEXEC);
    return p->fd >= 0 ? 0 : err_set_errno(e, "epoll");
}

void poller_fini(struct poller *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

int poller_add(struct poller *p, int fd, uint32_t events, void *data)
{
    struct epoll_event event = {.events = events, .data = {.ptr = data}};
    return epoll_ctl(p->fd, EPOLL_CTL_ADD, fd, &event);
}

static int wait_ns(struct poller *p, uint64_t ns)
{
    const struct timespec timeout = {.tv_sec = (time_t)(ns / NS_PER_S),
                                     .tv_nsec = (long)(ns % NS_PER_S)};
    const int n = epoll_pwait2(p->fd, p->event, POLLER_EVENTS, &timeout, NULL);
    if (n >= 0 || errno != ENOSYS)
        return n;
    /* Before Linux 5.11: whole milliseconds, rounded down, the rest by asking again. */
    return epoll_wait(p->fd, p->event, POLLER_EVENTS, (int)(ns / 1000000u));
}

int poller_wait(struct poller *p, uint64_t deadline_ns, uint64_t *now_ns)
{
    const uint64_t began_ns = clock_now_ns();
    uint64_t at_ns = began_ns;
    int n;
    do {
        const uint64_t left_ns = deadline_ns > at_ns ? deadline_ns - at_ns : 0;
        n = wait_ns(p, p->is_spinning ? 0 : wait_part_ns(left_ns));
        at_ns = clock_now_ns();
    } while (n == 0 && at_ns < deadline_ns);
    p->waited_ns += at_ns - began_ns;
    *now_ns = at_ns;
    return n > 0 ? n : 0;
}
