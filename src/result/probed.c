/* SPDX-License-Identifier: Apache-2.0 */
#include "result/probed.h"

#define X25519MLKEM768 0x11ecu

bool probed_accepts_browsers_hybrid(const struct probed *p)
{
    for (size_t i = 0; i < p->groups.count; i++)
        if (p->groups.group[i].code == X25519MLKEM768)
            return true;
    return false;
}

enum probed_verdict probed_judge(const struct probed *p)
{
    if (!p->has_answered)
        return PROBED_UNMEASURED;
    if (p->browser.is_complete && p->browser.is_hybrid)
        return PROBED_POST_QUANTUM;
    if (!p->browser.is_tried)
        return PROBED_UNMEASURED;
    if (!p->browser.is_complete)
        return PROBED_REFUSED;
    return probed_accepts_browsers_hybrid(p) ? PROBED_NOT_CHOSEN : PROBED_CLASSICAL;
}

const char *probed_verdict_name(enum probed_verdict verdict)
{
    static const char *const names[PROBED_VERDICTS] = {
        [PROBED_UNMEASURED] = "unmeasured", [PROBED_POST_QUANTUM] = "post-quantum",
        [PROBED_NOT_CHOSEN] = "not-chosen", [PROBED_CLASSICAL] = "classical",
        [PROBED_REFUSED] = "refused",
    };
    return names[verdict];
}

const char *probed_order_name(enum probed_order order)
{
    switch (order) {
    case PROBED_ORDER_UNKNOWN:
        return NULL;
    case PROBED_ORDER_SERVER:
        return "server";
    case PROBED_ORDER_CLIENT:
        return "client";
    }
    return NULL;
}
