/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-arrivals - when do requests come in: a server that does nothing but look at the clock.
 *
 * Usage: bench-arrivals CORE PORT-FILE MOST > TIMES
 *
 * Listens on a free loopback port, written to PORT-FILE.  Of each connection the time
 * (CLOCK_MONOTONIC, ns) at which its first bytes could be read is kept; then a short HTTP
 * answer is sent and the connection closed.  SIGTERM, or MOST connections: prints the times,
 * a line each, in order.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "pin.h"

#define EVENTS 64
#define LONGEST 100000000ul

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
static volatile sig_atomic_t is_over;

static void end(int number)
{
    (void)number;
    is_over = 1;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int listen_and_tell(const char *port_file)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    FILE *file = fopen(port_file, "w");
    if (fd < 0 || file == NULL || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        fprintf(file, "%u\n", ntohs(address.sin_port)) < 0 || fclose(file) != 0) {
        perror(port_file);
        exit(1);
    }
    return fd;
}

static void watch(int poll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0)
        perror("epoll_ctl");
}

static void accept_all(int poll, int listener)
{
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        watch(poll, fd);
}

static void take(int fd, uint64_t at_ns, uint64_t *time, size_t *count)
{
    char request[4096];
    if (read(fd, request, sizeof request) > 0) {
        time[(*count)++] = at_ns;
        (void)!write(fd, answer, sizeof answer - 1);
    }
    close(fd);
}

static size_t serve(int listener, uint64_t *time, size_t most)
{
    struct epoll_event event[EVENTS];
    size_t count = 0;
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    watch(poll, listener);
    while (!is_over && count < most) {
        const int ready = epoll_wait(poll, event, EVENTS, -1);
        const uint64_t at_ns = now_ns();
        for (int i = 0; i < ready && count < most; i++)
            if (event[i].data.fd == listener)
                accept_all(poll, listener);
            else
                take(event[i].data.fd, at_ns, time, &count);
    }
    close(poll);
    return count;
}

int main(int argc, char **argv)
{
    const struct sigaction ends = {.sa_handler = end};
    const unsigned long most = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (most == 0 || most > LONGEST) {
        fprintf(stderr, "Usage: bench-arrivals CORE PORT-FILE MOST (1 to %lu)\n", LONGEST);
        return 2;
    }
    pin((int)strtoul(argv[1], NULL, 10));
    uint64_t *time = calloc(most, sizeof *time);
    if (time == NULL)
        return 1;
    sigaction(SIGTERM, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    const size_t count = serve(listen_and_tell(argv[2]), time, most);
    for (size_t i = 0; i < count; i++)
        printf("%" PRIu64 "\n", time[i]);
    free(time);
    return 0;
}
