/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_predict.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"

/* What is to be sent and what is to be said. */
static void keep(struct probe_target *target, const struct arm_prediction *p)
{
    struct text said = {0};
    if (p->source[0] == '\0')
        return;
    if (p->share[0] != '\0')
        text_addf(&said, "one share, %s", p->share);
    else
        text_addf(&said, "none: %s", p->reason);
    if (p->server[0] != '\0')
        text_addf(&said, "; the server's groups are said to be %s", p->server);
    target->prediction = text_take(&said);
    if (p->groups[0] != '\0')
        target->predicted_groups = mem_copy_string(p->groups);
}

int probe_predict(const struct predict_options *o, const struct tls_backends *backends,
                  const char *backend, const char *sni, struct hosts *hosts, struct err *e)
{
    struct arm_list *arms = mem_alloc_zeroed(1, sizeof(*arms));
    int status = 0;
    for (size_t i = 0; status == 0 && o->how != NULL && i < hosts->count; i++) {
        struct probe_target *target = &hosts->target[i];
        const struct predict_target from = {
            .target = &target->name, .sni = sni, .backends = backends, .may_ask = true};
        arms->count = 1;
        arm_init(&arms->arm[0], "browser");
        snprintf(arms->arm[0].groups, sizeof(arms->arm[0].groups), PROBE_BROWSER_GROUPS);
        if (backend != NULL)
            status = arm_set(&arms->arm[0], "backend", backend, e);
        if (status == 0)
            status = predict_options_apply(o, &from, arms, e);
        if (status == 0)
            keep(target, &arms->arm[0].prediction);
        else
            err_add_context(e, "%.200s", target->text);
    }
    free(arms);
    return status;
}
