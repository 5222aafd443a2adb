/* SPDX-License-Identifier: Apache-2.0 */
/* Does the null backend stand a peer that is slow, broken or hostile? */
#include "null_pair.h"
#include <errno.h>
#include "base/bytes.h"
#include "tls/null_wire.h"

struct script {
    const uint8_t *input;
    size_t length, at, step; /* at most `step` bytes at a time; 0: all */
    bool would_block;        /* behind the input: EAGAIN, else end of stream */
    int recv_error, send_error;
    size_t sent;
    uint8_t last_sent;
};

static ssize_t script_recv(void *arg, void *buf, size_t len)
{
    struct script *s = arg;
    size_t n = s->length - s->at;
    if (n == 0 && (s->would_block || s->recv_error != 0)) {
        errno = s->recv_error != 0 ? s->recv_error : EAGAIN;
        return -1;
    }
    if (s->step != 0 && n > s->step)
        n = s->step;
    if (n > len)
        n = len;
    memcpy(buf, s->input + s->at, n);
    s->at += n;
    return (ssize_t)n;
}

static ssize_t script_send(void *arg, const void *buf, size_t len)
{
    struct script *s = arg;
    if (s->send_error != 0) {
        errno = s->send_error;
        return -1;
    }
    s->last_sent = ((const uint8_t *)buf)[len - 1];
    s->sent += len;
    return (ssize_t)len;
}

/* One handshake() of a fresh connection of `context` over the script. */
static enum tls_status run_script(struct tls_context *context, struct script *s,
                                  struct tls_failure *failure)
{
    const struct tls_backend *tls = tls_null_backend();
    struct tls_connect c = {.io = {script_recv, script_send, s}, .server_name = "localhost"};
    struct tls_conn *conn = tls->conn_new(context, &c);
    enum tls_status status = tls->handshake(conn);
    tls->failure(conn, failure);
    tls->conn_free(conn);
    return status;
}

/* What a side says in a handshake, recorded: its bytes. */
static size_t record_side(struct pair *p, enum duplex_side side, uint8_t *out, size_t size)
{
    struct tls_io io =
        duplex_io(p->duplex, side == DUPLEX_CLIENT ? DUPLEX_SERVER : DUPLEX_CLIENT);
    pair_connect(p);
    assert_int_equal(p->tls->handshake(p->conn[DUPLEX_CLIENT]), TLS_STATUS_WANT_READ);
    if (side == DUPLEX_SERVER)
        assert_int_equal(p->tls->handshake(p->conn[DUPLEX_SERVER]), TLS_STATUS_WANT_READ);
    ssize_t n = io.recv(io.arg, out, size);
    assert_true(n > 0);
    pair_disconnect(p);
    return (size_t)n;
}

static void failures_are_told_apart(void **state)
{
    static const struct {
        const char *input;
        size_t length;
        int recv_error;
        enum tls_cause cause;
        int code;
    } cases[] = {
        {"", 0, 0, TLS_CAUSE_EOF, 0},
        {"\x16\x03\x03", 3, 0, TLS_CAUSE_EOF, 0},
        {"", 0, ECONNRESET, TLS_CAUSE_IO, ECONNRESET},
        {"HTTP/1.1 400 Bad Request\r\n", 26, 0, TLS_CAUSE_NOT_TLS, 0},
        {"SSH-2.0-OpenSSH_9.2\r\n", 21, 0, TLS_CAUSE_NOT_TLS, 0},
        {"S", 1, 0, TLS_CAUSE_NOT_TLS, 0},
        {"\x16\x02\x00\x00\x00", 5, 0, TLS_CAUSE_NOT_TLS, 0},
        {"\x16\x03\x03\xff\xff", 5, 0, TLS_CAUSE_NOT_TLS, 0},
        {"\x15\x03\x03\x00\x02\x02\x28", 7, 0, TLS_CAUSE_ALERT_RECEIVED, 40},
        {"\x15\x03\x03\x00\x02\x02\x50", 7, 0, TLS_CAUSE_ALERT_RECEIVED, 80},
        {"\x15\x03\x03\x00\x02\x02\x70", 7, 0, TLS_CAUSE_ALERT_RECEIVED, 112},
        {"\x15\x03\x03\x00\x02\x02\x46", 7, 0, TLS_CAUSE_VERSION, 70},
        /* A warning goes on; what comes behind it decides. */
        {"\x15\x03\x03\x00\x02\x01\x70", 7, 0, TLS_CAUSE_EOF, 0},
        {"\x15\x03\x03\x00\x02\x01\x70\x15\x03\x03\x00\x02\x02\x28", 14, 0,
         TLS_CAUSE_ALERT_RECEIVED, 40},
        {"\x15\x03\x03\x00\x02\x01\x70SSH", 10, 0, TLS_CAUSE_PROTOCOL, 0},
        {"\x15\x03\x03\x00\x01\x02", 6, 0, TLS_CAUSE_ALERT_SENT, 50},
        {"\x17\x03\x03\x00\x01x", 6, 0, TLS_CAUSE_ALERT_SENT, 10},
        {"\x16\x03\x03\x00\x04\x14\x00\x00\x00", 9, 0, TLS_CAUSE_ALERT_SENT, 10},
        {"\x16\x03\x03\x00\x04\x02\xff\xff\xff", 9, 0, TLS_CAUSE_ALERT_SENT, 47},
        {"\x16\x03\x03\x00\x04\x02\x00\x00\x00", 9, 0, TLS_CAUSE_ALERT_SENT, 50},
    };
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    pair_connect(&p);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct script s = {.input = (const uint8_t *)cases[i].input,
                           .length = cases[i].length,
                           .recv_error = cases[i].recv_error};
        struct tls_failure failure;
        assert_int_equal(run_script(p.context[DUPLEX_CLIENT], &s, &failure), TLS_STATUS_FAILED);
        if (failure.cause != cases[i].cause || failure.code != cases[i].code)
            fail_msg("case %zu: cause %d, code %d, %s", i, (int)failure.cause, failure.code,
                     failure.detail);
        if (cases[i].cause == TLS_CAUSE_ALERT_SENT)
            assert_int_equal(s.last_sent, cases[i].code);
    }
    pair_fini(&p);
}

