/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent_message.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the members ---- */

struct count_member {
    const char *name;
    size_t offset; /* of a uint64_t */
    bool is_needed;
};

#define READING(member, needed)                                 \
    {                                                           \
#member, offsetof(struct agent_reading, member), needed \
    }
static const struct count_member reading_members[] = {
    READING(at_ns, true),         READING(processes, true),
    READING(threads, true),       READING(cpu_ns, true),
    READING(run_delay_ns, false), READING(voluntary, false),
    READING(involuntary, false),  READING(cores, false),
    READING(busy_ns, false),      READING(steal_ns, false),
    READING(softirq_ns, false),   READING(listen_overflows, false),
    READING(listen_drops, false),
};

#define ROW(member, needed)                                 \
    {                                                       \
#member, offsetof(struct agent_row, member), needed \
    }
static const struct count_member row_members[] = {
    ROW(at_ns, true),         ROW(cpu_ns, true),           ROW(run_delay_ns, false),
    ROW(thread_cpu_ns, true), ROW(thread_delay_ns, false), ROW(away_ns, true),
    ROW(steal_ns, false),     ROW(active_threads, true),
};

struct text_member {
    const char *name;
    size_t offset, size;
};
#define TEXT(member)                                    \
    {                                                   \
#member, offsetof(struct host_facts, member),   \
            sizeof(((struct host_facts *)NULL)->member) \
    }
static const struct text_member host_texts[] = {
    TEXT(cpu_model),      TEXT(arch), TEXT(kernel),      TEXT(os),   TEXT(governor),
    TEXT(turbo),          TEXT(smt),  TEXT(clocksource), TEXT(libc), TEXT(congestion),
    TEXT(virtualization),
};
#define HOST(name, member)                               \
    {                                                    \
        name, offsetof(struct host_facts, member), false \
    }
static const struct count_member host_counts[] = {
    HOST("memory_bytes", memory_bytes),
    HOST("clock_resolution_ns", clock_resolution_ns),
    HOST("clock_cost_ns", clock_cost_ns),
    HOST("thread_clock_cost_ns", thread_clock_cost_ns),
    HOST("file_limit_soft", file_limit_soft),
    HOST("file_limit_hard", file_limit_hard),
};
static const struct count_member host_small_counts[] = {
    /* of an unsigned */
    HOST("cores", cores_online),
    HOST("cores_allowed", cores_allowed),
    HOST("port_low", port_low),
    HOST("port_high", port_high),
    HOST("listen_backlog_max", listen_backlog_max),
};
static const struct count_member host_switches[] = {
    /* of a bool */
    HOST("tun", has_tun),
    HOST("user_namespaces", has_user_namespaces),
    HOST("net_namespaces", has_net_namespaces),
    HOST("netem", has_netem),
    HOST("counters", has_counters),
};

static uint64_t *count_at(void *base, const struct count_member *m)
{
    return (uint64_t *)(void *)((char *)base + m->offset);
}

static uint64_t count_of(const void *base, const struct count_member *m)
{
    return *(const uint64_t *)(const void *)((const char *)base + m->offset);
}

/* ---- writing ---- */

static void put(json_t *object, const char *key, json_t *value)
{
    const int failed = json_object_set_new(object, key, value);
    assert(failed == 0); /* out of memory, or text that is not UTF-8: see harmless */
}

static void put_count(json_t *object, const char *key, uint64_t count)
{
    put(object, key, json_integer((json_int_t)(count < INT64_MAX ? count : INT64_MAX)));
}

static void put_text(json_t *object, const char *key, const char *value)
{
    struct text harmless = {0};
    text_add_harmless(&harmless, value);
    put(object, key, json_string(text_str(&harmless)));
    text_free(&harmless);
}

static int add_piece(const char *piece, size_t length, void *out)
{
    text_add_bytes(out, piece, length);
    return 0;
}

static json_t *new_message(void)
{
    json_t *object = json_object();
    put(object, "schema", json_string(AGENT_SCHEMA));
    return object;
}

