/* SPDX-License-Identifier: Apache-2.0 */
#include "run/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

/* The value of header `name` in a NUL-terminated line, or NULL if it is another one. */
static const char *header_value(const char *line, const char *name)
{
    const size_t n = strlen(name);
    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    return skip_blanks(line + n + 1);
}

/* Is `word` an element of the comma-separated list? */
static bool list_has(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = skip_blanks(list); *at != '\0'; at = skip_blanks(at)) {
        const size_t length = strcspn(at, ", \t");
        if (length == n && strncasecmp(at, word, n) == 0)
            return true;
        at += length;
        at += strspn(at, ", \t");
    }
    return false;
}

/* Digits only, at most 18 of them, trailing blanks allowed. */
static bool parse_length(const char *s, uint64_t *out)
{
    const size_t digits = strspn(s, "0123456789");
    if (digits == 0 || digits > 18 || *skip_blanks(s + digits) != '\0')
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint64_t)(s[i] - '0');
    *out = value;
    return true;
}

/* name ":" anything; no blank before the colon, no folding, no controls. */
static bool is_header_line(const char *line, size_t length)
{
    size_t n = 0;
    while (n < length && is_token_char(line[n]))
        n++;
    if (n == 0 || n == length || line[n] != ':')
        return false;
    for (; n < length; n++)
        if ((unsigned char)line[n] < 0x20 && line[n] != '\t')
            return false;
    return true;
}

/* ---- requests ---- */

static long refuse(struct http_request *out, unsigned status)
{
    out->refuse_status = status;
    out->is_close = true;
    return -1;
}

/* Length of the head with its empty line, or 0. */
static size_t head_length(const char *data, size_t len)
{
    const char *end = memmem(data, len, "\r\n\r\n", 4);
    return end != NULL ? (size_t)(end - data) + 4 : 0;
}

static int parse_request_line(const char *line, size_t length, struct http_request *out,
                              bool *is_http_10)
{
    const char *blank = memchr(line, ' ', length);
    if (blank == NULL || length < 14 || memcmp(line + length - 9, " HTTP/", 6) != 0)
        return 400;
    const char *path = blank + 1, *end = line + length - 9;
    const size_t method = (size_t)(blank - line), bytes = (size_t)(end - path);
    if (path >= end || path[0] != '/')
        return 400;
    for (const char *c = path; c < end; c++)
        if ((unsigned char)*c <= 0x20 || *c == 0x7f)
            return 400;
    if (bytes >= sizeof(out->path))
        return 414;
    if (end[6] != '1' || end[7] != '.' || (end[8] != '0' && end[8] != '1'))
        return 505;
    memcpy(out->path, path, bytes);
    out->path[bytes] = '\0';
    *is_http_10 = end[8] == '0';
    out->is_head = method == 4 && memcmp(line, "HEAD", 4) == 0;
    if (!out->is_head && !(method == 3 && memcmp(line, "GET", 3) == 0))
        out->refuse_status = 405;
    return 0;
}

/* Headers that matter; a body is never accepted, so its length must be 0. */
static int take_request_header(const char *line, struct http_request *out, bool *is_alive)
{
    const char *value;
    uint64_t length;
    if ((value = header_value(line, "connection")) != NULL) {
        out->is_close = out->is_close || list_has(value, "close");
        *is_alive = *is_alive || list_has(value, "keep-alive");
    } else if ((value = header_value(line, "content-length")) != NULL) {
        if (!parse_length(value, &length))
            return 400;
        if (length > 0)
            return 413;
    } else if (header_value(line, "transfer-encoding") != NULL) {
        return 501;
    }
    return 0;
}

static int parse_request_headers(const char *at, const char *end, struct http_request *out,
                                 bool *is_alive)
{
    char line[HTTP_LINE_BYTES];
    while (at < end) {
        const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);
        const size_t length = (size_t)(stop - at);
        const size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;
        if (!is_header_line(at, length))
            return 400;
        memcpy(line, at, kept);
        line[kept] = '\0';
        const int status = take_request_header(line, out, is_alive);
        if (status != 0)
            return status;
        at = stop + 2;
    }
    return 0;
}

