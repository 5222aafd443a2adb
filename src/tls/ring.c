/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/ring.h"
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LINE 64
#define NO_FLIGHT UINT32_MAX

/*
 * One direction.  `head` and `tail` count bytes since the reset and never wrap, so head is
 * also what was sent.  A sleeper announces itself in its `..._sleeps` word, then looks
 * again; its peer publishes first, then looks at the word.  Both orders are sequentially
 * consistent, so one of the two sees the other.
 */
struct stream {
    _Alignas(CACHE_LINE) _Atomic uint64_t head; /* written by the sender */
    _Atomic uint32_t is_closed;
    _Atomic uint32_t writer_sleeps;             /* futex */
    _Alignas(CACHE_LINE) _Atomic uint64_t tail; /* written by the receiver */
    _Atomic uint32_t reader_sleeps;             /* futex */
    _Alignas(CACHE_LINE) uint8_t *data;
};

struct end {
    struct duplex *duplex;
    enum duplex_side side;
};

struct duplex {
    struct stream stream[2]; /* by the sender's side */
    size_t capacity;
    bool is_deferred;
    struct end end[2];
    /* Flight number << 1 | sender; NO_FLIGHT before the first byte.  Senders alternate. */
    _Alignas(CACHE_LINE) _Atomic uint32_t turn;
    _Atomic uint64_t flight_bytes[DUPLEX_FLIGHTS_MAX];
};

static struct stream *outgoing(struct duplex *d, enum duplex_side side)
{
    return &d->stream[side];
}

static struct stream *incoming(struct duplex *d, enum duplex_side side)
{
    return &d->stream[side == DUPLEX_CLIENT ? DUPLEX_SERVER : DUPLEX_CLIENT];
}

struct duplex *duplex_new(size_t capacity_bytes)
{
    assert(capacity_bytes > 0 && (capacity_bytes & (capacity_bytes - 1)) == 0);
    struct duplex *d = aligned_alloc(CACHE_LINE, sizeof(*d));
    uint8_t *data = malloc(2 * capacity_bytes);
    if (d == NULL || data == NULL) {
        free(d);
        free(data);
        return NULL;
    }
    memset(d, 0, sizeof(*d));
    memset(data, 0, 2 * capacity_bytes); /* no page fault later, in measured time */
    d->capacity = capacity_bytes;
    d->stream[DUPLEX_CLIENT].data = data;
    d->stream[DUPLEX_SERVER].data = data + capacity_bytes;
    d->end[DUPLEX_CLIENT] = (struct end){d, DUPLEX_CLIENT};
    d->end[DUPLEX_SERVER] = (struct end){d, DUPLEX_SERVER};
    duplex_reset(d);
    return d;
}

void duplex_free(struct duplex *d)
{
    if (d == NULL)
        return;
    free(d->stream[DUPLEX_CLIENT].data);
    free(d);
}

void duplex_reset(struct duplex *d)
{
    for (size_t i = 0; i < 2; i++) {
        struct stream *s = &d->stream[i];
        atomic_store(&s->head, 0);
        atomic_store(&s->tail, 0);
        atomic_store(&s->is_closed, 0);
        atomic_store(&s->reader_sleeps, 0);
        atomic_store(&s->writer_sleeps, 0);
    }
    for (size_t i = 0; i < DUPLEX_FLIGHTS_MAX; i++)
        atomic_store_explicit(&d->flight_bytes[i], 0, memory_order_relaxed);
    atomic_store(&d->turn, NO_FLIGHT);
}

void duplex_defer_wakes(struct duplex *d, bool is_deferred)
{
    d->is_deferred = is_deferred;
}

