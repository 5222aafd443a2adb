/* SPDX-License-Identifier: Apache-2.0 */
#include "run/bench_turn.h"
#include <assert.h>
#include <string.h>
#include "base/clock.h"
#include "tls/groups.h"

#define BUFFER_BYTES 16384u

/* Measures one side's stay inside the library. */
struct meter {
    const struct cpu_counters *counters;
    uint64_t cost_ns, entered_ns;
    uint64_t *metered_ns;
    struct bench_sample *sample;
    struct cpu_counts before;
    bool is_counting;
};

static inline void enter(struct meter *m)
{
    if (m->counters != NULL)
        m->is_counting = cpu_counters_read(m->counters, &m->before);
    m->entered_ns = clock_thread_cpu_ns();
}

static inline void leave(struct meter *m, enum bench_part part)
{
    uint64_t spent_ns = clock_thread_cpu_ns() - m->entered_ns;
    spent_ns -= spent_ns < m->cost_ns ? spent_ns : m->cost_ns;
    m->sample->ns[part] += spent_ns;
    *m->metered_ns += spent_ns;
    struct cpu_counts now;
    if (m->counters == NULL || !m->is_counting || !cpu_counters_read(m->counters, &now))
        return;
    m->sample->instructions += now.instructions - m->before.instructions;
    m->sample->cycles += now.cycles - m->before.cycles;
}

/* One side of one handshake. */
struct attempt {
    struct bench_turn *turn;
    enum duplex_side side;
    const struct tls_backend *backend;
    struct tls_conn *conn;
    struct meter meter;
    uint64_t deadline_ns;
    struct tls_session *offered;
    bool is_resume_turn;
    struct tls_info info; /* the client's, once complete */
    uint8_t *buffer;      /* BUFFER_BYTES */
};

static void note_message(void *arg, enum tls_direction direction, unsigned type, size_t bytes)
{
    struct bench_watch *w = arg;
    enum result_side sender = direction == TLS_SENT ? RESULT_CLIENT : RESULT_SERVER;
    unsigned row = type & 0xffu;
    bytes_add_message(&w->messages, sender, row, w->times[direction][row]++, bytes);
}

/* The client's transport while its hello is being watched: arg is the turn. */
static ssize_t watched_recv(void *arg, void *buf, size_t len)
{
    struct bench_turn *turn = arg;
    struct tls_io io = duplex_io(turn->duplex, DUPLEX_CLIENT);
    return io.recv(io.arg, buf, len);
}

static ssize_t watched_send(void *arg, const void *buf, size_t len)
{
    struct bench_turn *turn = arg;
    struct bench_watch *w = turn->watch;
    struct tls_io io = duplex_io(turn->duplex, DUPLEX_CLIENT);
    ssize_t sent = io.send(io.arg, buf, len);
    size_t room = sizeof w->stream - w->stream_bytes;
    size_t kept = sent <= 0 ? 0 : (size_t)sent < room ? (size_t)sent : room;
    memcpy(w->stream + w->stream_bytes, buf, kept);
    w->stream_bytes += kept;
    return sent;
}

/* Does this handshake offer a session?  Of n, n * resume do, evenly spread. */
static struct tls_session *choose_session(struct attempt *a)
{
    struct bench_lane *lane = a->turn->lane;
    a->is_resume_turn = false;
    if (a->turn->never_resumes)
        return NULL;
    lane->resume_credit += lane->plan->arm->resume;
    if (lane->resume_credit < 1)
        return NULL;
    lane->resume_credit -= 1;
    a->is_resume_turn = true;
    return lane->session;
}

static void connect_client(struct attempt *a, struct tls_connect *c)
{
    struct bench_turn *turn = a->turn;
    a->offered = choose_session(a);
    c->session = a->offered;
    c->server_name = turn->lane->plan->arm->sni ? BENCH_SERVER_NAME : NULL;
    if (turn->watch == NULL)
        return;
    memset(turn->watch->times, 0, sizeof turn->watch->times);
    turn->watch->stream_bytes = 0;
    c->observer = (struct tls_observer){.message = note_message, .arg = turn->watch};
    c->io = (struct tls_io){.recv = watched_recv, .send = watched_send, .arg = turn};
}

static void set_up(struct attempt *a)
{
    struct bench_turn *turn = a->turn;
    struct tls_connect c = {.io = duplex_io(turn->duplex, a->side)};
    if (a->side == DUPLEX_CLIENT)
        connect_client(a, &c);
    enter(&a->meter);
    a->conn = a->backend->conn_new(turn->lane->context[a->side], &c);
    leave(&a->meter, BENCH_SETUP);
}

/* False once the deadline has passed, also where the transport is ready all the time and the
 * library still wants more. */
