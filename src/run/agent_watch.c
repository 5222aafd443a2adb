/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent_watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"

#define LISTED_MAX 65536u
#define ACTIVE_NS 1000000000u
#define ACTIVE_SHARE 100u /* a hundredth of a core */

static bool is_self(const struct agent_watch *w)
{
    return w->target.pid <= 0 && w->target.name == NULL;
}

static struct agent_process *find_process(const struct agent_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->processes; i++)
        if (w->process[i].pid == pid)
            return &w->process[i];
    return NULL;
}

/* ---- processes ---- */

static bool belongs(const struct agent_watch *w, const struct proc_stat *s)
{
    if (is_self(w))
        return s->pid == getpid();
    if (w->target.name != NULL)
        return proc_is_named(s, w->target.name);
    if (s->pid == w->target.pid)
        return !w->target.without_itself;
    return s->parent == w->target.pid || find_process(w, s->parent) != NULL;
}

/* Its time stays in the total; where the parent is known, the parent may know it better. */
static void lose(struct agent_watch *w, struct agent_process *p)
{
    const uint64_t reaped_ns = p->reaped_ns - p->reaped_from_ns;
    if (find_process(w, p->parent) != NULL) {
        w->gone_child_ns += p->cpu_ns + reaped_ns;
    } else {
        w->gone_orphan_ns += p->cpu_ns;
        w->gone_reaped_ns += reaped_ns;
    }
    *p = w->process[--w->processes];
}

/* Ended, but its parent has not asked yet. */
static bool is_over(const struct proc_stat *s)
{
    return s->state == 'Z' || s->state == 'X';
}

static void take(struct agent_watch *w, const struct proc_stat *s)
{
    uint64_t cpu_ns;
    struct agent_process *p = find_process(w, s->pid);
    if (p != NULL && p->started_ticks != s->started_ticks) { /* the number's next owner */
        lose(w, p);
        p = NULL;
    }
    if (p == NULL) {
        if (w->processes == AGENT_PROCESSES_MAX)
            return;
        p = &w->process[w->processes++];
        *p = (struct agent_process){.pid = s->pid,
                                    .started_ticks = s->started_ticks,
                                    .reaped_ns = s->reaped_ns,
                                    .reaped_from_ns = w->has_scanned ? 0 : s->reaped_ns};
    }
    p->is_there = !is_over(s);
    if (!p->is_there && proc_read_cpu(w->root, p->pid, &cpu_ns) && cpu_ns > p->cpu_ns)
        p->cpu_ns = cpu_ns;
    p->parent = s->parent;
    if (s->reaped_ns > p->reaped_ns)
        p->reaped_ns = s->reaped_ns;
}

static void look_at(struct agent_watch *w, pid_t pid)
{
    struct proc_stat s;
    if (!proc_read_stat(w->root, pid, &s))
        return;
    if (find_process(w, pid) != NULL || (belongs(w, &s) && !is_over(&s)))
        take(w, &s);
}

static void find_processes(struct agent_watch *w)
{
    pid_t *pid = mem_alloc_zeroed(LISTED_MAX, sizeof *pid);
    const size_t n = proc_list_processes(w->root, pid, LISTED_MAX);
    for (size_t i = 0; i < n; i++)
        look_at(w, pid[i]);
    free(pid);
}

/* ---- threads ---- */

/* The kernel lists threads in the same order each time: the next is mostly behind the last. */
static struct agent_thread *find_thread(struct agent_watch *w, pid_t pid, pid_t tid)
{
    for (size_t i = 0; i < w->threads; i++) {
        const size_t at = (w->hint + i) % w->threads;
        if (w->thread[at].tid == tid && w->thread[at].pid == pid) {
            w->hint = at + 1;
            return &w->thread[at];
        }
    }
    return NULL;
}

static void find_threads(struct agent_watch *w, const struct agent_process *p, pid_t *tid)
{
    const size_t n = proc_list_threads(w->root, p->pid, tid, AGENT_THREADS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (is_self(w) && tid[i] == w->target.own_tid)
            continue;
        struct agent_thread *t = find_thread(w, p->pid, tid[i]);
        if (t == NULL && w->threads < AGENT_THREADS_MAX) {
            t = &w->thread[w->threads++];
            *t = (struct agent_thread){.pid = p->pid, .tid = tid[i], .is_new = true};
        }
        if (t != NULL)
            t->is_there = true;
    }
}

void agent_watch_scan(struct agent_watch *w)
{
    pid_t *tid = mem_alloc_zeroed(AGENT_THREADS_MAX, sizeof *tid);
    for (size_t i = 0; i < w->processes; i++)
        w->process[i].is_there = false;
    for (size_t i = 0; i < w->threads; i++)
        w->thread[i].is_there = false;
    if (is_self(w))
        look_at(w, getpid());
    else
        find_processes(w);
    for (size_t i = 0; i < w->processes; i++)
        find_threads(w, &w->process[i], tid);
    /* Order is kept: a thread is mostly found where the last scan found it. */
    size_t kept = 0;
    for (size_t i = 0; i < w->threads; i++)
        if (w->thread[i].is_there)
            w->thread[kept++] = w->thread[i];
    w->threads = kept;
    for (size_t i = w->processes; i-- > 0;)
        if (!w->process[i].is_there)
            lose(w, &w->process[i]);
    w->has_scanned = true;
    free(tid);
}

