/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_capacity.h - "capacity" of a result's JSON.
 *
 * Layer: report, private to the JSON writer and reader.
 */
#ifndef REPORT_JSON_CAPACITY_H
#define REPORT_JSON_CAPACITY_H

#include <jansson.h>
#include "result/result.h"

struct place; /* json_field.h */

/* Of a result of kind capacity. */
json_t *json_of_capacity(const struct result *r);
/* After its arms have been read. */
void json_read_capacity(const struct place *root, struct result *r);

#endif
