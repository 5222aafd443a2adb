/* SPDX-License-Identifier: Apache-2.0 */
/* Is a complete message found complete, a broken one refused, whatever the pieces? */
#include "cmocka_all.h"
#include <string.h>
#include "run/http.h"

struct response_case {
    const char *text;
    enum http_step step; /* after the text and, where it is MORE, the end of the stream */
    unsigned status;
    uint64_t body_bytes;
    const char *rest; /* what is not the response's */
};

static const struct response_case responses[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", HTTP_DONE, 200, 3, ""},
    {"HTTP/1.1 200 OK\r\ncontent-length:3  \r\n\r\nOK\nHTTP", HTTP_DONE, 200, 3, "HTTP"},
    {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", HTTP_DONE, 200, 0, ""},
    {"HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\nX", HTTP_DONE, 204, 0, "X"},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", HTTP_DONE, 304, 0, ""},
    {"HTTP/1.0 200 OK\r\n\r\nall until the end", HTTP_DONE, 200, 17, ""},
    {"HTTP/1.1 200 OK\r\n\r\n", HTTP_DONE, 200, 0, ""},
    {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx",
     HTTP_DONE, 404, 1, ""},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0"
     "\r\n\r\n!",
     HTTP_DONE, 200, 13, "!"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", HTTP_DONE,
     200, 0, ""},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nOK\n", HTTP_DONE, 200, 3,
     ""},
    /* truncated */
    {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nOK\n12", HTTP_BAD, 200, 5, ""},
    {"HTTP/1.1 200 OK\r\nContent-Le", HTTP_BAD, 200, 0, ""},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", HTTP_BAD, 200, 3, ""},
    {"", HTTP_BAD, 0, 0, ""},
    /* not HTTP, or not as it must be */
    {"SSH-2.0-OpenSSH_9.2\r\n", HTTP_BAD, 0, 0, ""},
    {"HTTP/2 200 OK\r\n\r\n", HTTP_BAD, 0, 0, NULL},
    {"HTTP/1.1 20 OK\r\n\r\n", HTTP_BAD, 0, 0, NULL},
    {"HTTP/1.1 2000 OK\r\n\r\n", HTTP_BAD, 0, 0, NULL},
    {"HTTP/1.1 101 Switching\r\n\r\n", HTTP_BAD, 0, 0, NULL},
    {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", HTTP_BAD, 0, 0, NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nOK\n", HTTP_BAD, 200, 0,
     NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", HTTP_BAD, 200, 0, NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", HTTP_BAD, 200, 2,
     NULL},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", HTTP_BAD, 200,
     0, NULL},
};

/* Feed in pieces of at most `piece` bytes. */
static void check_response(const struct response_case *c, size_t piece)
{
    struct http_response r;
    const size_t length = strlen(c->text);
    size_t at = 0, used;
    enum http_step step = HTTP_MORE;
    http_response_init(&r, false);
    while (at < length && step == HTTP_MORE) {
        const size_t n = length - at < piece ? length - at : piece;
        step = http_response_feed(&r, c->text + at, n, &used);
        assert_true(used <= n);
        at += used;
    }
    if (step == HTTP_MORE)
        step = http_response_end(&r);
    assert_int_equal(step, c->step);
    assert_int_equal(r.status, c->status);
    assert_int_equal(r.body_bytes, c->body_bytes);
    if (c->rest != NULL && step == HTTP_DONE)
        assert_string_equal(c->text + at, c->rest);
}

static void responses_are_judged_the_same_in_any_pieces(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 7, 16, 10000};
    for (size_t i = 0; i < COUNT_OF(responses); i++)
        for (size_t k = 0; k < COUNT_OF(pieces); k++)
            check_response(&responses[i], pieces[k]);
}

static void an_answer_to_head_has_no_body(void **state)
{
    (void)state;
    struct http_response r;
    size_t used;
    const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    http_response_init(&r, true);
    assert_int_equal(http_response_feed(&r, text, strlen(text), &used), HTTP_DONE);
}

static void closing_is_said_or_follows_from_the_version(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        bool is_close;
    } cases[] = {
        {"HTTP/1.1 204 X\r\n\r\n", false},
        {"HTTP/1.1 204 X\r\nConnection: Close\r\n\r\n", true},
        {"HTTP/1.1 204 X\r\nConnection: x, close\r\n\r\n", true},
        {"HTTP/1.1 204 X\r\nConnection: closed\r\n\r\n", false},
        {"HTTP/1.0 204 X\r\n\r\n", true},
        {"HTTP/1.0 204 X\r\nConnection: keep-alive\r\n\r\n", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct http_response r;
        size_t used;
        http_response_init(&r, false);
        assert_int_equal(http_response_feed(&r, cases[i].head, strlen(cases[i].head), &used),
                         HTTP_DONE);
        assert_int_equal(r.is_close, cases[i].is_close);
    }
}

