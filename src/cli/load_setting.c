/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/load_setting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "run/load_client.h"

#define ROOTS_MOST_BYTES (4u << 20)
#define SYSTEM_ROOTS "/etc/ssl/certs/ca-certificates.crt"

static const char *const default_arms[] = {
    "classical: groups=X25519",
    "pq: groups=X25519MLKEM768",
    "control: groups=X25519",
};

int load_setting_check_link(const char *text, struct err *e)
{
    struct link_spec spec;
    return link_spec_parse(text, &spec, e);
}

int load_setting_fill(struct command_call *call, struct load_setting *s, struct err *e)
{
    const struct option *rows = call->options.rows;
    struct cpu_set allowed, client, server;
    char text[32];
    const bool has_arms = s->arms.count > 0;
    for (size_t i = 0; !has_arms && i < sizeof default_arms / sizeof default_arms[0]; i++)
        if (options_set(&call->options, options_find(rows, "arm"), default_arms[i], e) != 0)
            return -1;
    snprintf(text, sizeof text, "%" PRIu64, rng_fresh_seed());
    if (!options_is_given(&call->options, "seed") &&
        options_set(&call->options, options_find(rows, "seed"), text, e) != 0)
        return -1;
    cpu_allowed(&allowed);
    (void)cpu_split(&allowed, &client, &server);
    if (s->client_cores.count == 0)
        s->client_cores = s->target != NULL ? allowed : client;
    if (s->server_cores.count == 0 && s->target == NULL)
        s->server_cores = server;
    if (s->workers == 0)
        s->workers = s->client_cores.count;
    return 0;
}

/* The link ends at a server that we start, whose end it makes. */
static int check_link(const struct load_setting *s, struct err *e)
{
    if (s->link != NULL && s->target != NULL)
        return err_set(
            e, ERR_USAGE,
            "--link: leads to a server that is started here; not with --target %.80s",
            s->target);
    if (s->link != NULL && s->source != NULL)
        return err_set(e, ERR_USAGE, "--link: has one address at each end; not with --source");
    return 0;
}

static int read_target(const char *text, struct address_name *out, struct err *e)
{
    if (address_parse(text, ADDRESS_CONNECT, 0, out, e) != 0)
        return err_add_context(e, "--target");
    return 0;
}

static int check_values(const struct load_setting *s, struct err *e)
{
    struct address_name agent, target;
    if (s->max_in_flight < s->workers)
        return err_set(e, ERR_USAGE,
                       "--max-in-flight: %" PRIu64 " for %" PRIu64 " workers; each needs one",
                       s->max_in_flight, s->workers);
    if (s->path != NULL && s->path[0] != '/')
        return err_set(e, ERR_USAGE, "--path: '%.80s' does not begin with /", s->path);
    if (s->target != NULL && read_target(s->target, &target, e) != 0)
        return -1;
    if (s->agent != NULL && s->target == NULL)
        return err_set(
            e, ERR_USAGE,
            "--agent: needs --target; a server that load starts is watched by itself");
    if (s->agent != NULL && address_parse(s->agent, ADDRESS_CONNECT, 0, &agent, e) != 0)
        return err_add_context(e, "--agent");
    return check_link(s, e);
}

struct arm_list *load_setting_read_arms(const struct command_call *call,
                                        const struct load_setting *s, bool may_ask,
                                        struct err *e)
{
    struct address_name name;
    const struct predict_target target = {.target = s->target != NULL ? &name : NULL,
                                          .sni = s->sni,
                                          .backends = call->context->backends,
                                          .may_ask = may_ask};
    if (s->target != NULL && read_target(s->target, &name, e) != 0)
        return NULL;
    struct arm_list *arms = predict_options_read_arms(&s->predict, &target, &s->arms, e);
    if (arms != NULL)
        load_choose_client(arms, s->target == NULL && s->peer.server == PEER_NONE,
                           call->context->backends);
    return arms;
}

int load_setting_check(const struct command_call *call, const struct load_setting *s,
                       struct err *e)
{
    if (check_values(s, e) != 0)
        return -1;
    struct arm_list *arms = load_setting_read_arms(call, s, false, e);
    const int failed = !arms || peer_choice_check(&s->peer, s->target, arms, e) != 0 ||
                       arm_options_plan(arms, call->context->backends, e) != 0;
    free(arms);
    return failed ? -1 : 0;
}

int load_inputs_open(const struct load_setting *s, struct load_inputs *in, struct err *e)
{
    *in = (struct load_inputs){0};
    if (s->source != NULL && address_parse_range(s->source, &in->sources, e) != 0)
        return err_add_context(e, "--source");
    if (s->link != NULL && link_spec_parse(s->link, &in->link, e) != 0)
        return err_add_context(e, "--link");
    if (peer_choice_find(&s->peer, &in->peer, e) != 0)
        return -1;
    in->roots =
        file_read_text("", s->roots != NULL ? s->roots : SYSTEM_ROOTS, ROOTS_MOST_BYTES);
    if (s->roots != NULL && in->roots == NULL)
        return err_set(e, ERR_SYSTEM, "--roots: %.200s: cannot be read", s->roots);
    return 0;
}

void load_inputs_close(struct load_inputs *in)
{
    free(in->roots);
    in->roots = NULL;
}

void load_setting_apply(const struct command_call *call, const struct load_setting *s,
                        const struct load_inputs *in, struct load_options *out)
{
    out->backends = call->context->backends;
    out->stop = call->context->stop;
    out->arrivals = (enum schedule_kind)s->arrivals;
    out->warmup_ns = s->warmup_ns;
    out->grace_ns = s->grace_ns;
    out->timeout_ns = s->timeout_ns;
    out->workers = (unsigned)s->workers;
    out->is_spinning = s->is_spinning;
    out->max_in_flight = (unsigned)s->max_in_flight;
    out->close = (enum conn_close)s->close;
    out->sources = in->sources.count > 0 ? &in->sources : NULL;
    out->target = s->target;
    out->agent = s->agent;
    out->peer = in->peer.kind != PEER_NONE ? &in->peer : NULL;
    out->server_name = s->sni;
    out->path = s->path;
    out->roots_pem = in->roots;
    out->link = in->link.mtu_bytes > 0 ? &in->link : NULL;
    out->seed = s->seed;
    out->client_cores = s->client_cores;
    out->server_cores = s->server_cores;
}
