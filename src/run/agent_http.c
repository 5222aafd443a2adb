/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent_http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"

#define ACCEPTS_PER_EVENT AGENT_HTTP_CONNS
#define PAUSE_NS 100000000u

static void close_conn(struct agent_http_conn *c)
{
    if (!c->is_open)
        return;
    c->is_open = false;
    loop_timer_stop(c->http->loop, &c->timer);
    loop_forget(c->http->loop, &c->watch);
    close(c->stream.fd);
    text_free(&c->answer);
}

static void begin_exchange(struct agent_http_conn *c)
{
    c->since_ns = clock_now_ns();
    loop_timer_set(c->http->loop, &c->timer, c->since_ns + c->http->timeout_ns);
}

static void time_out(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    close_conn(arg);
}

/* ---- answers ---- */

static void write_answer(struct agent_http_conn *c, unsigned status, const struct text *body)
{
    text_addf(&c->answer,
              "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
              "Cache-Control: no-store\r\n%s\r\n",
              status, status == 200 ? "OK" : "Refused", body->length,
              c->is_close ? "Connection: close\r\n" : "");
    text_add(&c->answer, text_str(body));
}

static void refuse(struct agent_http_conn *c, unsigned status)
{
    struct text body = {0};
    text_addf(&body, "{\"error\":%u}\n", status);
    write_answer(c, status, &body);
    text_free(&body);
}

static void answer(struct agent_http_conn *c, const struct http_request *q)
{
    struct text body = {0};
    c->is_close = q->is_close;
    if (q->is_head)
        c->is_close = true; /* a client that asked so expects no body */
    if (q->refuse_status != 0 || q->is_head)
        refuse(c, q->refuse_status != 0 ? q->refuse_status : 405);
    else if (c->http->answer(c->http->arg, q->path, &body))
        write_answer(c, 200, &body);
    else
        refuse(c, 404);
    text_free(&body);
}

/* Closed by the peer or broken. */
static bool is_broken(ssize_t n)
{
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

static void wait_for(struct agent_http_conn *c, uint32_t events)
{
    if (loop_modify(c->http->loop, &c->watch, events) != 0)
        close_conn(c);
}

static void send_answer(struct agent_http_conn *c)
{
    while (c->answer_sent < c->answer.length) {
        const ssize_t n = socket_send(&c->stream, c->answer.data + c->answer_sent,
                                      c->answer.length - c->answer_sent);
        if (n <= 0) {
            if (is_broken(n))
                close_conn(c);
            else
                wait_for(c, EPOLLOUT);
            return;
        }
        c->answer_sent += (size_t)n;
    }
    if (c->is_close) {
        close_conn(c);
        return;
    }
    text_free(&c->answer);
    c->answer_sent = 0;
    begin_exchange(c);
    wait_for(c, EPOLLIN);
}

/* ---- requests ---- */

/* One a time: the connection ends after the answer where more was sent already. */
static void take_request(struct agent_http_conn *c)
{
    struct http_request q;
    const long used = http_request_parse(c->head, c->head_bytes, &q);
    if (used == 0)
        return;
    if (used > 0 && (size_t)used < c->head_bytes)
        q.is_close = true;
    c->head_bytes = 0;
    answer(c, &q);
    send_answer(c);
}

static void step(void *arg, uint32_t events)
{
    struct agent_http_conn *c = arg;
    (void)events;
    if (c->answer.length > 0) {
        send_answer(c);
        return;
    }
    const ssize_t n =
        socket_recv(&c->stream, c->head + c->head_bytes, sizeof c->head - c->head_bytes);
    if (n > 0) {
        c->head_bytes += (size_t)n;
        take_request(c);
    } else if (is_broken(n)) {
        close_conn(c);
    }
}

/* ---- connections ---- */

/* A free place, or that of the connection that has waited longest for its peer. */
static struct agent_http_conn *find_place(struct agent_http *h)
{
    struct agent_http_conn *oldest = &h->conn[0];
    for (size_t i = 0; i < AGENT_HTTP_CONNS; i++) {
        if (!h->conn[i].is_open)
            return &h->conn[i];
        if (h->conn[i].since_ns < oldest->since_ns)
            oldest = &h->conn[i];
    }
    close_conn(oldest);
    return oldest;
}

static void admit(void *arg, int fd)
{
    struct agent_http *h = arg;
    struct agent_http_conn *c = find_place(h);
    c->http = h;
    c->watch = (struct loop_watch){.ready = step, .arg = c};
    c->timer = (struct loop_timer){.fire = time_out, .arg = c};
    c->stream = (struct socket_stream){.fd = fd};
    c->is_close = false;
    c->head_bytes = c->answer_sent = 0;
    if (loop_add(h->loop, &c->watch, fd, EPOLLIN) != 0) {
        close(fd);
        return;
    }
    c->is_open = true;
    begin_exchange(c);
}

static void accept_some(void *arg, uint32_t events)
{
    struct agent_http *h = arg;
    (void)events;
    if (socket_accept_many(h->listener.fd, ACCEPTS_PER_EVENT, admit, h) ==
        SOCKET_ACCEPT_STARVED) {
        (void)!loop_modify(h->loop, &h->listener, 0);
        loop_timer_set(h->loop, &h->pause, clock_now_ns() + PAUSE_NS);
    }
}

static void resume(void *arg, uint64_t now_ns)
{
    struct agent_http *h = arg;
    (void)now_ns;
    (void)!loop_modify(h->loop, &h->listener, EPOLLIN);
}

int agent_http_init(struct agent_http *h, struct loop *loop, int listener,
                    agent_http_answer *answer_request, void *arg, struct err *e)
{
    h->loop = loop;
    h->answer = answer_request;
    h->arg = arg;
    h->timeout_ns = AGENT_HTTP_TIMEOUT_NS;
    h->listener = (struct loop_watch){.ready = accept_some, .arg = h};
    h->pause = (struct loop_timer){.fire = resume, .arg = h};
    if (loop_add(loop, &h->listener, listener, EPOLLIN) == 0)
        return 0;
    err_set_errno(e, "agent: epoll");
    close(listener);
    h->loop = NULL;
    return -1;
}

void agent_http_fini(struct agent_http *h)
{
    if (h->loop == NULL)
        return;
    for (size_t i = 0; i < AGENT_HTTP_CONNS; i++)
        close_conn(&h->conn[i]);
    loop_timer_stop(h->loop, &h->pause);
    loop_forget(h->loop, &h->listener);
    close(h->listener.fd);
    h->loop = NULL;
}
