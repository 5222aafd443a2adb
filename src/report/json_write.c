/* SPDX-License-Identifier: Apache-2.0 */
/* The layout is docs/RESULT.md; keys stand in a fixed order, so that files can be diffed. */
#include "report/format.h"

#include <assert.h>
#include <jansson.h>
#include "report/json_capacity.h"
#include "report/json_put.h"

/* Any number of 15 digits survives the way through a double and back: what is read from a
 * file is written as the same digits again. */
#define DIGITS 15
#define DUMP_FLAGS (JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS))

static json_t *of_command(const struct result *r)
{
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < r->command_words; i++)
        json_append(array, json_of_text(r->command[i]));
    return array;
}

static json_t *of_build(const struct result_build *build)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "version", build->version);
    json_put_text(object, "compiler", build->compiler);
    json_put_text(object, "flags", build->flags);
    json_put_text(object, "sanitizer", build->sanitizer);
    json_t *backends = json_made(json_array());
    for (size_t i = 0; i < build->backends; i++) {
        json_t *backend = json_made(json_object());
        json_put_text(backend, "name", build->backend[i].name);
        json_put_text(backend, "version", build->backend[i].version);
        json_put_text(backend, "description", build->backend[i].description);
        json_append(backends, backend);
    }
    json_put(object, "backends", backends);
    return object;
}

static void put_fact(json_t *host, const char *key, const char *fact)
{
    if (fact[0] != '\0')
        json_put_text(host, key, fact);
}

static void put_number_fact(json_t *host, const char *key, uint64_t fact)
{
    if (fact != 0)
        json_put_count(host, key, fact <= INT64_MAX ? fact : INT64_MAX);
}

static void put_texts(json_t *host, const struct host_facts *f)
{
    put_fact(host, "cpu_model", f->cpu_model);
    put_fact(host, "arch", f->arch);
    put_fact(host, "kernel", f->kernel);
    put_fact(host, "os", f->os);
    put_fact(host, "libc", f->libc);
    put_fact(host, "governor", f->governor);
    put_fact(host, "turbo", f->turbo);
    put_fact(host, "smt", f->smt);
    put_fact(host, "clocksource", f->clocksource);
    put_fact(host, "virtualization", f->virtualization);
    put_fact(host, "congestion", f->congestion);
}

static void put_numbers(json_t *host, const struct host_facts *f)
{
    put_number_fact(host, "cores", f->cores_online);
    put_number_fact(host, "cores_allowed", f->cores_allowed);
    if (f->has_quota)
        json_put_number(host, "cgroup_cpus", f->quota_cpus);
    put_number_fact(host, "memory_bytes", f->memory_bytes);
    put_number_fact(host, "clock_resolution_ns", f->clock_resolution_ns);
    put_number_fact(host, "clock_cost_ns", f->clock_cost_ns);
    put_number_fact(host, "thread_clock_cost_ns", f->thread_clock_cost_ns);
    put_number_fact(host, "file_limit_soft", f->file_limit_soft);
    put_number_fact(host, "file_limit_hard", f->file_limit_hard);
    put_number_fact(host, "port_low", f->port_low);
    put_number_fact(host, "port_high", f->port_high);
    put_number_fact(host, "listen_backlog_max", f->listen_backlog_max);
    json_put_bool(host, "tun", f->has_tun);
    json_put_bool(host, "user_namespaces", f->has_user_namespaces);
    json_put_bool(host, "net_namespaces", f->has_net_namespaces);
    json_put_bool(host, "netem", f->has_netem);
    json_put_bool(host, "counters", f->has_counters);
}

static json_t *of_hosts(const struct result *r)
{
    json_t *array = json_made(json_array());
    for (size_t i = 0; i < r->hosts; i++) {
        json_t *host = json_made(json_object());
        json_put_text(host, "role", r->host[i].role);
        json_put_text(host, "client_cores", r->host[i].client_cores);
        json_put_text(host, "server_cores", r->host[i].server_cores);
        json_put_number(host, "clock_offset_ns", r->host[i].clock_offset_ns);
        json_put_number(host, "clock_error_ns", r->host[i].clock_error_ns);
        put_texts(host, &r->host[i].facts);
        put_numbers(host, &r->host[i].facts);
        json_append(array, host);
    }
    return array;
}

static json_t *of_validity(const struct result *r)
{
    json_t *problems = json_made(json_array());
    for (size_t i = 0; i < r->problems; i++) {
        const struct result_problem *p = &r->problem[i];
        json_t *problem = json_made(json_object());
        json_put_text(problem, "code", p->code);
        json_put_text(problem, "severity", result_severity_name(p->severity));
        json_put_text(problem, "arm", p->arm);
        if (p->trial != 0)
            json_put_count(problem, "trial", p->trial);
        json_put_text(problem, "message", p->message);
        json_append(problems, problem);
    }
    json_t *object = json_made(json_object());
    json_put_bool(object, "valid", r->is_valid);
    json_put(object, "problems", problems);
    return object;
}

