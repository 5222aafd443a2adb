/* SPDX-License-Identifier: Apache-2.0 */
#include "run/peer_config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NGINX_EARLY_MAX_BYTES 16384u /* NGX_SSL_BUFSIZE */
#define HAPROXY_BUFFER_BYTES 16384u
#define HAPROXY_RESERVE_BYTES 2048u /* headers, and what tune.maxrewrite keeps free */
#define HAPROXY_EARLY_MAX_BYTES 14336u
#define HAPROXY_PAYLOAD_MAX_BYTES (UINT64_C(4) << 20)

void peer_file_name(size_t number, const char *what, char *buf, size_t size)
{
    snprintf(buf, size, "%zu.%s", number, what);
}

size_t peer_config_assign(enum peer_kind kind, struct peer_listener *listener, size_t count)
{
    size_t processes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < i && kind == PEER_HAPROXY &&
               listener[k].config->tickets != listener[i].config->tickets)
            k++;
        listener[i].process = k < i ? listener[k].process : processes++;
    }
    return processes;
}

static bool is_ours(const struct peer_config *c, size_t i)
{
    return c->listener[i].process == c->process;
}

/* Of the first; where it matters, all have the same. */
static unsigned tickets_of(const struct peer_config *c)
{
    size_t i = 0;
    while (!is_ours(c, i))
        i++;
    return c->listener[i].config->tickets;
}

static bool is_tls13(const struct tls_config *t)
{
    return t->version_max == TLS_VERSION_13;
}

static size_t workers(const struct peer_config *c)
{
    return c->cores.count > 0 ? c->cores.count : 1;
}

/* ---- nginx ---- */

/* A mask in binary for each worker, the core's bit in front: "1 100" for cores 0 and 2. */
static void add_nginx_cores(const struct peer_config *c, struct text *out)
{
    for (size_t i = 0; i < c->cores.count; i++) {
        text_add(out, i == 0 ? "worker_cpu_affinity 1" : " 1");
        for (unsigned k = 0; k < c->cores.core[i]; k++)
            text_add(out, "0");
    }
    text_add(out, c->cores.count > 0 ? ";\n" : "");
}

static void add_nginx_folders(const struct peer_config *c, struct text *out)
{
    static const struct {
        const char *word;
        enum peer_module module;
    } folders[] = {
        {"proxy", PEER_MODULE_PROXY},
        {"fastcgi", PEER_MODULE_FASTCGI},
        {"uwsgi", PEER_MODULE_UWSGI},
        {"scgi", PEER_MODULE_SCGI},
    };
    text_addf(out, "    client_body_temp_path %s/body;\n", c->folder);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if ((c->program->modules & (unsigned)folders[i].module) != 0)
            text_addf(out, "    %s_temp_path %s/%s;\n", folders[i].word, c->folder,
                      folders[i].word);
}

static void add_nginx_tls(const struct tls_config *t, struct text *out)
{
    text_addf(out, "        ssl_protocols %s;\n", is_tls13(t) ? "TLSv1.3" : "TLSv1.2");
    if (t->groups != NULL)
        text_addf(out, "        ssl_ecdh_curve %s;\n", t->groups);
    text_addf(out,
              is_tls13(t) ? "        ssl_conf_command Ciphersuites %s;\n"
                          : "        ssl_ciphers %s;\n",
              t->ciphers);
    text_addf(out, "        ssl_session_cache %s;\n", t->tickets > 0 ? "none" : "off");
    text_addf(out, "        ssl_session_tickets %s;\n", t->tickets > 0 ? "on" : "off");
    if (is_tls13(t))
        text_addf(out, "        ssl_conf_command NumTickets %u;\n", t->tickets);
    text_addf(out, "        ssl_early_data %s;\n", t->early_data_bytes > 0 ? "on" : "off");
}

static void add_nginx_server(const struct peer_config *c, size_t i, struct text *out)
{
    char chain[32], key[32];
    peer_file_name(i, PEER_CHAIN_FILE, chain, sizeof chain);
    peer_file_name(i, PEER_KEY_FILE, key, sizeof key);
    text_addf(out, "    server {\n        listen %s ssl;\n", c->listener[i].address);
    text_addf(out, "        ssl_certificate %s/%s;\n", c->folder, chain);
    text_addf(out, "        ssl_certificate_key %s/%s;\n", c->folder, key);
    add_nginx_tls(c->listener[i].config, out);
    text_add(out, "        location = / { return 200 \"OK\\n\"; }\n");
    text_addf(out, "        location /" PEER_PAYLOAD_FOLDER "/ { root %s; }\n", c->folder);
    text_add(out, "        location / { return 404; }\n    }\n");
}

static void write_nginx(const struct peer_config *c, struct text *out)
{
    text_addf(out, "daemon off;\nworker_processes %zu;\n", workers(c));
    add_nginx_cores(c, out);
    if (c->is_root)
        text_add(out, "user root;\n");
    text_addf(out, "pid %s/pid;\nerror_log stderr warn;\n", c->folder);
    text_addf(out, "events { worker_connections %u; }\n", c->connections);
    text_add(out, "http {\n    access_log off;\n    default_type text/plain;\n");
    add_nginx_folders(c, out);
    for (size_t i = 0; i < c->listeners; i++)
        add_nginx_server(c, i, out);
    text_add(out, "}\n");
}

/* ---- HAProxy ---- */

static void add_haproxy_cores(const struct peer_config *c, struct text *out)
{
    for (size_t i = 0; i < c->cores.count; i++)
        text_addf(out, "    cpu-map 1/%zu %u\n", i + 1, c->cores.core[i]);
}

