/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of a load run that is made before the first arrival. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/rng.h"
#include "base/file.h"
#include "base/text.h"
#include "net/socket.h"
#include "run/load_parts.h"
#include "run/peer_config.h"

#define CONNECT_TRIAL_MS 2000
#define TARGET_ADDRESSES 16u
#define SHARD_ALIGNMENT 64u

/* ---- the target ---- */

static bool accepts(const struct address *a)
{
    const int fd = socket_connect(a, NULL);
    if (fd < 0)
        return false;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    const bool is_up = poll(&p, 1, CONNECT_TRIAL_MS) == 1 && socket_error(fd) == 0;
    close(fd);
    return is_up;
}

/* The first address that accepts a connection; where none does, the first: its failures are
 * data. */
static int resolve(const struct address_name *name, struct address *out, struct err *e)
{
    struct address found[TARGET_ADDRESSES];
    size_t count;
    if (address_resolve(name, found, TARGET_ADDRESSES, &count, e) != 0)
        return -1;
    *out = found[0];
    for (size_t i = 0; count > 1 && i < count; i++)
        if (accepts(&found[i])) {
            *out = found[i];
            break;
        }
    return 0;
}

static int set_external_target(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    struct address_name name;
    struct address address;
    if (address_parse(o->target, ADDRESS_CONNECT, 0, &name, e) != 0 ||
        resolve(&name, &address, e) != 0)
        return err_add_context(e, "--target");
    for (size_t i = 0; i < o->arms->count; i++)
        l->target[i] = address;
    const char *host = name.is_literal ? name.host : name.server_name;
    snprintf(l->host, sizeof(l->host), strchr(host, ':') != NULL ? "[%s]" : "%s", host);
    /* An address is no name: it is not sent as SNI. */
    if (o->server_name == NULL)
        snprintf(l->server_name, sizeof(l->server_name), "%s", name.server_name);
    return 0;
}

static void set_embedded_target(struct load *l)
{
    const in_addr_t host =
        l->link != NULL ? inet_addr(link_host(LINK_SERVER)) : htonl(INADDR_LOOPBACK);
    for (size_t i = 0; i < l->options->arms->count; i++) {
        l->target[i] =
            (struct address){.u.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = host},
                             .length = sizeof(struct sockaddr_in)};
        address_set_port(&l->target[i], l->child.port[l->endpoints->of_arm[i]]);
    }
    snprintf(l->host, sizeof(l->host), "%s", ENDPOINT_HOST);
    if (l->options->server_name == NULL)
        snprintf(l->server_name, sizeof(l->server_name), "%s", ENDPOINT_HOST);
}

static const struct arm_list *server_arms(const struct load *l)
{
    return l->peer_arms != NULL ? l->peer_arms : l->options->arms;
}

/* "/bytes/N" -> N, where that is a body that a peer can be given; else 0. */
static uint64_t bytes_of_path(const char *path)
{
    static const char prefix[] = "/bytes/";
    uint64_t bytes = 0;
    const char *end = strncmp(path, prefix, strlen(prefix)) == 0
                          ? file_scan_u64(path + strlen(prefix), &bytes)
                          : NULL;
    return end != NULL && *end == '\0' && bytes <= PEER_PAYLOAD_MAX_BYTES ? bytes : 0;
}

/* Bodies that the arms will ask for, each once. */
static size_t list_payloads(const struct load *l, uint64_t *out)
{
    const struct load_options *o = l->options;
    size_t count = 0;
    for (size_t i = 0; i < o->arms->count; i++) {
        const uint64_t bytes =
            o->path != NULL ? bytes_of_path(o->path) : o->arms->arm[i].payload_bytes;
        size_t k = 0;
        while (k < count && out[k] != bytes)
            k++;
        if (k == count && bytes > 0)
            out[count++] = bytes;
    }
    return count;
}

static int start_child(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    uint64_t payload_bytes[ARMS_MAX];
    l->endpoints = mem_alloc_zeroed(1, sizeof(*l->endpoints));
    if (endpoints_of_arms(server_arms(l), o->backends, l->endpoints, e) != 0)
        return -1;
    const struct child_options options = {.program = o->program,
                                          .endpoints = l->endpoints,
                                          .cores = o->server_cores,
                                          .address = l->link != NULL ? link_host(LINK_SERVER)
                                                                     : "127.0.0.1",
                                          .link = l->link,
                                          .peer = o->peer,
                                          .payload_bytes = payload_bytes,
                                          .payloads = list_payloads(l, payload_bytes)};
    if (child_start(&l->child, &options, e) != 0)
        return -1;
    l->has_child = true;
    set_embedded_target(l);
    return o->peer != NULL ? load_agent_adopt(l, e) : 0;
}

static int set_target(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    if (o->server_name != NULL)
        snprintf(l->server_name, sizeof(l->server_name), "%s", o->server_name);
    if (o->target != NULL)
        return set_external_target(l, e);
    return start_child(l, e);
}

/* ---- what is asked ---- */

