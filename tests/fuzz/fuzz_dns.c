/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes a resolver may send: refused by name, or records that are what they claim. */
#include <stdlib.h>
#include <string.h>
#include "fuzz_target.h"
#include "net/dns.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    static struct dns_answer answer;
    if (dns_answer_read(data, size, "a.test", DNS_HTTPS, &answer, &e) != 0) {
        require(e.kind == ERR_FAILED && strpbrk(e.text, "\n\r\033") == NULL);
        require(answer.records == 0);
        return 0;
    }
    require((answer.records == 0) == (answer.reason[0] != '\0' || answer.is_elsewhere));
    for (size_t i = 0; i < answer.records; i++) {
        require(answer.record[i].priority != SVCB_ALIAS && answer.record[i].foreign_key == 0);
        require(i == 0 || answer.record[i - 1].priority <= answer.record[i].priority);
        require(answer.record[i].groups <= size / 2);
    }
    dns_answer_free(&answer);
    return 0;
}