static void add_haproxy_global(const struct peer_config *c, struct text *out)
{
    uint64_t payload_bytes = 0;
    for (size_t i = 0; i < c->payloads; i++)
        if (c->payload_bytes[i] > payload_bytes)
            payload_bytes = c->payload_bytes[i];
    text_addf(out, "global\n    nbthread %zu\n    maxconn %u\n", workers(c), c->connections);
    add_haproxy_cores(c, out);
    /* An answer of its own must fit in one buffer. */
    if (payload_bytes > HAPROXY_BUFFER_BYTES - HAPROXY_RESERVE_BYTES)
        text_addf(out, "    tune.bufsize %" PRIu64 "\n", payload_bytes + HAPROXY_RESERVE_BYTES);
    text_add(out, "    tune.ssl.cachesize 0\n"); /* as the embedded server, which has none */
    text_add(out, "defaults\n    mode http\n    timeout client 30s\n"
                  "    timeout http-request 30s\n    timeout http-keep-alive 30s\n");
}

static void add_haproxy_bind(const struct peer_config *c, size_t i, struct text *out)
{
    const struct tls_config *t = c->listener[i].config;
    const char *version = is_tls13(t) ? "TLSv1.3" : "TLSv1.2";
    char both[32];
    peer_file_name(i, PEER_BOTH_FILE, both, sizeof both);
    text_addf(out, "    bind fd@%d ssl crt %s/%s", c->listener[i].fd, c->folder, both);
    text_addf(out, " ssl-min-ver %s ssl-max-ver %s", version, version);
    text_addf(out, " %s %s", is_tls13(t) ? "ciphersuites" : "ciphers", t->ciphers);
    if (t->groups != NULL)
        text_addf(out, " curves %s", t->groups);
    text_addf(out, "%s%s\n", t->tickets == 0 ? " no-tls-tickets" : "",
              t->early_data_bytes > 0 ? " allow-0rtt" : "");
}

static void write_haproxy(const struct peer_config *c, struct text *out)
{
    static const char answer[] = "    http-request return status 200 content-type text/plain";
    add_haproxy_global(c, out);
    for (size_t i = 0; i < c->listeners; i++) {
        if (!is_ours(c, i))
            continue;
        text_addf(out, "frontend endpoint-%zu\n", i);
        add_haproxy_bind(c, i, out);
        text_addf(out, "%s string \"OK\\n\" if { path / }\n", answer);
        for (size_t k = 0; k < c->payloads; k++)
            text_addf(out,
                      "%s file %s/" PEER_PAYLOAD_FOLDER "/%" PRIu64
                      " if { path /" PEER_PAYLOAD_FOLDER "/%" PRIu64 " }\n",
                      answer, c->folder, c->payload_bytes[k], c->payload_bytes[k]);
        text_add(out, "    http-request return status 404\n");
    }
}

void peer_config_write(const struct peer_config *c, struct text *out)
{
    if (c->program->kind == PEER_HAPROXY)
        write_haproxy(c, out);
    else
        write_nginx(c, out);
}

/* A section of this name is read by every program that makes a TLS context. */
void peer_config_write_openssl(const struct peer_config *c, struct text *out)
{
    text_addf(out,
              "openssl_conf = everything\n[everything]\nssl_conf = tls\n[tls]\n"
              "system_default = servers\n[servers]\nNumTickets = %u\n",
              tickets_of(c));
}

/* ---- what cannot be told ---- */

static int refuse(const struct arm *arm, const char *key, enum peer_kind kind, const char *why,
                  struct err *e)
{
    char value[ARM_TEXT_MAX + 1u];
    return err_set(e, ERR_UNSUPPORTED, "arm %s: %s=%s: not with --server %s, %s", arm->name,
                   key, arm_get(arm, key, value, sizeof value), peer_name(kind), why);
}

static int check_embedded_keys(enum peer_kind kind, const struct arm *arm, struct err *e)
{
    static const char *const keys[] = {"null-client", "null-server", "null-delay",
                                       "null-delay-share"};
    char value[ARM_TEXT_MAX + 1u], initial[ARM_TEXT_MAX + 1u];
    struct arm fresh;
    arm_init(&fresh, arm->name);
    if (strcmp(arm->backend, "null") == 0)
        return refuse(arm, "backend", kind, "which speaks TLS", e);
    if (arm->server_backend[0] != '\0')
        return refuse(arm, "server-backend", kind, "which brings its own TLS library", e);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        arm_get(arm, keys[i], value, sizeof value);
        if (strcmp(value, arm_get(&fresh, keys[i], initial, sizeof initial)) != 0)
            return refuse(arm, keys[i], kind, "which speaks TLS", e);
    }
    return 0;
}

int peer_check_arm(enum peer_kind kind, const struct arm *arm, struct err *e)
{
    const bool is_haproxy = kind == PEER_HAPROXY;
    const uint32_t early_max_bytes =
        is_haproxy ? HAPROXY_EARLY_MAX_BYTES : NGINX_EARLY_MAX_BYTES;
    const uint64_t payload_max_bytes =
        is_haproxy ? HAPROXY_PAYLOAD_MAX_BYTES : PEER_PAYLOAD_MAX_BYTES;
    char why[80];
    if (check_embedded_keys(kind, arm, e) != 0)
        return -1;
    if (arm->early_data_bytes > early_max_bytes) {
        snprintf(why, sizeof why, "which accepts at most %" PRIu32 " bytes", early_max_bytes);
        return refuse(arm, "early-data", kind, why, e);
    }
    if (arm->payload_bytes > payload_max_bytes) {
        snprintf(why, sizeof why, "which is given at most %" PRIu64 " bytes",
                 payload_max_bytes);
        return refuse(arm, "payload", kind, why, e);
    }
    return 0;
}