static void wake(_Atomic uint32_t *sleeps)
{
    if (atomic_load(sleeps) == 0)
        return;
    atomic_store(sleeps, 0);
    syscall(SYS_futex, sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void duplex_flush(struct duplex *d, enum duplex_side side)
{
    struct stream *out = outgoing(d, side), *in = incoming(d, side);
    if (atomic_load(&out->head) != atomic_load(&out->tail) ||
        atomic_load(&out->is_closed) != 0) {
        wake(&out->reader_sleeps);
        wake(&in->writer_sleeps);
    } else if (atomic_load(&in->head) - atomic_load(&in->tail) < d->capacity) {
        wake(&in->writer_sleeps);
    }
}

/* Book `bytes` to the flight that `side` is sending, opening one if the other side, or
 * nobody, sent last. */
static void count_flight(struct duplex *d, enum duplex_side side, uint64_t bytes)
{
    uint32_t turn = atomic_load_explicit(&d->turn, memory_order_acquire);
    while (turn == NO_FLIGHT || (turn & 1u) != (uint32_t)side) {
        uint32_t number = turn == NO_FLIGHT ? 0 : (turn >> 1) + 1;
        if (number >= DUPLEX_FLIGHTS_MAX) {
            turn = (DUPLEX_FLIGHTS_MAX - 1) << 1;
            break;
        }
        uint32_t mine = number << 1 | (uint32_t)side;
        if (atomic_compare_exchange_weak(&d->turn, &turn, mine))
            turn = mine;
    }
    atomic_fetch_add_explicit(&d->flight_bytes[turn >> 1], bytes, memory_order_relaxed);
}

static ssize_t end_send(void *arg, const void *buf, size_t len)
{
    const struct end *end = arg;
    struct duplex *d = end->duplex;
    struct stream *s = outgoing(d, end->side);
    uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&s->tail, memory_order_acquire);
    size_t room = d->capacity - (size_t)(head - tail);
    if (atomic_load_explicit(&s->is_closed, memory_order_relaxed) != 0 ||
        (room == 0 && atomic_load(&incoming(d, end->side)->is_closed) != 0)) {
        errno = EPIPE;
        return -1;
    }
    if (room == 0) {
        errno = EAGAIN;
        return -1;
    }
    size_t count = len < room ? len : room;
    size_t at = (size_t)(head & (d->capacity - 1));
    size_t straight = d->capacity - at < count ? d->capacity - at : count;
    memcpy(s->data + at, buf, straight);
    memcpy(s->data, (const uint8_t *)buf + straight, count - straight);
    if (count > 0)
        count_flight(d, end->side, count);
    atomic_store(&s->head, head + count);
    if (!d->is_deferred)
        wake(&s->reader_sleeps);
    return (ssize_t)count;
}

static ssize_t end_recv(void *arg, void *buf, size_t len)
{
    const struct end *end = arg;
    struct duplex *d = end->duplex;
    struct stream *s = incoming(d, end->side);
    uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
    /* Closed is read before head: what was sent before the close is then seen. */
    bool is_closed = atomic_load(&s->is_closed) != 0;
    uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
    size_t there = (size_t)(head - tail);
    if (there == 0) {
        errno = EAGAIN;
        return is_closed ? 0 : -1;
    }
    size_t count = len < there ? len : there;
    size_t at = (size_t)(tail & (d->capacity - 1));
    size_t straight = d->capacity - at < count ? d->capacity - at : count;
    memcpy(buf, s->data + at, straight);
    memcpy((uint8_t *)buf + straight, s->data, count - straight);
    atomic_store(&s->tail, tail + count);
    if (!d->is_deferred)
        wake(&s->writer_sleeps);
    return (ssize_t)count;
}

struct tls_io duplex_io(struct duplex *d, enum duplex_side side)
{
    return (struct tls_io){.recv = end_recv, .send = end_send, .arg = &d->end[side]};
}

static bool is_readable(struct duplex *d, enum duplex_side side)
{
    struct stream *in = incoming(d, side);
    return atomic_load(&in->head) != atomic_load(&in->tail) || atomic_load(&in->is_closed) != 0;
}

static bool is_writable(struct duplex *d, enum duplex_side side)
{
    struct stream *out = outgoing(d, side);
    return atomic_load(&out->head) - atomic_load(&out->tail) < d->capacity ||
           atomic_load(&out->is_closed) != 0 || atomic_load(&incoming(d, side)->is_closed) != 0;
}

/* False on timeout. */
static bool sleep_on(_Atomic uint32_t *sleeps, uint64_t deadline_ns)
{
    struct timespec until = {
        .tv_sec = (time_t)(deadline_ns / 1000000000u),
        .tv_nsec = (long)(deadline_ns % 1000000000u),
    };
    /* WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC. */
    long rc = syscall(SYS_futex, sleeps, FUTEX_WAIT_BITSET_PRIVATE, 1,
                      deadline_ns == UINT64_MAX ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
    return !(rc == -1 && errno == ETIMEDOUT);
}

static bool wait_until(struct duplex *d, enum duplex_side side,
                       bool (*is_ready)(struct duplex *, enum duplex_side),
                       _Atomic uint32_t *sleeps, uint64_t deadline_ns)
{
    duplex_flush(d, side);
    if (is_ready(d, side))
        return true;
    for (bool is_late = false;;) {
        atomic_store(sleeps, 1);
        bool ready = is_ready(d, side);
        if (ready || is_late) {
            atomic_store(sleeps, 0);
            return ready;
        }
        is_late = !sleep_on(sleeps, deadline_ns);
    }
}

bool duplex_wait_readable(struct duplex *d, enum duplex_side side, uint64_t deadline_ns)
{
    return wait_until(d, side, is_readable, &incoming(d, side)->reader_sleeps, deadline_ns);
}

bool duplex_wait_writable(struct duplex *d, enum duplex_side side, uint64_t deadline_ns)
{
    return wait_until(d, side, is_writable, &outgoing(d, side)->writer_sleeps, deadline_ns);
}

void duplex_close(struct duplex *d, enum duplex_side side)
{
    atomic_store(&outgoing(d, side)->is_closed, 1);
    duplex_flush(d, side);
}

void duplex_read_counts(const struct duplex *d, struct duplex_counts *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < 2; i++)
        out->sent_bytes[i] = atomic_load(&d->stream[i].head);
    uint32_t turn = atomic_load(&d->turn);
    out->flights = turn == NO_FLIGHT ? 0 : (turn >> 1) + 1;
    for (unsigned i = 0; i < out->flights; i++) {
        unsigned from_last = out->flights - 1 - i;
        out->flight[i].sender = (turn & 1u) ^ (from_last & 1u);
        out->flight[i].bytes = atomic_load_explicit(&d->flight_bytes[i], memory_order_relaxed);
    }
}
