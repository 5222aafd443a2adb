/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/peer_choice.h"

int peer_choice_find(const struct peer_choice *c, struct peer_program *out, struct err *e)
{
    const enum peer_kind kind = (enum peer_kind)c->server;
    *out = (struct peer_program){.kind = PEER_NONE};
    if (kind == PEER_NONE || peer_find(kind, c->program, out, e) == 0)
        return 0;
    return err_add_context(e, c->program != NULL ? "--server-program" : "--server");
}

int peer_choice_check(const struct peer_choice *c, const char *target,
                      const struct arm_list *arms, struct err *e)
{
    struct peer_program program;
    const enum peer_kind kind = (enum peer_kind)c->server;
    if (kind == PEER_NONE && c->program != NULL)
        return err_set(e, ERR_USAGE, "--server-program: needs --server nginx or haproxy");
    if (kind == PEER_NONE)
        return 0;
    if (target != NULL)
        return err_set(e, ERR_USAGE,
                       "--server: %s is started here; not with --target %.80s, which runs",
                       peer_name(kind), target);
    for (size_t i = 0; i < arms->count; i++)
        if (peer_check_arm(kind, &arms->arm[i], e) != 0)
            return -1;
    return peer_choice_find(c, &program, e);
}
