/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include "report/across.h"
#include "report/csv_rows.h"

static void add_number(struct text *out, double value)
{
    text_add(out, ",");
    if (!isnan(value))
        text_addf(out, "%.10g", value);
}

static void add_row(struct text *out, const struct across *a, const struct across_row *row)
{
    csv_add_text(out, a->side[0].name);
    text_add(out, ",");
    csv_add_text(out, a->side[row->side].name);
    text_add(out, ",");
    csv_add_text(out, row->arm);
    text_add(out, ",");
    csv_add_text(out, row->other);
    text_addf(out, ",%s,%s", row->metric, row->unit);
    add_number(out, row->before.value);
    add_number(out, row->after.value);
    add_number(out, row->measured);
    add_number(out, row->change.value);
    add_number(out, row->change.low);
    add_number(out, row->change.high);
    add_number(out, row->noise_floor);
    text_addf(out, ",%s,%s\r\n", row->is_scaled ? "yes" : "no",
              result_verdict_name(row->verdict));
}

void across_add_csv(const struct across *a, struct text *out)
{
    text_add(out, "reference,compared,arm,arm_there,metric,unit,reference_value,compared_value,"
                  "as_measured,change,low,high,noise_floor,scaled,verdict\r\n");
    for (size_t i = 0; i < a->rows; i++)
        add_row(out, a, &a->row[i]);
}
