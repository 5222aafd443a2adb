/* SPDX-License-Identifier: Apache-2.0 */
#include "lab.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITIES_MAX 64u

const struct tls_backend *lab;

static struct made {
    const char *kind;
    enum tls_chain chain;
    struct tls_identity identity;
} made[IDENTITIES_MAX];
static size_t made_count;

const struct tls_backend *lab_load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    union {
        void *data;
        tls_backend_entry *entry;
    } symbol = {dlsym(handle, TLS_BACKEND_SYMBOL)};
    const struct tls_backend *backend = symbol.data != NULL ? symbol.entry() : NULL;
    if (backend == NULL || backend->abi != TLS_BACKEND_ABI) {
        fprintf(stderr, "%s: no backend in it\n", path);
        exit(1);
    }
    return backend;
}

void lab_fini(void)
{
    for (size_t i = 0; i < made_count; i++)
        tls_identity_free(&made[i].identity);
    made_count = 0;
}

bool lab_has(enum tls_feature feature)
{
    return (lab->features & feature) != 0;
}

bool lab_is_listed(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

const char *lab_label(void)
{
    static char label[64];
    snprintf(label, sizeof(label), "%s %s", lab->name, lab->version);
    return label;
}

const struct tls_identity *lab_identity(const char *kind, enum tls_chain chain)
{
    for (size_t i = 0; i < made_count; i++)
        if (strcmp(made[i].kind, kind) == 0 && made[i].chain == chain)
            return &made[i].identity;
    assert_true(made_count < IDENTITIES_MAX);
    struct err e = ERR_INIT;
    struct tls_identity_spec spec = {kind, chain, HOST};
    struct made *fresh = &made[made_count];
    *fresh = (struct made){.kind = kind, .chain = chain};
    if (lab->identity_make(&spec, &fresh->identity, &e) != 0)
        fail_msg("%s", e.text);
    made_count++;
    return &fresh->identity;
}

struct spec spec_new(void)
{
    struct spec spec = {
        .client = {.role = TLS_ROLE_CLIENT, .verify = true, .verify_name = true},
        .server = {.role = TLS_ROLE_SERVER},
        .name = HOST,
    };
    spec_version(&spec, TLS_VERSION_13, TLS_VERSION_13);
    spec_groups(&spec, "X25519", "X25519");
    spec_use(&spec, lab_identity(lab->certificates[0], TLS_CHAIN_SELF_SIGNED));
    return spec;
}

void spec_use(struct spec *spec, const struct tls_identity *identity)
{
    spec->server.identity = identity;
    spec->client.roots_pem = identity->root_pem;
}

void spec_groups(struct spec *spec, const char *client, const char *server)
{
    spec->client.groups = client;
    spec->server.groups = server;
}

void spec_version(struct spec *spec, enum tls_version client, enum tls_version server)
{
    spec->client.version_min = spec->client.version_max = client;
    spec->server.version_min = spec->server.version_max = server;
}

void spec_resume(struct spec *spec, unsigned tickets)
{
    spec->client.resume = true;
    spec->server.tickets = tickets;
}

static struct tls_context *open_context(const struct tls_config *config)
{
    struct err e = ERR_INIT;
    if (lab->config_check(config, &e) != 0)
        fail_msg("config_check: %s", e.text);
    struct tls_context *context = lab->context_new(config, &e);
    if (context == NULL)
        fail_msg("context_new: %s", e.text);
    return context;
}

static void open_connections(struct pair *pair, const struct spec *spec)
{
    pump_init(&pair->pump, lab, lab);
    assert_true(pump_connect(&pair->pump, pair->context[CLIENT], pair->context[SERVER],
                             spec->name, spec->session));
}

void pair_open(struct pair *pair, const struct spec *spec)
{
    pair->context[CLIENT] = open_context(&spec->client);
    pair->context[SERVER] = open_context(&spec->server);
    open_connections(pair, spec);
}

void pair_again(struct pair *pair, const struct spec *spec)
{
    pump_fini(&pair->pump);
    open_connections(pair, spec);
}

void pair_close(struct pair *pair)
{
    pump_fini(&pair->pump);
    for (int side = 0; side < SIDES; side++)
        lab->context_free(pair->context[side]);
}

void pair_shake(struct pair *pair, const struct spec *spec)
{
    pair_open(pair, spec);
    if (pump_handshake(&pair->pump))
        return;
    struct tls_failure client = pair_failure(pair, CLIENT), server = pair_failure(pair, SERVER);
    fail_msg("client: status %d cause %d %s; server: status %d cause %d %s",
             pair->pump.status[CLIENT], client.cause, client.detail, pair->pump.status[SERVER],
             server.cause, server.detail);
}

struct tls_info pair_info(const struct pair *pair, int side)
{
    struct tls_info info;
    memset(&info, 0xff, sizeof(info)); /* every field must be filled */
    lab->info(pair->pump.conn[side], &info);
    assert_non_null(info.group);
    assert_non_null(info.cipher);
    assert_non_null(info.signature);
    return info;
}

struct tls_failure pair_failure(const struct pair *pair, int side)
{
    struct tls_failure failure;
    memset(&failure, 0xff, sizeof(failure));
    lab->failure(pair->pump.conn[side], &failure);
    return failure;
}

struct tls_session *pair_session(struct pair *pair)
{
    uint8_t buf[16];
    enum tls_status status;
    pump_read_all(&pair->pump, CLIENT, buf, sizeof(buf), &status);
    assert_int_equal(status, TLS_STATUS_WANT_READ);
    return lab->session_take(pair->pump.conn[CLIENT]);
}

void assert_contains(const char *text, const char *part)
{
    if (strcasestr(text, part) == NULL)
        fail_msg("\"%s\" does not name \"%s\"", text, part);
}

void assert_refused(const struct tls_config *config, enum err_kind kind, const char *thing)
{
    struct err checked = ERR_INIT, made_of = ERR_INIT;
    if (lab->config_check(config, &checked) == 0)
        fail_msg("%s is not refused", thing);
    if (checked.kind != kind)
        fail_msg("%s: refused with kind %d: %s", thing, checked.kind, checked.text);
    assert_contains(checked.text, thing);
    if (kind == ERR_UNSUPPORTED)
        assert_contains(checked.text, "not supported by");
    assert_null(lab->context_new(config, &made_of));
    assert_string_equal(checked.text, made_of.text);
}

void assert_talks(struct pair *pair)
{
    for (int side = 0; side < SIDES; side++) {
        uint8_t buf[16];
        enum tls_status status;
        assert_true(pump_write_all(&pair->pump, side, "hello", 5));
        assert_int_equal(pump_read_all(&pair->pump, 1 - side, buf, 5, &status), 5);
        assert_memory_equal(buf, "hello", 5);
    }
}

unsigned seen_count(const struct pair *pair, int side, enum tls_direction direction,
                    unsigned type)
{
    const struct seen *seen = &pair->pump.seen[side];
    unsigned count = 0;
    for (unsigned i = 0; i < seen->count; i++)
        count += seen->message[i].direction == direction && seen->message[i].type == type;
    return count;
}

size_t seen_bytes(const struct pair *pair, int side, enum tls_direction direction)
{
    const struct seen *seen = &pair->pump.seen[side];
    size_t sum = 0;
    for (unsigned i = 0; i < seen->count; i++)
        sum += seen->message[i].direction == direction ? seen->message[i].bytes : 0;
    return sum;
}
