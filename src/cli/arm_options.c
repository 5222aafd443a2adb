/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/arm_options.h"

int arm_options_check(const char *text, struct err *e)
{
    struct arm arm;
    return arm_parse(text, &arm, e);
}

static int read_all(const struct option_list *texts, struct arm_list *arms, struct err *e)
{
    if (texts->count > ARMS_MAX)
        return err_set(e, ERR_USAGE, "--arm: %zu arms; give at most %u", texts->count,
                       ARMS_MAX);
    for (; arms->count < texts->count; arms->count++)
        if (arm_parse(texts->item[arms->count], &arms->arm[arms->count], e) != 0)
            return err_add_context(e, "--arm");
    return arms_check(arms, e);
}

struct arm_list *arm_options_read(const struct option_list *texts, struct err *e)
{
    struct arm_list *arms = mem_alloc_zeroed(1, sizeof *arms);
    if (read_all(texts, arms, e) == 0)
        return arms;
    free(arms);
    return NULL;
}

int arm_options_plan(const struct arm_list *arms, const struct tls_backends *backends,
                     struct err *e)
{
    for (size_t i = 0; i < arms->count; i++) {
        struct arm_plan plan;
        if (arm_plan(&arms->arm[i], backends, &plan, e) != 0)
            return -1;
    }
    return 0;
}

static void describe(const struct tls_backend *backend, struct result *result)
{
    result_add_backend(result, backend->name, backend->version, backend->description);
}

void arm_options_describe(const struct arm_list *arms, const struct tls_backends *backends,
                          struct result *result)
{
    for (size_t i = 0; i < arms->count; i++) {
        struct arm_plan plan;
        struct err e = ERR_INIT;
        if (arm_plan(&arms->arm[i], backends, &plan, &e) != 0)
            continue;
        describe(plan.client, result);
        describe(plan.server, result);
    }
}
