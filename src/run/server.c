/* SPDX-License-Identifier: Apache-2.0 */
#include "run/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "net/loop.h"
#include "net/socket.h"
#include "run/server_conn.h"

#define ACCEPTS_PER_EVENT 64
#define PAUSE_NS 20000000u
#define SWEEP_NS 500000000u

struct listener {
    struct loop_watch watch;
    struct server_worker *worker;
    struct server_site site;
    int fd;
};

struct watched_conn {
    struct loop_watch watch;
    struct loop_timer again; /* its step was cut */
    struct server_worker *worker;
    struct server_conn conn;
};

struct server_worker {
    struct server *server;
    struct cpu_set core;
    struct loop *loop;
    struct loop_timer tick, sweep, resume;
    struct sampler sampler;
    struct wire_buffers *buffers;
    char *scratch;
    struct listener *listener; /* one per endpoint */
    atomic_bool is_stopped;
    struct server_conn open; /* list head; oldest first */
    size_t conns;
    struct server_counters counters;
    pthread_t thread;
    bool has_thread;
};

struct server {
    size_t workers, endpoints;
    uint64_t timeout_ns;
    struct server_worker *worker;
    unsigned port[SERVER_ENDPOINTS_MAX];
    uint8_t ticket_key[TLS_TICKET_KEY_BYTES];
};

/* ---- connections ---- */

static struct watched_conn *watched_of(struct server_conn *c)
{
    return (struct watched_conn *)(void *)((char *)c - offsetof(struct watched_conn, conn));
}

