/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_work.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"

#define LIMBS 4u
#define PRODUCTS 3200u
#define NEAR_BITS 16u /* entries: 256 KiB */
#define NEAR_STEPS 16000u
#define FAR_BITS 20u /* 4 MiB */
#define FAR_STEPS 7000u

/* Where there is no wider type the work is another one, but as fixed. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;
#else
typedef uint64_t wide;
#endif
#define HALF (sizeof(wide) * 4u)

struct cpu_work {
    uint64_t limb[LIMBS];
    uint32_t sum;
    uint32_t memory[1u << FAR_BITS];
};

struct cpu_work *cpu_work_new(void)
{
    struct cpu_work *work = mem_alloc_zeroed(1, sizeof *work);
    /* Every page is there before the first reading. */
    memset(work->memory, 1, sizeof work->memory);
    for (unsigned i = 0; i < LIMBS; i++)
        work->limb[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    return work;
}

void cpu_work_free(struct cpu_work *work)
{
    free(work);
}

/* x = x * y folded as for 2^256 - 38. */
static void multiply(uint64_t x[LIMBS], const uint64_t y[LIMBS])
{
    uint64_t product[2 * LIMBS] = {0};
    wide carry;
    for (unsigned i = 0; i < LIMBS; i++) {
        carry = 0;
        for (unsigned k = 0; k < LIMBS; k++) {
            carry += (wide)x[i] * y[k] + product[i + k];
            product[i + k] = (uint64_t)carry;
            carry >>= HALF;
        }
        product[i + LIMBS] = (uint64_t)carry;
    }
    carry = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        carry += (wide)product[i + LIMBS] * 38 + product[i];
        x[i] = (uint64_t)carry;
        carry >>= HALF;
    }
}

static uint32_t walk(uint32_t *memory, unsigned bits, unsigned steps)
{
    uint32_t at = 0, sum = 0;
    for (unsigned i = 0; i < steps; i++) {
        at = at * 1664525u + 1013904223u;
        sum += memory[at >> (32 - bits)]++;
    }
    return sum;
}

uint64_t cpu_work_probe_ns(struct cpu_work *work)
{
    static const uint64_t factor[LIMBS] = {UINT64_C(0xbf58476d1ce4e5b9), 7,
                                           UINT64_C(0x94d049bb133111eb), 5};
    const uint64_t before_ns = clock_thread_cpu_ns();
    for (unsigned i = 0; i < PRODUCTS; i++)
        multiply(work->limb, factor);
    work->sum += walk(work->memory, NEAR_BITS, NEAR_STEPS);
    work->sum += walk(work->memory, FAR_BITS, FAR_STEPS);
    /* The compiler must take the outcome for wanted. */
    __asm__ volatile("" : : "r"(work) : "memory");
    return clock_thread_cpu_ns() - before_ns;
}
