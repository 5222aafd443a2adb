/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wait.h"

#define EARLY_SHARE 128u /* more than five thousandths */

uint64_t wait_part_ns(uint64_t left_ns)
{
    return left_ns > WAIT_LONG_NS ? left_ns - left_ns / EARLY_SHARE : left_ns;
}

uint64_t wait_early_ns(uint64_t early_ns, uint64_t late_ns)
{
    const uint64_t down_ns = WAIT_EARLY_STEP_NS / 64;
    if (late_ns <= early_ns)
        return early_ns > down_ns ? early_ns - down_ns : 0;
    early_ns += WAIT_EARLY_STEP_NS;
    return early_ns < WAIT_EARLY_MAX_NS ? early_ns : WAIT_EARLY_MAX_NS;
}