/* Closing takes the descriptor out of the loop. */
static void end_conn(struct server_conn *c)
{
    struct server_worker *w = watched_of(c)->worker;
    loop_forget(w->loop, &watched_of(c)->watch);
    loop_timer_stop(w->loop, &watched_of(c)->again);
    w->conns--;
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

static void step(struct watched_conn *c, bool has_ended)
{
    struct loop *loop = c->worker->loop;
    if (!server_conn_step(&c->conn, has_ended, loop_now_ns(loop)))
        end_conn(&c->conn);
    else if (c->conn.wire.is_cut)
        loop_timer_set(loop, &c->again, loop_now_ns(loop));
}

/* One who went without a word costs no TLS. */
static bool begin(struct server_conn *c, bool has_ended)
{
    char first;
    if ((!has_ended || recv(c->wire.socket.fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1) &&
        server_conn_begin(c))
        return true;
    count_one(&c->site->counters->handshakes_failed);
    return false;
}

static void serve(void *arg, uint32_t events)
{
    struct watched_conn *c = arg;
    const bool has_ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (c->conn.tls == NULL && !has_ended && !(events & EPOLLIN))
        return;
    if (c->conn.tls == NULL && !begin(&c->conn, has_ended))
        end_conn(&c->conn);
    else
        step(c, has_ended);
}

static void go_on(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    step(arg, true);
}

static void admit(void *arg, int fd)
{
    struct listener *l = arg;
    struct server_worker *w = l->worker;
    struct watched_conn *c = mem_alloc_zeroed(1, sizeof(*c));
    count_one(&w->counters.accepted);
    c->watch = (struct loop_watch){.ready = serve, .arg = c};
    c->again = (struct loop_timer){.fire = go_on, .arg = c};
    c->worker = w;
    server_conn_open(&c->conn, &l->site, fd, loop_now_ns(w->loop));
    w->conns++;
    c->conn.previous = w->open.previous;
    c->conn.next = &w->open;
    c->conn.previous->next = &c->conn;
    w->open.previous = &c->conn;
    if (loop_add(w->loop, &c->watch, fd, LOOP_EDGES) != 0)
        end_conn(&c->conn);
}

/* No descriptor is left: the listeners stay silent for a moment, or epoll would report them
 * again at once, for ever. */
static void pause_accepting(struct server_worker *w)
{
    for (size_t i = 0; i < w->server->endpoints; i++)
        if (w->listener[i].fd >= 0)
            loop_remove(w->loop, &w->listener[i].watch);
    loop_timer_set(w->loop, &w->resume, loop_now_ns(w->loop) + PAUSE_NS);
    count_one(&w->counters.accept_paused);
}

static void resume_accepting(void *arg, uint64_t now_ns)
{
    struct server_worker *w = arg;
    bool is_back = true;
    for (size_t i = 0; i < w->server->endpoints; i++)
        if (w->listener[i].fd >= 0 &&
            loop_add(w->loop, &w->listener[i].watch, w->listener[i].fd, EPOLLIN) != 0 &&
            errno != EEXIST)
            is_back = false;
    if (!is_back)
        loop_timer_set(w->loop, &w->resume, now_ns + PAUSE_NS);
}

/* Those who have owed us the rest of a handshake or of a request for longest end for those who
 * come; false: none has for long enough. */
static bool make_room(struct server_worker *w)
{
    const uint64_t now_ns = loop_now_ns(w->loop);
    struct server_conn *next;
    unsigned ended = 0;
    for (struct server_conn *c = w->open.next; c != &w->open && ended < ACCEPTS_PER_EVENT;
         c = next) {
        next = c->next;
        if (!server_conn_is_waiting(c) || c->last_ns + SERVER_PATIENCE_NS > now_ns)
            continue;
        count_one(&w->counters.put_out);
        end_conn(c);
        ended++;
    }
    return ended > 0;
}

static void accept_some(void *arg, uint32_t events)
{
    struct listener *l = arg;
    struct server_worker *w = l->worker;
    (void)events;
    if (w->conns >= SERVER_CONNS_MAX)
        make_room(w);
    const size_t room = w->conns < SERVER_CONNS_MAX ? SERVER_CONNS_MAX - w->conns : 0;
    const unsigned most = room < ACCEPTS_PER_EVENT ? (unsigned)room : ACCEPTS_PER_EVENT;
    if (most == 0 ||
        (socket_accept_many(l->fd, most, admit, l) == SOCKET_ACCEPT_STARVED && !make_room(w)))
        pause_accepting(w);
}

/* ---- the loop ---- */

static void sweep(void *arg, uint64_t now_ns)
{
    struct server_worker *w = arg;
    struct server_conn *next;
    for (struct server_conn *c = w->open.next; c != &w->open; c = next) {
        next = c->next;
        if (c->last_ns + w->server->timeout_ns <= now_ns) {
            count_one(&w->counters.timed_out);
            end_conn(c);
        }
    }
    loop_timer_set(w->loop, &w->sweep, now_ns + SWEEP_NS);
}

static void tick(void *arg, uint64_t now_ns)
{
    struct server_worker *w = arg;
    sampler_tick(&w->sampler, now_ns, clock_thread_cpu_ns());
    loop_timer_set(w->loop, &w->tick, w->sampler.next_tick_ns);
}

static void *worker_main(void *arg)
{
    struct server_worker *w = arg;
    prctl(PR_SET_NAME, "server");
    if (w->core.count > 0)
        (void)(cpu_pin_thread_to_set(&w->core, NULL) == 0); /* a server all the same */
    const uint64_t now_ns = clock_now_ns();
    sampler_begin(&w->sampler, now_ns, clock_thread_cpu_ns());
    loop_timer_set(w->loop, &w->tick, w->sampler.next_tick_ns);
    loop_timer_set(w->loop, &w->sweep, now_ns + SWEEP_NS);
    while (!atomic_load_explicit(&w->is_stopped, memory_order_relaxed))
        if (loop_run_once(w->loop, LOOP_NEVER) < 0)
            break;
    return NULL;
}

/* ---- set-up ---- */

/* What a library keeps against replay is one context's: one worker must see all of it. */
static bool is_for_one_worker(const struct server_endpoint *ep)
{
    return ep->config->early_data_bytes > 0 && !ep->config->no_anti_replay;
}

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
    l->watch = (struct loop_watch){.ready = accept_some, .arg = l};
    l->worker = w;
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
    struct tls_config config = *ep->config; /* a ticket of one worker is good at any */
    config.ticket_key = s->ticket_key;
    l->site.context = ep->backend->context_new(&config, e);
    if (l->site.context == NULL)
        return -1;
    if (loop_add(w->loop, &l->watch, l->fd, EPOLLIN) != 0)
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
    w->tick = (struct loop_timer){.fire = tick, .arg = w};
    w->sweep = (struct loop_timer){.fire = sweep, .arg = w};
    w->resume = (struct loop_timer){.fire = resume_accepting, .arg = w};
    w->loop = loop_new(NULL, e);
    if (w->loop == NULL)
        return -1;
    for (size_t i = 0; i < options->endpoints; i++)
        if ((w == w->server->worker || !is_for_one_worker(&options->endpoint[i])) &&
            init_listener(w, &options->endpoint[i], i, e) != 0)
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
    if (getrandom(s->ticket_key, sizeof(s->ticket_key), 0) != (ssize_t)sizeof(s->ticket_key)) {
        err_set_errno(e, "getrandom");
        free(s);
        return NULL;
    }
    s->workers = options->cores.count > 0 ? options->cores.count : 1;
    s->endpoints = options->endpoints;
    s->timeout_ns = options->timeout_ns > 0 ? options->timeout_ns : SERVER_TIMEOUT_NS;
    s->worker = mem_alloc_zeroed(s->workers, sizeof(*s->worker));
    for (size_t i = 0; i < s->workers; i++) {
        struct server_worker *w = &s->worker[i];
        w->server = s;
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
    loop_free(w->loop);
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
        if (!w->has_thread)
            continue;
        atomic_store_explicit(&w->is_stopped, true, memory_order_relaxed);
        loop_wake(w->loop);
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
        out->put_out += atomic_load_explicit(&c->put_out, memory_order_relaxed);
        out->timed_out += atomic_load_explicit(&c->timed_out, memory_order_relaxed);
        out->accept_paused += atomic_load_explicit(&c->accept_paused, memory_order_relaxed);
        out->early += atomic_load_explicit(&c->early, memory_order_relaxed);
        out->body_bytes += atomic_load_explicit(&c->body_bytes, memory_order_relaxed);
        out->cpu_ns += thread_cpu_ns(s->worker[i].thread);
    }
}

void server_keep_samples(struct server *s, uint64_t from_ns)
{
    for (size_t i = 0; i < s->workers; i++)
        sampler_keep(&s->worker[i].sampler, from_ns);
}

struct sample *server_copy_samples(struct server *s, size_t worker, uint64_t since_ns,
                                   size_t *count, struct sample *kept)
{
    return sampler_copy(&s->worker[worker].sampler, since_ns, count, kept);
}