static void a_close_instead_of_an_answer_is_no_failure(void **state)
{
    static const uint8_t close_notify[] = {0x15, 3, 3, 0, 2, 1, 0};
    struct script s = {.input = close_notify, .length = sizeof(close_notify)};
    struct tls_failure failure;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    pair_connect(&p);
    for (int i = 0; i < 2; i++) {
        s.at = 0;
        assert_int_equal(run_script(p.context[i], &s, &failure), TLS_STATUS_CLOSED);
        assert_int_equal(failure.cause, TLS_CAUSE_NONE);
    }
    pair_fini(&p);
}

static void a_broken_transport_is_named_by_errno(void **state)
{
    struct script s = {.send_error = EPIPE};
    struct tls_failure failure;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    pair_connect(&p);
    assert_int_equal(run_script(p.context[DUPLEX_CLIENT], &s, &failure), TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_IO);
    assert_int_equal(failure.code, EPIPE);
    pair_fini(&p);
}

static void a_flood_of_empty_records_ends(void **state)
{
    uint8_t flood[6 * 100];
    struct script s = {.input = flood, .length = sizeof(flood), .would_block = true};
    struct tls_failure failure;
    struct pair p;
    (void)state;
    for (size_t i = 0; i < sizeof(flood); i += 6)
        memcpy(flood + i, (const uint8_t[]){0x14, 3, 3, 0, 1, 1}, 6);
    pair_init(&p, NULL);
    pair_connect(&p);
    assert_int_equal(run_script(p.context[DUPLEX_SERVER], &s, &failure), TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
    pair_fini(&p);
}

static void a_hello_may_come_in_any_pieces(void **state)
{
    static const size_t steps[] = {1, 2, 5, 700, 1460, 0};
    uint8_t hello[4096];
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    size_t length = record_side(&p, DUPLEX_CLIENT, hello, sizeof(hello));
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct script s = {
            .input = hello, .length = length, .step = steps[i], .would_block = true};
        struct tls_failure failure;
        assert_int_equal(run_script(p.context[DUPLEX_SERVER], &s, &failure),
                         TLS_STATUS_WANT_READ);
        assert_int_equal(failure.cause, TLS_CAUSE_NONE);
        assert_true(s.sent > 1000);
    }
    pair_fini(&p);
}

/* The same handshake bytes in records of 20. */
static size_t cut_records(const uint8_t *in, size_t length, uint8_t *out)
{
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        size_t body = (size_t)in[at + 3] << 8 | in[at + 4];
        size_t end = at + 5 + body;
        uint8_t type = in[at];
        for (at += 5; at < end;) {
            size_t part = end - at < 20 ? end - at : 20;
            uint8_t header[5] = {type, 3, 3, 0, (uint8_t)part};
            memcpy(out + used, header, 5);
            memcpy(out + used + 5, in + at, part);
            used += 5 + part;
            at += part;
        }
    }
    return used;
}

static void messages_may_come_in_tiny_records(void **state)
{
    uint8_t flight[8192], cut[16384];
    struct tls_failure failure;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    size_t length = record_side(&p, DUPLEX_SERVER, flight, sizeof(flight));
    struct script s = {.input = cut, .would_block = true, .step = 1};
    s.length = cut_records(flight, length, cut);
    assert_true(s.length > length + length / 5);
    assert_int_equal(run_script(p.context[DUPLEX_CLIENT], &s, &failure), TLS_STATUS_OK);
    pair_fini(&p);
}

