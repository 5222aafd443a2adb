/* SPDX-License-Identifier: Apache-2.0 */
/* pqc-bench list: what each TLS library can do, and what the commands take. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/command.h"
#include "cli/json_out.h"
#include "cli/outfile.h"
#include "run/arm.h"
#include "tls/groups.h"

#define BACKENDS_SHOWN 16u /* columns; more backends than that are not installed */

struct list_values {
    char *json;
};

static const struct option rows[] = {
    {.name = "json",
     .kind = OPTION_TEXT,
     .argument = "FILE",
     .help = "write the lists as JSON; - is standard output, in place of the table",
     .offset = offsetof(struct list_values, json)},
    {.name = NULL},
};

static bool has_name(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (text_same_name(*names, name))
            return true;
    return false;
}

/* One of a backend's lists. */
typedef const char *const *names_of(const struct tls_backend *backend);

static const char *const *groups_of(const struct tls_backend *backend)
{
    return backend->groups;
}

static const char *const *certificates_of(const struct tls_backend *backend)
{
    return backend->certificates;
}

static const char *const *ciphers_of(const struct tls_backend *backend)
{
    return backend->ciphers;
}

/* Every name that any backend has, each once, in the order they are met; malloc'd. */
static const char **all_names(const struct tls_backends *backends, names_of *names,
                              size_t *count)
{
    const char **all = mem_alloc_zeroed(1, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < backends->count; i++)
        for (const char *const *at = names(backends->backend[i]); *at; at++) {
            if (has_name(all, *at))
                continue;
            all = mem_resize(all, *count + 2, sizeof *all);
            all[(*count)++] = *at;
            all[*count] = NULL;
        }
    return all;
}

static void add_heading(struct text *out, const char *what, const struct tls_backends *backends)
{
    text_addf(out, "%-44s", what);
    for (size_t i = 0; i < backends->count && i < BACKENDS_SHOWN; i++) {
        char name[96];
        text_addf(out, "  %s", tls_backend_full_name(backends->backend[i], name, sizeof name));
    }
    text_add(out, "\n");
}

static void add_marks(struct text *out, const struct tls_backends *backends, names_of *names,
                      const char *name)
{
    for (size_t i = 0; i < backends->count && i < BACKENDS_SHOWN; i++) {
        char full[96];
        const struct tls_backend *backend = backends->backend[i];
        size_t width = strlen(tls_backend_full_name(backend, full, sizeof full));
        bool is_last = i + 1 == backends->count;
        text_addf(out, "  %-*s", is_last ? 0 : (int)width,
                  has_name(names(backend), name) ? "yes" : "-");
    }
    text_add(out, "\n");
}

/* "X25519MLKEM768  0x11EC 1216+1120": code point and the shares' bytes. */
static void add_group_name(struct text *out, const char *name)
{
    const struct tls_group *group = tls_group_by_name(name);
    if (group)
        text_addf(out, "  %-22s0x%04X%6u +%5u  ", name, group->code, group->client_share_bytes,
                  group->server_share_bytes);
    else
        text_addf(out, "  %-42s", name);
}

static void add_table(struct text *out, const char *what, const struct tls_backends *backends,
                      names_of *names)
{
    size_t count;
    const char **all = all_names(backends, names, &count);
    add_heading(out, what, backends);
    for (size_t i = 0; i < count; i++) {
        if (names == groups_of)
            add_group_name(out, all[i]);
        else
            text_addf(out, "  %-42s", all[i]);
        add_marks(out, backends, names, all[i]);
    }
    text_add(out, "\n");
    free(all);
}

static void add_commands(struct text *out)
{
    text_add(out, "Commands\n");
    for (const struct command *const *at = command_all(); *at; at++)
        text_addf(out, "  %-10s%s\n", (*at)->name, (*at)->summary);
}

static void show(const struct tls_backends *backends)
{
    struct text out = {0};
    if (backends->count == 0)
        text_add(&out, "No TLS backend found.\n\n");
    add_table(&out, "Groups (code point, bytes of both shares)", backends, groups_of);
    add_table(&out, "Certificates", backends, certificates_of);
    add_table(&out, "Ciphers", backends, ciphers_of);
    add_commands(&out);
    fwrite(text_str(&out), 1, out.length, stdout);
    text_free(&out);
}

