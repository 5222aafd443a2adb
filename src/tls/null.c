/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/text.h"
#include "tls/null_conn.h"

#define NULL_VERSION "1"
#define WHO "null " NULL_VERSION

/* ---- names and sizes ---- */

static const char *const group_names[] = {
    "X25519",
    "X448",
    "secp256r1",
    "secp384r1",
    "secp521r1",
    "ffdhe2048",
    "ffdhe3072",
    "MLKEM512",
    "MLKEM768",
    "MLKEM1024",
    "SecP256r1MLKEM768",
    "X25519MLKEM768",
    "SecP384r1MLKEM1024",
    NULL,
};

static const char client_groups[] =
    "*X25519MLKEM768:*X25519:secp256r1:X448:secp384r1:secp521r1:ffdhe2048:ffdhe3072";

static const char server_groups[] =
    "X25519:X448:secp256r1:secp384r1:secp521r1:ffdhe2048:ffdhe3072:MLKEM512:MLKEM768:MLKEM1024:"
    "SecP256r1MLKEM768:X25519MLKEM768:SecP384r1MLKEM1024";

static const char *const certificate_names[] = {
    "ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072", "ed25519",
    "mldsa44",    "mldsa65",    "mldsa87",  NULL,
};

static const char *const cipher_names[] = {
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
    NULL,
};

static const char all_ciphers[] =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";

const struct null_kind null_kinds[] = {
    {"ecdsa-p256", "ecdsa_secp256r1_sha256", 0x0403, 91, 71},
    {"ecdsa-p384", "ecdsa_secp384r1_sha384", 0x0503, 120, 103},
    {"rsa-2048", "rsa_pss_rsae_sha256", 0x0804, 294, 256},
    {"rsa-3072", "rsa_pss_rsae_sha256", 0x0804, 422, 384},
    {"ed25519", "ed25519", 0x0807, 44, 64},
    {"mldsa44", "mldsa44", 0x0904, 1334, 2420},
    {"mldsa65", "mldsa65", 0x0905, 1974, 3309},
    {"mldsa87", "mldsa87", 0x0906, 2614, 4627},
    {NULL, NULL, 0, 0, 0},
};

const struct null_cipher null_ciphers[] = {
    {"TLS_AES_256_GCM_SHA384", 0x1302, 48},
    {"TLS_CHACHA20_POLY1305_SHA256", 0x1303, 32},
    {"TLS_AES_128_GCM_SHA256", 0x1301, 32},
    {NULL, 0, 0},
};

const uint8_t null_retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
    0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
    0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

const struct null_cipher *null_cipher_by_code(unsigned code)
{
    const struct null_cipher *cipher = null_ciphers;
    while (cipher->name != NULL && cipher->code != code)
        cipher++;
    return cipher->name != NULL ? cipher : NULL;
}

const struct null_kind *null_kind_by_name(const char *name)
{
    const struct null_kind *kind = null_kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0)
        kind++;
    return kind->name != NULL ? kind : NULL;
}

const struct null_kind *null_kind_by_signature(unsigned scheme, size_t bytes)
{
    const struct null_kind *kind = null_kinds;
    while (kind->name != NULL && (kind->scheme != scheme || kind->signature_bytes != bytes))
        kind++;
    return kind->name != NULL ? kind : NULL;
}

/* ---- configurations ---- */

static int read_groups(const struct tls_config *config, struct tls_group_list *out,
                       struct err *e)
{
    const char *initial = config->role == TLS_ROLE_SERVER ? server_groups : client_groups;
    const char *text = config->groups != NULL ? config->groups : initial;
    if (tls_groups_parse(text, out, e) != 0)
        return -1;
    if (out->is_default && out->count > 0)
        return err_set(e, ERR_UNSUPPORTED,
                       "groups '%.200s': DEFAULT with further groups: not supported by " WHO,
                       text);
    if (out->is_default && tls_groups_parse(client_groups, out, e) != 0)
        return -1;
    if (config->role == TLS_ROLE_SERVER && out->tuples > 1)
        return err_set(e, ERR_UNSUPPORTED, "groups '%.200s': tuples: not supported by " WHO,
                       text);
    return tls_groups_restrict(out, group_names, WHO, e);
}

static const struct null_cipher *find_cipher(const char *name, size_t length)
{
    for (const struct null_cipher *cipher = null_ciphers; cipher->name != NULL; cipher++)
        if (strlen(cipher->name) == length && strncmp(cipher->name, name, length) == 0)
            return cipher;
    return NULL;
}

