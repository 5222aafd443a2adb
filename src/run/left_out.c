/* SPDX-License-Identifier: Apache-2.0 */
#include "run/left_out.h"

#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/validity.h"

static bool is_late_alone(const struct result_trial *t)
{
    const struct result_tally *tally = &t->tally;
    const double wanted = VALIDITY_STARTED_MIN * (double)tally->scheduled;
    return t->client_busy < LEFT_OUT_BUSY_MAX && /* unknown: no */
           (double)(tally->scheduled - tally->not_started) >= wanted;
}

/* The trial that a problem names, NULL for one of the whole run or arm. */
static const struct result_trial *trial_of(const struct result *r,
                                           const struct result_problem *p)
{
    const struct result_arm *arm = p->arm == NULL ? NULL : result_find_arm(r, p->arm);
    return arm == NULL || p->trial == 0 ? NULL : arm_find_trial(arm, p->trial);
}

/* One run for all arms: then what it suffered is not the doing of one arm more than another's.
 */
static bool ran_together(const struct result *r, const struct result_trial *t)
{
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_trial *other = arm_find_trial(&r->arm[i], t->index);
        if (other == NULL || other->position != t->position)
            return false;
    }
    return true;
}

static bool is_excusable(const struct result *r, const struct result_problem *p)
{
    const struct result_trial *t = trial_of(r, p);
    if (strcmp(p->code, "speed-changed") == 0 || strcmp(p->code, "steal") == 0)
        return true;
    if (t == NULL || !ran_together(r, t))
        return false;
    return strcmp(p->code, "throttled") == 0 ||
           (strcmp(p->code, "client-saturated") == 0 && is_late_alone(t));
}

static unsigned count_blocks(const struct result *r)
{
    unsigned blocks = 0;
    for (size_t i = 0; i < r->arms; i++)
        for (size_t k = 0; k < r->arm[i].trials; k++)
            if (r->arm[i].trial[k].index > blocks)
                blocks = r->arm[i].trial[k].index;
    return blocks;
}

enum block_state { BLOCK_SOUND, BLOCK_SPOILED, BLOCK_FAULTY };

static void judge(const struct result *r, enum block_state *state, unsigned blocks)
{
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        if (p->severity != RESULT_FAULT || trial_of(r, p) == NULL || p->trial > blocks)
            continue;
        const enum block_state found = is_excusable(r, p) ? BLOCK_SPOILED : BLOCK_FAULTY;
        if (state[p->trial] < found)
            state[p->trial] = found;
    }
}

unsigned left_out_apply(struct result *r)
{
    const unsigned blocks = count_blocks(r);
    enum block_state *state = mem_alloc_zeroed((size_t)blocks + 1, sizeof(*state));
    unsigned spoiled = 0;
    judge(r, state, blocks);
    for (unsigned i = 1; i <= blocks; i++)
        spoiled += state[i] == BLOCK_SPOILED;
    if ((double)spoiled > LEFT_OUT_SHARE_MAX * (double)blocks ||
        blocks < spoiled + LEFT_OUT_KEPT_MIN)
        spoiled = 0;
    for (unsigned i = 1; spoiled > 0 && i <= blocks; i++)
        if (state[i] == BLOCK_SPOILED)
            result_leave_out(r, i);
    free(state);
    return spoiled;
}
