/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "net/link_shape.h"
#include "net/loop.h"
#include "net/pcapng.h"

#define ROOM 65536u      /* packets under way, each way */
#define READ_AT_ONCE 64u /* then the other way has its turn */
#define CACHE_LINE 64u
#define CAPTURE_BUFFER_BYTES (1u << 20)

struct packet {
    uint64_t due_ns;
    uint32_t slot;
    uint16_t bytes, mark;
};

struct relay;
struct way {
    struct relay *relay;
    enum link_way name;
    int from_fd, to_fd;
    struct link_netem *netem; /* in place of what follows, or NULL */
    struct link_shape shape;
    struct packet *ring; /* under way, in the order of their due times */
    size_t first, count;
    struct link_counters *counters;
    struct loop_watch watch, netem_watch;
    struct loop_timer timer;
};

struct relay {
    const struct link_relay_options *options;
    struct loop *loop;
    struct way way[LINK_WAYS];
    char *memory;
    size_t stride, memory_bytes;
    uint32_t *free_slot; /* a stack: what was used last is used first */
    size_t free_slots;
    struct loop_watch control;
    uint64_t wall_offset_ns;
    bool is_over, has_capture_failed;
};

static char *data_of(const struct relay *r, uint32_t slot)
{
    return r->memory + slot * r->stride;
}

/* ---- what the client's device sees ---- */

static void capture(struct relay *r, uint64_t now_ns, const void *data, size_t bytes,
                    const char *comment)
{
    if (r->options->capture == NULL || r->has_capture_failed)
        return;
    r->has_capture_failed = pcapng_write(r->options->capture, now_ns + r->wall_offset_ns, data,
                                         bytes, comment) != 0;
}

static const char *comment_of(enum link_fate fate)
{
    switch (fate) {
    case LINK_LOST:
        return "the link loses this packet";
    case LINK_QUEUE_FULL:
        return "the link drops this packet: its queue is full";
    case LINK_TOO_LARGE:
        return "the link drops this packet: it is too large";
    case LINK_OVERFLOW:
        return "the link drops this packet: too many are under way";
    case LINK_PASSED:
        break;
    }
    return NULL;
}

/* ---- to the other end ---- */

static void count_lateness(struct link_counters *c, uint64_t late_ns)
{
    unsigned bucket = 0;
    for (uint64_t us = late_ns / 1000; us > 0 && bucket + 1 < LINK_LATE_BUCKETS; us /= 2)
        bucket++;
    c->late[bucket]++;
    if (late_ns > c->late_max_ns)
        c->late_max_ns = late_ns;
}

static void hand_over(struct way *w, const void *data, size_t bytes, uint16_t mark,
                      uint64_t now_ns)
{
    struct relay *r = w->relay;
    link_flow_arrived(&r->options->shared->flows, w->name, data, bytes, mark);
    if (w->name == LINK_DOWN)
        capture(r, now_ns, data, bytes, NULL);
    if (write(w->to_fd, data, bytes) == (ssize_t)bytes)
        w->counters->delivered++;
    else
        w->counters->overflow++;
}

static void deliver(struct way *w, const struct packet *p, uint64_t now_ns)
{
    struct relay *r = w->relay;
    count_lateness(w->counters, now_ns - p->due_ns);
    hand_over(w, data_of(r, p->slot), p->bytes, p->mark, now_ns);
    r->free_slot[r->free_slots++] = p->slot;
}

static void deliver_due(struct way *w)
{
    uint64_t now_ns = clock_now_ns();
    while (w->count > 0 && w->ring[w->first].due_ns <= now_ns) {
        const struct packet p = w->ring[w->first];
        w->first = (w->first + 1) % ROOM;
        w->count--;
        deliver(w, &p, now_ns);
        now_ns = clock_now_ns();
    }
    if (w->count > 0)
        loop_timer_set(w->relay->loop, &w->timer, w->ring[w->first].due_ns);
}

static void fire(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    deliver_due(arg);
}

/* ---- from this end ---- */

