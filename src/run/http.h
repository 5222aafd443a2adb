/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - the little of HTTP/1.1 that a benchmark's two ends need: bounded and strict.
 *
 * Layer: run; includes nothing of ours.  No I/O, no allocation, no globals.
 * Shape: a request is parsed from one buffer that holds its whole head; a response is fed
 *   in pieces of any size, so that a connection needs no buffer of its own for it.
 * Bounds: HTTP_HEAD_BYTES_MAX for a head, a chunked body's trailers and each chunk line
 *   included; header lines that matter to us must be shorter than HTTP_LINE_BYTES.
 * Source: RFC 9110, RFC 9112.  Refused although the RFC lets a recipient be lenient: bare
 *   LF, folded lines, blanks before the colon, several or signed lengths, a length beside
 *   a transfer coding.
 * Threads: one owner each.
 */
#ifndef RUN_HTTP_H
#define RUN_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_BYTES_MAX 8192u
#define HTTP_LINE_BYTES 128u
#define HTTP_PATH_BYTES 256u

/* What a server understood. */
struct http_request {
    char path[HTTP_PATH_BYTES]; /* origin form with its query; NUL-terminated */
    bool is_head;               /* HEAD: the answer has no body */
    bool is_close;              /* the connection ends after the answer */
    unsigned refuse_status;     /* 0, or the status with which to refuse it (it has no body
                                   we could skip: then is_close as well) */
};
/* Parse a head at the beginning of data[0..len).  Returns its length in bytes (>= 1), 0 when
 * more is needed, -1 when no further request can be found on this connection; then
 * refuse_status says 400, 431 or 505 and is_close is set. */
long http_request_parse(const char *data, size_t len, struct http_request *out);

/* "GET path HTTP/1.1" with Host; a Connection: close line unless kept alive.  Returns the
 * length, or 0 when it does not fit. */
size_t http_request_write(const char *path, const char *host, bool is_close, char *buf,
                          size_t size);
/* Status line and headers of an answer with `body_bytes` of body; the same. */
size_t http_answer_write(unsigned status, uint64_t body_bytes, bool is_close, char *buf,
                         size_t size);

enum http_step {
    HTTP_MORE, /* feed more */
    HTTP_DONE, /* the response is complete; *used says how much of the data was its */
    HTTP_BAD,  /* not HTTP, or malformed, or beyond a bound */
};

/* A response while it arrives.  Members above the line are for readers. */
struct http_response {
    unsigned status; /* 0 until the status line is complete */
    bool is_close;   /* the server will close, or must be taken to */
    bool is_until_close;
    uint64_t body_bytes; /* received so far, chunk framing not counted */
    /* private */
    unsigned state;
    bool is_for_head, is_chunked, has_length, is_line_cut, is_http_10;
    unsigned line_length, head_bytes;
    uint64_t left;
    char line[HTTP_LINE_BYTES];
};

void http_response_init(struct http_response *r, bool is_for_head);
/* Bytes behind a complete response are not touched: *used < len then. */
enum http_step http_response_feed(struct http_response *r, const char *data, size_t len,
                                  size_t *used);
/* The stream has ended: DONE where the end of the stream ends the body, else BAD
 * (truncated). */
enum http_step http_response_end(const struct http_response *r);

#endif
