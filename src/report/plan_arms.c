/* SPDX-License-Identifier: Apache-2.0 */
/* Which arm of the result stands for what. */
#include <string.h>
#include "report/plan_parts.h"

#define ALL 0.99 /* of an arm's handshakes: all but the first of each worker */

static bool is_nearly_all(uint64_t count, const struct result_arm *arm)
{
    const uint64_t handshakes = arm->negotiated.handshakes;
    return handshakes > 0 && (double)count >= ALL * (double)handshakes;
}

static bool is_full(const struct result_arm *arm)
{
    return arm->negotiated.handshakes > 0 && arm->negotiated.resumed == 0;
}

static bool is_resumed(const struct result_arm *arm)
{
    return is_nearly_all(arm->negotiated.resumed, arm) &&
           arm->negotiated.early_data_accepted == 0;
}

static bool is_retry(const struct result_arm *arm)
{
    return is_full(arm) && is_nearly_all(arm->negotiated.hrr, arm);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && text_same_name(a, b));
}

static bool is_same_group(const struct result_arm *a, const struct result_arm *b)
{
    return is_same_text(a->negotiated.group, b->negotiated.group);
}

/* May be a resumed or retried handshake of the other arm's kind. */
static bool is_kin(const struct result_arm *a, const struct result_arm *b)
{
    return is_same_group(a, b) && is_same_text(a->server_backend, b->server_backend) &&
           is_same_text(a->negotiated.tls, b->negotiated.tls) &&
           is_same_text(a->negotiated.cipher, b->negotiated.cipher);
}

static int refuse(const struct plan *p, const char *option, const char *why, struct err *e)
{
    struct text arms = {0};
    for (size_t i = 0; i < p->result->arms; i++)
        text_addf(&arms, "%s%s", i == 0 ? "" : ", ", p->result->arm[i].name);
    err_set(e, ERR_USAGE, "--%s: %s (arms of the result: %.300s)", option, why,
            text_str(&arms));
    text_free(&arms);
    return -1;
}

typedef bool sort_fn(const struct result_arm *arm);

/* The arm that was named; NULL and an error: not there, or of another sort. */
static const struct result_arm *named(const struct plan *p, const char *option,
                                      const char *name, sort_fn *is_sort, struct err *e)
{
    static const struct {
        sort_fn *is_sort;
        const char *wanted;
    } sorts[] = {{is_full, "full handshakes alone"},
                 {is_resumed, "resumed handshakes alone"},
                 {is_retry, "a HelloRetryRequest in every handshake"}};
    struct text why = {0};
    const struct result_arm *arm = result_find_arm(p->result, name);
    if (arm != NULL && is_sort(arm))
        return arm;
    text_addf(&why, "'%.60s' is no arm of the result", name);
    for (size_t i = 0; arm != NULL && i < sizeof sorts / sizeof sorts[0]; i++)
        if (sorts[i].is_sort == is_sort) {
            text_free(&why);
            text_addf(&why, "an arm with %s is wanted, '%.60s' is another", sorts[i].wanted,
                      name);
        }
    (void)refuse(p, option, text_str(&why), e);
    text_free(&why);
    return NULL;
}

static int find_before(struct plan *p, struct err *e)
{
    const struct result *r = p->result;
    const char *name = p->options->before;
    if (r->arms == 0)
        return err_set(e, ERR_FAILED, "the result has no arm");
    p->cost[PLAN_BEFORE][PLAN_FULL].arm =
        named(p, "before", name != NULL ? name : r->arm[0].name, is_full, e);
    return p->cost[PLAN_BEFORE][PLAN_FULL].arm != NULL ? 0 : -1;
}

static const struct result_arm *of_another_group(const struct plan *p)
{
    const struct result *r = p->result;
    for (size_t i = 0; i < r->arms; i++)
        if (is_full(&r->arm[i]) && r->arm[i].negotiated.hrr == 0 &&
            !is_same_group(&r->arm[i], p->cost[PLAN_BEFORE][PLAN_FULL].arm))
            return &r->arm[i];
    return NULL;
}

static int find_after(struct plan *p, struct err *e)
{
    const char *name = p->options->after;
    const struct result_arm *after =
        name != NULL ? named(p, "after", name, is_full, e) : of_another_group(p);
    p->cost[PLAN_AFTER][PLAN_FULL].arm = after;
    if (after == NULL && name == NULL)
        (void)refuse(p, "after", "no arm of another group with full handshakes; name one", e);
    if (after == NULL)
        return -1;
    if (after == p->cost[PLAN_BEFORE][PLAN_FULL].arm)
        return refuse(p, "after", "the same arm as before", e);
    return 0;
}

static const struct result_arm *find_kin(const struct plan *p, enum plan_when when,
                                         sort_fn *is_sort)
{
    for (size_t i = 0; i < p->result->arms; i++)
        if (is_sort(&p->result->arm[i]) &&
            is_kin(&p->result->arm[i], p->cost[when][PLAN_FULL].arm))
            return &p->result->arm[i];
    return NULL;
}

/* Both or none: a measured one less a derived one would be no difference of two groups. */
static int find_resumed(struct plan *p, struct err *e)
{
    const char *name[PLAN_WHENS] = {p->options->resumed_before, p->options->resumed_after};
    static const char *const option[PLAN_WHENS] = {"resumed-before", "resumed-after"};
    const struct result_arm *arm[PLAN_WHENS];
    if ((name[PLAN_BEFORE] == NULL) != (name[PLAN_AFTER] == NULL))
        return err_set(e, ERR_USAGE, "--%s: give --%s as well",
                       option[name[PLAN_BEFORE] == NULL], option[name[PLAN_AFTER] == NULL]);
    for (unsigned when = 0; when < PLAN_WHENS; when++) {
        arm[when] = name[when] != NULL ? named(p, option[when], name[when], is_resumed, e)
                                       : find_kin(p, (enum plan_when)when, is_resumed);
        if (arm[when] == NULL && name[when] != NULL)
            return -1;
    }
    for (unsigned when = 0; when < PLAN_WHENS && arm[0] != NULL && arm[1] != NULL; when++)
        p->cost[when][PLAN_RESUMED].arm = arm[when];
    return 0;
}

int plan_find_arms(struct plan *p, struct err *e)
{
    const char *retry = p->options->retry;
    if (find_before(p, e) != 0 || find_after(p, e) != 0 || find_resumed(p, e) != 0)
        return -1;
    const struct result_arm *arm = retry != NULL ? named(p, "retry", retry, is_retry, e)
                                                 : find_kin(p, PLAN_AFTER, is_retry);
    p->cost[PLAN_AFTER][PLAN_RETRY].arm = arm;
    return arm != NULL || retry == NULL ? 0 : -1;
}
