/* SPDX-License-Identifier: Apache-2.0 */
#include "run/pair.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/cpu.h"
#include "base/text.h"

#define SIDES 2
#define CACHE_LINE 64

struct worker {
    struct pair *pair;
    enum duplex_side side;
    unsigned core;
    pthread_t thread;
    bool is_running; /* the thread exists */
    bool is_busy;    /* has a job; under the lock */
    struct err failure;
};

struct pair {
    pthread_mutex_t lock;
    pthread_cond_t to_workers, to_owner;
    pair_job *job; /* NULL: end */
    void *arg;
    struct worker worker[SIDES];
    _Alignas(CACHE_LINE) _Atomic uint32_t arrived;
    _Atomic uint32_t generation; /* futex */
};

/* Under the lock: take the job that was left for us. */
static pair_job *take_job(struct worker *w, void **arg)
{
    while (!w->is_busy)
        pthread_cond_wait(&w->pair->to_workers, &w->pair->lock);
    *arg = w->pair->arg;
    return w->pair->job;
}

static void finish_job(struct worker *w)
{
    w->is_busy = false;
    pthread_cond_signal(&w->pair->to_owner);
}

static void *work(void *data)
{
    struct worker *w = data;
    struct pair *p = w->pair;
    void *arg = NULL;
    if (cpu_pin_thread(w->core, &w->failure) != 0)
        assert(w->failure.kind != ERR_NONE);
    pthread_mutex_lock(&p->lock);
    finish_job(w); /* being born counts as the first job */
    for (;;) {
        pair_job *job = take_job(w, &arg);
        if (job == NULL)
            break;
        pthread_mutex_unlock(&p->lock);
        job(p, w->side, arg);
        pthread_mutex_lock(&p->lock);
        finish_job(w);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void init_locks(struct pair *p)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->to_workers, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->to_owner, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int start_worker(struct pair *p, enum duplex_side side, unsigned core, struct err *e)
{
    struct worker *w = &p->worker[side];
    w->pair = p;
    w->side = side;
    w->core = core;
    w->is_busy = true;
    int status = pthread_create(&w->thread, NULL, work, w);
    if (status != 0) {
        w->is_busy = false;
        errno = status;
        return err_set_errno(e, "thread");
    }
    w->is_running = true;
    return 0;
}

struct pair *pair_new(unsigned client_core, unsigned server_core, struct err *e)
{
    struct pair *p = aligned_alloc(CACHE_LINE, sizeof *p);
    if (p == NULL) {
        err_set(e, ERR_SYSTEM, "out of memory");
        return NULL;
    }
    memset(p, 0, sizeof *p);
    init_locks(p);
    if (start_worker(p, DUPLEX_CLIENT, client_core, e) != 0 ||
        start_worker(p, DUPLEX_SERVER, server_core, e) != 0)
        goto failed;
    pair_wait(p, UINT64_MAX);
    for (unsigned side = 0; side < SIDES; side++) {
        if (p->worker[side].failure.kind == ERR_NONE)
            continue;
        if (e != NULL)
            *e = p->worker[side].failure;
        goto failed;
    }
    return p;
failed:
    pair_free(p);
    return NULL;
}

void pair_free(struct pair *p)
{
    if (p == NULL)
        return;
    pair_wait(p, UINT64_MAX);
    pair_start(p, NULL, NULL, -1);
    for (unsigned side = 0; side < SIDES; side++)
        if (p->worker[side].is_running)
            pthread_join(p->worker[side].thread, NULL);
    pthread_cond_destroy(&p->to_owner);
    pthread_cond_destroy(&p->to_workers);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void pair_start(struct pair *p, pair_job *job, void *arg, int only)
{
    pthread_mutex_lock(&p->lock);
    p->job = job;
    p->arg = arg;
    for (int side = 0; side < SIDES; side++) {
        assert(!p->worker[side].is_busy);
        p->worker[side].is_busy = p->worker[side].is_running && (only < 0 || only == side);
    }
    pthread_cond_broadcast(&p->to_workers);
    pthread_mutex_unlock(&p->lock);
}

bool pair_wait(struct pair *p, uint64_t deadline_ns)
{
    struct timespec until = {
        .tv_sec = (time_t)(deadline_ns / 1000000000u),
        .tv_nsec = (long)(deadline_ns % 1000000000u),
    };
    bool is_late = false;
    pthread_mutex_lock(&p->lock);
    while ((p->worker[0].is_busy || p->worker[1].is_busy) && !is_late) {
        if (deadline_ns == UINT64_MAX)
            pthread_cond_wait(&p->to_owner, &p->lock);
        else
            is_late = pthread_cond_timedwait(&p->to_owner, &p->lock, &until) == ETIMEDOUT;
    }
    bool is_done = !p->worker[0].is_busy && !p->worker[1].is_busy;
    pthread_mutex_unlock(&p->lock);
    return is_done;
}

void pair_meet(struct pair *p, void (*last)(void *arg), void *arg)
{
    uint32_t generation = atomic_load(&p->generation);
    if (atomic_fetch_add(&p->arrived, 1) == 1) {
        if (last != NULL)
            last(arg);
        atomic_store(&p->arrived, 0);
        atomic_store(&p->generation, generation + 1);
        syscall(SYS_futex, &p->generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (atomic_load(&p->generation) == generation)
        syscall(SYS_futex, &p->generation, FUTEX_WAIT_PRIVATE, generation, NULL, NULL, 0);
}

uint64_t pair_cpu_ns(const struct pair *p, enum duplex_side side)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(p->worker[side].thread, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
