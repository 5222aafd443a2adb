/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.h - the JSON of commands that make no result (doctor, list).
 *
 * Layer: cli.
 * Shape: strict JSON: a number that does not exist and a text that is NULL are left out.
 */
#ifndef CLI_JSON_OUT_H
#define CLI_JSON_OUT_H

#include <jansson.h>
#include "base/err.h"
#include "tls/loader.h"

/* Whole numbers are written without a fraction; NAN is left out. */
void json_out_set_number(json_t *object, const char *key, double number);
/* Text that is no UTF-8 is made harmless; NULL is left out. */
void json_out_set_text(json_t *object, const char *key, const char *text);

/* [{"name", "version", "description"}]; a new reference. */
json_t *json_out_backends(const struct tls_backends *backends);

/* Write and release it; path as in outfile.h. */
int json_out_write(json_t *root, const char *path, struct err *e)
    __attribute__((warn_unused_result));

#endif