static void count_fate(struct link_counters *c, enum link_fate fate, size_t bytes)
{
    c->packets++;
    c->bytes += bytes;
    c->lost += fate == LINK_LOST;
    c->queue_full += fate == LINK_QUEUE_FULL;
    c->too_large += fate == LINK_TOO_LARGE;
    c->overflow += fate == LINK_OVERFLOW;
}

/* Into the kernel's emulator; what it loses is heard of later. */
static void pass_on(struct way *w, const char *data, size_t bytes)
{
    struct relay *r = w->relay;
    struct link_flows *flows = &r->options->shared->flows;
    const uint64_t now_ns = clock_now_ns();
    const struct link_netem_tag tag = {
        .mark = link_flow_sent(flows, w->name, data, bytes, now_ns, false),
        .port = link_flow_port(w->name, data, bytes)};
    const enum link_fate fate = link_netem_send(w->netem, data, bytes, &tag, now_ns);
    count_fate(w->counters, fate, bytes);
    if (fate != LINK_PASSED)
        link_flow_lost(flows, w->name, tag.port, tag.mark);
    if (w->name == LINK_UP)
        capture(r, now_ns, data, bytes, comment_of(fate));
}

static void hear_of_loss(void *arg, const struct link_netem_tag *tag)
{
    struct way *w = arg;
    w->counters->lost++;
    link_flow_lost(&w->relay->options->shared->flows, w->name, tag->port, tag->mark);
}

static void take_back(void *arg, uint32_t events)
{
    struct way *w = arg;
    struct relay *r = w->relay;
    char *data = data_of(r, r->free_slot[r->free_slots - 1]);
    (void)events;
    for (unsigned i = 0; i < READ_AT_ONCE; i++) {
        const uint64_t now_ns = clock_now_ns();
        uint16_t mark = 0;
        bool is_back = false;
        const ssize_t n =
            link_netem_receive(w->netem, data, r->stride, now_ns, &mark, &is_back);
        if (n < 0)
            return;
        w->counters->lost -= is_back;
        if (n > 0)
            hand_over(w, data, (size_t)n, mark, now_ns);
    }
}

/* The packet in `slot`.  Does the slot stay in use? */
static bool accept_packet(struct way *w, uint32_t slot, size_t bytes)
{
    struct relay *r = w->relay;
    const char *data = data_of(r, slot);
    const uint64_t now_ns = clock_now_ns();
    uint64_t due_ns = 0;
    if ((data[0] & 0xf0) != 0x40) /* the kernel's own IPv6 */
        return false;
    if (w->netem != NULL) {
        pass_on(w, data, bytes);
        return false;
    }
    const enum link_fate fate =
        w->count == ROOM ? LINK_OVERFLOW : link_shape_enter(&w->shape, bytes, now_ns, &due_ns);
    count_fate(w->counters, fate, bytes);
    const uint16_t mark = link_flow_sent(&r->options->shared->flows, w->name, data, bytes,
                                         now_ns, fate != LINK_PASSED);
    if (w->name == LINK_UP)
        capture(r, now_ns, data, bytes, comment_of(fate));
    if (fate != LINK_PASSED)
        return false;
    w->ring[(w->first + w->count++) % ROOM] =
        (struct packet){due_ns, slot, (uint16_t)bytes, mark};
    return true;
}

static void take(void *arg, uint32_t events)
{
    struct way *w = arg;
    struct relay *r = w->relay;
    (void)events;
    for (unsigned i = 0; i < READ_AT_ONCE; i++) {
        const uint32_t slot = r->free_slot[r->free_slots - 1];
        const ssize_t n = read(w->from_fd, data_of(r, slot), r->stride);
        if (n <= 0) {
            r->is_over = r->is_over || (n < 0 && errno != EAGAIN && errno != EINTR);
            break;
        }
        if (accept_packet(w, slot, (size_t)n))
            r->free_slots--;
    }
    deliver_due(w);
}

static void hear(void *arg, uint32_t events)
{
    struct relay *r = arg;
    (void)events;
    r->is_over = true;
}

/* ---- the whole ---- */

