/* SPDX-License-Identifier: Apache-2.0 */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/text.h"
#include "net/socket.h"
#include "run/agent.h"
#include "run/peer.h"

#define ADDRESS_SIZE 64u
#define OWN_PROGRAM "/proc/self/exe"
#define PEM_MAX_BYTES (1u << 20)
#define LOOKS_AT_END 100
#define LOOKS_AT_PEERS_END 500
#define LOOK_US 10000
#define AGENT_ADDRESS "127.0.0.1:0"
#define ANSWER_S 30 /* a server that is stopped for long; an answer takes microseconds */

/* Parent to child, once; then struct request again and again. */
struct order {
    struct cpu_set cores;
    char address[ADDRESS_SIZE];
    size_t endpoints;
    struct arm arm[SERVER_ENDPOINTS_MAX];
    struct peer_program peer; /* kind PEER_NONE: the embedded server */
    size_t payloads;
    uint64_t payload_bytes[ARMS_MAX];
    int agent_fd; /* peer: listens for the agent */
};
struct hello {
    bool is_failed;
    struct err error;
    size_t workers;
    unsigned port[SERVER_ENDPOINTS_MAX];
    size_t pem_bytes[SERVER_ENDPOINTS_MAX];
};
enum request_kind { REQUEST_TOTALS, REQUEST_SAMPLES, REQUEST_KEEP };
struct request {
    enum request_kind kind;
    struct child_samples samples; /* KEEP: of all workers */
};

static int write_all(int fd, const void *data, size_t n)
{
    const char *at = data;
    while (n > 0) {
        const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return -1;
        at += sent;
        n -= (size_t)sent;
    }
    return 0;
}

