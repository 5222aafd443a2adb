/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "net/socket.h"
#include "run/http.h"

#define ADDRESSES_MAX 8u
#define CHUNK_BYTES 16384u
#define ROWS_MAX (64u * AGENT_SERIES_MAX)

struct link {
    struct socket_stream stream;
    char host[ADDRESS_TEXT_MAX];
};

/* 0: ready; -1 with errno. */
static int wait_until(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        const uint64_t now_ns = clock_now_ns();
        if (now_ns >= deadline_ns)
            break;
        const int n = poll(&p, 1, (int)((deadline_ns - now_ns) / 1000000u) + 1);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -1;
    }
    errno = ETIMEDOUT;
    return -1;
}

static int link_open(struct link *k, const struct address *at, struct err *e)
{
    const uint64_t deadline_ns = clock_now_ns() + AGENT_CLIENT_TIMEOUT_NS;
    address_format(at, k->host, sizeof(k->host));
    k->stream = (struct socket_stream){.fd = socket_connect(at, NULL)};
    if (k->stream.fd < 0)
        return err_set_errno(e, "%s", k->host);
    int error = wait_until(k->stream.fd, POLLOUT, deadline_ns) == 0 ? socket_error(k->stream.fd)
                                                                    : errno;
    if (error == 0)
        return 0;
    close(k->stream.fd);
    k->stream.fd = -1;
    errno = error;
    return err_set_errno(e, "%s", k->host);
}

static void link_close(struct link *k)
{
    if (k->stream.fd >= 0)
        close(k->stream.fd);
    k->stream.fd = -1;
}

static int ask(struct link *k, const char *path, uint64_t deadline_ns, struct err *e)
{
    char request[HTTP_PATH_BYTES + 256];
    const size_t n = http_request_write(path, k->host, false, request, sizeof(request));
    for (size_t sent = 0; sent < n;) {
        const ssize_t part = socket_send(&k->stream, request + sent, n - sent);
        if (part < 0 && errno == EAGAIN && wait_until(k->stream.fd, POLLOUT, deadline_ns) == 0)
            continue;
        if (part <= 0)
            return err_set_errno(e, "%s", k->host);
        sent += (size_t)part;
    }
    return 0;
}

/* One chunk behind what is in `in`; an end of the stream is a failure: answers have a
 * length. */
static ssize_t get_chunk(struct link *k, struct text *in, uint64_t deadline_ns, struct err *e)
{
    char chunk[CHUNK_BYTES];
    for (;;) {
        const ssize_t n = socket_recv(&k->stream, chunk, sizeof(chunk));
        if (n > 0) {
            text_add_bytes(in, chunk, (size_t)n);
            return n;
        }
        if (n == 0)
            return err_set(e, ERR_SYSTEM, "%s: closed by the agent", k->host);
        if (errno != EAGAIN || wait_until(k->stream.fd, POLLIN, deadline_ns) != 0)
            return err_set_errno(e, "%s", k->host);
    }
}

/* The body is the end of `in`, *body_bytes long. */
static int get(struct link *k, const char *path, struct text *in, size_t *body_bytes,
               struct err *e)
{
    const uint64_t deadline_ns = clock_now_ns() + AGENT_CLIENT_TIMEOUT_NS;
    struct http_response r;
    enum http_step step = HTTP_MORE;
    http_response_init(&r, false);
    if (ask(k, path, deadline_ns, e) != 0)
        return -1;
    while (step == HTTP_MORE && in->length <= AGENT_ANSWER_MAX_BYTES) {
        const ssize_t n = get_chunk(k, in, deadline_ns, e);
        size_t used = 0;
        if (n < 0)
            return -1;
        step = http_response_feed(&r, in->data + in->length - n, (size_t)n, &used);
        if (step == HTTP_DONE && used != (size_t)n)
            step = HTTP_BAD; /* more than was asked for */
    }
    if (step != HTTP_DONE || r.is_chunked)
        return err_set(e, ERR_FAILED, "%s: no answer of a pqc-bench agent", k->host);
    if (r.status != 200)
        return err_set(e, ERR_FAILED, "%s: no pqc-bench agent: it answered %u", k->host,
                       r.status);
    *body_bytes = r.body_bytes;
    return 0;
}

