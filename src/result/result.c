/* SPDX-License-Identifier: Apache-2.0 */
#include "result/result.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "result/capacity.h"
#include "result/list.h"
#include "result/parts.h"

bool figure_is_set(const struct figure *f)
{
    return !isnan(f->value);
}

bool figure_has_interval(const struct figure *f)
{
    return !isnan(f->value) && !isnan(f->low) && !isnan(f->high);
}

void result_set_text(char **member, const char *value)
{
    char *copy = mem_copy_string(value);
    free(*member);
    *member = copy;
}

void pairs_add(struct result_pairs *pairs, const char *name, const char *value)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->pair[i].name, name) == 0) {
            result_set_text(&pairs->pair[i].value, value);
            return;
        }
    }
    pairs->pair = list_grow(pairs->pair, &pairs->count, sizeof(*pairs->pair));
    struct result_pair *added = &pairs->pair[pairs->count - 1];
    added->name = mem_copy_string(name);
    added->value = mem_copy_string(value);
}

const char *pairs_find(const struct result_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->pair[i].name, name) == 0)
            return pairs->pair[i].value;
    }
    return NULL;
}

void pairs_free(struct result_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->pair[i].name);
        free(pairs->pair[i].value);
    }
    free(pairs->pair);
    *pairs = (struct result_pairs){0};
}

struct result *result_new(enum result_kind kind)
{
    struct result *r = mem_alloc_zeroed(1, sizeof(*r));
    r->kind = kind;
    r->is_valid = true;
    r->elapsed_s = NAN;
    r->process_cpu_s = NAN;
    r->reported_cpu_s = NAN;
    r->harness_cpu_s = NAN;
    r->clock_cost_ns = NAN;
    for (unsigned i = 0; i < RESULT_SIDES; i++)
        r->link_way[i].late_p99_us = r->link_way[i].late_max_us = (double)NAN;
    if (kind == RESULT_KIND_CAPACITY)
        r->capacity = capacity_new();
    return r;
}

static void build_free(struct result_build *build)
{
    for (size_t i = 0; i < build->backends; i++) {
        free(build->backend[i].name);
        free(build->backend[i].version);
        free(build->backend[i].description);
    }
    free(build->backend);
    free(build->version);
    free(build->compiler);
    free(build->flags);
    free(build->sanitizer);
}

static void hosts_free(struct result *r)
{
    for (size_t i = 0; i < r->hosts; i++) {
        free(r->host[i].role);
        free(r->host[i].client_cores);
        free(r->host[i].server_cores);
    }
    free(r->host);
}

static void problems_free(struct result *r)
{
    for (size_t i = 0; i < r->problems; i++) {
        free(r->problem[i].code);
        free(r->problem[i].arm);
        free(r->problem[i].message);
    }
    free(r->problem);
}

static void comparisons_free(struct result *r)
{
    for (size_t i = 0; i < r->comparisons; i++) {
        free(r->comparison[i].baseline);
        free(r->comparison[i].arm);
        free(r->comparison[i].metric);
    }
    free(r->comparison);
}

void result_free(struct result *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->command_words; i++)
        free(r->command[i]);
    free(r->command);
    free(r->started_at);
    free(r->interrupted_by);
    free(r->server.name);
    free(r->server.version);
    free(r->server.tls_library);
    pairs_free(&r->config);
    pairs_free(&r->link);
    build_free(&r->build);
    hosts_free(r);
    problems_free(r);
    comparisons_free(r);
    for (size_t i = 0; i < r->arms; i++)
        result_arm_fini(&r->arm[i]);
    free(r->arm);
    capacity_free(r->capacity);
    free(r);
}

void result_add_command_word(struct result *r, const char *word)
{
    r->command = list_grow(r->command, &r->command_words, sizeof(*r->command));
    r->command[r->command_words - 1] = mem_copy_string(word);
}

struct result_arm *result_add_arm(struct result *r, const char *name)
{
    r->arm = list_grow(r->arm, &r->arms, sizeof(*r->arm));
    struct result_arm *arm = &r->arm[r->arms - 1];
    result_arm_init(arm, name);
    return arm;
}

struct result_arm *result_find_arm(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->arms; i++) {
        if (strcmp(r->arm[i].name, name) == 0)
            return &r->arm[i];
    }
    return NULL;
}

struct result_comparison *result_add_comparison(struct result *r)
{
    const struct figure absent = FIGURE_ABSENT;
    r->comparison = list_grow(r->comparison, &r->comparisons, sizeof(*r->comparison));
    struct result_comparison *c = &r->comparison[r->comparisons - 1];
    c->baseline_value = NAN;
    c->value = absent;
    c->difference = absent;
    c->ratio = absent;
    c->confidence = 0.95;
    c->noise_floor = NAN;
    c->verdict = RESULT_VERDICT_INCONCLUSIVE;
    c->settle_s = NAN;
    return c;
}

struct result_host *result_add_host(struct result *r, const char *role)
{
    r->host = list_grow(r->host, &r->hosts, sizeof(*r->host));
    struct result_host *host = &r->host[r->hosts - 1];
    host->role = mem_copy_string(role);
    host->clock_offset_ns = host->clock_error_ns = (double)NAN;
    return host;
}

void result_add_backend(struct result *r, const char *name, const char *version,
                        const char *description)
{
    struct result_build *build = &r->build;
    for (size_t i = 0; i < build->backends; i++) {
        const struct result_backend *b = &build->backend[i];
        if (strcmp(b->name, name) == 0 && strcmp(b->version, version) == 0)
            return;
    }
    build->backend = list_grow(build->backend, &build->backends, sizeof(*build->backend));
    struct result_backend *added = &build->backend[build->backends - 1];
    added->name = mem_copy_string(name);
    added->version = mem_copy_string(version);
    added->description = mem_copy_string(description);
}

static void invalidate_trials(struct result *r, const char *arm, unsigned index)
{
    for (size_t i = 0; i < r->arms; i++) {
        if (arm != NULL && strcmp(r->arm[i].name, arm) != 0)
            continue;
        struct result_trial *trial = arm_find_trial(&r->arm[i], index);
        if (trial != NULL)
            trial->is_valid = false;
    }
}

void result_add_problem(struct result *r, enum result_severity severity, const char *code,
                        const char *arm, unsigned trial, const char *message)
{
    r->problem = list_grow(r->problem, &r->problems, sizeof(*r->problem));
    struct result_problem *p = &r->problem[r->problems - 1];
    p->code = mem_copy_string(code);
    p->arm = mem_copy_string(arm);
    p->trial = trial;
    p->severity = severity;
    p->message = mem_copy_string(message);
    if (severity != RESULT_FAULT)
        return;
    r->is_valid = false;
    if (trial != 0)
        invalidate_trials(r, arm, trial);
}

void result_leave_out(struct result *r, unsigned index)
{
    r->is_valid = true;
    for (size_t i = 0; i < r->problems; i++) {
        struct result_problem *p = &r->problem[i];
        if (p->trial == index && p->severity == RESULT_FAULT)
            p->severity = RESULT_LEFT_OUT;
        r->is_valid = r->is_valid && p->severity != RESULT_FAULT;
    }
    for (size_t i = 0; i < r->arms; i++) {
        struct result_trial *t = arm_find_trial(&r->arm[i], index);
        if (t != NULL)
            t->is_left_out = true;
    }
}