static void dump(json_t *object, struct text *out)
{
    const int failed =
        json_dump_callback(object, add_piece, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    assert(failed == 0);
    text_add(out, "\n");
    json_decref(object);
}

void agent_write_reading(const struct agent_reading *r, struct text *out)
{
    json_t *object = new_message();
    put_text(object, "target", r->label);
    put(object, "present", json_boolean(r->is_present));
    for (size_t i = 0; i < COUNT_OF(reading_members); i++)
        if (count_of(r, &reading_members[i]) != AGENT_UNKNOWN)
            put_count(object, reading_members[i].name, count_of(r, &reading_members[i]));
    dump(object, out);
}

void agent_write_series(const struct agent_row *row, size_t count, bool is_whole,
                        struct text *out)
{
    text_addf(out, "{\"schema\":\"" AGENT_SCHEMA "\",\"whole\":%s,\"fields\":[",
              is_whole ? "true" : "false");
    for (size_t k = 0; k < COUNT_OF(row_members); k++)
        text_addf(out, "%s\"%s\"", k > 0 ? "," : "", row_members[k].name);
    text_add(out, "],\"rows\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i > 0 ? ",\n" : "\n");
        for (size_t k = 0; k < COUNT_OF(row_members); k++) {
            const uint64_t value = count_of(&row[i], &row_members[k]);
            text_add(out, k > 0 ? "," : "[");
            if (value == AGENT_UNKNOWN)
                text_add(out, "null");
            else
                text_addf(out, "%" PRIu64, value);
        }
        text_add(out, "]");
    }
    text_add(out, "]}\n");
}

void agent_write_host(const struct host_facts *f, struct text *out)
{
    json_t *object = new_message();
    const char *base = (const char *)f;
    for (size_t i = 0; i < COUNT_OF(host_texts); i++)
        if (base[host_texts[i].offset] != '\0')
            put_text(object, host_texts[i].name, base + host_texts[i].offset);
    for (size_t i = 0; i < COUNT_OF(host_counts); i++)
        put_count(object, host_counts[i].name, count_of(f, &host_counts[i]));
    for (size_t i = 0; i < COUNT_OF(host_small_counts); i++) {
        const void *at = base + host_small_counts[i].offset;
        put_count(object, host_small_counts[i].name, *(const unsigned *)at);
    }
    for (size_t i = 0; i < COUNT_OF(host_switches); i++) {
        const void *at = base + host_switches[i].offset;
        put(object, host_switches[i].name, json_boolean(*(const bool *)at));
    }
    if (f->has_quota)
        put(object, "cgroup_cpus", json_real(f->quota_cpus));
    dump(object, out);
}

/* ---- reading ---- */

static json_t *read_message(const char *data, size_t bytes, struct err *e)
{
    json_error_t error;
    json_t *root = json_loadb(data, bytes, JSON_REJECT_DUPLICATES, &error);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema != NULL && strcmp(schema, AGENT_SCHEMA) == 0)
        return root;
    err_set(e, ERR_FAILED, "no answer of a pqc-bench agent (%s)",
            root == NULL ? "no JSON" : "another schema");
    json_decref(root);
    return NULL;
}

