/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "report/json_capacity.h"
#include "report/json_field.h"

static const char *kind_name(unsigned kind)
{
    return result_kind_name((enum result_kind)kind);
}

static const char *severity_name(unsigned severity)
{
    return result_severity_name((enum result_severity)severity);
}

static const char *verdict_name(unsigned verdict)
{
    return result_verdict_name((enum result_verdict)verdict);
}

static void read_command(const struct place *root, struct result *r)
{
    const struct place list = field_list(root, "command");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(list.value, i));
        if (word == NULL)
            field_fail(&list, "not a list of texts");
        else
            result_add_command_word(r, word);
    }
}

static void read_build(const struct place *root, struct result *r)
{
    const struct place build = field_object(root, "build");
    const struct place list = field_list(&build, "backends");
    const size_t n = field_count_items(&list);
    field_copy_text(&build, "version", &r->build.version);
    field_copy_text(&build, "compiler", &r->build.compiler);
    field_copy_text(&build, "flags", &r->build.flags);
    field_copy_text(&build, "sanitizer", &r->build.sanitizer);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        const char *name = field_text(&item, "name");
        const char *version = field_text(&item, "version");
        if (name == NULL || version == NULL)
            field_fail(&item, "no name or no version");
        else
            result_add_backend(r, name, version, field_text(&item, "description"));
    }
}

static void read_fact(const struct place *host, const char *name, char *into, size_t size)
{
    const char *fact = field_text(host, name);
    if (fact == NULL)
        return;
    if (strlen(fact) >= size) {
        const struct place place = {.reader = host->reader, .above = host, .name = name};
        field_fail(&place, "too long");
        return;
    }
    memcpy(into, fact, strlen(fact) + 1);
}

static void read_texts(const struct place *host, struct host_facts *f)
{
    read_fact(host, "cpu_model", f->cpu_model, sizeof(f->cpu_model));
    read_fact(host, "arch", f->arch, sizeof(f->arch));
    read_fact(host, "kernel", f->kernel, sizeof(f->kernel));
    read_fact(host, "os", f->os, sizeof(f->os));
    read_fact(host, "libc", f->libc, sizeof(f->libc));
    read_fact(host, "governor", f->governor, sizeof(f->governor));
    read_fact(host, "turbo", f->turbo, sizeof(f->turbo));
    read_fact(host, "smt", f->smt, sizeof(f->smt));
    read_fact(host, "clocksource", f->clocksource, sizeof(f->clocksource));
    read_fact(host, "virtualization", f->virtualization, sizeof(f->virtualization));
    read_fact(host, "congestion", f->congestion, sizeof(f->congestion));
}

static void read_numbers(const struct place *host, struct host_facts *f)
{
    const double quota = field_number(host, "cgroup_cpus");
    f->has_quota = !isnan(quota);
    f->quota_cpus = isnan(quota) ? 0 : quota;
    f->cores_online = field_small_count(host, "cores");
    f->cores_allowed = field_small_count(host, "cores_allowed");
    f->memory_bytes = field_count(host, "memory_bytes");
    f->clock_resolution_ns = field_count(host, "clock_resolution_ns");
    f->clock_cost_ns = field_count(host, "clock_cost_ns");
    f->thread_clock_cost_ns = field_count(host, "thread_clock_cost_ns");
    f->file_limit_soft = field_count(host, "file_limit_soft");
    f->file_limit_hard = field_count(host, "file_limit_hard");
    f->port_low = field_small_count(host, "port_low");
    f->port_high = field_small_count(host, "port_high");
    f->listen_backlog_max = field_small_count(host, "listen_backlog_max");
    f->has_tun = field_bool(host, "tun");
    f->has_user_namespaces = field_bool(host, "user_namespaces");
    f->has_net_namespaces = field_bool(host, "net_namespaces");
    f->has_netem = field_bool(host, "netem");
    f->has_counters = field_bool(host, "counters");
}

static void read_hosts(const struct place *root, struct result *r)
{
    const struct place list = field_list(root, "hosts");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        const char *role = field_text(&item, "role");
        struct result_host *host = result_add_host(r, role == NULL ? "" : role);
        field_copy_text(&item, "client_cores", &host->client_cores);
        field_copy_text(&item, "server_cores", &host->server_cores);
        host->clock_offset_ns = field_number(&item, "clock_offset_ns");
        host->clock_error_ns = field_number(&item, "clock_error_ns");
        read_texts(&item, &host->facts);
        read_numbers(&item, &host->facts);
    }
}

static void read_link(const struct place *root, struct result *r)
{
    const struct place link = field_object(root, "link");
    field_pairs(&link, "spec", &r->link);
    for (unsigned i = 0; i < RESULT_SIDES; i++) {
        const struct place way = field_object(&link, i == RESULT_CLIENT ? "up" : "down");
        struct result_link_way *w = &r->link_way[i];
        w->packets = field_count(&way, "packets");
        w->bytes = field_count(&way, "bytes");
        w->lost = field_count(&way, "lost");
        w->queue_full = field_count(&way, "queue_full");
        w->too_large = field_count(&way, "too_large");
        w->overflow = field_count(&way, "overflow");
        w->late_p99_us = field_number(&way, "late_p99_us");
        w->late_max_us = field_number(&way, "late_max_us");
    }
}

