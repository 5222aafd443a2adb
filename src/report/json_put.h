/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_put.h - putting values into JSON objects; what is absent is left out.
 *
 * Layer: report, private to the JSON writer.
 * Shape: object is an open jansson object.  Numbers that are NAN, texts that are NULL and
 *   ranges never seen are not put.  Text that is not valid UTF-8 is put in the form of
 *   text_add_harmless; any other text exactly.  Values given as json_t are taken over.
 */
#ifndef REPORT_JSON_PUT_H
#define REPORT_JSON_PUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "result/result.h"

json_t *json_made(json_t *value); /* ends the process where jansson had no memory */
json_t *json_of_text(const char *value);
void json_put(json_t *object, const char *key, json_t *value);
void json_put_nonempty(json_t *object, const char *key, json_t *value); /* else dropped */
/* As json_put with a key that is a stranger's: made harmless where it is not UTF-8. */
void json_put_named(json_t *object, const char *name, json_t *value);
void json_put_text(json_t *object, const char *key, const char *value);
void json_put_number(json_t *object, const char *key, double value);
void json_put_count(json_t *object, const char *key, uint64_t value); /* <= INT64_MAX */
void json_put_bool(json_t *object, const char *key, bool value);
/* Into object itself: value_key, "low", "high". */
void json_put_figure_into(json_t *object, const char *value_key, const struct figure *f);
/* As an object of its own: {"value": , "low": , "high": } under key. */
void json_put_figure(json_t *object, const char *key, const struct figure *f);
/* min, mean, max, count into object / as an object of its own. */
void json_put_range_into(json_t *object, const struct result_range *r);
void json_put_range(json_t *object, const char *key, const struct result_range *r);
void json_put_mean(json_t *object, const char *key, const struct result_range *r);
void json_append(json_t *array, json_t *value);

json_t *json_of_pairs(const struct result_pairs *pairs);
/* One arm, with its trials and summary (json_write_arm.c). */
json_t *json_of_arm(const struct result_arm *arm, enum result_kind kind);
json_t *json_of_trial(const struct result_trial *trial, enum result_kind kind);
struct latency_row;
json_t *json_of_latency(const struct latency_row *row);

#endif