static bool wait_for(struct attempt *a, enum tls_status status)
{
    struct duplex *d = a->turn->duplex;
    bool is_ready = status == TLS_STATUS_WANT_READ
                        ? duplex_wait_readable(d, a->side, a->deadline_ns)
                        : duplex_wait_writable(d, a->side, a->deadline_ns);
    return is_ready && clock_now_ns() < a->deadline_ns;
}

static bool is_waiting(enum tls_status status)
{
    return status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE;
}

/* What a session allows of the arm's early data, before the ClientHello leaves. */
static enum bench_outcome write_early(struct attempt *a)
{
    const struct arm *arm = a->turn->lane->plan->arm;
    uint64_t left = a->offered == NULL ? 0 : a->backend->session_early_data_bytes(a->offered);
    if (left > arm->early_data_bytes)
        left = arm->early_data_bytes;
    while (left > 0) {
        size_t count = 0, chunk = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
        enter(&a->meter);
        enum tls_status status = a->backend->write_early(a->conn, a->buffer, chunk, &count);
        leave(&a->meter, BENCH_HANDSHAKE);
        if (status == TLS_STATUS_OK)
            left -= count < left ? count : left;
        else if (!is_waiting(status))
            return BENCH_FAILED;
        else if (!wait_for(a, status))
            return BENCH_TIMED_OUT;
    }
    return BENCH_COMPLETED;
}

static enum bench_outcome read_early(struct attempt *a)
{
    for (;;) {
        size_t count = 0;
        enter(&a->meter);
        enum tls_status status =
            a->backend->read_early(a->conn, a->buffer, BUFFER_BYTES, &count);
        leave(&a->meter, BENCH_HANDSHAKE);
        if (status == TLS_STATUS_CLOSED)
            return BENCH_COMPLETED;
        if (status == TLS_STATUS_FAILED)
            return BENCH_FAILED;
        if (is_waiting(status) && !wait_for(a, status))
            return BENCH_TIMED_OUT;
    }
}

static enum bench_outcome exchange_early(struct attempt *a)
{
    const struct arm_plan *plan = a->turn->lane->plan;
    if (a->side == DUPLEX_CLIENT)
        return plan->arm->early_data_bytes == 0 ? BENCH_COMPLETED : write_early(a);
    return plan->server_config.early_data_bytes == 0 ? BENCH_COMPLETED : read_early(a);
}

static enum bench_outcome drive(struct attempt *a)
{
    if (a->conn == NULL)
        return BENCH_FAILED;
    enum bench_outcome early = exchange_early(a);
    if (early != BENCH_COMPLETED)
        return early;
    for (;;) {
        enter(&a->meter);
        enum tls_status status = a->backend->handshake(a->conn);
        leave(&a->meter, BENCH_HANDSHAKE);
        if (status == TLS_STATUS_OK)
            return BENCH_COMPLETED;
        if (!is_waiting(status))
            return BENCH_FAILED;
        if (!wait_for(a, status))
            return BENCH_TIMED_OUT;
    }
}

/* Leave for the other side how it went here; a peer that still waits gets an end of stream. */
static void note_outcome(struct attempt *a, enum bench_outcome outcome)
{
    struct bench_turn *turn = a->turn;
    struct tls_failure *failure = &turn->failure[a->side];
    turn->outcome[a->side] = outcome;
    failure->cause = TLS_CAUSE_NONE;
    if (outcome == BENCH_COMPLETED) {
        duplex_flush(turn->duplex, a->side);
        if (a->side == DUPLEX_CLIENT)
            a->backend->info(a->conn, &a->info);
        return;
    }
    if (a->conn == NULL)
        *failure = (struct tls_failure){.cause = TLS_CAUSE_LOCAL, .detail = "no connection"};
    else if (outcome == BENCH_FAILED)
        a->backend->failure(a->conn, failure);
    duplex_close(turn->duplex, a->side);
}

static void reset_ring(void *arg)
{
    struct bench_turn *turn = arg;
    duplex_reset(turn->duplex);
}

static void read_ring(void *arg)
{
    struct bench_turn *turn = arg;
    duplex_read_counts(turn->duplex, &turn->counts);
}

static bool both_completed(const struct bench_turn *turn)
{
    return turn->outcome[DUPLEX_CLIENT] == BENCH_COMPLETED &&
           turn->outcome[DUPLEX_SERVER] == BENCH_COMPLETED;
}

/* Tickets lie behind the handshake: the server is done, so they are in the ring. */
static void take_tickets(struct attempt *a)
{
    struct bench_lane *lane = a->turn->lane;
    enum tls_status status = TLS_STATUS_OK;
    struct tls_session *session = NULL, *old = lane->session;
    if (lane->plan->server_config.tickets == 0)
        return;
    enter(&a->meter);
    while (status == TLS_STATUS_OK) {
        size_t count;
        status = a->backend->read(a->conn, a->buffer, BUFFER_BYTES, &count);
    }
    if (lane->plan->client_config.resume)
        session = a->backend->session_take(a->conn);
    if (session != NULL)
        a->backend->session_free(old);
    leave(&a->meter, BENCH_TEARDOWN);
    if (session != NULL)
        lane->session = session;
}

