/* SPDX-License-Identifier: Apache-2.0 */
#include "run/probe_opening.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/bytes.h"

#define LINE_BYTES 1024u
#define LINES_MAX 100u
#define PROXY_MAX 128u
#define POSTGRES_SSL_REQUEST 80877103u
#define PROXY2_COMMAND 0x21u /* version 2, PROXY */

/* ---- the PROXY protocol ---- */

static size_t proxy_text(const struct address *from, const struct address *to, uint8_t *out,
                         size_t room)
{
    char source[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN];
    const bool is_v6 = from->u.any.sa_family == AF_INET6;
    const void *a = is_v6 ? (const void *)&from->u.v6.sin6_addr : &from->u.v4.sin_addr;
    const void *b = is_v6 ? (const void *)&to->u.v6.sin6_addr : &to->u.v4.sin_addr;
    inet_ntop(from->u.any.sa_family, a, source, sizeof source);
    inet_ntop(to->u.any.sa_family, b, target, sizeof target);
    return (size_t)snprintf((char *)out, room, "PROXY TCP%d %s %s %u %u\r\n", is_v6 ? 6 : 4,
                            source, target, address_port(from), address_port(to));
}

static size_t proxy_binary(const struct address *from, const struct address *to, uint8_t *out,
                           size_t room)
{
    static const uint8_t signature[] = "\r\n\r\n\0\r\nQUIT\n";
    struct bytes_writer w = bytes_write(out, room);
    const bool is_v6 = from->u.any.sa_family == AF_INET6;
    bytes_put_data(&w, signature, sizeof signature - 1);
    bytes_put(&w, PROXY2_COMMAND, 1);
    bytes_put(&w, is_v6 ? 0x21 : 0x11, 1); /* family, stream */
    size_t block = bytes_open(&w, 2);
    if (is_v6) {
        bytes_put_data(&w, &from->u.v6.sin6_addr, sizeof from->u.v6.sin6_addr);
        bytes_put_data(&w, &to->u.v6.sin6_addr, sizeof to->u.v6.sin6_addr);
    } else {
        bytes_put_data(&w, &from->u.v4.sin_addr, sizeof from->u.v4.sin_addr);
        bytes_put_data(&w, &to->u.v4.sin_addr, sizeof to->u.v4.sin_addr);
    }
    bytes_put(&w, address_port(from), 2);
    bytes_put(&w, address_port(to), 2);
    bytes_close(&w, block, 2);
    return w.length;
}

size_t probe_proxy_header(unsigned version, const struct address *from,
                          const struct address *to, uint8_t *out, size_t room)
{
    return version == 1 ? proxy_text(from, to, out, room) : proxy_binary(from, to, out, room);
}

static int send_proxy(struct probe_link *link, unsigned version, struct probed_failure *why)
{
    struct address from, to;
    uint8_t header[PROXY_MAX];
    if (socket_local_address(link->socket.fd, &from) != 0 ||
        socket_peer_address(link->socket.fd, &to) != 0) {
        probe_fail(why, "tcp", errno, "its addresses cannot be read");
        return -1;
    }
    size_t length = probe_proxy_header(version, &from, &to, header, sizeof header);
    return probe_link_send(link, header, length, why);
}

/* ---- STARTTLS ---- */

/* Lines of a server, and what came behind the last one that was read. */
struct lines {
    struct probe_link *link;
    size_t at, end, count;
    char data[LINE_BYTES];
    char line[LINE_BYTES];
    struct probed_failure *why;
};

static int refuse(struct lines *l, const char *what)
{
    probe_fail(l->why, "starttls", 0, "%s", what);
    return -1;
}

static int fill(struct lines *l)
{
    ssize_t n = probe_link_receive(l->link, l->data, sizeof l->data, l->why);
    if (n == 0)
        return refuse(l, "the server closed the connection before TLS");
    if (n < 0)
        return -1;
    l->at = 0;
    l->end = (size_t)n;
    return 0;
}

