/* SPDX-License-Identifier: Apache-2.0 */
#include "run/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "net/socket.h"
#include "run/poller.h"
#include "run/server_conn.h"

#define ACCEPTS_PER_EVENT 64
#define PAUSE_NS 20000000u
#define SWEEP_NS 500000000u
#define WATCHED ((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLRDHUP) | (uint32_t)EPOLLET)

enum watch_kind { WATCH_STOP, WATCH_LISTENER, WATCH_CONN };

/* What an event is about; first member of whatever is watched. */
struct listener {
    enum watch_kind kind;
    int fd;
    struct server_site site;
};

struct watched_conn {
    enum watch_kind kind;
    struct server_conn conn;
};

struct server_worker {
    struct server *server;
    struct cpu_set core;
    struct poller poller;
    struct sampler sampler;
    struct wire_buffers *buffers;
    char *scratch;
    struct listener *listener; /* one per endpoint */
    struct listener stop;
    struct server_conn open; /* list head */
    bool is_paused;
    uint64_t resume_ns, sweep_ns;
    struct server_counters counters;
    pthread_t thread;
    bool has_thread;
};

struct server {
    size_t workers, endpoints;
    uint64_t timeout_ns;
    struct server_worker *worker;
    unsigned port[SERVER_ENDPOINTS_MAX];
};

/* ---- connections ---- */

static struct watched_conn *watched_of(struct server_conn *c)
{
    return (struct watched_conn *)(void *)((char *)c - offsetof(struct watched_conn, conn));
}

static void end_conn(struct server_conn *c)
{
    c->previous->next = c->next;
    c->next->previous = c->previous;
    server_conn_close(c);
    free(watched_of(c));
}

