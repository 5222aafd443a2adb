/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_http.h - an HTTP endpoint that answers GET from memory, and that no peer can hold up.
 *
 * Layer: run (net base).
 * Bounds: AGENT_HTTP_CONNS connections; when one more comes, the one that waited longest
 *   for its peer is closed.  A request head of HTTP_HEAD_BYTES_MAX; AGENT_HTTP_TIMEOUT_NS
 *   from the connection's (or the last answer's) beginning to the end of the next answer,
 *   however slowly bytes trickle.  One request a time: a connection on which more was sent ends
 *   after the answer.
 * Refused: all methods but GET (405), bodies (413), unknown paths (404), what is no HTTP/1
 *   (400, 431, 505).  There is no file access.
 * Threads: that of the loop.
 */
#ifndef RUN_AGENT_HTTP_H
#define RUN_AGENT_HTTP_H

#include "base/text.h"
#include "net/loop.h"
#include "net/socket.h"
#include "run/http.h"

#define AGENT_HTTP_CONNS 16u
#define AGENT_HTTP_TIMEOUT_NS 5000000000u

/* The JSON for a path (its query included); false: there is no such path. */
typedef bool agent_http_answer(void *arg, const char *path, struct text *body);

struct agent_http;

struct agent_http_conn {
    struct agent_http *http;
    struct loop_watch watch;
    struct loop_timer timer;
    struct socket_stream stream;
    bool is_open, is_close;
    uint64_t since_ns;
    char head[HTTP_HEAD_BYTES_MAX];
    size_t head_bytes;
    struct text answer;
    size_t answer_sent;
};

struct agent_http {
    struct loop *loop;
    struct loop_watch listener;
    struct loop_timer pause; /* no descriptor was left */
    agent_http_answer *answer;
    void *arg;
    uint64_t timeout_ns;
    struct agent_http_conn conn[AGENT_HTTP_CONNS];
};

/* Zeroed before; `listener` is an fd from socket_listen and belongs to it from now on, also
 * after a failure.  May not move. */
int agent_http_init(struct agent_http *h, struct loop *loop, int listener,
                    agent_http_answer *answer, void *arg, struct err *e)
    __attribute__((warn_unused_result));
void agent_http_fini(struct agent_http *h);

#endif
