/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of round trips: refused, or within what the header says. */
#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "cli/rtt_mix.h"
#include "fuzz_target.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text content = {0};
    struct rtt_mix mix;
    struct err e = ERR_INIT;
    double sum = 0;
    text_add_bytes(&content, data, size);
    if (rtt_mix_read_csv(text_str(&content), "fuzz", &mix, &e) != 0) {
        require(e.kind == ERR_USAGE);
    } else {
        require(mix.count >= 1 && mix.count <= PLAN_RTTS_MAX);
        for (size_t i = 0; i < mix.count; i++) {
            require(mix.row[i].rtt_ms >= 0 && mix.row[i].rtt_ms <= 20000);
            require(mix.row[i].rate_bits_per_s >= 0 && isfinite(mix.row[i].rate_bits_per_s));
            sum += mix.row[i].share;
        }
        require(fabs(sum - 1) <= 1e-5);
    }
    text_free(&content);
    return 0;
}