static void endless_heads_are_refused(void **state)
{
    (void)state;
    static const char *const starts[] = {
        "",
        "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct http_response r;
        size_t used, fed = 0;
        http_response_init(&r, false);
        assert_int_equal(http_response_feed(&r, starts[i], strlen(starts[i]), &used),
                         HTTP_MORE);
        while (http_response_feed(&r, "a", 1, &used) == HTTP_MORE)
            assert_true(++fed <= HTTP_HEAD_BYTES_MAX);
    }
}

static void a_long_line_that_does_not_matter_is_skipped(void **state)
{
    (void)state;
    struct http_response r;
    char text[1024] = "HTTP/1.1 200 OK\r\nX-Long: ";
    size_t used;
    memset(text + strlen(text), 'a', 500);
    strcat(text, "\r\nContent-Length: 2\r\n\r\nab");
    http_response_init(&r, false);
    assert_int_equal(http_response_feed(&r, text, strlen(text), &used), HTTP_DONE);
    assert_int_equal(r.body_bytes, 2);
}

static void requests_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        long length; /* -2: all of it */
        unsigned refuse_status;
        const char *path;
        bool is_close, is_head;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", -2, 0, "/", false, false},
        {"GET /bytes/5 HTTP/1.1\r\n\r\nGET", 25, 0, "/bytes/5", false, false},
        {"HEAD /a?b HTTP/1.1\r\nConnection: close\r\n\r\n", -2, 0, "/a?b", true, true},
        {"GET / HTTP/1.0\r\n\r\n", -2, 0, "/", true, false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", -2, 0, "/", false, false},
        {"GET / HTTP/1.1\r\nHost: x\r\n", 0, 0, "", false, false},
        {"", 0, 0, "", false, false},
        {"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", -2, 405, "/", true, false},
        {"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", -2, 413, "/", true, false},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", -2, 501, "/", true, false},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", -1, 400, "/", true, false},
        {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", -1, 400, "/", true, false},
        {"GET / HTTP/1.1\r\n x\r\n\r\n", -1, 400, "/", true, false},
        {"GET / HTTP/2.0\r\n\r\n", -1, 505, "", true, false},
        {"GET x HTTP/1.1\r\n\r\n", -1, 400, "", true, false},
        {"GET  HTTP/1.1\r\n\r\n", -1, 400, "", true, false},
        {"GET /a b HTTP/1.1\r\n\r\n", -1, 400, "", true, false},
        {"\r\n\r\n", -1, 400, "", true, false},
        {"SSH-2.0-x\r\n\r\n", -1, 400, "", true, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct http_request q;
        const size_t length = strlen(cases[i].text);
        const long got = http_request_parse(cases[i].text, length, &q);
        assert_int_equal(got, cases[i].length == -2 ? (long)length : cases[i].length);
        assert_int_equal(q.refuse_status, cases[i].refuse_status);
        assert_string_equal(q.path, cases[i].path);
        assert_int_equal(q.is_close, cases[i].is_close);
        assert_int_equal(q.is_head, cases[i].is_head);
    }
}

static void large_requests_are_refused(void **state)
{
    (void)state;
    static char text[HTTP_HEAD_BYTES_MAX + 100] = "GET / HTTP/1.1\r\nX: ";
    struct http_request q;
    memset(text + strlen(text), 'a', sizeof(text) - strlen(text));
    assert_int_equal(http_request_parse(text, HTTP_HEAD_BYTES_MAX - 1, &q), 0);
    assert_int_equal(http_request_parse(text, HTTP_HEAD_BYTES_MAX, &q), -1);
    assert_int_equal(q.refuse_status, 431);
    char path[400] = "GET /";
    memset(path + 5, 'p', 300);
    strcpy(path + 305, " HTTP/1.1\r\n\r\n");
    assert_int_equal(http_request_parse(path, strlen(path), &q), 318);
    assert_int_equal(q.refuse_status, 414);
}

static void what_one_end_writes_the_other_reads(void **state)
{
    (void)state;
    char buf[512];
    struct http_request q;
    struct http_response r;
    size_t n = http_request_write("/bytes/7", "localhost", true, buf, sizeof(buf)), used;
    assert_int_equal(http_request_parse(buf, n, &q), (long)n);
    assert_string_equal(q.path, "/bytes/7");
    assert_true(q.is_close);
    n = http_answer_write(200, 7, false, buf, sizeof(buf));
    http_response_init(&r, false);
    assert_int_equal(http_response_feed(&r, buf, n, &used), HTTP_MORE);
    assert_int_equal(http_response_feed(&r, "1234567", 7, &used), HTTP_DONE);
    assert_false(r.is_close);
    assert_int_equal(http_request_write("/", "host", true, buf, 10), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_are_judged_the_same_in_any_pieces),
        cmocka_unit_test(an_answer_to_head_has_no_body),
        cmocka_unit_test(closing_is_said_or_follows_from_the_version),
        cmocka_unit_test(endless_heads_are_refused),
        cmocka_unit_test(a_long_line_that_does_not_matter_is_skipped),
        cmocka_unit_test(requests_are_read),
        cmocka_unit_test(large_requests_are_refused),
        cmocka_unit_test(what_one_end_writes_the_other_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
