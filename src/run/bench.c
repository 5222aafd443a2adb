/* SPDX-License-Identifier: Apache-2.0 */
#include "run/bench.h"
#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "run/bench_lab.h"

static const char *signal_name(int number, char *buf, size_t size)
{
    if (number == SIGINT)
        return "SIGINT";
    if (number == SIGTERM)
        return "SIGTERM";
    if (number == SIGPIPE)
        return "SIGPIPE";
    snprintf(buf, size, "signal %d", number);
    return buf;
}

/* Where the process's CPU went.  The meters count what the library used; the samples, from
 * which all figures are made, are summed on their own: if they disagree with the clocks of
 * the threads, the books do not balance. */
static void keep_accounts(struct bench *b)
{
    uint64_t threads_ns = pair_cpu_ns(b->pair, DUPLEX_CLIENT) +
                          pair_cpu_ns(b->pair, DUPLEX_SERVER) + clock_thread_cpu_ns() -
                          b->thread_before_ns;
    struct result *r = b->result;
    r->process_cpu_s = (double)(clock_process_cpu_ns() - b->process_before_ns) * 1e-9;
    r->reported_cpu_s = (double)b->reported_ns * 1e-9;
    r->harness_cpu_s = fmax(0, ((double)threads_ns - (double)b->metered_ns) * 1e-9);
    r->elapsed_s = (double)(clock_now_ns() - b->started_ns) * 1e-9;
}

static int end_early(const struct bench *b, struct err *e)
{
    char name[32];
    int number = (int)*b->options->stop;
    if (b->kept == 0)
        return err_set(e, ERR_FAILED, "ended by %s before the first repeat was finished",
                       signal_name(number, name, sizeof name));
    b->result->is_interrupted = true;
    result_set_text(&b->result->interrupted_by, signal_name(number, name, sizeof name));
    return 0;
}

/* An arm may have completed the first handshakes and then none. */
static int check_arms(const struct bench *b, struct err *e)
{
    char why[400];
    for (size_t i = 0; i < b->arms; i++)
        if (b->arm[i].kept.completed == 0)
            return err_set(e, ERR_FAILED, "arm %s: none of its handshakes completed: %s",
                           b->arm[i].plan.arm->name,
                           bench_explain_failure(&b->arm[i], &b->arm[i].kept, why, sizeof why));
    return 0;
}

static void keep(struct bench *b)
{
    const struct run_keep *k = &b->options->keep;
    b->result->elapsed_s = (double)(clock_now_ns() - b->started_ns) * 1e-9;
    if (k->keep != NULL && b->kept > 0)
        k->keep(k->arg);
}

static int measure(struct bench *b, struct err *e)
{
    if (bench_set_up(b, e) != 0 || bench_watch_all(b, e) != 0)
        return -1;
    if (!bench_is_stopped(b))
        bench_primitives_plan(b);
    while (b->repeat <= b->options->repeats && !bench_is_stopped(b)) {
        if (bench_repeat_run(b, e) != 0)
            return -1;
        keep(b);
    }
    if (b->kept < b->options->repeats && end_early(b, e) != 0)
        return -1;
    if (check_arms(b, e) != 0)
        return -1;
    keep_accounts(b);
    bench_summarise(b);
    return 0;
}

int bench_run(const struct bench_options *options, struct result *result, struct err *e)
{
    assert(options->handshakes >= 1 && options->repeats >= 1 && options->timeout_ns > 0);
    assert(options->client_cores.count >= 1 && options->server_cores.count >= 1);
    if (arms_check(options->arms, e) != 0)
        return -1;
    struct bench b = {
        .options = options,
        .result = result,
        .started_ns = clock_now_ns(),
        .process_before_ns = clock_process_cpu_ns(),
        .thread_before_ns = clock_thread_cpu_ns(),
    };
    char stamp[64];
    result_set_text(&result->started_at, clock_wall_stamp(stamp, sizeof stamp));
    result->seed = options->seed;
    snprintf(b.step, sizeof b.step, "certificates");
    int status = measure(&b, e);
    bench_tear_down(&b);
    if (status != 0)
        return -1;
    struct err broken = ERR_INIT;
    if (result_check(result, &broken) != 0) {
        if (e != NULL)
            *e = broken;
        return err_add_context(e, "the result contradicts itself");
    }
    return 0;
}