static int read_ciphers(const char *text, struct tls_context *out, struct err *e)
{
    out->ciphers = 0;
    if (text == NULL)
        text = all_ciphers;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ":");
        const struct null_cipher *cipher = find_cipher(at, length);
        if (cipher == NULL)
            return err_set(e, ERR_UNSUPPORTED, "cipher '%.*s': not supported by " WHO,
                           length < 100 ? (int)length : 100, at);
        for (size_t i = 0; i < out->ciphers; i++)
            if (out->cipher[i] == cipher)
                return err_set(e, ERR_USAGE, "ciphers '%.200s': %s twice", text, cipher->name);
        out->cipher[out->ciphers++] = cipher;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

static int check_features(const struct tls_config *config, struct err *e)
{
    if (config->version_max == TLS_VERSION_12)
        return err_set(e, ERR_UNSUPPORTED, "TLS 1.2: not supported by " WHO);
    if (config->resume)
        return err_set(e, ERR_UNSUPPORTED, "resumption: not supported by " WHO);
    if (config->early_data_bytes > 0)
        return err_set(e, ERR_UNSUPPORTED, "early data: not supported by " WHO);
    if (config->tickets > TLS_NULL_TICKETS_MAX)
        return err_set(e, ERR_UNSUPPORTED, "%u tickets: " WHO " sends at most %u",
                       config->tickets, TLS_NULL_TICKETS_MAX);
    return 0;
}

static int check_work(const struct tls_null_work *work, struct err *e)
{
    if (work->client_spin_ns > TLS_NULL_SPIN_MAX_NS ||
        work->server_spin_ns > TLS_NULL_SPIN_MAX_NS || work->delay_ns > TLS_NULL_SPIN_MAX_NS)
        return err_set(e, ERR_USAGE, "work of null: more than a second for a handshake");
    if (!(work->delay_share >= 0.0 && work->delay_share <= 1.0))
        return err_set(e, ERR_USAGE, "work of null: the share delayed is not in 0..1");
    return 0;
}

/* Fill the part of a context that a configuration decides. */
static int read_config(const struct tls_config *config, struct tls_context *out, struct err *e)
{
    if (check_features(config, e) != 0 || check_work(&config->null_work, e) != 0 ||
        read_groups(config, &out->groups, e) != 0 || read_ciphers(config->ciphers, out, e) != 0)
        return -1;
    out->role = config->role;
    out->has_own_order = config->groups != NULL;
    out->verify = config->verify;
    out->verify_name = config->verify_name;
    out->tickets = config->tickets;
    out->work = config->null_work;
    return 0;
}

static int null_config_check(const struct tls_config *config, struct err *e)
{
    struct tls_context unused = {0};
    return read_config(config, &unused, e);
}

/* ---- identities ---- */

#define CERTIFICATE_BEGIN "-----BEGIN CERTIFICATE-----\n"
#define CERTIFICATE_END "-----END CERTIFICATE-----\n"
#define LEAF_WORD "null-leaf"
#define KEY_WORD "null-key"

