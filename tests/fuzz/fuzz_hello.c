/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes a client may send first: no hello, or one within them. */
#include <stdlib.h>
#include "fuzz_target.h"
#include "run/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hello hello;
    bool is_hello = hello_read(data, size, &hello);
    if (hello.shares > HELLO_SHARES_MAX || hello.groups > HELLO_GROUPS_MAX ||
        hello.record_bytes > size || is_hello != (hello.record_bytes > 0))
        abort();
    return 0;
}
