/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wait.h"

#define EARLY_SHARE 128u /* more than five thousandths */

uint64_t wait_part_ns(uint64_t left_ns)
{
    return left_ns > WAIT_LONG_NS ? left_ns - left_ns / EARLY_SHARE : left_ns;
}
