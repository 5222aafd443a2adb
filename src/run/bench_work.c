/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed piece of work, timed before every turn on the core of each side: results of
 * different minutes are compared by it. */
#include <math.h>
#include "base/cpu_work.h"
#include "run/bench_lab.h"
#include "stats/sample.h"

struct reading {
    struct cpu_work *work;
    uint64_t ns;
};

static void read_work(struct pair *p, enum duplex_side side, void *arg)
{
    struct reading *reading = arg;
    (void)p;
    (void)side;
    reading->ns = cpu_work_probe_ns(reading->work);
}

/* One side at a time, as they compute in a handshake. */
void bench_work_read(struct bench *b, struct bench_arm *a, unsigned round)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        if (b->work[side] == NULL)
            b->work[side] = cpu_work_new();
        struct reading reading = {.work = b->work[side]};
        bench_run_job(b, read_work, &reading, (int)side);
        a->work_us[side][round] = (double)reading.ns / 1000;
    }
}

void bench_work_free(struct bench *b)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++)
        cpu_work_free(b->work[side]);
}

void bench_work_keep(struct bench *b, const struct bench_arm *a, struct result_trial *trial)
{
    for (unsigned side = 0; side < RESULT_SIDES; side++) {
        size_t n = 0;
        for (unsigned round = 0; round < b->rounds; round++)
            if (!isnan(a->work_us[side][round]))
                b->scratch[n++] = a->work_us[side][round];
        if (n > 0)
            trial->work_us[side] = sample_median(b->scratch, n);
        n = 0;
        for (unsigned round = 0; round < b->rounds; round++)
            if (!isnan(a->round_us[side][round]) && a->work_us[side][round] > 0)
                b->scratch[n++] = a->round_us[side][round] / a->work_us[side][round];
        if (n > 0)
            trial->cpu_per_work[side] = sample_median(b->scratch, n);
    }
}
