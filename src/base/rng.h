/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - seeded pseudo-random numbers for schedules and resampling; not for keys.
 *
 * Layer: base.
 * Source: xoshiro256** 1.0 (Blackman, Vigna 2018), seeded by splitmix64; bounded
 *   integers by Lemire's method (no modulo bias).
 * Threads: one owner each.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t limit); /* 0..limit-1; limit >= 1 */
double rng_unit(struct rng *rng);                    /* [0, 1), 53 bits */
double rng_exponential(struct rng *rng);             /* mean 1, > 0 */

/* Fisher-Yates over n indices. */
void rng_shuffle(struct rng *rng, size_t *items, size_t n);

/* A seed from the kernel (getrandom), for when the user gave none; it is recorded.
 * Below 2^53 so that any JSON reader keeps it exactly. */
uint64_t rng_fresh_seed(void);

/* An independent seed for stream `index` of `seed`. */
uint64_t rng_derive_seed(uint64_t seed, uint64_t index);

#endif
