/* SPDX-License-Identifier: Apache-2.0 */
/* Do connections come about, carry bytes, and say why they did not? */
#include "cmocka_all.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "net/loop.h"
#include "net/socket.h"

static struct address literal(const char *text)
{
    struct address_name name;
    struct address a;
    struct err e = ERR_INIT;
    size_t count;
    assert_int_equal(address_parse(text, ADDRESS_LISTEN, 0, &name, &e), 0);
    assert_int_equal(address_resolve(&name, &a, 1, &count, &e), 0);
    return a;
}

static int listen_at(const char *text, bool shares_port, struct address *bound)
{
    const struct address at = literal(text);
    const struct socket_listen_options options = {.shares_port = shares_port};
    struct err e = ERR_INIT;
    int fd = socket_listen(&at, &options, bound, &e);
    if (fd < 0)
        fail_msg("%s", e.text);
    return fd;
}

static bool wait_for(int fd, short events)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    return poll(&poll_fd, 1, 10000) == 1;
}

static int connect_to(const struct address *to, const struct address *from)
{
    int fd = socket_connect(to, from);
    assert_true(fd >= 0);
    assert_true(wait_for(fd, POLLOUT));
    return fd;
}

static int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);
    assert_int_equal(getsockopt(fd, level, option, &value, &length), 0);
    return value;
}

static void a_connection_comes_about_without_delays(void **state)
{
    static const char *const places[] = {"127.0.0.1:0", "[::1]:0"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct address at, peer, local, remote;
        if (i > 0 && access("/proc/sys/net/ipv6", F_OK) != 0)
            continue; /* no IPv6 here */
        int listener = listen_at(places[i], false, &at);
        assert_true(address_port(&at) > 0);
        int client = connect_to(&at, NULL);
        assert_int_equal(socket_error(client), 0);
        assert_true(wait_for(listener, POLLIN));
        int server = socket_accept(listener, &peer);
        assert_true(server >= 0);
        assert_int_equal(socket_local_address(client, &local), 0);
        assert_int_equal(socket_peer_address(client, &remote), 0);
        assert_true(address_same(&peer, &local));
        assert_true(address_same(&remote, &at));
        assert_true(option_of(client, IPPROTO_TCP, TCP_NODELAY) != 0);
        assert_true(option_of(server, IPPROTO_TCP, TCP_NODELAY) != 0);
        assert_int_equal(socket_accept(listener, NULL), -1);
        assert_int_equal(errno, EAGAIN);
        close(client);
        close(server);
        close(listener);
    }
}

static void a_local_address_is_chosen(void **state)
{
    struct address at, local;
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    for (int i = 2; i < 5; i++) {
        struct address from = literal("127.0.0.1:0");
        from.u.v4.sin_addr.s_addr = htonl(0x7f000000u + (uint32_t)i);
        int client = connect_to(&at, &from);
        assert_int_equal(socket_error(client), 0);
        assert_int_equal(socket_local_address(client, &local), 0);
        assert_int_equal(local.u.v4.sin_addr.s_addr, from.u.v4.sin_addr.s_addr);
        assert_true(address_port(&local) > 0);
        close(client);
    }
    close(listener);
}

/* One source port serves many targets only where it is chosen at connect. */
static void the_port_of_a_source_is_chosen_at_connect(void **state)
{
    struct address at;
    struct address from = literal("127.0.0.5:0");
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    int client = connect_to(&at, &from);
    assert_int_equal(option_of(client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT), 1);
    close(client);
    close(listener);
}