static json_t *names_json(const char *const *names)
{
    json_t *array = json_array();
    for (; *names; names++)
        json_array_append_new(array, json_string(*names));
    return array;
}

static json_t *backends_json(const struct tls_backends *backends)
{
    json_t *array = json_out_backends(backends);
    for (size_t i = 0; i < backends->count; i++) {
        json_t *object = json_array_get(array, i);
        const struct tls_backend *backend = backends->backend[i];
        json_object_set_new(object, "groups", names_json(backend->groups));
        json_object_set_new(object, "certificates", names_json(backend->certificates));
        json_object_set_new(object, "ciphers", names_json(backend->ciphers));
    }
    return array;
}

static json_t *groups_json(void)
{
    json_t *array = json_array();
    for (const struct tls_group *const *at = tls_group_all(); *at; at++) {
        json_t *object = json_object();
        json_out_set_text(object, "name", (*at)->name);
        json_out_set_text(object, "aliases", (*at)->aliases);
        json_out_set_number(object, "code", (*at)->code);
        json_out_set_number(object, "client_share_bytes", (*at)->client_share_bytes);
        json_out_set_number(object, "server_share_bytes", (*at)->server_share_bytes);
        json_object_set_new(object, "hybrid", json_boolean((*at)->is_hybrid));
        json_object_set_new(object, "post_quantum", json_boolean((*at)->is_post_quantum));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *option_json(const struct option *row)
{
    json_t *object = json_object();
    char letter[] = {row->letter, '\0'};
    json_out_set_text(object, "name", row->name);
    json_out_set_text(object, "letter", row->letter ? letter : NULL);
    json_out_set_text(object, "kind", option_kind_name(row->kind));
    json_out_set_text(object, "argument", row->argument);
    json_out_set_text(object, "default", row->initial);
    json_out_set_text(object, "help", row->help);
    json_out_set_text(object, "choices", row->choices);
    if (row->low != 0 || row->high != 0) {
        json_out_set_number(object, "low", row->low);
        json_out_set_number(object, "high", row->high);
    }
    json_object_set_new(object, "scenario", json_boolean(!row->is_command_line_only));
    return object;
}

static json_t *commands_json(void)
{
    json_t *array = json_array();
    for (const struct command *const *at = command_all(); *at; at++) {
        json_t *object = json_object(), *options = json_array();
        json_out_set_text(object, "name", (*at)->name);
        json_out_set_text(object, "summary", (*at)->summary);
        json_out_set_text(object, "operands", (*at)->operands);
        json_out_set_text(object, "section", (*at)->section);
        for (const struct option *row = (*at)->options; row->name; row++)
            json_array_append_new(options, option_json(row));
        json_object_set_new(object, "options", options);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *arm_keys_json(void)
{
    json_t *array = json_array();
    for (const struct arm_key *key = arm_keys(); key->name; key++) {
        json_t *object = json_object();
        json_out_set_text(object, "name", key->name);
        json_out_set_text(object, "argument", key->argument);
        json_out_set_text(object, "default", key->initial);
        json_out_set_text(object, "help", key->help);
        json_array_append_new(array, object);
    }
    return array;
}

static int check(struct command_call *call, struct err *e)
{
    const struct list_values *v = call->options.values;
    if (v->json && outfile_probe(v->json, e) != 0)
        return err_add_context(e, "--json");
    return 0;
}

static int run(struct command_call *call, struct err *e)
{
    const struct list_values *v = call->options.values;
    const struct tls_backends *backends = call->context->backends;
    if (v->json) {
        json_t *root = json_object();
        json_out_set_text(root, "schema", "pqc-bench-list/1");
        json_object_set_new(root, "backends", backends_json(backends));
        json_object_set_new(root, "groups", groups_json());
        json_object_set_new(root, "arm_keys", arm_keys_json());
        json_object_set_new(root, "commands", commands_json());
        if (json_out_write(root, v->json, e) != 0)
            return err_add_context(e, "--json");
    }
    if (!(v->json && outfile_is_stdout(v->json)))
        show(backends);
    return 0;
}

static const char *const examples[] = {"pqc-bench list", "pqc-bench list --json -", NULL};

const struct command cmd_list = {
    .name = "list",
    .summary =
        "List the groups, certificates and ciphers of each TLS library, and the commands",
    .options = rows,
    .values_size = sizeof(struct list_values),
    .examples = examples,
    .check = check,
    .run = run,
};
