/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_out.h"
#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "cli/outfile.h"

#define WHOLE_MOST 9007199254740991.0

void json_out_set_number(json_t *object, const char *key, double number)
{
    if (isnan(number) || isinf(number))
        return;
    bool is_whole = fabs(number) <= WHOLE_MOST && trunc(number) == number;
    json_object_set_new(object, key,
                        is_whole ? json_integer((json_int_t)number) : json_real(number));
}

void json_out_set_text(json_t *object, const char *key, const char *text)
{
    if (!text)
        return;
    json_t *value = json_string(text);
    if (!value) {
        struct text harmless = {0};
        text_add_harmless(&harmless, text);
        value = json_string(text_str(&harmless));
        text_free(&harmless);
    }
    json_object_set_new(object, key, value);
}

json_t *json_out_backends(const struct tls_backends *backends)
{
    json_t *array = json_array();
    for (size_t i = 0; i < backends->count; i++) {
        json_t *object = json_object();
        json_out_set_text(object, "name", backends->backend[i]->name);
        json_out_set_text(object, "version", backends->backend[i]->version);
        json_out_set_text(object, "description", backends->backend[i]->description);
        json_array_append_new(array, object);
    }
    return array;
}

int json_out_write(json_t *root, const char *path, struct err *e)
{
    char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    struct text content = {0};
    json_decref(root);
    if (!dumped)
        return err_set(e, ERR_SYSTEM, "%s: out of memory", path);
    text_addf(&content, "%s\n", dumped);
    free(dumped);
    int failed = outfile_write(path, &content, e);
    text_free(&content);
    return failed;
}
