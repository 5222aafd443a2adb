/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin.c - a build that costs more, without building one: preloaded, it makes every malloc
 * compute for a while.
 *
 *   cc -O2 -shared -fPIC -o spin.so spin.c
 *   SPIN_STEPS=12.5 LD_PRELOAD=./spin.so pqc-bench cpu ...
 *
 * SPIN_STEPS are dependent multiplications for each malloc, on the average: work as the code
 * around it has it, that takes longer where the host is slower.  TLS libraries allocate all
 * along a handshake.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define BATCH 256.0 /* steps at a time: a call costs little more than its work */

extern void *__libc_malloc(size_t size);
void *malloc(size_t size);

static double steps;
static __thread double debt __attribute__((tls_model("initial-exec")));
static __thread uint64_t state __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void read_steps(void)
{
    const char *text = getenv("SPIN_STEPS");
    steps = text != NULL ? strtod(text, NULL) : 0;
}

void *malloc(size_t size)
{
    for (debt += steps; debt >= BATCH; debt -= BATCH)
        for (unsigned i = 0; i < (unsigned)BATCH; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            __asm__ volatile("" : "+r"(state));
        }
    return __libc_malloc(size);
}
