/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/clock.h"
#include "base/text.h"

#define NS_PER_S 1000000000u

static uint64_t read_ns(clockid_t id)
{
    struct timespec t;
    int status = clock_gettime(id, &t);
    assert(status == 0);
    (void)status;
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_process_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

char *clock_wall_stamp(char *buf, size_t size)
{
    assert(size > 0);
    time_t now = time(NULL);
    struct tm utc;
    char stamp[64] = ""; /* strftime leaves what does not fit undefined */
    if (gmtime_r(&now, &utc))
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(buf, size, "%s", stamp);
    return buf;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median_cost_ns(uint64_t (*clock_read)(void), unsigned rounds)
{
    assert(rounds >= 1);
    uint64_t *cost = mem_alloc_zeroed(rounds, sizeof *cost);
    clock_read(); /* the first call may fault in the vDSO */
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t before = clock_read();
        cost[i] = clock_read() - before;
    }
    qsort(cost, rounds, sizeof *cost, compare_u64);
    uint64_t median = cost[rounds / 2];
    free(cost);
    return median;
}

uint64_t clock_thread_cpu_cost_ns(unsigned rounds)
{
    return median_cost_ns(clock_thread_cpu_ns, rounds);
}

uint64_t clock_now_cost_ns(unsigned rounds)
{
    return median_cost_ns(clock_now_ns, rounds);
}

uint64_t clock_resolution_seen_ns(unsigned rounds)
{
    assert(rounds >= 2);
    uint64_t smallest = UINT64_MAX;
    uint64_t last = clock_now_ns();
    /* A coarse clock may not move within the rounds: go on until it has moved once. */
    for (unsigned i = 1; i < rounds || smallest == UINT64_MAX; i++) {
        uint64_t now = clock_now_ns();
        if (now > last && now - last < smallest)
            smallest = now - last;
        last = now;
    }
    return smallest;
}

int clock_sleep_until_ns(uint64_t deadline_ns)
{
    struct timespec t = {
        .tv_sec = (time_t)(deadline_ns / NS_PER_S),
        .tv_nsec = (long)(deadline_ns % NS_PER_S),
    };
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0 ? 0 : -1;
}

void clock_spin_until_ns(uint64_t deadline_ns)
{
    while (clock_now_ns() < deadline_ns)
        ;
}

void clock_spin_cpu_ns(uint64_t duration_ns)
{
    uint64_t start = clock_thread_cpu_ns();
    while (clock_thread_cpu_ns() - start < duration_ns)
        ;
}