static int read_all(int fd, void *data, size_t n)
{
    char *at = data;
    while (n > 0) {
        const ssize_t got = recv(fd, at, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = EPIPE;
        if (got <= 0)
            return -1;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

/* ---- the parent ---- */

/* What the child is given; agent 0: none. */
struct ends {
    int control, agent;
};

static void close_ends(struct ends *ends)
{
    if (ends->control > 0)
        close(ends->control);
    if (ends->agent > 0)
        close(ends->agent);
}

static int open_ends(struct child *c, struct ends *out, struct err *e)
{
    const struct socket_listen_options listening = {.backlog = 0};
    struct address at, bound;
    int pair[2];
    *out = (struct ends){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set_errno(e, "socketpair");
    c->control_fd = pair[0];
    out->control = pair[1];
    if (!c->is_peer)
        return 0;
    if (agent_parse_address(AGENT_ADDRESS, &at, e) != 0 ||
        (out->agent = socket_listen(&at, &listening, &bound, e)) < 0)
        return -1;
    address_format(&bound, c->agent, sizeof(c->agent));
    return 0;
}

/* Between fork and exec: only what is safe there. */
static void become_server(const struct ends *ends, pid_t parent,
                          const struct child_options *options)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", ends->control);
    /* Who has a server to end and files to remove sees the end of the pair instead. */
    if (options->peer == NULL)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    if (options->link != NULL && link_enter(options->link, LINK_SERVER, NULL) != 0)
        _exit(126);
    fcntl(ends->control, F_SETFD, 0);
    if (ends->agent > 0)
        fcntl(ends->agent, F_SETFD, 0);
    execl(options->program != NULL ? options->program : OWN_PROGRAM, "pqc-bench", "serve",
          "--control-fd", number, (char *)NULL);
    _exit(127);
}

static int send_order(struct child *c, const struct ends *ends,
                      const struct child_options *options)
{
    struct order *o = mem_alloc_zeroed(1, sizeof(*o));
    o->cores = options->cores;
    snprintf(o->address, sizeof(o->address), "%s", options->address);
    o->endpoints = options->endpoints->count;
    memcpy(o->arm, options->endpoints->arm, sizeof(o->arm));
    if (options->peer != NULL)
        o->peer = *options->peer;
    o->agent_fd = ends->agent;
    for (; o->payloads < options->payloads && o->payloads < ARMS_MAX; o->payloads++)
        o->payload_bytes[o->payloads] = options->payload_bytes[o->payloads];
    const int failed = write_all(c->control_fd, o, sizeof(*o));
    free(o);
    return failed;
}

static int receive_hello(struct child *c, size_t endpoints, struct err *e)
{
    struct hello h;
    if (read_all(c->control_fd, &h, sizeof(h)) != 0)
        return err_set(e, ERR_FAILED, "%s: it ended before it listened", c->name);
    if (h.is_failed) {
        if (e != NULL)
            *e = h.error;
        return err_add_context(e, "%s", c->name);
    }
    c->workers = h.workers;
    c->endpoints = endpoints;
    for (size_t i = 0; i < endpoints; i++) {
        c->port[i] = h.port[i];
        c->root_pem[i] = mem_alloc_zeroed(h.pem_bytes[i] + 1, 1);
        if (h.pem_bytes[i] > PEM_MAX_BYTES ||
            read_all(c->control_fd, c->root_pem[i], h.pem_bytes[i]) != 0)
            return err_set(e, ERR_FAILED, "%s: it ended before it listened", c->name);
    }
    const struct timeval patience = {.tv_sec = ANSWER_S};
    if (setsockopt(c->control_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
        return err_set_errno(e, "%s: SO_RCVTIMEO", c->name);
    return 0;
}

static int launch(struct child *c, const struct ends *ends, const struct child_options *options,
                  struct err *e)
{
    const pid_t parent = getpid();
    c->pid = fork();
    if (c->pid == 0)
        become_server(ends, parent, options);
    return c->pid > 0 ? 0 : err_set_errno(e, "fork");
}

int child_start(struct child *c, const struct child_options *options, struct err *e)
{
    struct ends ends;
    memset(c, 0, sizeof(*c));
    c->control_fd = -1;
    c->is_peer = options->peer != NULL;
    c->name = c->is_peer ? peer_name(options->peer->kind) : "embedded server";
    int failed = open_ends(c, &ends, e) != 0 || launch(c, &ends, options, e) != 0;
    if (failed)
        err_add_context(e, "%s", c->name);
    close_ends(&ends);
    if (!failed && (failed = send_order(c, &ends, options)) != 0)
        err_set(e, ERR_FAILED, "%s: cannot start %s", c->name,
                options->program != NULL ? options->program : OWN_PROGRAM);
    if (!failed && receive_hello(c, options->endpoints->count, e) == 0)
        return 0;
    child_stop(c);
    return -1;
}

void child_stop(struct child *c)
{
    if (c->control_fd > 0 || c->pid > 0) {
        if (c->control_fd >= 0)
            close(c->control_fd);
        /* It was asked by closing; it is not waited for politely if it was stopped. */
        const int looks = c->is_peer ? LOOKS_AT_PEERS_END : LOOKS_AT_END;
        for (int i = 0; c->pid > 0 && i < looks; i++) {
            if (waitpid(c->pid, NULL, WNOHANG) == c->pid)
                c->pid = 0;
            else
                usleep(LOOK_US);
        }
        if (c->pid > 0) {
            kill(c->pid, SIGKILL);
            waitpid(c->pid, NULL, 0);
        }
    }
    for (size_t i = 0; i < SERVER_ENDPOINTS_MAX; i++)
        free(c->root_pem[i]);
    memset(c, 0, sizeof(*c));
    c->control_fd = -1;
}

static int is_gone(const struct child *c, struct err *e)
{
    if (errno == EAGAIN)
        return err_set(e, ERR_FAILED, "%s: no answer for %d s", c->name, ANSWER_S);
    return err_set(e, ERR_FAILED, "%s: it is gone", c->name);
}

int child_read_totals(struct child *c, struct server_totals *out, struct err *e)
{
    const struct request q = {.kind = REQUEST_TOTALS};
    if (write_all(c->control_fd, &q, sizeof(q)) != 0 ||
        read_all(c->control_fd, out, sizeof(*out)) != 0)
        return is_gone(c, e);
    return 0;
}

/* No answer comes: the server is not waited for. */
int child_keep_samples(struct child *c, uint64_t from_ns, struct err *e)
{
    const struct request q = {.kind = REQUEST_KEEP, .samples = {.since_ns = from_ns}};
    return write_all(c->control_fd, &q, sizeof(q)) == 0 ? 0 : is_gone(c, e);
}

struct sample *child_copy_samples(struct child *c, const struct child_samples *which,
                                  size_t *count, struct sample *kept, struct err *e)
{
    const struct request q = {.kind = REQUEST_SAMPLES, .samples = *which};
    *count = 0;
    if (write_all(c->control_fd, &q, sizeof(q)) != 0 ||
        read_all(c->control_fd, count, sizeof(*count)) != 0 || *count > SAMPLER_RING ||
        read_all(c->control_fd, kept, sizeof(*kept)) != 0) {
        is_gone(c, e);
        return NULL;
    }
    struct sample *samples = mem_alloc_zeroed(*count + 1, sizeof(*samples));
    if (read_all(c->control_fd, samples, *count * sizeof(*samples)) == 0)
        return samples;
    free(samples);
    is_gone(c, e);
    return NULL;
}

/* ---- the child ---- */

struct site {
    struct endpoint *endpoint;
    struct server_endpoint server[SERVER_ENDPOINTS_MAX];
    size_t endpoints;
    struct server *running;
    struct peer_options peer_options;
    struct peer *peer;
    struct agent *agent;
};

/* Someone else's server, and an agent to tell what it costs, on the server's cores. */
static int set_up_peer(struct site *site, const struct order *o, struct err *e)
{
    const struct agent_options agent = {.listener = o->agent_fd,
                                        .target = {.pid = getpid(), .without_itself = true},
                                        .cores = o->cores};
    site->peer_options = (struct peer_options){
        .program = &o->peer,
        .endpoint = site->endpoint,
        .endpoints = o->endpoints,
        .payload_bytes = o->payload_bytes,
        .payloads = o->payloads,
        .cores = o->cores,
    };
    fcntl(o->agent_fd, F_SETFD, FD_CLOEXEC);
    if (o->cores.count > 0 && cpu_pin_thread_to_set(&o->cores, e) != 0)
        return -1;
    if ((site->peer = peer_start(&site->peer_options, e)) == NULL)
        return -1;
    site->agent = agent_start(&agent, e);
    return site->agent != NULL ? 0 : -1;
}

static int set_up(struct site *site, const struct order *o, const struct tls_backends *backends,
                  struct err *e)
{
    char address[ADDRESS_SIZE + 8];
    snprintf(address, sizeof(address), strchr(o->address, ':') != NULL ? "[%s]:0" : "%s:0",
             o->address);
    site->endpoint = mem_alloc_zeroed(SERVER_ENDPOINTS_MAX, sizeof(*site->endpoint));
    for (size_t i = 0; i < o->endpoints; i++) {
        struct endpoint *ep = &site->endpoint[i];
        site->endpoints = i + 1;
        if (endpoint_init(ep, &o->arm[i], backends, ENDPOINT_HOST, e) != 0 ||
            address_lookup(address, ADDRESS_LISTEN, &ep->server.address, e) != 0)
            return -1;
        site->server[i] = ep->server;
    }
    if (o->peer.kind != PEER_NONE)
        return set_up_peer(site, o, e);
    const struct server_options options = {
        .endpoint = site->server, .endpoints = o->endpoints, .cores = o->cores};
    site->running = server_start(&options, e);
    return site->running != NULL ? 0 : -1;
}

static void take_down(struct site *site)
{
    agent_stop(site->agent);
    peer_stop(site->peer);
    server_stop(site->running);
    for (size_t i = 0; i < site->endpoints; i++)
        endpoint_fini(&site->endpoint[i]);
    free(site->endpoint);
}

static int say_hello(int fd, const struct site *site, const struct err *error)
{
    struct hello h;
    memset(&h, 0, sizeof(h));
    h.is_failed = error->kind != ERR_NONE;
    h.error = *error;
    if (h.is_failed)
        return write_all(fd, &h, sizeof(h));
    if (site->running != NULL)
        h.workers = server_workers(site->running);
    for (size_t i = 0; i < site->endpoints; i++) {
        h.port[i] =
            site->peer != NULL ? peer_port(site->peer, i) : server_port(site->running, i);
        h.pem_bytes[i] = strlen(site->endpoint[i].identity.root_pem);
    }
    if (write_all(fd, &h, sizeof(h)) != 0)
        return -1;
    for (size_t i = 0; i < site->endpoints; i++)
        if (write_all(fd, site->endpoint[i].identity.root_pem, h.pem_bytes[i]) != 0)
            return -1;
    return 0;
}

static int answer(int fd, const struct site *site, const struct request *q)
{
    if (q->kind == REQUEST_TOTALS) {
        struct server_totals totals;
        server_read_totals(site->running, &totals);
        return write_all(fd, &totals, sizeof(totals));
    }
    if (q->kind == REQUEST_KEEP) {
        server_keep_samples(site->running, q->samples.since_ns);
        return 0;
    }
    size_t count = 0;
    struct sample kept;
    struct sample *samples = server_copy_samples(site->running, q->samples.worker,
                                                 q->samples.since_ns, &count, &kept);
    int failed = write_all(fd, &count, sizeof(count));
    if (failed == 0)
        failed = write_all(fd, &kept, sizeof(kept));
    if (failed == 0)
        failed = write_all(fd, samples, count * sizeof(*samples));
    free(samples);
    return failed;
}

int child_serve(int fd, const struct tls_backends *backends, struct err *e)
{
    struct order *o = mem_alloc_zeroed(1, sizeof(*o));
    struct site *site = mem_alloc_zeroed(1, sizeof(*site));
    struct request q;
    struct err setup = ERR_INIT;
    int failed = -1;
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* ours, not for a server that we start */
    if (read_all(fd, o, sizeof(*o)) != 0 || o->endpoints < 1 ||
        o->endpoints > SERVER_ENDPOINTS_MAX) {
        err_set(e, ERR_USAGE, "--control-fd: for pqc-bench's own use");
    } else {
        failed = set_up(site, o, backends, &setup);
        if (say_hello(fd, site, &setup) == 0 && failed == 0)
            while (read_all(fd, &q, sizeof(q)) == 0 && site->running != NULL &&
                   q.samples.worker < server_workers(site->running))
                if (answer(fd, site, &q) != 0)
                    break;
        if (failed != 0 && e != NULL)
            *e = setup;
    }
    take_down(site);
    free(site);
    free(o);
    return failed;
}
