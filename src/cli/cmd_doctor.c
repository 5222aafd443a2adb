/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench doctor: is this machine fit to measure on, and what would make it so? */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/facts.h"
#include "cli/fitness.h"
#include "cli/json_out.h"
#include "cli/outfile.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "net/link.h"

#define NAME_COLUMNS 22

struct doctor_values {
    char *json;
    uint64_t watch_ns;
};

static const struct option rows[] = {
    {.name = "json",
     .kind = OPTION_TEXT,
     .argument = "FILE",
     .help = "write what was found as JSON; - is standard output, in place of the table",
     .offset = offsetof(struct doctor_values, json)},
    {.name = "watch",
     .kind = OPTION_DURATION,
     .argument = "TIME",
     .initial = "1s",
     .help = "how long to watch the cores for steal, other programs and changes of speed",
     .low = 1e8,
     .high = 6e10,
     .offset = offsetof(struct doctor_values, watch_ns)},
    {.name = NULL},
};

static size_t count_real_backends(const struct tls_backends *backends)
{
    size_t count = 0;
    for (size_t i = 0; i < backends->count; i++)
        count += strcmp(backends->backend[i]->name, "null") != 0;
    return count;
}

/* link: where the reasons stay. */
static void look(const struct command_call *call, struct fitness_input *in, struct err link[2])
{
    const struct doctor_values *v = call->options.values;
    *in = (struct fitness_input){.backends = count_real_backends(call->context->backends),
                                 .is_sanitized = build_is_sanitized()};
    host_read_facts(&in->host);
    if (link_probe(false, &link[0]) != 0)
        in->link_problem = link[0].text;
    else if (link_probe(true, &link[1]) != 0)
        in->netem_problem = link[1].text;
    watch_cores(v->watch_ns, call->context->stop, in);
}

static json_t *facts_json(const struct host_facts *host)
{
    struct fact facts[FACTS_MAX];
    size_t count = facts_list(host, facts);
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const struct fact *fact = &facts[i];
        if (fact->kind == FACT_SWITCH)
            json_object_set_new(object, fact->name, json_boolean(fact->is_on));
        else if (fact->kind == FACT_NUMBER)
            json_out_set_number(object, fact->name, fact->number);
        else
            json_out_set_text(object, fact->name, fact->text);
    }
    return object;
}

static json_t *findings_json(const struct findings *findings)
{
    json_t *array = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        json_t *object = json_object();
        json_out_set_text(object, "level", fitness_level_name(finding->level));
        json_out_set_text(object, "code", finding->code);
        json_out_set_text(object, "what", finding->what);
        json_out_set_text(object, "advice", finding->advice);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *watched_json(const struct fitness_input *in)
{
    json_t *object = json_object();
    json_out_set_number(object, "steal", in->steal);
    json_out_set_number(object, "throttled", in->throttled);
    json_out_set_number(object, "busy", in->busy);
    json_out_set_number(object, "speed_spread", in->speed_spread);
    return object;
}

static int write_json(const struct command_call *call, const struct fitness_input *in,
                      const struct findings *findings, struct err *e)
{
    const struct doctor_values *v = call->options.values;
    json_t *root = json_object();
    json_out_set_text(root, "schema", "pqc-bench-doctor/1");
    json_object_set_new(root, "fit", json_boolean(!findings_has_fault(findings)));
    json_object_set_new(root, "host", facts_json(&in->host));
    json_object_set_new(root, "links", json_boolean(in->link_problem == NULL));
    json_object_set_new(root, "watched", watched_json(in));
    json_object_set_new(root, "backends", json_out_backends(call->context->backends));
    json_object_set_new(root, "findings", findings_json(findings));
    if (json_out_write(root, v->json, e) != 0)
        return err_add_context(e, "--json");
    return 0;
}

static void add_share(struct text *out, const char *name, double share)
{
    if (isnan(share))
        return;
    text_addf(out, "  %-*s%.1f %%\n", NAME_COLUMNS, name, share * 100);
}

static void add_facts(struct text *out, const struct fitness_input *in)
{
    struct fact facts[FACTS_MAX];
    size_t count = facts_list(&in->host, facts);
    text_add(out, "This machine\n");
    for (size_t i = 0; i < count; i++) {
        text_addf(out, "  %-*s", NAME_COLUMNS, facts[i].name);
        text_add_harmless(out, facts[i].text);
        text_add(out, "\n");
    }
    text_addf(out, "  %-*s%s\n", NAME_COLUMNS, "links",
              in->link_problem == NULL ? "yes" : "no");
    add_share(out, "steal", in->steal);
    add_share(out, "throttled", in->throttled);
    add_share(out, "busy", in->busy);
    add_share(out, "speed_spread", in->speed_spread);
}

static const char *level_colour(enum fitness_level level)
{
    static const char *const colours[FITNESS_LEVELS] = {"\033[31m", "\033[33m", "\033[36m"};
    return colours[level];
}

static void add_findings(struct text *out, const struct findings *findings)
{
    bool has_colours = terminal_has_colours(STDOUT_FILENO);
    text_add(out, "\nFindings\n");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->finding[i];
        text_addf(out, "  %s%-8s%s", has_colours ? level_colour(finding->level) : "",
                  fitness_level_name(finding->level), has_colours ? "\033[0m" : "");
        text_addf(out, "%s: ", finding->code);
        text_add_harmless(out, finding->what);
        text_addf(out, "\n          -> %s\n", finding->advice);
    }
    if (findings->count == 0)
        text_add(out, "  none\n");
}

static void show(const struct command_call *call, const struct fitness_input *in,
                 const struct findings *findings)
{
    struct text out = {0};
    char *backends = build_version_text(call->context->backends);
    add_facts(&out, in);
    text_addf(&out, "\n%s", backends);
    add_findings(&out, findings);
    text_addf(&out, "\n%s\n",
              findings_has_fault(findings) ? "Not fit: results taken here would be worthless."
              : findings->count > 0        ? "Fit, with what is said above."
                                           : "Fit.");
    fwrite(text_str(&out), 1, out.length, stdout);
    free(backends);
    text_free(&out);
}

static int check(struct command_call *call, struct err *e)
{
    const struct doctor_values *v = call->options.values;
    if (v->json && outfile_probe(v->json, e) != 0)
        return err_add_context(e, "--json");
    return 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct doctor_values *v = call->options.values;
    struct fitness_input in;
    struct findings findings;
    struct err link[2] = {ERR_INIT, ERR_INIT};
    int failed = 0;
    look(call, &in, link);
    fitness_judge(&in, &findings);
    if (v->json)
        failed = write_json(call, &in, &findings, e);
    if (!failed && !(v->json && outfile_is_stdout(v->json)))
        show(call, &in, &findings);
    if (!failed && findings_has_fault(&findings))
        failed = err_set(e, ERR_FAILED, "this machine is not fit to measure on: %s",
                         findings.finding[0].what);
    findings_free(&findings);
    return failed;
}

static const char *const examples[] = {"pqc-bench doctor", "pqc-bench doctor --json -", NULL};

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "Tell whether this machine is fit to measure on, and what to change",
    .options = rows,
    .values_size = sizeof(struct doctor_values),
    .examples = examples,
    .details = "A fault makes results worthless, and the exit status 1. A warning makes them "
               "noisier or smaller than they need be. A note says what cannot be had here. "
               "Nothing is changed.",
    .check = check,
    .run = run,
};