static json_t *of_link(const struct result *r)
{
    json_t *object = json_made(json_object());
    if (r->link.count == 0)
        return object;
    json_put(object, "spec", json_of_pairs(&r->link));
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct result_link_way *w = &r->link_way[i];
        json_t *way = json_made(json_object());
        json_put_count(way, "packets", w->packets);
        json_put_count(way, "bytes", w->bytes);
        json_put_count(way, "lost", w->lost);
        json_put_count(way, "queue_full", w->queue_full);
        json_put_count(way, "too_large", w->too_large);
        json_put_count(way, "overflow", w->overflow);
        json_put_number(way, "late_p99_us", w->late_p99_us);
        json_put_number(way, "late_max_us", w->late_max_us);
        json_put(object, i == RESULT_CLIENT ? "up" : "down", way);
    }
    return object;
}

static json_t *of_server(const struct result *r)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "name", r->server.name);
    json_put_text(object, "version", r->server.version);
    json_put_text(object, "tls_library", r->server.tls_library);
    return object;
}

static json_t *of_accounts(const struct result *r)
{
    json_t *object = json_made(json_object());
    json_put_number(object, "process_cpu_s", r->process_cpu_s);
    json_put_number(object, "reported_cpu_s", r->reported_cpu_s);
    json_put_number(object, "harness_cpu_s", r->harness_cpu_s);
    json_put_number(object, "clock_cost_ns", r->clock_cost_ns);
    return object;
}

static json_t *of_comparison(const struct result_comparison *c)
{
    json_t *object = json_made(json_object());
    json_put_text(object, "baseline", c->baseline);
    json_put_text(object, "arm", c->arm);
    json_put_text(object, "metric", c->metric);
    json_put_number(object, "baseline_value", c->baseline_value);
    json_put_number(object, "value", c->value.value);
    json_put_figure_into(object, "difference", &c->difference);
    json_put_number(object, "ratio", c->ratio.value);
    json_put_number(object, "ratio_low", c->ratio.low);
    json_put_number(object, "ratio_high", c->ratio.high);
    json_put_number(object, "confidence", c->confidence);
    json_put_number(object, "noise_floor", c->noise_floor);
    json_put_text(object, "verdict", result_verdict_name(c->verdict));
    json_put_number(object, "settle_s", c->settle_s);
    return object;
}

static void put_lists(json_t *root, const struct result *r)
{
    json_t *arms = json_made(json_array());
    for (size_t i = 0; i < r->arms; i++)
        json_append(arms, json_of_arm(&r->arm[i], r->kind));
    json_put(root, "arms", arms);
    json_t *comparisons = json_made(json_array());
    for (size_t i = 0; i < r->comparisons; i++)
        json_append(comparisons, of_comparison(&r->comparison[i]));
    json_put(root, "comparisons", comparisons);
}

static json_t *of_result(const struct result *r)
{
    json_t *root = json_made(json_object());
    json_put_text(root, "schema", RESULT_SCHEMA);
    json_put_text(root, "kind", result_kind_name(r->kind));
    json_put_text(root, "started_at", r->started_at);
    json_put_number(root, "elapsed_s", r->elapsed_s);
    json_put_bool(root, "interrupted", r->is_interrupted);
    json_put_text(root, "interrupted_by", r->interrupted_by);
    json_put(root, "command", of_command(r));
    json_put(root, "config", json_of_pairs(&r->config));
    json_put_count(root, "seed", r->seed);
    json_put(root, "build", of_build(&r->build));
    json_put(root, "hosts", of_hosts(r));
    json_put_nonempty(root, "link", of_link(r));
    json_put_nonempty(root, "server", of_server(r));
    json_put(root, "validity", of_validity(r));
    json_put_nonempty(root, "accounts", of_accounts(r));
    put_lists(root, r);
    if (r->kind == RESULT_KIND_CAPACITY)
        json_put(root, "capacity", json_of_capacity(r));
    return root;
}

static int add_piece(const char *piece, size_t length, void *out)
{
    text_add_bytes(out, piece, length);
    return 0;
}

void report_add_json(const struct result *r, struct text *out,
                     const struct report_options *options)
{
    (void)options;
    report_require_whole(r);
    json_t *root = of_result(r);
    const int failed = json_dump_callback(root, add_piece, out, DUMP_FLAGS);
    assert(failed == 0);
    text_add(out, "\n");
    json_decref(root);
}
