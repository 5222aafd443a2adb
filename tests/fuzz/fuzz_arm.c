/* SPDX-License-Identifier: Apache-2.0 */
/* Any text: refused in one harmless line, or an arm whose keys read back as the same arm. */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "fuzz_target.h"
#include "run/arm.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_same_after_reading(const struct arm *arm)
{
    struct arm again;
    struct err e = ERR_INIT;
    char value[ARM_TEXT_MAX + 1];
    arm_init(&again, arm->name);
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++) {
        arm_get(arm, key->name, value, sizeof value);
        require(value[0] != '\0' && strpbrk(value, " \t\n\033") == NULL);
        require(arm_set(&again, key->name, value, &e) == 0);
    }
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++) {
        char other[ARM_TEXT_MAX + 1];
        arm_get(arm, key->name, value, sizeof value);
        arm_get(&again, key->name, other, sizeof other);
        require(strcmp(value, other) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = ERR_INIT;
    struct text input = {0};
    struct arm_list arms = {.count = 1};
    text_add_bytes(&input, data, size);
    if (arm_parse(text_str(&input), &arms.arm[0], &e) == 0) {
        check_same_after_reading(&arms.arm[0]);
        if (arms_check(&arms, &e) == 0)
            require(arms_baseline(&arms, 0) == 0 && !arms_is_control(&arms, 0));
        else
            require(e.kind == ERR_USAGE);
    } else {
        require(e.kind == ERR_USAGE && e.text[0] != '\0');
        require(strpbrk(e.text, "\n\r\033") == NULL);
    }
    text_free(&input);
    return 0;
}
