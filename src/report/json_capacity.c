/* SPDX-License-Identifier: Apache-2.0 */
/* "capacity" of a result's JSON, both ways.  What is derived from the trials is written for
 * readers and not read back. */
#include "report/json_capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "report/json_field.h"
#include "report/json_put.h"
#include "result/capacity.h"

#define NAME_SIZE 48

/* ---- writing ---- */

static json_t *of_objective(const struct capacity_objective *o)
{
    char name[NAME_SIZE];
    json_t *object = json_made(json_object());
    json_put_text(object, "metric", capacity_objective_name(o, name, sizeof(name)));
    if (o->is_failures) {
        json_put_number(object, "limit", o->limit);
    } else {
        json_put_text(object, "phase", result_phase_name(o->phase));
        json_put_number(object, "quantile", o->quantile);
        json_put_number(object, "limit_us", o->limit);
    }
    return object;
}

static json_t *of_arm(const struct result *r, size_t i)
{
    const struct capacity_arm *a = &r->capacity->arm[i];
    json_t *object = json_made(json_object());
    json_put_text(object, "arm", r->arm[i].name);
    if (figure_is_set(&a->per_s))
        json_put_figure(object, "per_s", &a->per_s);
    json_put_number(object, "lower_bound_per_s", a->lower_bound_per_s);
    json_put_number(object, "upper_bound_per_s", a->upper_bound_per_s);
    json_put_text(object, "limited_by", capacity_limit_name(a->limited_by));
    return object;
}

static json_t *of_values(const struct capacity *c, const struct result_trial *t)
{
    char name[NAME_SIZE];
    json_t *object = json_made(json_object());
    for (size_t i = 0; i < c->objectives; i++)
        json_put_number(object, capacity_objective_name(&c->objective[i], name, sizeof(name)),
                        capacity_objective_value(&c->objective[i], t));
    return object;
}

static json_t *of_probe(const struct result *r, const struct capacity_probe *p)
{
    const struct result_trial *t = capacity_trial(r, p);
    json_t *object = json_made(json_object());
    json_put_text(object, "arm", r->arm[p->arm].name);
    json_put_count(object, "trial", p->trial);
    if (t->position != 0)
        json_put_count(object, "position", t->position);
    json_put_number(object, "rate_per_s", t->due_per_s);
    json_put_text(object, "outcome", capacity_held_name(p->held));
    json_put_number(object, "link_busy", p->link_busy);
    json_put_nonempty(object, "values", of_values(r->capacity, t));
    return object;
}

json_t *json_of_capacity(const struct result *r)
{
    const struct capacity *c = r->capacity;
    json_t *object = json_made(json_object()), *list = json_made(json_array());
    json_put_number(object, "confidence", c->confidence);
    for (size_t i = 0; i < c->objectives; i++)
        json_append(list, of_objective(&c->objective[i]));
    json_put(object, "objectives", list);
    list = json_made(json_array());
    for (size_t i = 0; i < c->arms; i++)
        json_append(list, of_arm(r, i));
    json_put(object, "arms", list);
    list = json_made(json_array());
    for (size_t i = 0; i < c->probes; i++)
        json_append(list, of_probe(r, &c->probe[i]));
    json_put(object, "probes", list);
    return object;
}

/* ---- reading ---- */

static const char *phase_name(unsigned phase)
{
    return result_phase_name((enum result_phase)phase);
}

static const char *limit_name(unsigned limit)
{
    return capacity_limit_name((enum capacity_limit)limit);
}

static const char *held_name(unsigned held)
{
    return capacity_held_name((enum capacity_held)held);
}

static void read_objective(const struct place *p, struct capacity_objective *o)
{
    const char *metric = field_text(p, "metric");
    o->is_failures = metric != NULL && strcmp(metric, "failures") == 0;
    if (o->is_failures) {
        o->limit = field_number(p, "limit");
        return;
    }
    o->phase = (enum result_phase)field_choice(p, "phase", phase_name, RESULT_PHASES);
    o->quantile = field_number(p, "quantile");
    o->limit = field_number(p, "limit_us");
}

static void read_arm(const struct place *p, struct capacity_arm *a)
{
    a->per_s = field_figure(p, "per_s");
    a->lower_bound_per_s = field_number(p, "lower_bound_per_s");
    a->upper_bound_per_s = field_number(p, "upper_bound_per_s");
    a->limited_by =
        (enum capacity_limit)field_choice(p, "limited_by", limit_name, CAPACITY_LIMITS);
}

/* The place of the arm of that name; as many as there are: none. */
static unsigned find_arm(const struct result *r, const char *name)
{
    unsigned i = 0;
    while (i < r->arms && (name == NULL || strcmp(r->arm[i].name, name) != 0))
        i++;
    return i;
}

static void read_probe(const struct place *p, const struct result *r,
                       struct capacity_probe *out)
{
    out->arm = find_arm(r, field_text(p, "arm"));
    out->trial = field_small_count(p, "trial");
    out->held = (enum capacity_held)field_choice(p, "outcome", held_name, CAPACITY_HELDS);
    out->link_busy = field_number(p, "link_busy");
}

void json_read_capacity(const struct place *root, struct result *r)
{
    struct capacity *c = r->capacity;
    const struct place p = field_object(root, "capacity");
    const struct place objectives = field_list(&p, "objectives");
    const struct place arms = field_list(&p, "arms"), probes = field_list(&p, "probes");
    const double confidence = field_number(&p, "confidence");
    size_t n = field_count_items(&objectives);
    if (n > CAPACITY_OBJECTIVES_MAX)
        field_fail(&objectives, "too many");
    for (size_t i = 0; i < n && i < CAPACITY_OBJECTIVES_MAX; i++) {
        const struct place item = field_item(&objectives, i);
        read_objective(&item, &c->objective[c->objectives++]);
    }
    n = field_count_items(&arms);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&arms, i);
        if (find_arm(r, field_text(&item, "arm")) != i)
            field_fail(&item, "not the arm in this place");
        read_arm(&item, capacity_add_arm(c));
    }
    n = field_count_items(&probes);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&probes, i);
        read_probe(&item, r, capacity_add_probe(c));
    }
    if (!isnan(confidence))
        c->confidence = confidence;
}