static void count_one(atomic_uint_fast64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void admit(struct server_worker *w, struct listener *l, int fd, uint64_t now_ns)
{
    struct watched_conn *c = mem_alloc_zeroed(1, sizeof(*c));
    count_one(&w->counters.accepted);
    c->kind = WATCH_CONN;
    if (!server_conn_open(&c->conn, &l->site, fd, now_ns)) {
        free(c);
        return;
    }
    c->conn.previous = w->open.previous;
    c->conn.next = &w->open;
    c->conn.previous->next = &c->conn;
    w->open.previous = &c->conn;
    if (poller_add(&w->poller, fd, WATCHED, c) != 0)
        end_conn(&c->conn);
}

/* No descriptor is left: the listeners stay silent for a moment, or epoll would report them
 * again at once, for ever. */
static void pause_accepting(struct server_worker *w, uint64_t now_ns)
{
    for (size_t i = 0; i < w->server->endpoints; i++)
        epoll_ctl(w->poller.fd, EPOLL_CTL_DEL, w->listener[i].fd, NULL);
    w->is_paused = true;
    w->resume_ns = now_ns + PAUSE_NS;
    count_one(&w->counters.accept_paused);
}

static void resume_accepting(struct server_worker *w)
{
    bool is_back = true;
    for (size_t i = 0; i < w->server->endpoints; i++)
        if (poller_add(&w->poller, w->listener[i].fd, EPOLLIN, &w->listener[i]) != 0 &&
            errno != EEXIST)
            is_back = false;
    w->is_paused = !is_back;
}

struct acceptance {
    struct server_worker *worker;
    struct listener *listener;
    uint64_t now_ns;
};

static void take(void *arg, int fd)
{
    const struct acceptance *a = arg;
    admit(a->worker, a->listener, fd, a->now_ns);
}

static void accept_some(struct server_worker *w, struct listener *l, uint64_t now_ns)
{
    struct acceptance a = {w, l, now_ns};
    if (socket_accept_many(l->fd, ACCEPTS_PER_EVENT, take, &a) == SOCKET_ACCEPT_STARVED)
        pause_accepting(w, now_ns);
}

/* ---- the loop ---- */

static void sweep(struct server_worker *w, uint64_t now_ns)
{
    struct server_conn *next;
    for (struct server_conn *c = w->open.next; c != &w->open; c = next) {
        next = c->next;
        if (c->last_ns + w->server->timeout_ns <= now_ns) {
            count_one(&w->counters.timed_out);
            end_conn(c);
        }
    }
    w->sweep_ns = now_ns + SWEEP_NS;
}

/* false: the server stops. */
static bool handle(struct server_worker *w, const struct epoll_event *event, uint64_t now_ns)
{
    struct listener *l = event->data.ptr;
    if (l->kind == WATCH_STOP)
        return false;
    if (l->kind == WATCH_LISTENER) {
        accept_some(w, l, now_ns);
        return true;
    }
    struct watched_conn *c = event->data.ptr;
    const bool has_ended = (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (!server_conn_step(&c->conn, has_ended, now_ns))
        end_conn(&c->conn);
    return true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void *worker_main(void *arg)
{
    struct server_worker *w = arg;
    uint64_t now_ns = clock_now_ns();
    bool goes_on = true;
    prctl(PR_SET_TIMERSLACK, 1UL);
    prctl(PR_SET_NAME, "server");
    if (w->core.count > 0)
        (void)(cpu_pin_thread_to_set(&w->core, NULL) == 0); /* a server all the same */
    sampler_tick(&w->sampler, now_ns);
    while (goes_on) {
        uint64_t deadline_ns = earlier(w->sampler.next_tick_ns, w->sweep_ns);
        if (w->is_paused)
            deadline_ns = earlier(deadline_ns, w->resume_ns);
        const int n = poller_wait(&w->poller, deadline_ns, &now_ns);
        for (int i = 0; i < n && goes_on; i++)
            goes_on = handle(w, &w->poller.event[i], now_ns);
        now_ns = n > 0 ? clock_now_ns() : now_ns;
        if (now_ns >= w->sampler.next_tick_ns)
            sampler_tick(&w->sampler, now_ns);
        if (now_ns >= w->sweep_ns)
            sweep(w, now_ns);
        if (w->is_paused && now_ns >= w->resume_ns)
            resume_accepting(w);
    }
    return NULL;
}

/* ---- set-up ---- */

/* The first worker's listener finds a free port, the others join it.  Without
 * SO_REUSEADDR's and SO_REUSEPORT's leniency a port in use would be joined unnoticed when it
 * is ours; another user's is refused by the kernel. */
static int init_listener(struct server_worker *w, const struct server_endpoint *ep, size_t i,
                         struct err *e)
{
    static const struct socket_listen_options shared = {.shares_port = true};
    struct server *s = w->server;
    struct listener *l = &w->listener[i];
    struct address at = ep->address, bound;
    l->kind = WATCH_LISTENER;
    if (s->port[i] != 0)
        address_set_port(&at, s->port[i]);
    l->fd = socket_listen(&at, &shared, &bound, e);
    if (l->fd < 0)
        return -1;
    s->port[i] = address_port(&bound);
    l->site = (struct server_site){.backend = ep->backend,
                                   .accepts_early = ep->config->early_data_bytes > 0,
                                   .counters = &w->counters,
                                   .buffers = w->buffers,
                                   .scratch = w->scratch};
    l->site.context = ep->backend->context_new(ep->config, e);
    if (l->site.context == NULL)
        return -1;
    if (poller_add(&w->poller, l->fd, EPOLLIN, l) != 0)
        return err_set_errno(e, "listen: epoll");
    return 0;
}

static int init_worker(struct server_worker *w, const struct server_options *options,
                       struct err *e)
{
    w->open.next = w->open.previous = &w->open;
    w->buffers = mem_alloc_zeroed(1, sizeof(*w->buffers));
    w->scratch = mem_alloc_zeroed(SERVER_SCRATCH_BYTES, 1);
    sampler_init(&w->sampler, &w->core);
    w->listener = mem_alloc_zeroed(options->endpoints, sizeof(*w->listener));
    for (size_t i = 0; i < options->endpoints; i++)
        w->listener[i].fd = -1;
    w->stop = (struct listener){.kind = WATCH_STOP, .fd = eventfd(0, EFD_CLOEXEC)};
    if (w->stop.fd < 0)
        return err_set_errno(e, "eventfd");
    if (poller_init(&w->poller, false, e) != 0)
        return -1;
    if (poller_add(&w->poller, w->stop.fd, EPOLLIN, &w->stop) != 0)
        return err_set_errno(e, "epoll");
    for (size_t i = 0; i < options->endpoints; i++)
        if (init_listener(w, &options->endpoint[i], i, e) != 0)
            return -1;
    return 0;
}

static int begin_worker(struct server_worker *w, struct err *e)
{
    const int error = pthread_create(&w->thread, NULL, worker_main, w);
    if (error != 0) {
        errno = error;
        return err_set_errno(e, "server thread");
    }
    w->has_thread = true;
    return 0;
}

struct server *server_start(const struct server_options *options, struct err *e)
{
    struct server *s = mem_alloc_zeroed(1, sizeof(*s));
    s->workers = options->cores.count > 0 ? options->cores.count : 1;
    s->endpoints = options->endpoints;
    s->timeout_ns = options->timeout_ns > 0 ? options->timeout_ns : SERVER_TIMEOUT_NS;
    s->worker = mem_alloc_zeroed(s->workers, sizeof(*s->worker));
    for (size_t i = 0; i < s->workers; i++) {
        struct server_worker *w = &s->worker[i];
        w->server = s;
        w->poller.fd = -1;
        w->stop.fd = -1;
        if (options->cores.count > 0)
            w->core = (struct cpu_set){.count = 1, .core = {options->cores.core[i]}};
    }
    for (size_t i = 0; i < s->workers; i++)
        if (init_worker(&s->worker[i], options, e) != 0)
            goto failed;
    for (size_t i = 0; i < s->workers; i++)
        if (begin_worker(&s->worker[i], e) != 0)
            goto failed;
    return s;
failed:
    server_stop(s);
    return NULL;
}

static void fini_worker(struct server_worker *w)
{
    for (struct server_conn *c = w->open.next, *next; c != NULL && c != &w->open; c = next) {
        next = c->next;
        end_conn(c);
    }
    for (size_t i = 0; w->listener != NULL && i < w->server->endpoints; i++) {
        if (w->listener[i].fd >= 0)
            close(w->listener[i].fd);
        if (w->listener[i].site.context != NULL)
            w->listener[i].site.backend->context_free(w->listener[i].site.context);
    }
    if (w->stop.fd >= 0)
        close(w->stop.fd);
    poller_fini(&w->poller);
    free(w->listener);
    free(w->buffers);
    free(w->scratch);
    if (w->sampler.ring != NULL)
        sampler_fini(&w->sampler);
}

void server_stop(struct server *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->workers; i++) {
        struct server_worker *w = &s->worker[i];
        const uint64_t one = 1;
        if (w->has_thread && write(w->stop.fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
            pthread_join(w->thread, NULL);
    }
    for (size_t i = 0; i < s->workers; i++)
        fini_worker(&s->worker[i]);
    free(s->worker);
    free(s);
}

unsigned server_port(const struct server *s, size_t endpoint)
{
    return s->port[endpoint];
}

size_t server_workers(const struct server *s)
{
    return s->workers;
}

static uint64_t thread_cpu_ns(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void server_read_totals(struct server *s, struct server_totals *out)
{
    *out = (struct server_totals){.at_ns = clock_now_ns()};
    for (size_t i = 0; i < s->workers; i++) {
        struct server_counters *c = &s->worker[i].counters;
        out->accepted += atomic_load_explicit(&c->accepted, memory_order_relaxed);
        out->handshakes += atomic_load_explicit(&c->handshakes, memory_order_relaxed);
        out->handshakes_failed +=
            atomic_load_explicit(&c->handshakes_failed, memory_order_relaxed);
        out->resumed += atomic_load_explicit(&c->resumed, memory_order_relaxed);
        out->requests += atomic_load_explicit(&c->requests, memory_order_relaxed);
        out->timed_out += atomic_load_explicit(&c->timed_out, memory_order_relaxed);
        out->accept_paused += atomic_load_explicit(&c->accept_paused, memory_order_relaxed);
        out->body_bytes += atomic_load_explicit(&c->body_bytes, memory_order_relaxed);
        out->cpu_ns += thread_cpu_ns(s->worker[i].thread);
    }
}

struct sample *server_copy_samples(struct server *s, size_t worker, uint64_t since_ns,
                                   size_t *count)
{
    return sampler_copy(&s->worker[worker].sampler, since_ns, count);
}
