/* SPDX-License-Identifier: Apache-2.0 */
#include "run/arm.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

#define BLANKS " \t"
#define KEYS_MAX 64u
#define VALUE_SIZE (ARM_TEXT_MAX + 1u)

int arm_check_name(const char *name, struct err *e)
{
    size_t length = strlen(name);
    bool is_good = length >= 1 && length <= ARM_NAME_MAX && strcmp(name, "first") != 0;
    for (size_t i = 0; is_good && i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        is_good = c < 0x80 && (isalnum(c) || strchr(".+_-", c) != NULL);
    }
    if (is_good)
        return 0;
    struct text shown = {0};
    text_add_harmless(&shown, name);
    err_set(
        e, ERR_USAGE,
        "arm '%.80s': not a name (accepted: 1 to %u letters, digits and \".+_-\"; \"first\" "
        "stands for the first arm)",
        text_str(&shown), ARM_NAME_MAX);
    text_free(&shown);
    return -1;
}

void arm_init(struct arm *arm, const char *name)
{
    memset(arm, 0, sizeof *arm);
    snprintf(arm->name, sizeof arm->name, "%s", name);
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++) {
        int status = key->set(arm, key->initial, NULL);
        assert(status == 0);
        (void)status;
    }
}

const char *arm_groups_sent(const struct arm *arm)
{
    return arm->prediction.groups[0] != '\0' ? arm->prediction.groups : arm->groups;
}

/* One "KEY=VALUE"; `seen` has a flag for each row of the table. */
static int parse_setting(struct arm *arm, char *setting, bool seen[KEYS_MAX], struct err *e)
{
    char *equals = strchr(setting, '=');
    if (equals == NULL) {
        struct text shown = {0};
        text_add_harmless(&shown, setting);
        err_set(e, ERR_USAGE, "'%.80s' is not KEY=VALUE", text_str(&shown));
        text_free(&shown);
        return -1;
    }
    *equals = '\0';
    for (size_t i = 0; arm_keys()[i].name != NULL; i++) {
        assert(i < KEYS_MAX);
        if (strcmp(arm_keys()[i].name, setting) != 0)
            continue;
        if (seen[i])
            return err_set(e, ERR_USAGE, "%s: given twice", setting);
        seen[i] = true;
    }
    return arm_set(arm, setting, equals + 1, e);
}

static int parse_settings(struct arm *arm, char *text, struct err *e)
{
    bool seen[KEYS_MAX] = {false};
    char *rest = NULL;
    for (char *word = strtok_r(text, BLANKS, &rest); word != NULL;
         word = strtok_r(NULL, BLANKS, &rest))
        if (parse_setting(arm, word, seen, e) != 0)
            return err_add_context(e, "arm %s", arm->name);
    return 0;
}

int arm_parse(const char *text, struct arm *out, struct err *e)
{
    size_t blanks = strspn(text, BLANKS);
    char *copy = mem_copy_string(text + blanks);
    char *colon = strchr(copy, ':');
    int status = -1;
    if (colon == NULL) {
        struct text shown = {0};
        text_add_harmless(&shown, text);
        err_set(e, ERR_USAGE, "arm '%.80s': not \"NAME: KEY=VALUE ...\"", text_str(&shown));
        text_free(&shown);
        goto out;
    }
    *colon = '\0';
    for (size_t n = strlen(copy); n > 0 && strchr(BLANKS, copy[n - 1]) != NULL; n--)
        copy[n - 1] = '\0';
    if (arm_check_name(copy, e) != 0)
        goto out;
    struct arm arm;
    arm_init(&arm, copy);
    status = parse_settings(&arm, colon + 1, e);
    if (status == 0)
        *out = arm;
out:
    free(copy);
    return status;
}

void arm_echo(const struct arm *arm, struct result_pairs *out)
{
    char value[VALUE_SIZE];
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++)
        pairs_add(out, key->name, arm_get(arm, key->name, value, sizeof value));
}

/* arms->count where there is none of this name. */
static size_t find_arm(const struct arm_list *arms, const char *name)
{
    size_t i = 0;
    while (i < arms->count && strcmp(arms->arm[i].name, name) != 0)
        i++;
    return i;
}

static bool is_named_by_others(const struct arm_list *arms, size_t i)
{
    for (size_t k = 0; k < arms->count; k++)
        if (strcmp(arms->arm[k].baseline, arms->arm[i].name) == 0)
            return true;
    return false;
}

size_t arms_baseline(const struct arm_list *arms, size_t i)
{
    if (arms->arm[i].baseline[0] != '\0')
        return find_arm(arms, arms->arm[i].baseline);
    return i == 0 || is_named_by_others(arms, i) ? i : 0;
}

static int check_baseline(const struct arm_list *arms, size_t i, struct err *e)
{
    const struct arm *arm = &arms->arm[i];
    size_t to = arms_baseline(arms, i);
    if (to == arms->count)
        return err_set(e, ERR_USAGE, "arm %s: baseline=%s: no such arm", arm->name,
                       arm->baseline);
    size_t further = arms_baseline(arms, to);
    if (further == to)
        return 0;
    return err_set(
        e, ERR_USAGE,
        "arm %s: its baseline %s is itself compared with %s (accepted: an arm that is "
        "compared with none)",
        arm->name, arms->arm[to].name,
        further < arms->count ? arms->arm[further].name : arms->arm[to].baseline);
}

int arms_check(const struct arm_list *arms, struct err *e)
{
    if (arms->count == 0)
        return err_set(e, ERR_USAGE, "no arm: there is nothing to measure");
    for (size_t i = 0; i < arms->count; i++) {
        const struct arm *arm = &arms->arm[i];
        if (arm_check_name(arm->name, e) != 0)
            return -1;
        if (find_arm(arms, arm->name) != i)
            return err_set(e, ERR_USAGE, "arm %s: the name is given twice", arm->name);
        if (check_baseline(arms, i, e) != 0)
            return -1;
        if (arm->early_data_bytes > 0 && !(arm->resume > 0))
            return err_set(e, ERR_USAGE,
                           "arm %s: early-data=%u needs sessions to resume (resume above 0)",
                           arm->name, arm->early_data_bytes);
    }
    return 0;
}

bool arms_is_control(const struct arm_list *arms, size_t i)
{
    size_t to = arms_baseline(arms, i);
    char mine[VALUE_SIZE], theirs[VALUE_SIZE];
    if (to == i)
        return false;
    for (const struct arm_key *key = arm_keys(); key->name != NULL; key++) {
        if (strcmp(key->name, "baseline") == 0)
            continue;
        arm_get(&arms->arm[i], key->name, mine, sizeof mine);
        arm_get(&arms->arm[to], key->name, theirs, sizeof theirs);
        if (strcmp(mine, theirs) != 0)
            return false;
    }
    return true;
}