static void tear_down(struct attempt *a)
{
    if (a->conn == NULL)
        return;
    bool is_complete = both_completed(a->turn);
    if (is_complete && a->side == DUPLEX_CLIENT)
        take_tickets(a);
    enter(&a->meter);
    if (is_complete)
        a->backend->shutdown(a->conn);
    a->backend->conn_free(a->conn);
    leave(&a->meter, BENCH_TEARDOWN);
}

static bool was_share_sent(const struct bench_watch *w, const char *group)
{
    const struct tls_group *g = tls_group_by_name(group);
    for (unsigned i = 0; g != NULL && i < w->hello.shares; i++)
        if (w->hello.share[i] == g->code)
            return true;
    return false;
}

static void watch_hello(struct attempt *a)
{
    struct bench_watch *w = a->turn->watch;
    w->has_hello = hello_read(w->stream, w->stream_bytes, &w->hello);
    if (w->has_hello && a->info.is_hrr && was_share_sent(w, a->info.group))
        a->turn->seen.hrr_for_a_share_sent++;
}

static bool is_late(const struct bench_turn *turn)
{
    return turn->outcome[DUPLEX_CLIENT] == BENCH_TIMED_OUT ||
           turn->outcome[DUPLEX_SERVER] == BENCH_TIMED_OUT;
}

/* Whose word counts: the client is the measuring end, and a server that refuses tells it by
 * an alert; but a server whose library broke down only leaves it an end of stream. */
static enum duplex_side choose_teller(const struct bench_turn *turn)
{
    if (is_late(turn))
        return turn->outcome[DUPLEX_CLIENT] == BENCH_TIMED_OUT ? DUPLEX_CLIENT : DUPLEX_SERVER;
    bool is_client = turn->outcome[DUPLEX_CLIENT] == BENCH_FAILED &&
                     turn->failure[DUPLEX_SERVER].cause != TLS_CAUSE_LOCAL;
    return is_client ? DUPLEX_CLIENT : DUPLEX_SERVER;
}

/* The client keeps the books. */
static void keep_books(struct attempt *a, unsigned i)
{
    struct bench_turn *turn = a->turn;
    turn->is_complete[i] = both_completed(turn);
    if (!turn->is_complete[i]) {
        enum duplex_side teller = choose_teller(turn);
        seen_add_failure(&turn->seen, &turn->failure[teller], teller, is_late(turn));
        return;
    }
    bool has_early_data = a->offered != NULL && turn->lane->plan->arm->early_data_bytes > 0;
    seen_add(&turn->seen, &a->info, &turn->counts, has_early_data);
    turn->seen.asked += a->is_resume_turn;
    turn->seen.offered += a->offered != NULL;
    if (turn->watch != NULL)
        watch_hello(a);
}

static void attempt_run(struct attempt *a, struct pair *p, unsigned i)
{
    struct bench_turn *turn = a->turn;
    a->meter.sample = &turn->sample[a->side][i];
    pair_meet(p, reset_ring, turn);
    a->deadline_ns = clock_now_ns() + turn->timeout_ns;
    set_up(a);
    note_outcome(a, drive(a));
    pair_meet(p, read_ring, turn);
    if (a->side == DUPLEX_CLIENT)
        keep_books(a, i);
    tear_down(a);
}

void bench_turn_run(struct pair *p, enum duplex_side side, void *arg)
{
    struct bench_turn *turn = arg;
    uint8_t buffer[BUFFER_BYTES];
    const struct arm_plan *plan = turn->lane->plan;
    struct attempt a = {
        .turn = turn,
        .side = side,
        .backend = side == DUPLEX_CLIENT ? plan->client : plan->server,
        .meter = {.counters = turn->counters[side],
                  .cost_ns = turn->clock_cost_ns,
                  .metered_ns = &turn->metered_ns[side]},
        .buffer = buffer,
    };
    unsigned late = 0;
    assert(turn->handshakes >= 1 && turn->handshakes <= TURN_HANDSHAKES_MAX);
    memset(buffer, 'e', sizeof buffer);
    for (unsigned i = 0; i < turn->handshakes && late < TURN_TIMEOUTS_MAX; i++) {
        attempt_run(&a, p, i);
        late = is_late(turn) ? late + 1 : 0;
        if (side != DUPLEX_CLIENT)
            continue;
        turn->done = i + 1;
        turn->is_stalled = late == TURN_TIMEOUTS_MAX;
    }
}
