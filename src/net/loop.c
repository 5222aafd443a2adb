/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "net/wait.h"

#define EVENTS_MAX 128
#define NS_PER_S 1000000000u

struct slot {
    uint64_t at_ns, order;
    struct loop_timer *timer;
};

struct loop {
    int epoll_fd, wake_fd, timer_fd; /* timer_fd: -1 until needed */
    bool is_spinning, has_pwait2, is_firing, polls_early;
    uint64_t now_ns, waited_ns, polled_cpu_ns, early_ns;
    const struct loop_timer *prompt; /* if set */
    uint64_t timer_fd_at_ns;         /* what the timerfd was last set to; LOOP_NEVER: nothing */

    struct slot *heap; /* 1-based binary heap by (at_ns, order) */
    size_t timers, timers_capacity;
    uint64_t next_order;

    int events, next_event; /* of the batch being dispatched */
    struct epoll_event event[EVENTS_MAX];
};

/* ---- timers ---- */

static bool comes_before(const struct slot *a, const struct slot *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void put(struct loop *loop, size_t place, struct slot slot)
{
    loop->heap[place] = slot;
    slot.timer->place = place;
}

static void sift_up(struct loop *loop, size_t place, struct slot slot)
{
    for (; place > 1 && comes_before(&slot, &loop->heap[place / 2]); place /= 2)
        put(loop, place, loop->heap[place / 2]);
    put(loop, place, slot);
}

static void sift_down(struct loop *loop, size_t place, struct slot slot)
{
    for (size_t child; (child = 2 * place) <= loop->timers; place = child) {
        if (child < loop->timers && comes_before(&loop->heap[child + 1], &loop->heap[child]))
            child++;
        if (!comes_before(&loop->heap[child], &slot))
            break;
        put(loop, place, loop->heap[child]);
    }
    put(loop, place, slot);
}

void loop_reserve_timers(struct loop *loop, size_t n)
{
    if (n <= loop->timers_capacity)
        return;
    loop->heap = mem_resize(loop->heap, n + 1, sizeof(*loop->heap));
    loop->timers_capacity = n;
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t at_ns)
{
    loop_timer_stop(loop, timer);
    if (loop->timers == loop->timers_capacity)
        loop_reserve_timers(loop, loop->timers > 0 ? 2 * loop->timers : 64);
    timer->at_ns = at_ns;
    assert(!timer->is_prompt || loop->prompt == NULL);
    if (timer->is_prompt)
        loop->prompt = timer;
    if (loop->is_firing && at_ns <= loop->now_ns)
        at_ns = loop->now_ns + 1; /* behind all that are due */
    loop->timers++;
    sift_up(loop, loop->timers,
            (struct slot){.at_ns = at_ns, .order = loop->next_order++, .timer = timer});
}

void loop_timer_stop(struct loop *loop, struct loop_timer *timer)
{
    size_t place = timer->place;
    if (place == 0)
        return;
    assert(place <= loop->timers && loop->heap[place].timer == timer);
    timer->place = 0;
    if (timer->is_prompt)
        loop->prompt = NULL;
    struct slot last = loop->heap[loop->timers--];
    if (last.timer == timer)
        return;
    if (place > 1 && comes_before(&last, &loop->heap[place / 2]))
        sift_up(loop, place, last);
    else
        sift_down(loop, place, last);
}

bool loop_timer_is_set(const struct loop_timer *timer)
{
    return timer->place != 0;
}

uint64_t loop_next_timer_ns(const struct loop *loop)
{
    return loop->timers > 0 ? loop->heap[1].at_ns : LOOP_NEVER;
}

/* Fire what was due before this call. */
static int fire_due(struct loop *loop)
{
    int fired = 0;
    loop->now_ns = clock_now_ns();
    loop->is_firing = true;
    for (; loop->timers > 0 && loop->heap[1].at_ns <= loop->now_ns; fired++) {
        struct loop_timer *timer = loop->heap[1].timer;
        loop_timer_stop(loop, timer);
        timer->fire(timer->arg, loop->now_ns);
    }
    loop->is_firing = false;
    return fired;
}

/* ---- descriptors ---- */

int loop_add(struct loop *loop, struct loop_watch *watch, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    watch->fd = fd;
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int loop_modify(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

/* Also from the rest of the batch: its object may be gone before its turn comes. */
void loop_forget(struct loop *loop, struct loop_watch *watch)
{
    for (int i = loop->next_event; i < loop->events; i++)
        if (loop->event[i].data.ptr == watch)
            loop->event[i].data.ptr = NULL;
}

void loop_remove(struct loop *loop, struct loop_watch *watch)
{
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    loop_forget(loop, watch);
}

/* ---- waiting ---- */

#ifdef SYS_epoll_pwait2
static int pwait2(struct loop *loop, uint64_t timeout_ns)
{
    struct {
        int64_t s, ns; /* __kernel_timespec */
    } timeout = {(int64_t)(timeout_ns / NS_PER_S), (int64_t)(timeout_ns % NS_PER_S)};
    return (int)syscall(SYS_epoll_pwait2, loop->epoll_fd, loop->event, EVENTS_MAX,
                        timeout_ns == LOOP_NEVER ? NULL : &timeout, NULL, (size_t)0);
}
#else
static int pwait2(struct loop *loop, uint64_t timeout_ns)
{
    (void)loop;
    (void)timeout_ns;
    errno = ENOSYS;
    return -1;
}
#endif

/* The descriptor is edge-triggered and never read: only its setting counts. */
static int set_timer_fd(struct loop *loop, uint64_t at_ns)
{
    struct itimerspec spec = {{0, 0}, {0, 0}};
    if (loop->timer_fd < 0) {
        struct epoll_event event = {.events = EPOLLIN | (uint32_t)EPOLLET};
        loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (loop->timer_fd < 0 ||
            epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &event) != 0)
            return -1;
    }
    if (loop->timer_fd_at_ns == at_ns)
        return 0;
    if (at_ns != LOOP_NEVER) {
        spec.it_value.tv_sec = (time_t)(at_ns / NS_PER_S);
        spec.it_value.tv_nsec = (long)(at_ns % NS_PER_S);
    }
    loop->timer_fd_at_ns = at_ns;
    return timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* Sleep until about at_ns, or less; the number of events, or -1. */
static int sleep_until(struct loop *loop, uint64_t now_ns, uint64_t at_ns)
{
    if (at_ns <= now_ns)
        return epoll_wait(loop->epoll_fd, loop->event, EVENTS_MAX, 0);
    if (loop->has_pwait2) {
        uint64_t timeout_ns = at_ns == LOOP_NEVER ? LOOP_NEVER : wait_part_ns(at_ns - now_ns);
        int n = pwait2(loop, timeout_ns);
        /* Sandboxes answer an unknown call with EPERM. */
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
            return n;
        loop->has_pwait2 = false;
    }
    if (set_timer_fd(loop, at_ns) != 0)
        return -1;
    return epoll_wait(loop->epoll_fd, loop->event, EVENTS_MAX, -1);
}

/* Look for events without sleeping until there are some or `at_ns` has come. */
static int poll_until(struct loop *loop, uint64_t at_ns, uint64_t *now_ns)
{
    const uint64_t cpu_ns = clock_thread_cpu_ns();
    int n;
    do {
        n = sleep_until(loop, *now_ns, 0);
        *now_ns = clock_now_ns();
    } while (n == 0 && *now_ns < at_ns);
    loop->polled_cpu_ns += clock_thread_cpu_ns() - cpu_ns;
    return n;
}

/* When to stop sleeping so that polling begins, or LOOP_NEVER. */
static uint64_t poll_from_ns(const struct loop *loop)
{
    if (!loop->polls_early || loop->prompt == NULL)
        return LOOP_NEVER;
    const uint64_t at_ns = loop->prompt->at_ns;
    return at_ns > loop->early_ns ? at_ns - loop->early_ns : 0;
}

/* Until there are events, `at_ns` has come or a signal has. */
static int wait_for_events(struct loop *loop, uint64_t at_ns)
{
    const uint64_t began_ns = clock_now_ns(), poll_ns = poll_from_ns(loop);
    const uint64_t until_ns = poll_ns < at_ns ? poll_ns : at_ns;
    uint64_t now_ns = began_ns;
    int n = 0;
    if (now_ns < until_ns || until_ns == at_ns) {
        do {
            n = sleep_until(loop, now_ns, loop->is_spinning ? 0 : until_ns);
            now_ns = clock_now_ns();
        } while (n == 0 && now_ns < until_ns);
        if (n == 0 && began_ns < until_ns)
            loop->early_ns = wait_early_ns(loop->early_ns, now_ns - until_ns);
    }
    if (n == 0 && now_ns < at_ns)
        n = poll_until(loop, at_ns, &now_ns);
    loop->waited_ns += now_ns - began_ns;
    return n < 0 && errno == EINTR ? 0 : n;
}

/* The slack is a thread's, and a loop may be run by one thread after another. */
static void drop_slack(void)
{
    static _Thread_local bool is_dropped;
    if (!is_dropped)
        (void)prctl(PR_SET_TIMERSLACK, 1uL, 0uL, 0uL, 0uL);
    is_dropped = true;
}

int loop_run_once(struct loop *loop, uint64_t deadline_ns)
{
    int callbacks = 0;
    drop_slack();
    uint64_t timer_ns = loop_next_timer_ns(loop);
    int n = wait_for_events(loop, timer_ns < deadline_ns ? timer_ns : deadline_ns);
    if (n < 0)
        return -1;
    loop->events = n;
    for (loop->next_event = 0; loop->next_event < loop->events;) {
        callbacks += fire_due(loop);
        const struct epoll_event *event = &loop->event[loop->next_event++];
        struct loop_watch *watch = event->data.ptr; /* NULL: a wake, or forgotten */
        if (watch == NULL)
            continue;
        watch->ready(watch->arg, event->events);
        callbacks++;
    }
    loop->events = 0;
    return callbacks + fire_due(loop);
}

/* ---- the loop itself ---- */

struct loop *loop_new(const struct loop_options *options, struct err *e)
{
    struct epoll_event event = {.events = EPOLLIN | (uint32_t)EPOLLET};
    struct loop *loop = mem_alloc_zeroed(1, sizeof(*loop));
    loop->is_spinning = options != NULL && options->spin;
    loop->polls_early = options != NULL && options->poll_early && !options->spin;
    loop->early_ns = WAIT_EARLY_FIRST_NS;
    loop->has_pwait2 = options == NULL || !options->without_pwait2;
    loop->timer_fd = -1;
    loop->timer_fd_at_ns = LOOP_NEVER;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) != 0) {
        err_set_errno(e, "event loop");
        loop_free(loop);
        return NULL;
    }
    return loop;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    close_if_open(loop->timer_fd);
    close_if_open(loop->wake_fd);
    close_if_open(loop->epoll_fd);
    free(loop->heap);
    free(loop);
}

/* An edge for every write; the count is never read and cannot overflow. */
void loop_wake(struct loop *loop)
{
    int saved = errno;
    const uint64_t one = 1;
    ssize_t n = write(loop->wake_fd, &one, sizeof(one));
    (void)n;
    errno = saved;
}

uint64_t loop_now_ns(const struct loop *loop)
{
    return loop->now_ns;
}

uint64_t loop_waited_ns(const struct loop *loop)
{
    return loop->waited_ns;
}

uint64_t loop_polled_cpu_ns(const struct loop *loop)
{
    return loop->polled_cpu_ns;
}