static int write_request(struct load *l, size_t i, struct err *e)
{
    const struct load_options *o = l->options;
    const struct arm *arm = &o->arms->arm[i];
    char path[HTTP_PATH_BYTES];
    if (o->path != NULL)
        snprintf(path, sizeof(path), "%s", o->path);
    else if (arm->payload_bytes > 0)
        snprintf(path, sizeof(path), "/bytes/%" PRIu64, arm->payload_bytes);
    else
        snprintf(path, sizeof(path), "/");
    const char *host = l->server_name[0] != '\0' ? l->server_name : l->host;
    /* A server that is to close may do so when it has answered early data, ahead of the
     * client's Finished: then no ticket ever comes. */
    const bool asks_close = arm->early_data_bytes == 0;
    if (http_request_write(path, host, asks_close, l->request[i], LOAD_REQUEST_BYTES) == 0)
        return err_set(e, ERR_USAGE, "--path: too long");
    const size_t bytes = strlen(l->request[i]);
    if (arm->early_data_bytes > 0 && arm->early_data_bytes < bytes)
        return err_set(
            e, ERR_USAGE,
            "arm %s: early-data=%u: the request does not fit (accepted: %zu or more)",
            arm->name, arm->early_data_bytes, bytes);
    return 0;
}

/* ---- workers ---- */

bool load_shares_cores(const struct load_options *o)
{
    for (size_t i = 0; i < o->client_cores.count; i++)
        for (size_t k = 0; k < o->server_cores.count; k++)
            if (o->client_cores.core[i] == o->server_cores.core[k])
                return true;
    return false;
}

struct conn_arm *load_new_arms(size_t count)
{
    struct conn_arm *arms = aligned_alloc(SHARD_ALIGNMENT, count * sizeof(*arms));
    if (arms != NULL)
        memset(arms, 0, count * sizeof(*arms));
    return arms;
}

int load_make_arm(struct load *l, size_t i, const struct arm_plan *plan, struct conn_arm *out,
                  struct err *e)
{
    const struct arm *arm = &l->options->arms->arm[i];
    struct tls_config config = plan->client_config;
    if (l->has_child)
        config.roots_pem = l->child.root_pem[l->endpoints->of_arm[i]];
    else
        config.roots_pem = l->options->roots_pem;
    shard_init(&out->shard);
    out->backend = plan->client;
    out->target = l->target[i];
    out->server_name = arm->sni && l->server_name[0] != '\0' ? l->server_name : NULL;
    if (out->server_name == NULL)
        config.verify_name = false;
    out->request = l->request[i];
    out->request_bytes = strlen(l->request[i]);
    tickets_init(&out->tickets, plan->client, arm->resume);
    out->wants_early = arm->early_data_bytes > 0;
    out->context = plan->client->context_new(&config, e);
    return out->context != NULL ? 0 : err_add_context(e, "arm %s", arm->name);
}

static void record(void *arg, unsigned arm, const struct shard_record *r)
{
    struct load_records *records = arg;
    if (records->count < records->capacity) {
        records->record[records->count] = *r;
        records->arm[records->count++] = arm;
    }
}

static void make_records(struct load *l, size_t i)
{
    const struct load_options *o = l->options;
    struct load_records *records = &l->records[i];
    const double s = (double)o->duration_ns / 1e9;
    records->capacity = (size_t)(o->rate_per_s * s * 1.2 / (double)l->workers) + 1000;
    records->record = mem_alloc_zeroed(records->capacity, sizeof(*records->record));
    records->arm = mem_alloc_zeroed(records->capacity, sizeof(*records->arm));
    l->worker[i].setting.on_record = record;
    l->worker[i].setting.record_arg = records;
}

/* Polling takes the core from whoever is on it, too: the server or another worker. */
static enum worker_wait wait_of(const struct load *l)
{
    const struct load_options *o = l->options;
    if (o->is_spinning)
        return WORKER_SPINS;
    const bool is_alone =
        l->workers <= o->client_cores.count && !(l->has_child && load_shares_cores(o));
    return is_alone ? WORKER_POLLS_EARLY : WORKER_SLEEPS;
}

static int make_worker(struct load *l, size_t i, struct err *e)
{
    const struct load_options *o = l->options;
    struct worker *w = &l->worker[i];
    struct cpu_set core = {.count = 0};
    if (o->client_cores.count > 0)
        core = (struct cpu_set){.count = 1,
                                .core = {o->client_cores.core[i % o->client_cores.count]}};
    if (worker_init(w, (unsigned)i, (unsigned)l->workers, &core, wait_of(l), e) != 0)
        return -1;
    w->stop = o->stop;
    w->cancel = &l->cancel;
    w->setting.close = o->close;
    w->setting.link = l->link;
    w->setting.key_log = o->key_log;
    w->setting.sources = o->sources;
    w->setting.next_source = i;
    w->arms = (unsigned)o->arms->count;
    w->arm = load_new_arms(w->arms);
    if (w->arm == NULL)
        return err_set_errno(e, "worker");
    for (size_t k = 0; k < w->arms; k++)
        if (load_make_arm(l, k, &l->plan[k], &w->arm[k], e) != 0)
            return -1;
    if (l->records != NULL)
        make_records(l, i);
    return 0;
}