/* Absent and null are the same. */
static int read_count(const json_t *value, const struct count_member *m, uint64_t *out,
                      struct err *e)
{
    *out = AGENT_UNKNOWN;
    if (!m->is_needed && (value == NULL || json_is_null(value)))
        return 0;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return err_set(e, ERR_FAILED, "the agent's %s is no count", m->name);
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

static void copy_harmless(const char *from, char *to, size_t size)
{
    struct text harmless = {0};
    text_add_harmless(&harmless, from);
    snprintf(to, size, "%s", text_str(&harmless));
    text_free(&harmless);
}

int agent_read_reading(const char *data, size_t bytes, struct agent_reading *out, struct err *e)
{
    json_t *root = read_message(data, bytes, e);
    const char *label = json_string_value(json_object_get(root, "target"));
    const json_t *present = json_object_get(root, "present");
    int failed = root == NULL ? -1 : 0;
    memset(out, 0, sizeof(*out));
    if (!failed && (label == NULL || !json_is_boolean(present)))
        failed = err_set(e, ERR_FAILED, "the agent does not say what it watches");
    if (!failed) {
        copy_harmless(label, out->label, sizeof(out->label));
        out->is_present = json_is_true(present);
    }
    for (size_t i = 0; i < COUNT_OF(reading_members) && !failed; i++)
        failed = read_count(json_object_get(root, reading_members[i].name), &reading_members[i],
                            count_at(out, &reading_members[i]), e);
    json_decref(root);
    return failed;
}

/* Columns by name: their order and others among them do not matter. */
static int find_columns(const json_t *fields, size_t *column, struct err *e)
{
    for (size_t k = 0; k < COUNT_OF(row_members); k++) {
        size_t i = 0;
        const size_t n = json_array_size(fields);
        while (i < n) {
            const char *name = json_string_value(json_array_get(fields, i));
            if (name != NULL && strcmp(name, row_members[k].name) == 0)
                break;
            i++;
        }
        if (i == n && row_members[k].is_needed)
            return err_set(e, ERR_FAILED, "the agent's series has no %s", row_members[k].name);
        column[k] = i; /* n: json_array_get gives NULL */
    }
    return 0;
}

static int read_row(const json_t *item, const size_t *column, uint64_t after_ns,
                    struct agent_row *out, struct err *e)
{
    for (size_t k = 0; k < COUNT_OF(row_members); k++)
        if (read_count(json_array_get(item, column[k]), &row_members[k],
                       count_at(out, &row_members[k]), e) != 0)
            return -1;
    if (out->at_ns <= after_ns)
        return err_set(e, ERR_FAILED, "the agent's series is not in order of time");
    return 0;
}

int agent_read_series(const char *data, size_t bytes, struct agent_series *series,
                      struct err *e)
{
    size_t column[COUNT_OF(row_members)] = {0};
    json_t *root = read_message(data, bytes, e);
    const json_t *rows = json_object_get(root, "rows");
    const size_t n = json_array_size(rows);
    uint64_t after_ns = series->after_ns;
    series->count = 0;
    series->is_whole = json_is_true(json_object_get(root, "whole"));
    int failed = root == NULL ? -1 : 0;
    if (!failed && (!json_is_array(rows) || n > AGENT_SERIES_MAX))
        failed = err_set(e, ERR_FAILED, "the agent's series has no rows, or too many");
    if (!failed)
        failed = find_columns(json_object_get(root, "fields"), column, e);
    for (size_t i = 0; i < n && !failed; i++) {
        struct agent_row *row = &series->row[i];
        failed = read_row(json_array_get(rows, i), column, after_ns, row, e);
        after_ns = row->at_ns;
    }
    series->count = failed ? 0 : n;
    json_decref(root);
    return failed;
}

static void read_host_numbers(const json_t *root, struct host_facts *out)
{
    char *base = (char *)out;
    for (size_t i = 0; i < COUNT_OF(host_counts); i++) {
        const json_int_t n = json_integer_value(json_object_get(root, host_counts[i].name));
        *count_at(out, &host_counts[i]) = n > 0 ? (uint64_t)n : 0;
    }
    for (size_t i = 0; i < COUNT_OF(host_small_counts); i++) {
        void *at = base + host_small_counts[i].offset;
        const json_int_t n =
            json_integer_value(json_object_get(root, host_small_counts[i].name));
        *(unsigned *)at = n > 0 && n <= UINT32_MAX ? (unsigned)n : 0;
    }
    for (size_t i = 0; i < COUNT_OF(host_switches); i++) {
        void *at = base + host_switches[i].offset;
        *(bool *)at = json_is_true(json_object_get(root, host_switches[i].name));
    }
    const double quota_cpus = json_number_value(json_object_get(root, "cgroup_cpus"));
    out->has_quota = quota_cpus > 0;
    out->quota_cpus = out->has_quota ? quota_cpus : 0;
}

int agent_read_host(const char *data, size_t bytes, struct host_facts *out, struct err *e)
{
    json_t *root = read_message(data, bytes, e);
    *out = (struct host_facts){0};
    if (root == NULL)
        return -1;
    for (size_t i = 0; i < COUNT_OF(host_texts); i++) {
        const char *value = json_string_value(json_object_get(root, host_texts[i].name));
        if (value != NULL)
            copy_harmless(value, (char *)out + host_texts[i].offset, host_texts[i].size);
    }
    read_host_numbers(root, out);
    json_decref(root);
    return 0;
}