int agent_client_find(const char *text, struct address *out, struct err *e)
{
    struct address_name name;
    struct address found[ADDRESSES_MAX];
    struct link k;
    size_t count;
    if (address_parse(text, ADDRESS_CONNECT, 0, &name, e) != 0 ||
        address_resolve(&name, found, ADDRESSES_MAX, &count, e) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (link_open(&k, &found[i], e) == 0) {
            link_close(&k);
            *out = found[i];
            return 0;
        }
    return -1;
}

static int exchange(struct link *k, struct agent_reading *out, struct agent_clock *clock,
                    struct err *e)
{
    struct text in = {0};
    size_t bytes = 0;
    const uint64_t from_ns = clock_now_ns();
    int failed = get(k, "/v1/sample", &in, &bytes, e);
    const uint64_t to_ns = clock_now_ns();
    if (!failed && agent_read_reading(in.data + in.length - bytes, bytes, out, e) != 0)
        failed = err_add_context(e, "%s", k->host);
    if (!failed) {
        clock->at_ns = from_ns + (to_ns - from_ns) / 2;
        clock->offset_ns = (int64_t)(clock->at_ns - out->at_ns);
        clock->error_ns = (to_ns - from_ns + 1) / 2;
    }
    text_free(&in);
    return failed;
}

int agent_client_read(const struct address *at, struct agent_reading *out,
                      struct agent_clock *clock, struct err *e)
{
    struct link k;
    int failed = link_open(&k, at, e);
    if (failed)
        return -1;
    clock->error_ns = UINT64_MAX;
    for (unsigned i = 0; i < AGENT_EXCHANGES && !failed; i++) {
        struct agent_clock now;
        failed = exchange(&k, out, &now, e);
        if (!failed && now.error_ns < clock->error_ns)
            *clock = now;
    }
    link_close(&k);
    return failed;
}

int agent_client_read_host(const struct address *at, struct host_facts *out, struct err *e)
{
    struct text in = {0};
    struct link k;
    size_t bytes = 0;
    if (link_open(&k, at, e) != 0)
        return -1;
    int failed = get(&k, "/v1/host", &in, &bytes, e);
    if (!failed)
        failed = agent_read_host(in.data + in.length - bytes, bytes, out, e);
    text_free(&in);
    link_close(&k);
    return failed;
}

/* The next rows, behind those there are. */
static int read_page(struct link *k, struct agent_row **rows, size_t *count,
                     struct agent_series *page, struct err *e)
{
    struct text in = {0};
    char path[64];
    size_t bytes = 0;
    *rows = mem_resize(*rows, *count + AGENT_SERIES_MAX, sizeof(**rows));
    page->row = *rows + *count;
    if (*count > 0)
        page->after_ns = page->row[-1].at_ns;
    snprintf(path, sizeof(path), "/v1/series?since=%" PRIu64, page->after_ns);
    int failed = get(k, path, &in, &bytes, e);
    if (!failed)
        failed = agent_read_series(in.data + in.length - bytes, bytes, page, e);
    if (!failed && page->count == 0 && !page->is_whole)
        failed = err_set(e, ERR_FAILED, "%s: a series without an end", k->host);
    if (!failed)
        *count += page->count;
    text_free(&in);
    return failed;
}

int agent_client_read_series(const struct address *at, uint64_t since_ns,
                             struct agent_row **rows, size_t *count, struct err *e)
{
    struct link k;
    struct agent_series page = {.after_ns = since_ns};
    *rows = NULL;
    *count = 0;
    int failed = link_open(&k, at, e);
    if (failed)
        return -1;
    while (!failed && !page.is_whole && *count < ROWS_MAX)
        failed = read_page(&k, rows, count, &page, e);
    link_close(&k);
    return failed;
}

uint64_t agent_clock_ours(const struct agent_clock *a, const struct agent_clock *b,
                          uint64_t agent_ns)
{
    const double span_ns = (double)b->at_ns - (double)a->at_ns;
    const double drift_ns = (double)(b->offset_ns - a->offset_ns);
    const uint64_t ours_ns = agent_ns + (uint64_t)a->offset_ns; /* wraps for negative ones */
    const double part = ((double)ours_ns - (double)a->at_ns) / span_ns;
    if (!(span_ns > 0))
        return ours_ns;
    return ours_ns + (uint64_t)(int64_t)(part * drift_ns);
}