static void read_validity(const struct place *root, struct result *r)
{
    const struct place validity = field_object(root, "validity");
    const struct place list = field_list(&validity, "problems");
    const size_t n = field_count_items(&list);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&list, i);
        const unsigned severity =
            field_choice(&item, "severity", severity_name, RESULT_SEVERITIES);
        const char *code = field_text(&item, "code");
        const char *message = field_text(&item, "message");
        /* Trial 0: what it did to the trials stands in them. */
        result_add_problem(r, (enum result_severity)severity, code == NULL ? "" : code,
                           field_text(&item, "arm"), 0, message == NULL ? "" : message);
        r->problem[i].trial = field_small_count(&item, "trial");
    }
    r->is_valid = field_bool(&validity, "valid");
}

static void read_comparison(const struct place *p, struct result_comparison *c)
{
    field_copy_text(p, "baseline", &c->baseline);
    field_copy_text(p, "arm", &c->arm);
    field_copy_text(p, "metric", &c->metric);
    c->baseline_value = field_number(p, "baseline_value");
    c->value.value = field_number(p, "value");
    c->difference = field_figure_from(p, "difference");
    c->ratio = (struct figure){.value = field_number(p, "ratio"),
                               .low = field_number(p, "ratio_low"),
                               .high = field_number(p, "ratio_high")};
    c->confidence = field_number(p, "confidence");
    c->noise_floor = field_number(p, "noise_floor");
    c->verdict = (enum result_verdict)field_choice(p, "verdict", verdict_name, RESULT_VERDICTS);
    c->settle_s = field_number(p, "settle_s");
}

static void read_lists(const struct place *root, struct result *r)
{
    const struct place arms = field_list(root, "arms");
    const struct place comparisons = field_list(root, "comparisons");
    size_t n = field_count_items(&arms);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&arms, i);
        const char *name = field_text(&item, "name");
        json_read_arm(&item, result_add_arm(r, name == NULL ? "" : name));
    }
    n = field_count_items(&comparisons);
    for (size_t i = 0; i < n; i++) {
        const struct place item = field_item(&comparisons, i);
        read_comparison(&item, result_add_comparison(r));
    }
}

static void read_run(const struct place *root, struct result *r)
{
    const struct place accounts = field_object(root, "accounts");
    const struct place server = field_object(root, "server");
    field_copy_text(root, "started_at", &r->started_at);
    r->elapsed_s = field_number(root, "elapsed_s");
    r->is_interrupted = field_bool(root, "interrupted");
    field_copy_text(root, "interrupted_by", &r->interrupted_by);
    field_copy_text(&server, "name", &r->server.name);
    field_copy_text(&server, "version", &r->server.version);
    field_copy_text(&server, "tls_library", &r->server.tls_library);
    r->seed = field_count(root, "seed");
    r->process_cpu_s = field_number(&accounts, "process_cpu_s");
    r->reported_cpu_s = field_number(&accounts, "reported_cpu_s");
    r->harness_cpu_s = field_number(&accounts, "harness_cpu_s");
    r->clock_cost_ns = field_number(&accounts, "clock_cost_ns");
}

static struct result *read_root(const struct place *root)
{
    const char *schema = field_text(root, "schema");
    if (schema == NULL || strcmp(schema, RESULT_SCHEMA) != 0)
        field_fail(root, "not a result of schema " RESULT_SCHEMA);
    const unsigned kind = field_choice(root, "kind", kind_name, RESULT_KINDS);
    struct result *r = result_new((enum result_kind)kind);
    read_run(root, r);
    read_command(root, r);
    field_pairs(root, "config", &r->config);
    read_build(root, r);
    read_hosts(root, r);
    read_link(root, r);
    read_validity(root, r);
    read_lists(root, r);
    if (r->kind == RESULT_KIND_CAPACITY)
        json_read_capacity(root, r);
    return r;
}

struct result *json_read_text(const char *text, size_t length, struct err *e)
{
    struct reader reader = {.e = e,
                            .items_left = JSON_READ_MAX_ITEMS_IN_ALL,
                            .histogram_bytes_left = JSON_READ_MAX_HISTOGRAM_BYTES};
    json_error_t fault;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    if (value == NULL) {
        struct text harmless = {0};
        text_add_harmless(&harmless, fault.text);
        err_set(e, ERR_USAGE, "line %d: not JSON: %s", fault.line, text_str(&harmless));
        text_free(&harmless);
        return NULL;
    }
    const struct place root = {.reader = &reader, .value = value};
    if (!json_is_object(value))
        field_fail(&root, "not an object");
    struct result *r = read_root(&root);
    if (!reader.has_failed && result_check(r, e) != 0) {
        reader.has_failed = true;
        if (e != NULL)
            e->kind = ERR_USAGE;
    }
    json_decref(value);
    if (!reader.has_failed)
        return r;
    result_free(r);
    return NULL;
}

static int read_all(int fd, struct text *content, struct err *e)
{
    char piece[65536];
    for (;;) {
        const ssize_t n = read(fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(e, "cannot read");
        if (n == 0)
            return 0;
        if ((size_t)n > JSON_READ_MAX_BYTES - content->length)
            return err_set(e, ERR_USAGE, "larger than %u bytes", JSON_READ_MAX_BYTES);
        text_add_bytes(content, piece, (size_t)n);
    }
}

struct result *json_read_file(const char *path, struct err *e)
{
    const bool is_input = strcmp(path, "-") == 0;
    struct text content = {0};
    struct result *r = NULL;
    const int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        err_set_errno(e, "%s", path);
        return NULL;
    }
    if (read_all(fd, &content, e) == 0)
        r = json_read_text(text_str(&content), content.length, e);
    if (r == NULL)
        err_add_context(e, "%s", is_input ? "standard input" : path);
    if (!is_input)
        close(fd);
    text_free(&content);
    return r;
}
