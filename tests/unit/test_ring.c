/* SPDX-License-Identifier: Apache-2.0 */
/* Does every byte arrive, in order and counted, and does nobody sleep through it? */
#include "cmocka_all.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "tls/ring.h"

#define MS 1000000u

static ssize_t put(struct duplex *d, enum duplex_side side, const void *buf, size_t len)
{
    struct tls_io io = duplex_io(d, side);
    return io.send(io.arg, buf, len);
}

static ssize_t take(struct duplex *d, enum duplex_side side, void *buf, size_t len)
{
    struct tls_io io = duplex_io(d, side);
    return io.recv(io.arg, buf, len);
}

static void bytes_arrive_at_the_other_end_only(void **state)
{
    struct duplex *d = duplex_new(16);
    char buf[32];
    (void)state;
    assert_int_equal(put(d, DUPLEX_CLIENT, "hello", 5), 5);
    assert_int_equal(take(d, DUPLEX_CLIENT, buf, sizeof(buf)), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(take(d, DUPLEX_SERVER, buf, 2), 2);
    assert_int_equal(take(d, DUPLEX_SERVER, buf + 2, sizeof(buf) - 2), 3);
    assert_memory_equal(buf, "hello", 5);
    assert_int_equal(put(d, DUPLEX_SERVER, "world", 5), 5);
    assert_int_equal(take(d, DUPLEX_CLIENT, buf, sizeof(buf)), 5);
    assert_memory_equal(buf, "world", 5);
    duplex_free(d);
    duplex_free(NULL);
}

static void a_full_ring_takes_a_part_and_then_nothing(void **state)
{
    struct duplex *d = duplex_new(8);
    char buf[16];
    (void)state;
    assert_int_equal(put(d, DUPLEX_CLIENT, "0123456789", 10), 8);
    assert_int_equal(put(d, DUPLEX_CLIENT, "89", 2), -1);
    assert_int_equal(errno, EAGAIN);
    assert_false(duplex_wait_writable(d, DUPLEX_CLIENT, 0));
    assert_int_equal(take(d, DUPLEX_SERVER, buf, 3), 3);
    assert_true(duplex_wait_writable(d, DUPLEX_CLIENT, 0));
    assert_int_equal(put(d, DUPLEX_CLIENT, "89", 2), 2); /* crosses the end of the buffer */
    assert_int_equal(take(d, DUPLEX_SERVER, buf, sizeof(buf)), 7);
    assert_memory_equal(buf, "3456789", 7);
    duplex_free(d);
}

static void an_end_of_stream_comes_behind_the_bytes(void **state)
{
    struct duplex *d = duplex_new(8);
    char buf[16];
    (void)state;
    assert_int_equal(put(d, DUPLEX_CLIENT, "abc", 3), 3);
    duplex_close(d, DUPLEX_CLIENT);
    assert_int_equal(put(d, DUPLEX_CLIENT, "d", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_true(duplex_wait_readable(d, DUPLEX_SERVER, 0));
    assert_int_equal(take(d, DUPLEX_SERVER, buf, sizeof(buf)), 3);
    assert_true(duplex_wait_readable(d, DUPLEX_SERVER, 0));
    assert_int_equal(take(d, DUPLEX_SERVER, buf, sizeof(buf)), 0);
    /* The other direction is open, until it is full and nobody will make room. */
    assert_int_equal(put(d, DUPLEX_SERVER, "12345678", 8), 8);
    assert_true(duplex_wait_writable(d, DUPLEX_SERVER, 0));
    assert_int_equal(put(d, DUPLEX_SERVER, "9", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(take(d, DUPLEX_CLIENT, buf, sizeof(buf)), 8);
    duplex_free(d);
}

static void flights_are_counted_as_the_sides_take_turns(void **state)
{
    struct duplex *d = duplex_new(64);
    struct duplex_counts counts;
    char buf[64];
    (void)state;
    duplex_read_counts(d, &counts);
    assert_int_equal(counts.flights, 0);
    assert_int_equal(put(d, DUPLEX_CLIENT, buf, 10), 10);
    assert_int_equal(put(d, DUPLEX_CLIENT, buf, 5), 5);
    assert_int_equal(put(d, DUPLEX_SERVER, buf, 40), 40);
    assert_int_equal(put(d, DUPLEX_CLIENT, buf, 7), 7);
    duplex_read_counts(d, &counts);
    assert_int_equal(counts.sent_bytes[DUPLEX_CLIENT], 22);
    assert_int_equal(counts.sent_bytes[DUPLEX_SERVER], 40);
    assert_int_equal(counts.flights, 3);
    assert_int_equal(counts.flight[0].sender, DUPLEX_CLIENT);
    assert_int_equal(counts.flight[0].bytes, 15);
    assert_int_equal(counts.flight[1].sender, DUPLEX_SERVER);
    assert_int_equal(counts.flight[1].bytes, 40);
    assert_int_equal(counts.flight[2].sender, DUPLEX_CLIENT);
    assert_int_equal(counts.flight[2].bytes, 7);
    duplex_reset(d);
    duplex_read_counts(d, &counts);
    assert_int_equal(counts.flights, 0);
    assert_int_equal(counts.sent_bytes[DUPLEX_CLIENT], 0);
    assert_int_equal(take(d, DUPLEX_SERVER, buf, 1), -1);
    duplex_free(d);
}

static void more_flights_than_fit_go_to_the_last(void **state)
{
    struct duplex *d = duplex_new(64);
    struct duplex_counts counts;
    (void)state;
    for (unsigned i = 0; i < 2 * DUPLEX_FLIGHTS_MAX; i++)
        assert_int_equal(put(d, i % 2 == 0 ? DUPLEX_SERVER : DUPLEX_CLIENT, "x", 1), 1);
    duplex_read_counts(d, &counts);
    assert_int_equal(counts.flights, DUPLEX_FLIGHTS_MAX);
    assert_int_equal(counts.flight[0].sender, DUPLEX_SERVER);
    assert_int_equal(counts.flight[0].bytes, 1);
    assert_int_equal(counts.flight[DUPLEX_FLIGHTS_MAX - 1].bytes, DUPLEX_FLIGHTS_MAX + 1);
    duplex_free(d);
}

static void a_wait_ends_at_its_deadline(void **state)
{
    struct duplex *d = duplex_new(8);
    (void)state;
    uint64_t start = clock_now_ns();
    assert_false(duplex_wait_readable(d, DUPLEX_CLIENT, start + 20 * MS));
    assert_true(clock_now_ns() >= start + 20 * MS);
    assert_false(duplex_wait_readable(d, DUPLEX_SERVER, start)); /* in the past */
    assert_true(duplex_wait_writable(d, DUPLEX_CLIENT, 0));
    duplex_free(d);
}

/* Two threads move `total` bytes each way in odd pieces through a small ring. */
struct mover {
    struct duplex *d;
    enum duplex_side side;
    size_t total, sent, received;
    unsigned seed;
    bool is_wrong, is_late, is_ended;
};

static uint8_t byte_at(enum duplex_side side, size_t position)
{
    return (uint8_t)(position * 31 + position / 251 + (side == DUPLEX_CLIENT ? 7 : 0));
}

static size_t piece(struct mover *m, size_t limit)
{
    m->seed = m->seed * 1103515245u + 12345u;
    return 1 + (m->seed >> 16) % limit;
}

static void mover_send(struct mover *m)
{
    uint8_t buf[997];
    size_t want = piece(m, sizeof(buf));
    if (want > m->total - m->sent)
        want = m->total - m->sent;
    for (size_t i = 0; i < want; i++)
        buf[i] = byte_at(m->side, m->sent + i);
    ssize_t n = put(m->d, m->side, buf, want);
    if (n > 0)
        m->sent += (size_t)n;
    if (m->sent == m->total)
        duplex_close(m->d, m->side);
}

static void mover_receive(struct mover *m)
{
    uint8_t buf[613];
    enum duplex_side other = m->side == DUPLEX_CLIENT ? DUPLEX_SERVER : DUPLEX_CLIENT;
    ssize_t n = take(m->d, m->side, buf, piece(m, sizeof(buf)));
    for (ssize_t i = 0; i < n; i++)
        if (buf[i] != byte_at(other, m->received + (size_t)i))
            m->is_wrong = true;
    if (n > 0)
        m->received += (size_t)n;
    m->is_ended = n == 0;
}

/* Sends all, then receives all: the peer does it the other way round, so that both kinds of
 * sleep happen. */
static void *mover_run(void *arg)
{
    struct mover *m = arg;
    uint64_t deadline = clock_now_ns() + 60000ull * MS;
    bool is_first = m->side == DUPLEX_CLIENT;
    for (int part = 0; part < 2 && !m->is_late; part++) {
        bool is_sending = (part == 0) == is_first;
        while (is_sending && m->sent < m->total && !m->is_late) {
            m->is_late = !duplex_wait_writable(m->d, m->side, deadline);
            mover_send(m);
        }
        while (!is_sending && !m->is_ended && !m->is_late) {
            m->is_late = !duplex_wait_readable(m->d, m->side, deadline);
            mover_receive(m);
        }
    }
    return NULL;
}

static void move(size_t capacity, size_t total, bool is_deferred)
{
    struct duplex *d = duplex_new(capacity);
    struct mover client = {.d = d, .side = DUPLEX_CLIENT, .total = total, .seed = 1};
    struct mover server = {.d = d, .side = DUPLEX_SERVER, .total = total, .seed = 2};
    struct duplex_counts counts;
    pthread_t thread;
    duplex_defer_wakes(d, is_deferred);
    assert_int_equal(pthread_create(&thread, NULL, mover_run, &server), 0);
    mover_run(&client);
    pthread_join(thread, NULL);
    assert_false(client.is_wrong || server.is_wrong);
    assert_false(client.is_late || server.is_late);
    assert_int_equal(client.received, total);
    assert_int_equal(server.received, total);
    duplex_read_counts(d, &counts);
    assert_int_equal(counts.sent_bytes[DUPLEX_CLIENT], total);
    assert_int_equal(counts.sent_bytes[DUPLEX_SERVER], total);
    uint64_t in_flights = 0;
    for (unsigned i = 0; i < counts.flights; i++)
        in_flights += counts.flight[i].bytes;
    assert_int_equal(in_flights, 2 * total);
    duplex_free(d);
}

static void two_threads_move_megabytes_through_a_small_ring(void **state)
{
    (void)state;
    move(256, 3u << 20, false);
    move(1024, 3u << 20, true);
    move(1, 5000, false);
}

/* One thread answers each byte with one; the sleeper is woken every time. */
static void *echo(void *arg)
{
    struct duplex *d = arg;
    uint8_t byte;
    while (duplex_wait_readable(d, DUPLEX_SERVER, UINT64_MAX) &&
           take(d, DUPLEX_SERVER, &byte, 1) == 1)
        (void)put(d, DUPLEX_SERVER, &byte, 1);
    duplex_close(d, DUPLEX_SERVER);
    return NULL;
}

static void ping_pong(bool is_deferred)
{
    struct duplex *d = duplex_new(64);
    pthread_t thread;
    duplex_defer_wakes(d, is_deferred);
    assert_int_equal(pthread_create(&thread, NULL, echo, d), 0);
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t byte = (uint8_t)i, back;
        assert_int_equal(put(d, DUPLEX_CLIENT, &byte, 1), 1);
        assert_true(duplex_wait_readable(d, DUPLEX_CLIENT, clock_now_ns() + 30000ull * MS));
        assert_int_equal(take(d, DUPLEX_CLIENT, &back, 1), 1);
        assert_int_equal(back, byte);
    }
    duplex_close(d, DUPLEX_CLIENT);
    pthread_join(thread, NULL);
    duplex_free(d);
}

static void a_sleeper_is_woken_by_every_answer(void **state)
{
    (void)state;
    ping_pong(false);
    ping_pong(true);
}

static void *close_later(void *arg)
{
    clock_sleep_until_ns(clock_now_ns() + 20 * MS);
    duplex_close(arg, DUPLEX_SERVER);
    return NULL;
}

static void a_close_wakes_a_reader_and_a_writer(void **state)
{
    (void)state;
    for (int is_writer = 0; is_writer < 2; is_writer++) {
        struct duplex *d = duplex_new(4);
        pthread_t thread;
        uint64_t deadline = clock_now_ns() + 30000ull * MS;
        assert_int_equal(put(d, DUPLEX_CLIENT, "1234", 4), 4);
        assert_int_equal(pthread_create(&thread, NULL, close_later, d), 0);
        if (is_writer)
            assert_true(duplex_wait_writable(d, DUPLEX_CLIENT, deadline));
        else
            assert_true(duplex_wait_readable(d, DUPLEX_CLIENT, deadline));
        assert_true(clock_now_ns() < deadline);
        pthread_join(thread, NULL);
        duplex_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive_at_the_other_end_only),
        cmocka_unit_test(a_full_ring_takes_a_part_and_then_nothing),
        cmocka_unit_test(an_end_of_stream_comes_behind_the_bytes),
        cmocka_unit_test(flights_are_counted_as_the_sides_take_turns),
        cmocka_unit_test(more_flights_than_fit_go_to_the_last),
        cmocka_unit_test(a_wait_ends_at_its_deadline),
        cmocka_unit_test(two_threads_move_megabytes_through_a_small_ring),
        cmocka_unit_test(a_sleeper_is_woken_by_every_answer),
        cmocka_unit_test(a_close_wakes_a_reader_and_a_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
