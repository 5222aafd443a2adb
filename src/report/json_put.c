/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_put.h"

#include <assert.h>
#include <math.h>
#include "base/text.h"

#define MEAN_PARTS 1000.0

json_t *json_made(json_t *value)
{
    assert(value != NULL); /* out of memory is not to be recovered from */
    return value;
}

void json_put(json_t *object, const char *key, json_t *value)
{
    const int failed = json_object_set_new(object, key, json_made(value));
    assert(failed == 0);
}

void json_put_nonempty(json_t *object, const char *key, json_t *value)
{
    if (json_object_size(value) == 0 && json_array_size(value) == 0)
        json_decref(value);
    else
        json_put(object, key, value);
}

void json_append(json_t *array, json_t *value)
{
    const int failed = json_array_append_new(array, json_made(value));
    assert(failed == 0);
}

json_t *json_of_text(const char *value)
{
    json_t *string = json_string(value); /* NULL where it is not UTF-8 */
    if (string != NULL)
        return string;
    struct text harmless = {0};
    text_add_harmless(&harmless, value);
    string = json_made(json_string(text_str(&harmless)));
    text_free(&harmless);
    return string;
}

void json_put_named(json_t *object, const char *name, json_t *value)
{
    json_t *key = json_of_text(name);
    json_put(object, json_string_value(key), value);
    json_decref(key);
}

void json_put_text(json_t *object, const char *key, const char *value)
{
    if (value != NULL)
        json_put(object, key, json_of_text(value));
}

void json_put_number(json_t *object, const char *key, double value)
{
    if (!isnan(value))
        json_put(object, key, json_real(value));
}

void json_put_count(json_t *object, const char *key, uint64_t value)
{
    assert(value <= INT64_MAX);
    json_put(object, key, json_integer((json_int_t)value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
    json_put(object, key, json_boolean(value));
}

void json_put_figure_into(json_t *object, const char *value_key, const struct figure *f)
{
    json_put_number(object, value_key, f->value);
    json_put_number(object, "low", f->low);
    json_put_number(object, "high", f->high);
}

void json_put_figure(json_t *object, const char *key, const struct figure *f)
{
    json_t *figure = json_made(json_object());
    json_put_figure_into(figure, "value", f);
    json_put_nonempty(object, key, figure);
}

/* To a thousandth, which with result_check's bound is within the digits that are written; a
 * whole number is shown as one: 1564 and not 1564.0. */
static json_t *json_of_mean(double mean)
{
    const double rounded = round(mean * MEAN_PARTS) / MEAN_PARTS;
    if (rounded == floor(rounded))
        return json_integer((json_int_t)rounded);
    return json_real(rounded);
}

void json_put_mean(json_t *object, const char *key, const struct result_range *r)
{
    if (r->count > 0)
        json_put(object, key, json_of_mean(r->mean));
}

void json_put_range_into(json_t *object, const struct result_range *r)
{
    if (r->count > 0) {
        json_put_count(object, "min", r->min);
        json_put(object, "mean", json_of_mean(r->mean));
        json_put_count(object, "max", r->max);
    }
    json_put_count(object, "count", r->count);
}

void json_put_range(json_t *object, const char *key, const struct result_range *r)
{
    if (r->count == 0)
        return;
    json_t *range = json_made(json_object());
    json_put_range_into(range, r);
    json_put(object, key, range);
}
