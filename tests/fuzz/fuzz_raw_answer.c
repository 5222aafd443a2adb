/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes a server may answer: one kind of answer, and nothing behind them is read. */
#include <stdlib.h>
#include "fuzz_target.h"
#include "tls/raw_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct raw_answer answer;
    raw_answer_read(data, size, &answer);
    bool is_alert = answer.kind == RAW_ANSWER_ALERT;
    if (answer.kind > RAW_ANSWER_FOREIGN || (is_alert && size < 7) || answer.alert > 255 ||
        answer.group > 0xffff || answer.version > 0xffff)
        abort();
    return 0;
}
