/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: refused with a reason, or a result that every format shows, that is the same
 * after writing and reading, and that gives a plan or a reason why not. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "fuzz_target.h"
#include "report/format.h"
#include "report/json_read.h"
#include "report/plan.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void show(const struct result *r)
{
    const struct report_options options = {
        .columns = 80, .has_colour = true, .has_utf8 = true, .is_detailed = true};
    for (unsigned format = 0; format < REPORT_FORMATS; format++) {
        struct text out = {0};
        report_format_of((enum report_format_id)format)->add(r, &out, &options);
        text_free(&out);
    }
}

static void show_plan(const struct result *r)
{
    static const struct plan_distance mix[] = {{20, 0.5, 0}, {250, 0.5, 1e6}};
    const struct plan_options options = {.peak_per_s = 1e9,
                                         .mean_share = 1,
                                         .resumed = 0.5,
                                         .hybrid_clients = 0.5,
                                         .hrr = 0.5,
                                         .utilisation = 0.01,
                                         .price_core_hour = 1e9,
                                         .price_gb = 1e9,
                                         .distances = 2,
                                         .distance = mix};
    const struct report_options look = REPORT_OPTIONS_DEFAULT;
    struct text out = {0}, csv = {0};
    struct plan plan;
    struct err e = ERR_INIT;
    if (plan_make(r, &options, &plan, &e) != 0) {
        require(e.kind == ERR_USAGE || e.kind == ERR_FAILED);
        return;
    }
    plan_add_text(&plan, &out, &look);
    plan_add_markdown(&plan, &out, &look);
    plan_add_json(&plan, &out);
    plan_add_csv(&plan, &csv); /* has no name of the result's in it */
    require(strstr(text_str(&csv), "inf") == NULL && strstr(text_str(&csv), "nan") == NULL);
    text_free(&out);
    text_free(&csv);
    plan_free(&plan);
}

static void check_same_after_reading(const struct result *r)
{
    struct err e = ERR_INIT;
    struct text first = {0}, second = {0};
    report_add_json(r, &first, NULL);
    struct result *again = json_read_text(text_str(&first), first.length, &e);
    require(again != NULL);
    report_add_json(again, &second, NULL);
    require(strcmp(text_str(&first), text_str(&second)) == 0);
    result_free(again);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    struct result *r = json_read_text((const char *)data, size, &e);
    if (r == NULL) {
        require(e.kind == ERR_USAGE && e.text[0] != '\0');
        require(strpbrk(e.text, "\n\033") == NULL);
        return 0;
    }
    show(r);
    show_plan(r);
    check_same_after_reading(r);
    result_free(r);
    return 0;
}