static void failures_to_connect_have_an_errno_and_a_side(void **state)
{
    struct address at, foreign = literal("192.0.2.1:0");
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    close(listener); /* nobody listens there now */
    int client = socket_connect(&at, NULL);
    int error = errno;
    if (client >= 0) {
        assert_true(wait_for(client, POLLOUT));
        error = socket_error(client);
        assert_int_equal(socket_error(client), 0); /* was cleared */
        close(client);
    }
    assert_int_equal(error, ECONNREFUSED);
    assert_false(socket_error_is_local(error));

    assert_int_equal(socket_connect(&at, &foreign), -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    assert_true(socket_error_is_local(errno));
    static const int remote[] = {0, ECONNRESET, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EPIPE};
    for (size_t i = 0; i < COUNT_OF(remote); i++)
        assert_false(socket_error_is_local(remote[i]));
    static const int local[] = {EMFILE, ENFILE, ENOBUFS, EADDRINUSE, EAGAIN};
    for (size_t i = 0; i < COUNT_OF(local); i++)
        assert_true(socket_error_is_local(local[i]));
}

static void a_port_is_shared_only_when_asked(void **state)
{
    struct address at, second;
    struct err e = ERR_INIT;
    char text[ADDRESS_TEXT_MAX];
    const struct socket_listen_options alone = {.shares_port = false},
                                       shared = {.shares_port = true};
    (void)state;
    int first = listen_at("127.0.0.1:0", true, &at);
    int other = socket_listen(&at, &shared, &second, &e);
    assert_true(other >= 0);
    assert_true(address_same(&at, &second));
    assert_int_equal(socket_listen(&at, &alone, NULL, &e), -1);
    assert_int_equal(e.kind, ERR_SYSTEM);
    assert_non_null(strstr(e.text, address_format(&at, text, sizeof(text))));
    close(first);
    close(other);
}

static void bytes_are_counted_both_ways(void **state)
{
    struct address at;
    char buf[100];
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    struct socket_stream client = {.fd = connect_to(&at, NULL)};
    struct socket_stream server = {.fd = socket_accept(listener, NULL)};
    assert_int_equal(socket_recv(&server, buf, sizeof(buf)), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(socket_send(&client, "hello", 5), 5);
    assert_int_equal(socket_send(&client, "!", 1), 1);
    assert_true(wait_for(server.fd, POLLIN));
    assert_int_equal(socket_recv(&server, buf, sizeof(buf)), 6);
    assert_memory_equal(buf, "hello!", 6);
    assert_int_equal(client.sent_bytes, 6);
    assert_int_equal(server.received_bytes, 6);
    assert_int_equal(client.received_bytes + server.sent_bytes, 0);
    shutdown(client.fd, SHUT_WR);
    assert_true(wait_for(server.fd, POLLIN));
    assert_int_equal(socket_recv(&server, buf, sizeof(buf)), 0);
    assert_int_equal(server.received_bytes, 6);
    close(client.fd);
    close(server.fd);
    close(listener);
}

static void a_reset_is_an_errno_and_no_signal(void **state)
{
    struct address at;
    char buf[10];
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    struct socket_stream client = {.fd = connect_to(&at, NULL)};
    struct socket_stream server = {.fd = socket_accept(listener, NULL)};
    assert_int_equal(socket_reset_on_close(server.fd), 0);
    close(server.fd);
    assert_true(wait_for(client.fd, POLLIN));
    assert_int_equal(socket_recv(&client, buf, sizeof(buf)), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(socket_send(&client, "x", 1), -1); /* SIGPIPE would end the test */
    assert_int_equal(errno, EPIPE);
    close(client.fd);
    close(listener);
}

/* ---- with the loop ---- */

struct seen {
    struct loop_watch watch;
    uint32_t events;
};

static void note(void *arg, uint32_t events)
{
    ((struct seen *)arg)->events = events;
}

static uint32_t next_events(struct loop *loop, struct seen *seen)
{
    seen->events = 0;
    assert_int_equal(loop_run_once(loop, LOOP_NEVER), 1);
    return seen->events;
}

/* From connecting to the end of the stream with one registration. */
static void one_registration_serves_a_connections_life(void **state)
{
    struct address at;
    struct err e = ERR_INIT;
    struct seen seen = {.watch = {.ready = note, .arg = &seen}};
    struct loop *loop = loop_new(NULL, &e);
    char buf[10];
    (void)state;
    assert_non_null(loop);
    int listener = listen_at("127.0.0.1:0", false, &at);
    struct socket_stream client = {.fd = socket_connect(&at, NULL)};
    assert_int_equal(loop_add(loop, &seen.watch, client.fd, LOOP_EDGES), 0);
    assert_true(next_events(loop, &seen) & EPOLLOUT);
    assert_int_equal(socket_error(client.fd), 0);
    struct socket_stream server = {.fd = socket_accept(listener, NULL)};
    assert_int_equal(socket_send(&server, "abc", 3), 3);
    assert_true(next_events(loop, &seen) & EPOLLIN);
    assert_int_equal(socket_recv(&client, buf, sizeof(buf)), 3);
    close(server.fd);
    assert_true(next_events(loop, &seen) & EPOLLRDHUP);
    assert_int_equal(socket_recv(&client, buf, sizeof(buf)), 0);
    loop_forget(loop, &seen.watch);
    close(client.fd);
    assert_int_equal(loop_run_once(loop, 0), 0);
    close(listener);
    loop_free(loop);
}

/* ---- accepting ---- */

struct taken {
    unsigned count;
    int fd[64];
};

static void take(void *arg, int fd)
{
    struct taken *t = arg;
    assert_true(t->count < COUNT_OF(t->fd));
    t->fd[t->count++] = fd;
}

static void close_all(struct taken *t)
{
    while (t->count > 0)
        close(t->fd[--t->count]);
}

static void connections_are_taken_in_batches(void **state)
{
    struct address at;
    struct taken clients = {0}, servers = {0};
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    for (int i = 0; i < 10; i++)
        take(&clients, connect_to(&at, NULL));
    assert_int_equal(socket_accept_many(listener, 4, take, &servers), SOCKET_ACCEPT_MORE);
    assert_int_equal(servers.count, 4);
    assert_int_equal(socket_accept_many(listener, 20, take, &servers), SOCKET_ACCEPT_ALL);
    assert_int_equal(servers.count, 10);
    close_all(&clients);
    close_all(&servers);
    close(listener);
    assert_int_equal(socket_accept_many(listener, 1, take, &servers), SOCKET_ACCEPT_FAILED);
    assert_int_equal(errno, EBADF);
}

static void a_lack_of_descriptors_is_told_apart(void **state)
{
    struct address at;
    struct taken clients = {0}, servers = {0};
    struct rlimit limit, low;
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    for (int i = 0; i < 3; i++)
        take(&clients, connect_to(&at, NULL));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)clients.fd[2] + 2; /* room for one more */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    enum socket_accepted end = socket_accept_many(listener, 20, take, &servers);
    int client = socket_connect(&at, NULL);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(end, SOCKET_ACCEPT_STARVED);
    assert_int_equal(servers.count, 1);
    assert_int_equal(client, -1);
    assert_int_equal(error, EMFILE);
    assert_int_equal(socket_accept_many(listener, 20, take, &servers), SOCKET_ACCEPT_ALL);
    assert_int_equal(servers.count, 3); /* recovered */
    close_all(&clients);
    close_all(&servers);
    close(listener);
}

static void tcp_says_what_it_saw(void **state)
{
    struct address at;
    struct socket_tcp tcp;
    char buf[5000] = "";
    (void)state;
    int listener = listen_at("127.0.0.1:0", false, &at);
    struct socket_stream client = {.fd = connect_to(&at, NULL)};
    struct socket_stream server = {.fd = socket_accept(listener, NULL)};
    assert_int_equal(socket_send(&client, buf, sizeof(buf)), sizeof(buf));
    size_t got = 0;
    while (got < sizeof(buf) && wait_for(server.fd, POLLIN))
        got += (size_t)socket_recv(&server, buf, sizeof(buf));
    assert_int_equal(socket_send(&server, buf, 77), 77);
    assert_true(wait_for(client.fd, POLLIN));
    assert_int_equal(socket_read_tcp(client.fd, &tcp), 0);
    assert_true(tcp.rtt_us > 0);
    assert_true(tcp.rto_us >= tcp.rtt_us);
    assert_true(tcp.send_mss_bytes > 500);
    assert_true(tcp.window_segments >= 1);
    assert_int_equal(tcp.retransmits, 0);
    assert_int_equal(tcp.lost, 0);
    if (tcp.has_counts) {
        assert_int_equal(tcp.bytes_sent, 5000);
        assert_int_equal(tcp.bytes_received, 77);
        assert_int_equal(tcp.bytes_retransmitted, 0);
        assert_true(tcp.segments_out >= 2 && tcp.segments_in >= 2);
    }
    if (tcp.has_min_rtt)
        assert_true(tcp.min_rtt_us <= 10000000);
    close(server.fd);
    assert_int_equal(socket_read_tcp(server.fd, &tcp), -1);
    close(client.fd);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_comes_about_without_delays),
        cmocka_unit_test(a_local_address_is_chosen),
        cmocka_unit_test(the_port_of_a_source_is_chosen_at_connect),
        cmocka_unit_test(failures_to_connect_have_an_errno_and_a_side),
        cmocka_unit_test(a_port_is_shared_only_when_asked),
        cmocka_unit_test(bytes_are_counted_both_ways),
        cmocka_unit_test(a_reset_is_an_errno_and_no_signal),
        cmocka_unit_test(one_registration_serves_a_connections_life),
        cmocka_unit_test(connections_are_taken_in_batches),
        cmocka_unit_test(a_lack_of_descriptors_is_told_apart),
        cmocka_unit_test(tcp_says_what_it_saw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
