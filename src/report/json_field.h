/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_field.h - fields of a JSON value, checked, each fault told with its place.
 *
 * Layer: report, private to the JSON reader.
 * Shape: a place is a value and the way to it ("arms[1].tally"), kept on the stack, so that
 *   the way is written out only for a fault.  The first fault is kept in the reader; after
 *   it every getter answers "absent", so that callers need no check after each.
 *   A field that is missing, or null, is absent: NAN, 0, NULL, false.
 */
#ifndef REPORT_JSON_FIELD_H
#define REPORT_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "result/result.h"

struct reader {
    struct err *e;
    bool has_failed;
    size_t items_left, histogram_bytes_left; /* of all that a file may make us hold */
};

struct place {
    struct reader *reader;
    const struct place *above; /* NULL: the root */
    const char *name;          /* NULL: an item of the list above */
    size_t index;
    const json_t *value; /* NULL: absent */
};

void field_fail(const struct place *p, const char *fault);

/* The object / list called name in p; value NULL where it is absent or a fault. */
struct place field_object(const struct place *p, const char *name);
struct place field_list(const struct place *p, const char *name);
size_t field_count_items(const struct place *list);              /* bounded */
struct place field_item(const struct place *list, size_t index); /* an object */

double field_number(const struct place *p, const char *name);
uint64_t field_count(const struct place *p, const char *name);
unsigned field_small_count(const struct place *p, const char *name); /* fits unsigned */
int field_integer(const struct place *p, const char *name);
bool field_bool(const struct place *p, const char *name);
const char *field_text(const struct place *p, const char *name); /* lives as the JSON does */
/* Replaces *member with a copy. */
void field_copy_text(const struct place *p, const char *name, char **member);
/* Index of the text among names (NULL-terminated by count); a fault where it is none of
 * them or missing, and then 0. */
unsigned field_choice(const struct place *p, const char *name,
                      const char *(*name_of)(unsigned index), unsigned count);

/* From an object of its own / from fields of p. */
struct figure field_figure(const struct place *p, const char *name);
struct figure field_figure_from(const struct place *p, const char *value_name);
struct result_range field_range(const struct place *p, const char *name);
struct result_range field_range_from(const struct place *p);

/* Every member of an object by name, in the order of the text; bounded. */
typedef void (*field_visit)(const struct place *p, const char *name, void *arg);
void field_each_member(const struct place *p, field_visit visit, void *arg);
/* An object whose members are all texts, in order. */
void field_pairs(const struct place *p, const char *name, struct result_pairs *into);

/* arms (json_read_arm.c) and trials (json_read_trial.c). */
void json_read_arm(const struct place *p, struct result_arm *arm);
void json_read_trial(const struct place *p, struct result_trial *trial);
unsigned json_read_side(const struct place *p, const char *name);

#endif
