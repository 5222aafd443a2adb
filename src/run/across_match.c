/* SPDX-License-Identifier: Apache-2.0 */
/* Which arm of one result is which of another. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "run/across_parts.h"

bool across_same_spec(const struct result_pairs *a, const struct result_pairs *b)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        const struct result_pairs *these = turn == 0 ? a : b, *those = turn == 0 ? b : a;
        for (size_t i = 0; i < these->count; i++) {
            const char *name = these->pair[i].name, *value = pairs_find(those, name);
            if (strcmp(name, "baseline") == 0)
                continue;
            if (value == NULL || strcmp(value, these->pair[i].value) != 0)
                return false;
        }
    }
    return true;
}

const struct result_arm *across_baseline(const struct result *r, const struct result_arm *arm)
{
    for (size_t i = 0; i < r->comparisons; i++)
        if (strcmp(r->comparison[i].arm, arm->name) == 0)
            return result_find_arm(r, r->comparison[i].baseline);
    return NULL;
}

bool across_is_control(const struct result *r, const struct result_arm *arm)
{
    const struct result_arm *baseline = across_baseline(r, arm);
    return baseline != NULL && across_same_spec(&arm->spec, &baseline->spec);
}

/* The name an arm of the reference has in the other sides by --arm; NULL: nobody says. */
static const char *paired_name(const struct across_options *o, const char *arm)
{
    for (size_t i = 0; i < o->pairs; i++)
        if (strcmp(o->pair[i].arm, arm) == 0)
            return o->pair[i].other;
    return NULL;
}

static bool is_paired(const struct across_options *o, const char *other)
{
    for (size_t i = 0; i < o->pairs; i++)
        if (strcmp(o->pair[i].other, other) == 0)
            return true;
    return false;
}

/* By settings: those alone that no name has matched, and no second one with the same. */
static const struct result_arm *find_by_spec(const struct across_options *o,
                                             const struct result *r,
                                             const struct result_arm *wanted)
{
    const struct result *reference = o->side[0].run[0];
    const struct result_arm *found = NULL;
    for (size_t i = 0; i < r->arms; i++) {
        const struct result_arm *arm = &r->arm[i];
        if (is_paired(o, arm->name) || result_find_arm(reference, arm->name) != NULL ||
            !across_same_spec(&arm->spec, &wanted->spec))
            continue;
        if (found != NULL)
            return NULL;
        found = arm;
    }
    return found;
}

static const struct result_arm *find_arm(const struct across_options *o, size_t side,
                                         const struct result *r,
                                         const struct result_arm *wanted)
{
    const char *paired = side == 0 ? NULL : paired_name(o, wanted->name);
    if (paired != NULL)
        return result_find_arm(r, paired);
    const struct result_arm *arm = result_find_arm(r, wanted->name);
    if (side == 0 || (arm != NULL && !is_paired(o, arm->name)))
        return arm;
    return find_by_spec(o, r, wanted);
}

/* In every run of the side, or in none. */
static void match_side(const struct across_options *o, size_t side, struct across_arm *arm)
{
    const struct across_input *input = &o->side[side];
    bool is_whole = true;
    for (size_t k = 0; k < input->runs; k++) {
        arm->of[side][k] = find_arm(o, side, input->run[k], arm->reference);
        is_whole = is_whole && arm->of[side][k] != NULL;
    }
    if (is_whole)
        arm->other[side] = arm->of[side][0]->name;
}

static int check_pairs(const struct across_options *o, struct err *e)
{
    for (size_t i = 0; i < o->pairs; i++) {
        const struct across_pair *p = &o->pair[i];
        bool is_there = false;
        if (result_find_arm(o->side[0].run[0], p->arm) == NULL)
            return err_set(e, ERR_USAGE, "--arm '%s=%s': %s has no arm %s", p->arm, p->other,
                           o->side[0].name, p->arm);
        for (size_t side = 1; side < o->sides; side++)
            is_there = is_there || result_find_arm(o->side[side].run[0], p->other) != NULL;
        if (!is_there)
            return err_set(e, ERR_USAGE, "--arm '%s=%s': no result has an arm %s", p->arm,
                           p->other, p->other);
    }
    return 0;
}

static int check_common(const struct across_options *o, const struct across_arms *arms,
                        struct err *e)
{
    for (size_t side = 1; side < o->sides; side++) {
        size_t common = 0;
        for (size_t i = 0; i < arms->count; i++)
            common += arms->arm[i].other[side] != NULL && arms->arm[i].other[0] != NULL;
        if (common == 0)
            return err_set(e, ERR_FAILED,
                           "%s: has no arm in common with %s, by name or by settings; "
                           "--arm A=B pairs them",
                           o->side[side].name, o->side[0].name);
    }
    return 0;
}

int across_match(const struct across_options *o, struct across_arms *out, struct err *e)
{
    const struct result *reference = o->side[0].run[0];
    *out = (struct across_arms){0};
    if (check_pairs(o, e) != 0)
        return -1;
    out->arm = mem_alloc_zeroed(reference->arms, sizeof *out->arm);
    out->count = reference->arms;
    for (size_t i = 0; i < out->count; i++) {
        out->arm[i].reference = &reference->arm[i];
        for (size_t side = 0; side < o->sides; side++)
            match_side(o, side, &out->arm[i]);
    }
    return check_common(o, out, e);
}

void across_arms_free(struct across_arms *arms)
{
    free(arms->arm);
    *arms = (struct across_arms){0};
}