/* The next line, without its end, into l->line. */
static int read_line(struct lines *l)
{
    size_t length = 0;
    if (++l->count > LINES_MAX)
        return refuse(l, "the server sends more than 100 lines before TLS");
    for (;;) {
        if (l->at == l->end && fill(l) != 0)
            return -1;
        char c = l->data[l->at++];
        if (c == '\n')
            break;
        if (length == sizeof l->line - 1)
            return refuse(l, "the server sends a line of more than 1023 bytes before TLS");
        l->line[length++] = c;
    }
    if (length > 0 && l->line[length - 1] == '\r')
        length--;
    l->line[length] = '\0';
    return 0;
}

static int say(struct lines *l, const char *text)
{
    probe_link_begin_step(l->link);
    return probe_link_send(l->link, text, strlen(text), l->why);
}

/* An SMTP reply, all its lines; `wanted`: a keyword among them, NULL: none. */
static int smtp_reply(struct lines *l, const char *code, const char *wanted)
{
    bool is_found = wanted == NULL;
    do {
        if (read_line(l) != 0)
            return -1;
        if (strncmp(l->line, code, 3) != 0) {
            probe_fail(l->why, "starttls", 0, "the server said: %.200s", l->line);
            return -1;
        }
        if (wanted != NULL && strlen(l->line) > 4 && strcasecmp(l->line + 4, wanted) == 0)
            is_found = true;
    } while (l->line[3] == '-');
    return is_found ? 0 : refuse(l, "the server does not offer STARTTLS");
}

static int open_smtp(struct lines *l)
{
    if (smtp_reply(l, "220", NULL) != 0 || say(l, "EHLO pqc-bench.invalid\r\n") != 0 ||
        smtp_reply(l, "250", "STARTTLS") != 0 || say(l, "STARTTLS\r\n") != 0)
        return -1;
    return smtp_reply(l, "220", NULL);
}

static int open_imap(struct lines *l)
{
    if (read_line(l) != 0)
        return -1;
    if (strncasecmp(l->line, "* OK", 4) != 0)
        return refuse(l, "the server's greeting is not IMAP's");
    if (say(l, "a1 STARTTLS\r\n") != 0)
        return -1;
    do {
        if (read_line(l) != 0)
            return -1;
    } while (strncmp(l->line, "* ", 2) == 0);
    if (strncasecmp(l->line, "a1 OK", 5) == 0)
        return 0;
    probe_fail(l->why, "starttls", 0, "the server said: %.200s", l->line);
    return -1;
}

static int open_postgres(struct lines *l)
{
    uint8_t request[8];
    struct bytes_writer w = bytes_write(request, sizeof request);
    bytes_put(&w, sizeof request, 4);
    bytes_put(&w, POSTGRES_SSL_REQUEST, 4);
    if (probe_link_send(l->link, request, sizeof request, l->why) != 0 || fill(l) != 0)
        return -1;
    char answer = l->data[l->at++];
    if (answer == 'N')
        return refuse(l, "the server does not take TLS (it answered N)");
    return answer == 'S' ? 0 : refuse(l, "the answer is not PostgreSQL's");
}

static int start_tls(struct probe_link *link, enum probe_starttls starttls,
                     struct probed_failure *why)
{
    struct lines lines = {.link = link, .why = why};
    int failed = 0;
    probe_link_begin_step(link);
    switch (starttls) {
    case PROBE_STARTTLS_NONE:
        return 0;
    case PROBE_STARTTLS_SMTP:
        failed = open_smtp(&lines);
        break;
    case PROBE_STARTTLS_IMAP:
        failed = open_imap(&lines);
        break;
    case PROBE_STARTTLS_POSTGRES:
        failed = open_postgres(&lines);
        break;
    }
    if (failed == 0 && lines.at != lines.end)
        return refuse(&lines, "the server sends more behind its go-ahead for TLS");
    return failed;
}

int probe_opening_run(struct probe_link *link, const struct probe_options *options,
                      struct probed_failure *why)
{
    probe_link_begin_step(link);
    if (options->proxy_version != 0 && send_proxy(link, options->proxy_version, why) != 0)
        return -1;
    return start_tls(link, options->starttls, why);
}
