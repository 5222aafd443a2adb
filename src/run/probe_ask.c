/* SPDX-License-Identifier: Apache-2.0 */
#include "run/probe_ask.h"
#include <string.h>
#include "run/cause.h"

void probe_fail_alert(struct probed_failure *why, unsigned alert)
{
    const struct tls_failure failure = {.cause = TLS_CAUSE_ALERT_RECEIVED, .code = (int)alert};
    probe_fail_tls(why, &failure);
}

void probe_fail_tls(struct probed_failure *why, const struct tls_failure *failure)
{
    char text[PROBED_TEXT_MAX];
    bool is_closed = failure->cause == TLS_CAUSE_EOF || failure->cause == TLS_CAUSE_IO;
    probe_fail(why, is_closed ? "closed" : cause_name(failure->cause), failure->code, "%s",
               cause_describe(failure, "client", "server", text, sizeof text));
}

static bool read_answer(struct probe_link *link, struct raw_answer *answer,
                        struct probed_failure *why)
{
    static _Thread_local uint8_t stream[RAW_ANSWER_BYTES_MAX];
    size_t length = 0;
    while (length < sizeof stream) {
        ssize_t n = probe_link_receive(link, stream + length, sizeof stream - length, why);
        if (n < 0)
            return false;
        if (n == 0) {
            probe_fail(why, "closed", 0, "the server closed the connection %s",
                       length == 0 ? "without an answer" : "within its answer");
            return false;
        }
        length += (size_t)n;
        raw_answer_read(stream, length, answer);
        if (answer->kind == RAW_ANSWER_FOREIGN)
            break;
        if (answer->kind != RAW_ANSWER_PART)
            return true;
    }
    probe_fail(why, "not-tls", 0, "the answer is not TLS");
    return false;
}

bool probe_ask(struct probe *p, const struct raw_hello *hello, struct raw_answer *answer,
               struct probed_failure *why)
{
    static _Thread_local struct probe_link link;
    uint8_t data[RAW_HELLO_BYTES_MAX + 16];
    struct raw_hello named = *hello;
    named.server_name = p->server_name;
    size_t length = raw_hello_write(&named, &p->rng, data, sizeof data);
    *why = (struct probed_failure){.cause = ""};
    if (length == 0) {
        probe_fail(why, "local", 0, "this hello cannot be written");
        return false;
    }
    if (probe_link_open(p, &link, why) != 0)
        return false;
    probe_link_begin_step(&link);
    bool has_answer =
        probe_link_send(&link, data, length, why) == 0 && read_answer(&link, answer, why);
    probe_link_close(&link);
    if (has_answer) {
        p->silent_in_row = 0;
        p->out->has_answered |= answer->kind != RAW_ANSWER_ALERT;
    }
    return has_answer;
}
