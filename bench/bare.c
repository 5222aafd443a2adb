/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-bare - what a connection costs its client in the kernel alone: connect, two writes,
 * two reads, close, over loopback, without TLS.
 *
 * Usage: bench-bare SERVER-CORE CLIENT-CORE CONNECTIONS CLIENT-BYTES SERVER-BYTES
 *
 * The first flights have the bytes of a handshake, the second those of a short request and
 * answer.  Prints the client thread's CPU time for one connection, in us.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "pin.h"

#define SECOND_BYTES 130u
#define FLIGHT_MAX 65536u

struct bare {
    int server_core, listener;
    unsigned connections;
    size_t client_bytes, server_bytes;
};

static bool read_all(int fd, size_t bytes)
{
    static _Thread_local char buffer[FLIGHT_MAX];
    while (bytes > 0) {
        ssize_t n = read(fd, buffer, bytes);
        if (n <= 0)
            return false;
        bytes -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, size_t bytes)
{
    static const char buffer[FLIGHT_MAX];
    return write(fd, buffer, bytes) == (ssize_t)bytes;
}

static void *serve(void *arg)
{
    const struct bare *b = arg;
    pin(b->server_core);
    for (unsigned i = 0; i < b->connections; i++) {
        int on = 1, fd = accept(b->listener, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (!read_all(fd, b->client_bytes) || !write_all(fd, b->server_bytes) ||
            !read_all(fd, SECOND_BYTES) || !write_all(fd, SECOND_BYTES))
            fprintf(stderr, "server: a connection failed\n");
        char end;
        (void)!read(fd, &end, 1); /* the client closes first */
        close(fd);
    }
    return NULL;
}

static bool connect_once(const struct bare *b, const struct sockaddr_in *to)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bool ok = connect(fd, (const struct sockaddr *)to, sizeof *to) == 0 &&
              write_all(fd, b->client_bytes) && read_all(fd, b->server_bytes) &&
              write_all(fd, SECOND_BYTES) && read_all(fd, SECOND_BYTES);
    close(fd);
    return ok;
}

static bool listen_anywhere(struct bare *b, struct sockaddr_in *at)
{
    socklen_t len = sizeof *at;
    *at =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    b->listener = socket(AF_INET, SOCK_STREAM, 0);
    return b->listener >= 0 && bind(b->listener, (const struct sockaddr *)at, len) == 0 &&
           listen(b->listener, 128) == 0 &&
           getsockname(b->listener, (struct sockaddr *)at, &len) == 0;
}

static double spent_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    struct bare b = {0};
    struct sockaddr_in at;
    pthread_t server;
    if (argc != 6) {
        fprintf(stderr, "bench-bare: SERVER-CORE CLIENT-CORE CONNECTIONS CLIENT-BYTES "
                        "SERVER-BYTES\n");
        return 2;
    }
    b.server_core = atoi(argv[1]);
    b.connections = (unsigned)atoi(argv[3]);
    b.client_bytes = (size_t)atoi(argv[4]);
    b.server_bytes = (size_t)atoi(argv[5]);
    if (b.connections == 0 || b.client_bytes - 1 >= FLIGHT_MAX ||
        b.server_bytes - 1 >= FLIGHT_MAX) {
        fprintf(stderr, "bench-bare: 1 to %u bytes, at least one connection\n", FLIGHT_MAX);
        return 2;
    }
    pin(atoi(argv[2]));
    if (!listen_anywhere(&b, &at) || pthread_create(&server, NULL, serve, &b) != 0) {
        perror("bench-bare");
        return 1;
    }
    bool ok = true;
    double before = spent_us();
    for (unsigned i = 0; i < b.connections && ok; i++)
        ok = connect_once(&b, &at);
    printf("%.2f\n", (spent_us() - before) / b.connections);
    if (!ok)
        return 1;
    pthread_join(server, NULL);
    return 0;
}