/* RFC 8446, 4.1.4: "If a client receives a second HelloRetryRequest in the same connection
 * [...], it MUST abort the handshake with an "unexpected_message" alert."  And if the
 * retry "would not result in any change in the ClientHello", "illegal_parameter". */
static void a_wrong_retry_is_refused(void **state)
{
    uint8_t retry[512], twice[1024];
    struct tls_failure failure;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    use_groups(&p, "X25519:MLKEM768", "MLKEM768");
    size_t length = record_side(&p, DUPLEX_SERVER, retry, sizeof(retry));
    memcpy(twice, retry, length);
    memcpy(twice + length, retry, length);
    struct script s = {.input = twice, .length = 2 * length, .would_block = true};
    assert_int_equal(run_script(p.context[DUPLEX_CLIENT], &s, &failure), TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
    assert_int_equal(failure.code, 10);

    p.tls->context_free(p.context[DUPLEX_CLIENT]);
    use_groups(&p, "X25519:*MLKEM768", NULL); /* the share is sent already */
    struct err e = ERR_INIT;
    p.context[DUPLEX_CLIENT] = p.tls->context_new(&p.config[DUPLEX_CLIENT], &e);
    s = (struct script){.input = retry, .length = length, .would_block = true};
    assert_int_equal(run_script(p.context[DUPLEX_CLIENT], &s, &failure), TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
    assert_int_equal(failure.code, 47);
    pair_fini(&p);
}

/* Every byte changed in some ways, and every length: whatever comes of it, it ends. */
static void try_mutations(struct tls_context *context, uint8_t *bytes, size_t length)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    struct tls_failure failure;
    for (size_t i = 0; i < length; i++) {
        struct script cut = {.input = bytes, .length = i};
        assert_int_equal(run_script(context, &cut, &failure), TLS_STATUS_FAILED);
        for (size_t c = 0; c < COUNT_OF(changes); c++) {
            struct script s = {.input = bytes, .length = length, .would_block = c == 0};
            bytes[i] ^= changes[c];
            (void)run_script(context, &s, &failure);
            bytes[i] ^= changes[c];
        }
    }
}

static void damaged_flights_do_no_harm(void **state)
{
    uint8_t bytes[4096];
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    use_groups(&p, "X25519:P-256", NULL);
    size_t length = record_side(&p, DUPLEX_CLIENT, bytes, sizeof(bytes));
    try_mutations(p.context[DUPLEX_SERVER], bytes, length);
    length = record_side(&p, DUPLEX_SERVER, bytes, sizeof(bytes));
    try_mutations(p.context[DUPLEX_CLIENT], bytes, length);
    pair_fini(&p);
}

static void a_hello_cannot_ask_for_more_than_a_second(void **state)
{
    uint8_t hello[4096];
    struct tls_failure failure;
    struct pair p;
    (void)state;
    pair_init(&p, NULL);
    size_t length = record_side(&p, DUPLEX_CLIENT, hello, sizeof(hello));
    hello[length - 32] = 0x7f; /* the order stands last: spin, delay, share, counter */
    struct script s = {.input = hello, .length = length, .would_block = true};
    assert_int_equal(run_script(p.context[DUPLEX_SERVER], &s, &failure), TLS_STATUS_FAILED);
    assert_int_equal(failure.cause, TLS_CAUSE_ALERT_SENT);
    assert_int_equal(failure.code, 47);
    pair_fini(&p);
}

static void a_reader_never_leaves_its_bytes(void **state)
{
    static const uint8_t bytes[] = {0, 2, 7, 8, 9};
    (void)state;
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        struct bytes_reader r = {.at = bytes, .left = length};
        struct bytes_reader vector = bytes_get_vector(&r, 2);
        assert_int_equal(vector.is_bad, length < 4);
        assert_int_equal(r.is_bad, length < 4);
        assert_int_equal(vector.left, length < 4 ? 0 : 2);
        assert_int_equal(bytes_get(&vector, 2), length < 4 ? 0 : 0x0708);
        assert_int_equal(bytes_get(&vector, 1), 0);
        assert_true(vector.is_bad);
        assert_int_equal(bytes_get(&r, 1), length < 5 ? 0 : 9);
        assert_int_equal(r.is_bad, length < 5);
        assert_int_equal(r.left, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_never_leaves_its_bytes),
        cmocka_unit_test(failures_are_told_apart),
        cmocka_unit_test(a_close_instead_of_an_answer_is_no_failure),
        cmocka_unit_test(a_broken_transport_is_named_by_errno),
        cmocka_unit_test(a_flood_of_empty_records_ends),
        cmocka_unit_test(a_hello_may_come_in_any_pieces),
        cmocka_unit_test(messages_may_come_in_tiny_records),
        cmocka_unit_test(a_wrong_retry_is_refused),
        cmocka_unit_test(damaged_flights_do_no_harm),
        cmocka_unit_test(a_hello_cannot_ask_for_more_than_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