long http_request_parse(const char *data, size_t len, struct http_request *out)
{
    *out = (struct http_request){.path = ""};
    if (data == NULL)
        return 0;
    const size_t searched = len < HTTP_HEAD_BYTES_MAX ? len : HTTP_HEAD_BYTES_MAX;
    const size_t head = head_length(data, searched);
    if (head == 0)
        return len >= HTTP_HEAD_BYTES_MAX ? refuse(out, 431) : 0;
    const char *line_end = memmem(data, head, "\r\n", 2);
    const char *end = data + head - 2; /* where the empty line begins */
    bool is_http_10 = false, is_alive = false;
    int status = parse_request_line(data, (size_t)(line_end - data), out, &is_http_10);
    if (status == 0)
        status = parse_request_headers(line_end + 2, end, out, &is_alive);
    if (status == 400 || status == 505)
        return refuse(out, (unsigned)status);
    if (status != 0)
        out->refuse_status = (unsigned)status;
    if (out->refuse_status != 0 || (is_http_10 && !is_alive))
        out->is_close = true;
    return (long)head;
}

static size_t written(int n, size_t size)
{
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

size_t http_request_write(const char *path, const char *host, bool is_close, char *buf,
                          size_t size)
{
    return written(snprintf(buf, size, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host,
                            is_close ? "Connection: close\r\n" : ""),
                   size);
}

static const char *reason(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    default:
        return "Refused";
    }
}

size_t http_answer_write(unsigned status, uint64_t body_bytes, bool is_close, char *buf,
                         size_t size)
{
    return written(snprintf(buf, size,
                            "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\n"
                            "Content-Length: %" PRIu64 "\r\n%s\r\n",
                            status, reason(status), body_bytes,
                            is_close ? "Connection: close\r\n" : ""),
                   size);
}

/* ---- responses ---- */

enum {
    AT_STATUS, /* lines, gathered in r->line until CRLF */
    AT_HEADER,
    AT_CHUNK_SIZE,
    AT_CHUNK_END,
    AT_TRAILER,
    AT_BODY,  /* r->left bytes */
    AT_CHUNK, /* r->left bytes of this chunk */
    AT_STREAM,
    AT_DONE,
};

void http_response_init(struct http_response *r, bool is_for_head)
{
    memset(r, 0, offsetof(struct http_response, line));
    r->state = AT_STATUS;
    r->is_for_head = is_for_head;
}

static enum http_step take_status_line(struct http_response *r)
{
    const char *l = r->line;
    if (r->line_length < 12 || memcmp(l, "HTTP/1.", 7) != 0 || (l[7] != '0' && l[7] != '1') ||
        l[8] != ' ' || (l[12] != ' ' && l[12] != '\0'))
        return HTTP_BAD;
    unsigned status = 0;
    for (int i = 9; i < 12; i++) {
        if (l[i] < '0' || l[i] > '9')
            return HTTP_BAD;
        status = status * 10 + (unsigned)(l[i] - '0');
    }
    if (status < 100 || status == 101) /* we asked for no upgrade */
        return HTTP_BAD;
    r->status = status;
    r->is_http_10 = l[7] == '0';
    r->is_close = r->is_http_10;
    r->state = AT_HEADER;
    return HTTP_MORE;
}

static enum http_step begin_body(struct http_response *r)
{
    if (r->status < 200) { /* interim: the final response follows */
        r->status = 0;
        r->has_length = r->is_chunked = false;
        r->state = AT_STATUS;
        return HTTP_MORE;
    }
    if (r->is_chunked && r->has_length)
        return HTTP_BAD;
    r->state = AT_DONE;
    if (r->is_for_head || r->status == 204 || r->status == 304)
        return HTTP_DONE;
    if (r->is_chunked) {
        r->state = AT_CHUNK_SIZE;
        return HTTP_MORE;
    }
    if (r->has_length) {
        r->state = r->left > 0 ? AT_BODY : AT_DONE;
        return r->left > 0 ? HTTP_MORE : HTTP_DONE;
    }
    r->is_close = r->is_until_close = true;
    r->state = AT_STREAM;
    return HTTP_MORE;
}