static int init_way(struct relay *r, enum link_way name, struct err *e)
{
    const struct link_relay_options *o = r->options;
    struct way *w = &r->way[name];
    w->relay = r;
    w->name = name;
    w->from_fd = o->tun_fd[name];
    w->to_fd = o->tun_fd[name == LINK_UP ? LINK_SERVER : LINK_CLIENT];
    w->counters = &o->shared->counters[name];
    w->ring = mem_alloc_zeroed(ROOM, sizeof(*w->ring));
    w->watch = (struct loop_watch){.ready = take, .arg = w};
    w->timer = (struct loop_timer){.fire = fire, .arg = w};
    link_shape_init(&w->shape, &o->spec->way[name], rng_derive_seed(o->seed, name));
    w->netem = o->netem[name];
    w->netem_watch = (struct loop_watch){.ready = take_back, .arg = w};
    if (loop_add(r->loop, &w->watch, w->from_fd, EPOLLIN) != 0 ||
        (w->netem != NULL &&
         loop_add(r->loop, &w->netem_watch, link_netem_fd(w->netem), EPOLLIN) != 0))
        return err_set_errno(e, "the link's device");
    if (w->netem != NULL)
        link_netem_hear(w->netem, hear_of_loss, w);
    return 0;
}

/* Every slot of both ways, and one to read into.  Memory is taken when it is touched. */
static int init_slots(struct relay *r, struct err *e)
{
    const size_t slots = LINK_WAYS * (size_t)ROOM + 1;
    r->stride = (r->options->spec->mtu_bytes + LINK_NETEM_TRAILER_BYTES + CACHE_LINE) /
                CACHE_LINE * CACHE_LINE;
    r->memory_bytes = slots * r->stride;
    r->memory = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->memory == MAP_FAILED) {
        r->memory = NULL;
        return err_set_errno(e, "the link's memory");
    }
    r->free_slot = mem_alloc_zeroed(slots, sizeof(*r->free_slot));
    r->free_slots = slots;
    for (size_t i = 0; i < slots; i++)
        r->free_slot[i] = (uint32_t)(slots - 1 - i);
    return 0;
}

static int init(struct relay *r, struct err *e)
{
    const struct link_relay_options *o = r->options;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    r->wall_offset_ns =
        (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec - clock_now_ns();
    r->loop = loop_new(NULL, e);
    r->control = (struct loop_watch){.ready = hear, .arg = r};
    if (r->loop == NULL || init_slots(r, e) != 0)
        return -1;
    if (loop_add(r->loop, &r->control, o->control_fd, EPOLLIN | EPOLLRDHUP) != 0)
        return err_set_errno(e, "the link's control");
    link_flows_init(&o->shared->flows, link_spec_rtt_ns(o->spec));
    if (o->capture != NULL) {
        (void)setvbuf(o->capture, NULL, _IOFBF, CAPTURE_BUFFER_BYTES);
        r->has_capture_failed = pcapng_begin(o->capture, "client") != 0;
    }
    return init_way(r, LINK_UP, e) != 0 || init_way(r, LINK_DOWN, e) != 0 ? -1 : 0;
}

static void fini(struct relay *r)
{
    for (unsigned i = 0; i < LINK_WAYS; i++) {
        link_shape_fini(&r->way[i].shape);
        free(r->way[i].ring);
    }
    if (r->memory != NULL)
        munmap(r->memory, r->memory_bytes);
    free(r->free_slot);
    loop_free(r->loop);
}

int link_relay_run(const struct link_relay_options *options, struct err *e)
{
    struct relay *r = mem_alloc_zeroed(1, sizeof(*r));
    r->options = options;
    int failed = init(r, e);
    while (failed == 0 && !r->is_over)
        if (loop_run_once(r->loop, LOOP_NEVER) < 0)
            failed = err_set_errno(e, "the link's loop");
    if (failed == 0 && options->capture != NULL &&
        (r->has_capture_failed || fflush(options->capture) != 0))
        failed = err_set(e, ERR_SYSTEM, "the capture could not be written");
    fini(r);
    free(r);
    return failed;
}