/* ---- a tick ---- */

static void read_process(struct agent_watch *w, struct agent_process *p)
{
    struct proc_stat s;
    uint64_t cpu_ns;
    if (!proc_read_cpu(w->root, p->pid, &cpu_ns))
        return; /* the next scan will know */
    if (is_self(w) && w->root[0] == '\0')
        cpu_ns -= clock_thread_cpu_ns(); /* ours: the caller is the thread left out */
    p->is_stopped = false;
    if (cpu_ns > p->cpu_ns)
        p->cpu_ns = cpu_ns;
    else if (!is_self(w) && proc_read_stat(w->root, p->pid, &s)) /* idle, or held */
        p->is_stopped = s.state == 'T' || s.state == 't';
}

static void read_processes(struct agent_watch *w)
{
    struct agent_totals *t = &w->totals;
    uint64_t live_ns = 0, reaped_ns = w->gone_reaped_ns;
    t->is_stopped = w->processes > 0;
    for (size_t i = 0; i < w->processes; i++) {
        struct agent_process *p = &w->process[i];
        read_process(w, p);
        live_ns += p->cpu_ns;
        reaped_ns += p->reaped_ns - p->reaped_from_ns;
        t->is_stopped = t->is_stopped && p->is_stopped;
    }
    /* Two views of the children that ended; each may miss what the other has. */
    const uint64_t children_ns = reaped_ns > w->gone_child_ns ? reaped_ns : w->gone_child_ns;
    const uint64_t all_ns = live_ns + w->gone_orphan_ns + children_ns;
    if (all_ns > t->cpu_ns)
        t->cpu_ns = all_ns;
    t->processes = w->processes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void read_threads(struct agent_watch *w)
{
    struct agent_totals *t = &w->totals;
    uint64_t cpu_ns = 0, delay_ns = 0, sum_ns = 0;
    for (size_t i = 0; i < w->threads; i++) {
        struct agent_thread *thread = &w->thread[i];
        struct proc_thread now;
        if (!proc_read_thread(w->root, thread->pid, thread->tid, &now))
            continue;
        t->has_thread_times = true;
        if (!thread->is_new && now.cpu_ns >= thread->cpu_ns &&
            now.run_delay_ns >= thread->run_delay_ns) {
            const uint64_t waited_ns = now.run_delay_ns - thread->run_delay_ns;
            cpu_ns = larger(cpu_ns, now.cpu_ns - thread->cpu_ns);
            delay_ns = larger(delay_ns, waited_ns);
            sum_ns += waited_ns;
        }
        thread->since_ns = thread->is_new ? now.cpu_ns : thread->since_ns;
        thread->is_new = false;
        thread->cpu_ns = now.cpu_ns;
        thread->run_delay_ns = now.run_delay_ns;
    }
    t->threads = w->threads;
    t->thread_cpu_ns += cpu_ns;
    t->thread_delay_ns += delay_ns;
    t->run_delay_ns += sum_ns;
}

static void count_active(struct agent_watch *w, uint64_t now_ns)
{
    const uint64_t least_ns = (now_ns - w->active_from_ns) / ACTIVE_SHARE;
    if (now_ns - w->active_from_ns < ACTIVE_NS)
        return;
    w->active_from_ns = now_ns;
    w->totals.active_threads = 0;
    for (size_t i = 0; i < w->threads; i++) {
        w->totals.active_threads += w->thread[i].cpu_ns - w->thread[i].since_ns >= least_ns;
        w->thread[i].since_ns = w->thread[i].cpu_ns;
    }
}

void agent_watch_tick(struct agent_watch *w, uint64_t now_ns)
{
    read_processes(w);
    read_threads(w);
    count_active(w, now_ns);
}

void agent_watch_switches(const struct agent_watch *w, uint64_t *voluntary,
                          uint64_t *involuntary)
{
    *voluntary = *involuntary = 0;
    for (size_t i = 0; i < w->threads; i++) {
        uint64_t a = 0, b = 0;
        if (proc_read_switches(w->root, w->thread[i].pid, w->thread[i].tid, &a, &b)) {
            *voluntary += a;
            *involuntary += b;
        }
    }
}

pid_t agent_watch_any(const struct agent_watch *w)
{
    return w->processes > 0 ? w->process[0].pid : getpid();
}

/* ---- its life ---- */

int agent_watch_init(struct agent_watch *w, const char *root, const struct agent_target *target,
                     struct err *e)
{
    *w = (struct agent_watch){.root = root, .target = *target};
    w->process = mem_alloc_zeroed(AGENT_PROCESSES_MAX, sizeof *w->process);
    w->thread = mem_alloc_zeroed(AGENT_THREADS_MAX, sizeof *w->thread);
    w->active_from_ns = clock_now_ns();
    agent_watch_scan(w);
    if (w->processes > 0)
        return 0;
    agent_watch_fini(w);
    if (target->name != NULL)
        return err_set(e, ERR_USAGE, "'%.80s': no process of this name is running",
                       target->name);
    return err_set(e, ERR_USAGE, "%d: no such process", (int)target->pid);
}

void agent_watch_fini(struct agent_watch *w)
{
    free(w->process);
    free(w->thread);
    *w = (struct agent_watch){.root = ""};
}