static enum http_step take_header_line(struct http_response *r)
{
    const char *value;
    uint64_t length;
    if (r->line_length == 0)
        return begin_body(r);
    if (!is_header_line(r->line, r->line_length))
        return HTTP_BAD;
    if ((value = header_value(r->line, "content-length")) != NULL) {
        if (r->is_line_cut || !parse_length(value, &length) ||
            (r->has_length && length != r->left))
            return HTTP_BAD;
        r->has_length = true;
        r->left = length;
    } else if ((value = header_value(r->line, "transfer-encoding")) != NULL) {
        if (r->is_line_cut || r->is_chunked || strcasecmp(value, "chunked") != 0)
            return HTTP_BAD;
        r->is_chunked = true;
    } else if ((value = header_value(r->line, "connection")) != NULL) {
        if (list_has(value, "close"))
            r->is_close = true;
        else if (list_has(value, "keep-alive"))
            r->is_close = false;
    }
    return HTTP_MORE;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        return (c | 0x20) - 'a' + 10;
    return -1;
}

static enum http_step take_chunk_size(struct http_response *r)
{
    uint64_t size = 0;
    unsigned n = 0;
    for (; n < 15 && hex_digit(r->line[n]) >= 0; n++)
        size = size * 16 + (uint64_t)hex_digit(r->line[n]);
    const char *rest = skip_blanks(r->line + n);
    if (n == 0 || (*rest != '\0' && *rest != ';'))
        return HTTP_BAD;
    r->head_bytes = 0; /* the bound is per chunk line, the body's is its own */
    r->left = size;
    r->state = size > 0 ? AT_CHUNK : AT_TRAILER;
    return HTTP_MORE;
}

static enum http_step take_line(struct http_response *r)
{
    switch (r->state) {
    case AT_STATUS:
        return take_status_line(r);
    case AT_HEADER:
        return take_header_line(r);
    case AT_CHUNK_SIZE:
        return take_chunk_size(r);
    case AT_CHUNK_END:
        r->state = AT_CHUNK_SIZE;
        return r->line_length == 0 ? HTTP_MORE : HTTP_BAD;
    default: /* AT_TRAILER */
        if (r->line_length > 0)
            return is_header_line(r->line, r->line_length) ? HTTP_MORE : HTTP_BAD;
        r->state = AT_DONE;
        return HTTP_DONE;
    }
}

/* Gather one byte of a line.  '\r' is kept in the line until '\n' proves it the end. */
static enum http_step feed_line_byte(struct http_response *r, char c)
{
    if (++r->head_bytes > HTTP_HEAD_BYTES_MAX)
        return HTTP_BAD;
    if (c != '\n') {
        if (r->line_length > 0 && r->line[r->line_length - 1] == '\r')
            return HTTP_BAD; /* a bare CR inside a line */
        if (c == '\0')
            return HTTP_BAD;
        if (r->line_length == HTTP_LINE_BYTES - 1) {
            r->is_line_cut = true;
            r->line[r->line_length - 1] = c; /* the last one may be the CR */
            return HTTP_MORE;
        }
        r->line[r->line_length++] = c;
        return HTTP_MORE;
    }
    if (r->line_length == 0 || r->line[r->line_length - 1] != '\r')
        return HTTP_BAD; /* a bare LF */
    r->line[--r->line_length] = '\0';
    const enum http_step step = take_line(r);
    r->line_length = 0;
    r->is_line_cut = false;
    return step;
}

static size_t take_body(struct http_response *r, size_t available)
{
    const size_t n = available < r->left ? available : (size_t)r->left;
    r->left -= n;
    r->body_bytes += n;
    if (r->left == 0)
        r->state = r->state == AT_CHUNK ? AT_CHUNK_END : AT_DONE;
    return n;
}

enum http_step http_response_feed(struct http_response *r, const char *data, size_t len,
                                  size_t *used)
{
    enum http_step step = HTTP_MORE;
    size_t at = 0;
    while (at < len && step == HTTP_MORE && r->state != AT_DONE) {
        if (r->state == AT_STREAM) {
            r->body_bytes += len - at;
            at = len;
        } else if (r->state == AT_BODY || r->state == AT_CHUNK) {
            at += take_body(r, len - at);
        } else {
            step = feed_line_byte(r, data[at]);
            at++;
        }
    }
    *used = at;
    return step == HTTP_MORE && r->state == AT_DONE ? HTTP_DONE : step;
}

enum http_step http_response_end(const struct http_response *r)
{
    return r->state == AT_STREAM || r->state == AT_DONE ? HTTP_DONE : HTTP_BAD;
}
