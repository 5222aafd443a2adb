/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_field.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/text.h"
#include "report/json_read.h"

static void add_way(const struct place *p, struct text *out)
{
    if (p->above == NULL)
        return;
    add_way(p->above, out);
    if (p->name == NULL) {
        text_addf(out, "[%zu]", p->index);
        return;
    }
    if (out->length > 0)
        text_add(out, ".");
    text_add_harmless(out, p->name);
}

void field_fail(const struct place *p, const char *fault)
{
    struct text way = {0};
    if (p->reader->has_failed)
        return;
    p->reader->has_failed = true;
    add_way(p, &way);
    err_set(p->reader->e, ERR_USAGE, "%s%s%s", text_str(&way), way.length > 0 ? ": " : "",
            fault);
    text_free(&way);
}

/* The member whatever it is; value NULL where it is absent, null or all is lost. */
static struct place member(const struct place *p, const char *name)
{
    struct place found = {.reader = p->reader, .above = p, .name = name};
    if (p->value != NULL && !p->reader->has_failed)
        found.value = json_object_get(p->value, name);
    if (json_is_null(found.value))
        found.value = NULL;
    return found;
}

static bool is_absent_or_wrong(struct place *p, bool is_right, const char *fault)
{
    if (p->value == NULL)
        return true;
    if (is_right)
        return false;
    field_fail(p, fault);
    p->value = NULL;
    return true;
}

struct place field_object(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    (void)is_absent_or_wrong(&found, json_is_object(found.value), "not an object");
    return found;
}

struct place field_list(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    (void)is_absent_or_wrong(&found, json_is_array(found.value), "not a list");
    return found;
}

static bool is_affordable(const struct place *p, size_t items)
{
    if (items <= JSON_READ_MAX_ITEMS && items <= p->reader->items_left) {
        p->reader->items_left -= items;
        return true;
    }
    field_fail(p, "too many items");
    return false;
}

size_t field_count_items(const struct place *list)
{
    const size_t items = json_array_size(list->value);
    return is_affordable(list, items) ? items : 0;
}

struct place field_item(const struct place *list, size_t index)
{
    struct place item = {.reader = list->reader, .above = list, .index = index};
    if (!list->reader->has_failed)
        item.value = json_array_get(list->value, index);
    (void)is_absent_or_wrong(&item, json_is_object(item.value), "not an object");
    return item;
}

double field_number(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    if (is_absent_or_wrong(&found, json_is_number(found.value), "not a number"))
        return NAN;
    return json_number_value(found.value);
}

uint64_t field_count(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    if (is_absent_or_wrong(&found,
                           json_is_integer(found.value) && json_integer_value(found.value) >= 0,
                           "not a whole number from 0"))
        return 0;
    return (uint64_t)json_integer_value(found.value);
}

unsigned field_small_count(const struct place *p, const char *name)
{
    const uint64_t count = field_count(p, name);
    if (count <= INT_MAX)
        return (unsigned)count;
    const struct place found = member(p, name);
    field_fail(&found, "too large");
    return 0;
}

int field_integer(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    const json_int_t value = json_integer_value(found.value);
    if (is_absent_or_wrong(&found,
                           json_is_integer(found.value) && value >= INT_MIN && value <= INT_MAX,
                           "not a whole number"))
        return 0;
    return (int)value;
}

bool field_bool(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    if (is_absent_or_wrong(&found, json_is_boolean(found.value), "not true or false"))
        return false;
    return json_is_true(found.value);
}

const char *field_text(const struct place *p, const char *name)
{
    struct place found = member(p, name);
    if (is_absent_or_wrong(&found, json_is_string(found.value), "not a text"))
        return NULL;
    return json_string_value(found.value);
}

void field_copy_text(const struct place *p, const char *name, char **member_text)
{
    result_set_text(member_text, field_text(p, name));
}

unsigned field_choice(const struct place *p, const char *name,
                      const char *(*name_of)(unsigned index), unsigned count)
{
    const char *text = field_text(p, name);
    for (unsigned i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, name_of(i)) == 0)
            return i;
    }
    const struct place found = member(p, name);
    field_fail(&found, text == NULL ? "missing" : "none of the known names");
    return 0;
}

struct figure field_figure_from(const struct place *p, const char *value_name)
{
    return (struct figure){.value = field_number(p, value_name),
                           .low = field_number(p, "low"),
                           .high = field_number(p, "high")};
}

struct figure field_figure(const struct place *p, const char *name)
{
    const struct place found = field_object(p, name);
    return field_figure_from(&found, "value");
}

struct result_range field_range_from(const struct place *p)
{
    const struct result_range range = {.count = field_count(p, "count"),
                                       .min = field_count(p, "min"),
                                       .max = field_count(p, "max"),
                                       .mean = field_number(p, "mean")};
    return range.count == 0 ? (struct result_range){0} : range;
}

struct result_range field_range(const struct place *p, const char *name)
{
    const struct place found = field_object(p, name);
    return field_range_from(&found);
}

void field_each_member(const struct place *p, field_visit visit, void *arg)
{
    /* jansson walks in the order of the text; its iterators want no const. */
    json_t *object = (json_t *)(uintptr_t)p->value;
    if (!is_affordable(p, json_object_size(object)))
        return;
    for (void *at = json_object_iter(object); at != NULL;
         at = json_object_iter_next(object, at))
        visit(p, json_object_iter_key(at), arg);
}

static void visit_pair(const struct place *p, const char *name, void *into)
{
    const char *value = field_text(p, name);
    pairs_add(into, name, value == NULL ? "" : value);
}

void field_pairs(const struct place *p, const char *name, struct result_pairs *into)
{
    const struct place found = field_object(p, name);
    field_each_member(&found, visit_pair, into);
}
