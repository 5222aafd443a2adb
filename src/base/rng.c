/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/rng.h"

__extension__ typedef unsigned __int128 u128;

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15u

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void rng_init(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += GOLDEN_GAMMA;
        rng->state[i] = mix(seed);
    }
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    assert(limit >= 1);
    u128 product = (u128)rng_next(rng) * limit;
    if ((uint64_t)product < limit) {
        uint64_t unfair = (0 - limit) % limit; /* 2^64 mod limit */
        while ((uint64_t)product < unfair)
            product = (u128)rng_next(rng) * limit;
    }
    return (uint64_t)(product >> 64);
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_exponential(struct rng *rng)
{
    /* The middle of one of 2^52 equal cells: exact in a double, never 0, never 1. */
    double u = ((double)(rng_next(rng) >> 12) + 0.5) * 0x1p-52;
    return -log(u);
}

void rng_shuffle(struct rng *rng, size_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i);
        size_t held = items[i - 1];
        items[i - 1] = items[j];
        items[j] = held;
    }
}

uint64_t rng_fresh_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = mix(clock_now_ns() ^ ((uint64_t)getpid() << 40)); /* only need not repeat */
    return seed >> 11;
}

uint64_t rng_derive_seed(uint64_t seed, uint64_t index)
{
    return mix(mix(seed + GOLDEN_GAMMA) + (index + 1) * GOLDEN_GAMMA);
}
