/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sentences.h"

#include <math.h>
#include <string.h>
#include "report/figures.h"

/* Trials of the arm that has most of them. */
static size_t most_trials(const struct result *r)
{
    size_t most = 0;
    for (size_t i = 0; i < r->arms; i++) {
        if (r->arm[i].trials > most)
            most = r->arm[i].trials;
    }
    return most;
}

/* Handshakes scheduled in each trial; 0: not all the same, or none. */
static uint64_t handshakes_each(const struct result *r)
{
    uint64_t each = 0;
    for (size_t i = 0; i < r->arms; i++) {
        for (size_t k = 0; k < r->arm[i].trials; k++) {
            const uint64_t scheduled = r->arm[i].trial[k].tally.scheduled;
            if (each != 0 && scheduled != each)
                return 0;
            each = scheduled;
        }
    }
    return each;
}

static void add_counted(struct text *out, uint64_t count, const char *noun)
{
    text_addf(out, "%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

static void add_cpu_title(struct text *out, const struct result *r)
{
    const uint64_t each = handshakes_each(r);
    text_add(out, "TLS handshakes in one process: median of ");
    add_counted(out, most_trials(r), "repeat");
    if (each != 0) {
        text_add(out, " of ");
        add_counted(out, each, "handshake");
    }
}

static void add_fact(struct text *out, const char *before, const char *fact, const char *after)
{
    if (fact == NULL || fact[0] == '\0')
        return;
    text_add(out, before);
    text_add_harmless(out, fact);
    text_add(out, after);
}

static void add_others_server(struct text *out, const struct result *r)
{
    text_add_harmless(out, r->server.name);
    add_fact(out, " ", r->server.version, "");
    add_fact(out, " (", r->server.tls_library, ")");
}

static void add_server(struct text *out, const struct result *r)
{
    const char *target = pairs_find(&r->config, "target");
    if (r->server.name != NULL)
        add_others_server(out, r);
    else
        text_add_harmless(out,
                          target == NULL || target[0] == '\0' ? "the embedded server" : target);
}

static void add_load_title(struct text *out, const struct result *r)
{
    const char *rate = pairs_find(&r->config, "rate");
    const char *link = pairs_find(&r->config, "link");
    uint64_t resumed = 0;
    for (size_t i = 0; i < r->arms; i++)
        resumed += r->arm[i].negotiated.resumed;
    text_add(out, resumed == 0 ? "Fresh TLS handshakes" : "TLS handshakes");
    if (rate != NULL) {
        text_add(out, " at ");
        text_add_harmless(out, rate);
        if (strchr(rate, '/') == NULL)
            text_add(out, "/s");
    }
    text_add(out, " against ");
    add_server(out, r);
    if (r->link.count > 0 && link != NULL) {
        text_add(out, " over ");
        text_add_harmless(out, link);
    }
    text_add(out, ": latency, median of ");
    add_counted(out, most_trials(r), "trial");
}

static void add_capacity_title(struct text *out, const struct result *r)
{
    const char *link = pairs_find(&r->config, "link");
    text_add(out, "Capacity of ");
    add_server(out, r);
    if (r->link.count > 0 && link != NULL) {
        text_add(out, " over ");
        text_add_harmless(out, link);
    }
    text_add(out, ": the highest rate that holds ");
    sentences_add_objectives(out, r);
}

void sentences_add_title(struct text *out, const struct result *r)
{
    if (r->kind == RESULT_KIND_CPU)
        add_cpu_title(out, r);
    else if (r->kind == RESULT_KIND_CAPACITY)
        add_capacity_title(out, r);
    else
        add_load_title(out, r);
}

void sentences_add_source(struct text *out, const struct result *r)
{
    if (r->kind == RESULT_KIND_CPU) {
        text_add(out, "Source: CPU time of each side's own thread (user and system) around the "
                      "TLS calls, set-up and tear-down included; client and server in one "
                      "process: no network, no sockets, no kernel TCP. Bytes are counted where "
                      "the TLS libraries read and write, without TCP and IP headers.");
        return;
    }
    if (r->kind == RESULT_KIND_CAPACITY) {
        text_add(
            out,
            "Source: short open-loop runs (probes) of one arm at one rate each, arms in "
            "random order. tls: first byte of the ClientHello to the handshake complete; "
            "response: from the due time of the arrival to the last byte. The capacity is "
            "the rate that half of the undisturbed probes hold, by a logistic curve through "
            "all valid probes; a probe that is void counts for nothing.");
        return;
    }
    text_add(out,
             "Source: monotonic clock of the load generator. tcp: connect to established; tls: "
             "first byte of the ClientHello to the handshake complete; ttfb: request to first "
             "byte; response: from the due time of the arrival to the last byte, so that "
             "waiting counts. Only completed handshakes have a latency; failures are counted "
             "apart. Each figure is the median of the trials.");
}

void sentences_add_host(struct text *out, const struct result_host *host)
{
    const struct host_facts *f = &host->facts;
    text_add(out, "Host");
    if (strcmp(host->role, "both") != 0)
        add_fact(out, " (", host->role, ")");
    text_add(out, ": ");
    text_add_harmless(out, f->cpu_model[0] == '\0' ? "unknown CPU" : f->cpu_model);
    if (f->cores_online != 0) {
        text_add(out, ", ");
        add_counted(out, f->cores_online, "core");
    }
    if (f->cores_allowed != 0 && f->cores_allowed != f->cores_online)
        text_addf(out, " (%u allowed)", f->cores_allowed);
    if (f->has_quota)
        text_addf(out, ", quota of %.3g CPUs", f->quota_cpus);
    add_fact(out, ", Linux ", f->kernel, "");
    add_fact(out, " ", f->arch, "");
    add_fact(out, ", ", f->os, "");
    add_fact(out, ", virtualization ", f->virtualization, "");
    add_fact(out, ", governor ", f->governor, "");
    add_fact(out, ", clock ", f->clocksource, "");
    add_fact(out, "; client on core ", host->client_cores, "");
    add_fact(out, "; server on core ", host->server_cores, "");
    text_add(out, ".");
}

bool sentences_add_server(struct text *out, const struct result *r)
{
    if (r->server.name == NULL)
        return false;
    text_add(out, "Server: ");
    add_others_server(out, r);
    text_add(out, "; its CPU is the kernel's account of its processes, for all that they do.");
    return true;
}

bool sentences_add_libraries(struct text *out, const struct result *r)
{
    for (size_t i = 0; i < r->build.backends; i++) {
        const struct result_backend *b = &r->build.backend[i];
        text_add(out, i == 0 ? "TLS: " : "; ");
        text_add_harmless(out, b->name);
        if (strstr(b->name, b->version) == NULL)
            add_fact(out, " ", b->version, "");
        add_fact(out, " (", b->description, ")");
    }
    if (r->build.backends > 0)
        text_add(out, ".");
    return r->build.backends > 0;
}

void sentences_add_run(struct text *out, const struct result *r)
{
    text_add(out, "Run: ");
    add_fact(out, "", r->started_at, ", ");
    if (!isnan(r->elapsed_s)) {
        figures_add_seconds(out, r->elapsed_s);
        text_add(out, ", ");
    }
    text_addf(out, "seed %llu", (unsigned long long)r->seed);
    add_fact(out, ", pqc-bench ", r->build.version, "");
    add_fact(out, ", ", r->build.compiler, "");
    add_fact(out, ", built with sanitizer ", r->build.sanitizer, " (slow: no figure holds)");
    text_add(out, ".");
}

bool sentences_add_interrupted(struct text *out, const struct result *r)
{
    if (!r->is_interrupted)
        return false;
    if (r->interrupted_by == NULL) {
        text_add(out,
                 "UNFINISHED: the run was killed, or goes on: what was finished until then.");
        return true;
    }
    text_add(out, "INTERRUPTED");
    add_fact(out, " by ", r->interrupted_by, "");
    text_add(out, ": what was finished until then.");
    return true;
}

void sentences_add_problem(struct text *out, const struct result_problem *p)
{
    static const char *const openings[] = {
        [RESULT_FAULT] = "NOT VALID, ",
        [RESULT_LEFT_OUT] = "Left out, ",
        [RESULT_NOTE] = "Note, ",
    };
    text_add(out, openings[p->severity]);
    text_add_harmless(out, p->code);
    add_fact(out, ", arm ", p->arm, "");
    if (p->trial != 0)
        text_addf(out, ", trial %u", p->trial);
    text_add(out, ": ");
    text_add_harmless(out, p->message);
}