static int make_token(char token[NULL_TOKEN_LENGTH + 1], struct err *e)
{
    uint8_t bytes[NULL_TOKEN_LENGTH / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return err_set_errno(e, "identity: random bytes");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int check_host(const char *host, struct err *e)
{
    size_t length = strlen(host);
    for (const char *at = host; *at != '\0'; at++)
        if (!isgraph((unsigned char)*at))
            length = 0;
    if (length == 0 || length > NULL_NAME_MAX)
        return err_set(e, ERR_USAGE, "identity: '%.100s' is no host name", host);
    return 0;
}

static int null_identity_make(const struct tls_identity_spec *spec, struct tls_identity *out,
                              struct err *e)
{
    char token[NULL_TOKEN_LENGTH + 1];
    struct text key = {0}, chain = {0}, root = {0};
    if (null_kind_by_name(spec->kind) == NULL)
        return err_set(e, ERR_UNSUPPORTED, "certificate %.100s: not supported by " WHO,
                       spec->kind);
    if (check_host(spec->host, e) != 0 || make_token(token, e) != 0)
        return -1;
    text_addf(&key, "-----BEGIN PRIVATE KEY-----\n%s %s\n-----END PRIVATE KEY-----\n", KEY_WORD,
              token);
    text_addf(&chain, CERTIFICATE_BEGIN "%s %s %u %s %s\n" CERTIFICATE_END, LEAF_WORD,
              spec->kind, (unsigned)spec->chain, token, spec->host);
    if (spec->chain == TLS_CHAIN_INTERMEDIATE)
        text_addf(&chain, CERTIFICATE_BEGIN "null-intermediate %s\n" CERTIFICATE_END, token);
    if (spec->chain == TLS_CHAIN_SELF_SIGNED || spec->chain == TLS_CHAIN_BARE)
        text_add(&root, text_str(&chain));
    else
        text_addf(&root, CERTIFICATE_BEGIN "null-root %s\n" CERTIFICATE_END, token);
    *out = (struct tls_identity){text_take(&key), text_take(&chain), text_take(&root)};
    return 0;
}

static int read_identity(const struct tls_identity *identity, struct tls_context *out,
                         struct err *e)
{
    char kind[32], key_token[NULL_TOKEN_LENGTH + 1];
    unsigned chain;
    if (identity == NULL || identity->chain_pem == NULL || identity->key_pem == NULL)
        return err_set(e, ERR_USAGE, "server certificate: none given");
    const char *leaf = strstr(identity->chain_pem, LEAF_WORD " ");
    const char *key = strstr(identity->key_pem, KEY_WORD " ");
    if (leaf == NULL || key == NULL ||
        sscanf(leaf, LEAF_WORD " %31s %u %32s %255s", kind, &chain, out->token, out->host) !=
            4 ||
        sscanf(key, KEY_WORD " %32s", key_token) != 1 || null_kind_by_name(kind) == NULL ||
        strlen(out->token) != NULL_TOKEN_LENGTH || chain > TLS_CHAIN_BARE)
        return err_set(e, ERR_UNSUPPORTED, "server certificate: not one that null made");
    if (strcmp(key_token, out->token) != 0)
        return err_set(e, ERR_USAGE, "server certificate: the key is another one's");
    out->kind = null_kind_by_name(kind);
    out->chain = (enum tls_chain)chain;
    return 0;
}

/* ---- contexts and connections ---- */

static void null_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    null_writer_free(&context->scratch);
    free(context->roots);
    free(context);
}

static struct tls_context *null_context_new(const struct tls_config *config, struct err *e)
{
    struct tls_context *context = mem_alloc_zeroed(1, sizeof(*context));
    if (read_config(config, context, e) != 0 ||
        (config->role == TLS_ROLE_SERVER && read_identity(config->identity, context, e) != 0)) {
        null_context_free(context);
        return NULL;
    }
    context->roots = mem_copy_string(config->roots_pem);
    return context;
}

/* RFC 6066, 3: no literal address and no trailing dot in a server name. */
static void copy_server_name(struct tls_conn *conn, const char *name)
{
    uint8_t address[sizeof(struct in6_addr)];
    size_t length = name != NULL ? strlen(name) : 0;
    conn->server_name[0] = '\0';
    if (length > 1 && name[length - 1] == '.')
        length--;
    if (length == 0 || length > NULL_NAME_MAX)
        return;
    memcpy(conn->server_name, name, length);
    conn->server_name[length] = '\0';
    conn->has_sni = inet_pton(AF_INET, conn->server_name, address) != 1 &&
                    inet_pton(AF_INET6, conn->server_name, address) != 1;
}

static struct tls_conn *null_conn_new(struct tls_context *context, const struct tls_connect *c)
{
    struct tls_conn *conn = malloc(sizeof(*conn));
    if (conn == NULL)
        return NULL;
    memset(conn, 0, offsetof(struct tls_conn, rx));
    conn->context = context;
    conn->io = c->io;
    conn->observer = c->observer;
    conn->state = NULL_STATE_HELLO;
    if (context->role == TLS_ROLE_CLIENT) {
        conn->state = NULL_STATE_SEND_HELLO;
        conn->counter = context->counter++;
        copy_server_name(conn, c->server_name);
    }
    return conn;
}

static void null_conn_free(struct tls_conn *conn)
{
    if (conn == NULL)
        return;
    null_writer_free(&conn->sending);
    null_writer_free(&conn->messages);
    free(conn);
}

static enum tls_status step(struct tls_conn *conn)
{
    struct null_message_in message;
    if (conn->state == NULL_STATE_SEND_HELLO)
        return null_client_hello(conn);
    enum tls_status status = null_message_next(conn, &message);
    if (status != TLS_STATUS_OK)
        return status;
    return conn->context->role == TLS_ROLE_CLIENT ? null_client_take(conn, &message)
                                                  : null_server_take(conn, &message);
}

/* Could a side still have to spin?  Then its CPU time counts from the first call on. */
static bool may_spin(const struct tls_conn *conn)
{
    if (conn->context->role == TLS_ROLE_CLIENT)
        return conn->context->work.client_spin_ns > 0 && conn->state < NULL_STATE_DONE;
    return conn->state == NULL_STATE_HELLO;
}

static enum tls_status run_steps(struct tls_conn *conn)
{
    for (;;) {
        enum tls_status status = null_flush(conn);
        if (status != TLS_STATUS_OK || conn->state == NULL_STATE_DONE)
            return status;
        status = step(conn);
        if (status != TLS_STATUS_OK)
            return status;
    }
}

static enum tls_status null_handshake(struct tls_conn *conn)
{
    if (conn->state == NULL_STATE_FAILED)
        return TLS_STATUS_FAILED;
    if (may_spin(conn))
        conn->cpu_start_ns = clock_thread_cpu_ns() - conn->cpu_used_ns;
    enum tls_status status = run_steps(conn);
    if (may_spin(conn))
        conn->cpu_used_ns = clock_thread_cpu_ns() - conn->cpu_start_ns;
    return status;
}

static void null_info(const struct tls_conn *conn, struct tls_info *out)
{
    *out = (struct tls_info){
        .version = TLS_VERSION_13,
        .group = conn->group != NULL ? conn->group->name : "",
        .cipher = conn->cipher != NULL ? conn->cipher->name : "",
        .signature = conn->kind != NULL ? conn->kind->signature : "",
        .is_hrr = conn->is_hrr,
    };
}

static void null_failure(const struct tls_conn *conn, struct tls_failure *out)
{
    *out = conn->failure;
}

/* ---- what null has not ---- */

static enum tls_status null_write_early(struct tls_conn *conn, const void *buf, size_t len,
                                        size_t *count)
{
    (void)buf;
    (void)len;
    *count = 0;
    return null_fail(conn, TLS_CAUSE_LOCAL, 0, "early data: not supported by " WHO);
}

static enum tls_status null_read_early(struct tls_conn *conn, void *buf, size_t len,
                                       size_t *count)
{
    (void)buf;
    (void)len;
    *count = 0;
    return conn->state == NULL_STATE_FAILED ? TLS_STATUS_FAILED : TLS_STATUS_CLOSED;
}

static struct tls_session *null_session_take(struct tls_conn *conn)
{
    (void)conn;
    return NULL;
}

static void null_session_free(struct tls_session *session)
{
    (void)session;
}

static uint32_t null_session_number(const struct tls_session *session)
{
    (void)session;
    return 0;
}

static struct tls_primitive_op *null_primitive_new(enum tls_primitive what, const char *name,
                                                   struct err *e)
{
    (void)what;
    err_set(e, ERR_UNSUPPORTED, "primitives of %.100s: not supported by " WHO, name);
    return NULL;
}

static int null_primitive_run(struct tls_primitive_op *op)
{
    (void)op;
    return -1;
}

static void null_primitive_free(struct tls_primitive_op *op)
{
    (void)op;
}

static const struct tls_backend null_backend = {
    .abi = TLS_BACKEND_ABI,
    .name = "null",
    .version = NULL_VERSION,
    .description = "null: no cryptography, a known time",
    .features = TLS_FEATURE_SHARE_CHOICE | TLS_FEATURE_MESSAGES,
    .groups = group_names,
    .certificates = certificate_names,
    .ciphers = cipher_names,
    .config_check = null_config_check,
    .identity_make = null_identity_make,
    .context_new = null_context_new,
    .context_free = null_context_free,
    .conn_new = null_conn_new,
    .conn_free = null_conn_free,
    .handshake = null_handshake,
    .read = null_read,
    .write = null_write,
    .write_early = null_write_early,
    .read_early = null_read_early,
    .shutdown = null_shutdown,
    .info = null_info,
    .failure = null_failure,
    .session_take = null_session_take,
    .session_free = null_session_free,
    .session_early_data_bytes = null_session_number,
    .session_lifetime_s = null_session_number,
    .primitive_new = null_primitive_new,
    .primitive_run = null_primitive_run,
    .primitive_free = null_primitive_free,
};

const struct tls_backend *tls_null_backend(void)
{
    return &null_backend;
}