/* Descriptors for what may be in flight, as far as the hard limit goes. */
static void raise_file_limit(const struct load_options *o)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)o->max_in_flight + 256;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

/* nginx and HAProxy switch OpenSSL's protection against replay off. */
static void echo_arm(struct load *l, size_t i, struct result_pairs *out)
{
    struct arm arm = l->options->arms->arm[i];
    char message[160];
    if (l->options->peer != NULL && arm.anti_replay &&
        l->plan[i].server_config.early_data_bytes > 0) {
        arm.anti_replay = false;
        snprintf(message, sizeof(message),
                 "anti-replay=off: %s takes the early data of a ticket as often as it comes",
                 peer_name(l->options->peer->kind));
        result_add_problem(l->result, RESULT_NOTE, "no-anti-replay", arm.name, 0, message);
    }
    arm_echo(&arm, out);
}

static void add_arms(struct load *l)
{
    char name[96];
    for (size_t i = 0; i < l->options->arms->count; i++) {
        struct result_arm *out = result_add_arm(l->result, l->options->arms->arm[i].name);
        echo_arm(l, i, &out->spec);
        result_set_text(&out->client_backend,
                        tls_backend_full_name(l->plan[i].client, name, sizeof(name)));
        if (l->options->peer != NULL)
            result_set_text(&out->server_backend, l->result->server.tls_library);
        else if (l->has_child)
            result_set_text(&out->server_backend,
                            tls_backend_full_name(l->plan[i].server, name, sizeof(name)));
    }
}

/* Someone else's server: its TLS library is what the arms' servers are planned with, or the
 * nearest to it that there is. */
static int name_peer(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    const struct peer_program *peer = o->peer;
    char library[64], series[64];
    if (peer == NULL)
        return 0;
    snprintf(library, sizeof(library), "openssl-%s", peer->tls_version);
    result_set_text(&l->result->server.name, peer_name(peer->kind));
    result_set_text(&l->result->server.version, peer->version);
    result_set_text(&l->result->server.tls_library, library);
    const char *dot = strchr(peer->tls_version, '.');
    const int length = (int)(dot - peer->tls_version) + 1 + (int)strcspn(dot + 1, ".");
    snprintf(series, sizeof(series), "openssl-%.*s", length, peer->tls_version);
    const bool has_series = tls_backends_find(o->backends, series, NULL) != NULL;
    if (!has_series && tls_backends_find(o->backends, "openssl", e) == NULL)
        return err_add_context(e, "%s: certificates are made with OpenSSL",
                               peer_name(peer->kind));
    l->peer_arms = mem_alloc_zeroed(1, sizeof(*l->peer_arms));
    *l->peer_arms = *o->arms;
    for (size_t i = 0; i < l->peer_arms->count; i++)
        snprintf(l->peer_arms->arm[i].server_backend,
                 sizeof(l->peer_arms->arm[i].server_backend), "%s",
                 has_series ? series : "openssl");
    return 0;
}

int load_set_up(struct load *l, struct err *e)
{
    const struct load_options *o = l->options;
    const size_t arms = o->arms->count;
    l->child.control_fd = -1;
    l->plan = mem_alloc_zeroed(arms, sizeof(*l->plan));
    if (name_peer(l, e) != 0)
        return -1;
    for (size_t i = 0; i < arms; i++)
        if (arm_plan(&server_arms(l)->arm[i], o->backends, &l->plan[i], e) != 0)
            return -1;
    raise_file_limit(o);
    if (load_link_open(l, rng_derive_seed(o->seed, LOAD_STREAM_LINK), e) != 0)
        return -1;
    if (set_target(l, e) != 0 || load_agent_find(l, e) != 0)
        return -1;
    for (size_t i = 0; i < arms; i++)
        if (write_request(l, i, e) != 0)
            return -1;
    l->workers = o->workers > 0 ? o->workers : o->client_cores.count;
    if (l->workers == 0)
        l->workers = 1;
    if (o->samples != NULL)
        l->records = mem_alloc_zeroed(l->workers, sizeof(*l->records));
    l->worker = mem_alloc_zeroed(l->workers, sizeof(*l->worker));
    for (size_t i = 0; i < l->workers; i++)
        if (make_worker(l, i, e) != 0)
            return -1;
    add_arms(l);
    return 0;
}

void load_take_down(struct load *l)
{
    for (size_t i = 0; l->worker != NULL && i < l->workers; i++) {
        struct worker *w = &l->worker[i];
        for (unsigned k = 0; w->arm != NULL && k < w->arms; k++)
            if (w->arm[k].backend != NULL)
                conn_arm_fini(&w->arm[k]);
        free(w->arm);
        if (w->buffers != NULL)
            worker_fini(w);
        if (l->records != NULL) {
            free(l->records[i].record);
            free(l->records[i].arm);
        }
    }
    free(l->worker);
    free(l->records);
    child_stop(&l->child);
    (void)link_close(l->link, NULL);
    free(l->endpoints);
    free(l->plan);
    free(l->peer_arms);
}
