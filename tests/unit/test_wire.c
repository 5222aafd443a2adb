/* SPDX-License-Identifier: Apache-2.0 */
/* Does a step of a connection end, whatever its peer sends or reads? */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cmocka_all.h"
#include "run/wire.h"

#define ROOM_BYTES (2 * (int)WIRE_STEP_BYTES)

struct fixture {
    struct wire wire;
    struct wire_buffers buffers;
    int peer;
    char block[16384];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    const int room = ROOM_BYTES;
    int pair[2];
    assert_non_null(f);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    for (int i = 0; i < 2; i++)
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    wire_init(&f->wire, pair[0], &f->buffers);
    f->peer = pair[1];
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wire_fini(&f->wire);
    close(f->wire.socket.fd);
    close(f->peer);
    free(f);
    return 0;
}

static size_t fill(struct fixture *f)
{
    size_t total = 0;
    ssize_t n;
    while ((n = write(f->peer, f->block, sizeof(f->block))) > 0)
        total += (size_t)n;
    return total;
}

/* As TLS does: until there is no more. */
static size_t take_all(struct fixture *f)
{
    const struct tls_io io = wire_io(&f->wire);
    size_t total = 0;
    ssize_t n;
    while ((n = io.recv(io.arg, f->block, sizeof(f->block))) > 0)
        total += (size_t)n;
    assert_true(n == 0 || errno == EAGAIN);
    return total;
}

/* Behind a step that was cut: step by step, until one is not. */
static size_t take_rest(struct fixture *f)
{
    size_t total = 0;
    while (f->wire.is_cut) {
        wire_begin(&f->wire, true);
        total += take_all(f);
    }
    return total;
}

static void reading_ends_though_more_has_come(void **state)
{
    struct fixture *f = *state;
    const size_t sent = fill(f);
    if (sent < WIRE_STEP_BYTES + WIRE_BUFFER_BYTES)
        skip();
    wire_begin(&f->wire, false);
    const size_t first = take_all(f);
    assert_true(f->wire.is_cut);
    assert_in_range(first, WIRE_STEP_BYTES, WIRE_STEP_BYTES + WIRE_BUFFER_BYTES);
    assert_int_equal(first + take_rest(f), sent);
}

static void the_end_that_came_with_the_first_step_is_seen_by_a_later_one(void **state)
{
    struct fixture *f = *state;
    const size_t sent = fill(f);
    if (sent < WIRE_STEP_BYTES + WIRE_BUFFER_BYTES)
        skip();
    assert_int_equal(shutdown(f->peer, SHUT_WR), 0);
    wire_begin(&f->wire, true);
    const size_t first = take_all(f);
    assert_true(f->wire.is_cut);
    assert_false(f->wire.is_at_end);
    assert_int_equal(first + take_rest(f), sent);
    assert_true(f->wire.is_at_end);
}

static void writing_ends_though_the_peer_reads_on(void **state)
{
    struct fixture *f = *state;
    const struct tls_io io = wire_io(&f->wire);
    size_t given = 0, read_bytes = 0;
    ssize_t n;
    wire_begin(&f->wire, false);
    while ((n = io.send(io.arg, f->block, sizeof(f->block))) > 0) {
        given += (size_t)n;
        assert_in_range(given, 0, 2 * WIRE_STEP_BYTES);
        while ((n = read(f->peer, f->block, sizeof(f->block))) > 0)
            read_bytes += (size_t)n;
    }
    assert_int_equal(errno, EAGAIN);
    assert_true(f->wire.is_cut);
    assert_int_equal(wire_flush(&f->wire), WIRE_BLOCKED);
    wire_begin(&f->wire, true);
    assert_int_equal(wire_flush(&f->wire), WIRE_CLEAR);
    while ((n = read(f->peer, f->block, sizeof(f->block))) > 0)
        read_bytes += (size_t)n;
    assert_int_equal(read_bytes, given);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(reading_ends_though_more_has_come),
        TEST(the_end_that_came_with_the_first_step_is_seen_by_a_later_one),
        TEST(writing_ends_though_the_peer_reads_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
