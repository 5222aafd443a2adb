/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL: the library as a whole, its contexts and groups. */
#include <stdio.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include "tls/openssl_names.h"
#include "tls/ssl_library.h"

#define GROUP_TEXT_BYTES (TLS_GROUPS_MAX * (TLS_GROUPS_NAME_MAX + 2u))

int library_start(void)
{
    /* The machine's openssl.cnf must not change what is measured, and no handler may run
     * at exit while threads of ours still work. The default provider is linked in. */
    uint64_t options = OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT;
    return OPENSSL_init_ssl(options, NULL) == 1 ? 0 : -1;
}

void library_facts(struct library_facts *out)
{
    *out = (struct library_facts){
        .name = "openssl",
        .version = OpenSSL_version(OPENSSL_VERSION_STRING),
        .description = OpenSSL_version(OPENSSL_VERSION),
        .features = TLS_FEATURE_TLS12 | TLS_FEATURE_RESUMPTION | TLS_FEATURE_EARLY_DATA |
                    TLS_FEATURE_SHARE_CHOICE | TLS_FEATURE_KEY_LOG | TLS_FEATURE_MESSAGES |
                    TLS_FEATURE_TUPLES,
    };
}

static EVP_PKEY *make_key(const char *algorithm, const char *parameter)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, algorithm, NULL);
    if (ctx != NULL && EVP_PKEY_keygen_init(ctx) > 0 &&
        (parameter == NULL || EVP_PKEY_CTX_set_group_name(ctx, parameter) > 0))
        EVP_PKEY_keygen(ctx, &key);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

bool library_has_group(const struct tls_group *group)
{
    const struct openssl_group *known = openssl_group_find(group->name);
    if (known == NULL)
        return false;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool has = ctx != NULL && SSL_CTX_set1_groups_list(ctx, group->name) == 1;
    SSL_CTX_free(ctx);
    EVP_PKEY *key = has ? make_key(known->algorithm, known->parameter) : NULL;
    EVP_PKEY_free(key);
    ERR_clear_error();
    return key != NULL;
}

EVP_PKEY *library_key_make(const char *kind)
{
    const struct openssl_kind *known = openssl_kind_find(kind);
    if (known == NULL)
        return NULL;
    if (known->bits > 0)
        return EVP_PKEY_Q_keygen(NULL, NULL, known->algorithm, known->bits);
    return make_key(known->algorithm, known->curve);
}

bool library_has_certificate(const char *kind)
{
    const struct openssl_kind *known = openssl_kind_find(kind);
    if (known == NULL)
        return false;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool has = ctx != NULL && SSL_CTX_set1_sigalgs_list(ctx, known->tls_signature) == 1;
    SSL_CTX_free(ctx);
    if (has && known->bits == 0) { /* an RSA key takes a second */
        EVP_PKEY *key = library_key_make(kind);
        has = key != NULL;
        EVP_PKEY_free(key);
    }
    ERR_clear_error();
    return has;
}

/* A list around DEFAULT is the library's to read: does a hello come of it? */
static bool makes_a_hello(const char *groups)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    SSL *ssl = NULL;
    if (ctx != NULL && SSL_CTX_set1_groups_list(ctx, groups) == 1)
        ssl = SSL_new(ctx);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    bool makes = false;
    if (ssl != NULL && in != NULL && out != NULL) {
        BIO_set_mem_eof_return(in, -1);
        SSL_set_bio(ssl, in, out);
        in = out = NULL;
        makes = SSL_get_error(ssl, SSL_connect(ssl)) == SSL_ERROR_WANT_READ;
    }
    BIO_free(in);
    BIO_free(out);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    ERR_clear_error();
    return makes;
}

int library_groups_check(const struct tls_config *config, const struct tls_group_list *list,
                         struct err *e)
{
    if (list->is_default && !makes_a_hello(config->groups))
        return err_set(e, ERR_UNSUPPORTED, "groups=%s: this list is not supported by %s",
                       config->groups, ssl_backend_label());
    return 0;
}

/* Written anew from what was understood, so that the library cannot read it otherwise. */
static void write_groups(const struct tls_group_list *list, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && at < size; i++) {
        const struct tls_group_entry *entry = &list->entry[i];
        const char *joint = i == 0 ? "" : entry->tuple != entry[-1].tuple ? "/" : ":";
        at += (size_t)snprintf(text + at, size - at, "%s%s%s", joint,
                               entry->has_share ? "*" : "", entry->group->name);
    }
}

int library_groups_apply(SSL_CTX *ctx, const struct tls_config *config,
                         const struct tls_group_list *list, struct err *e)
{
    char text[GROUP_TEXT_BYTES];
    if (!list->is_default)
        write_groups(list, text, sizeof(text));
    if (!SSL_CTX_set1_groups_list(ctx, list->is_default ? config->groups : text))
        return ssl_err(e, ERR_UNSUPPORTED, "groups");
    return 0;
}

const char *library_group_name(const SSL *ssl)
{
    const char *name = SSL_get0_group_name((SSL *)ssl);
    if (name == NULL)
        return "";
    const struct tls_group *group = tls_group_by_name(name);
    return group != NULL ? group->name : name;
}

bool library_is_version_reason(int reason)
{
    return reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_SSL_VERSION ||
           reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_VERSION_TOO_LOW ||
           reason == SSL_R_VERSION_TOO_HIGH || reason == SSL_R_BAD_PROTOCOL_VERSION_NUMBER ||
           reason == SSL_R_UNSUPPORTED_SSL_VERSION || reason == SSL_R_UNKNOWN_SSL_VERSION;
}

int library_options_check(const struct tls_config *config, struct err *e)
{
    (void)config;
    (void)e;
    return 0;
}

static int apply_early_data(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    uint32_t bytes = config->early_data_bytes;
    if (!SSL_CTX_set_max_early_data(ctx, bytes) || !SSL_CTX_set_recv_max_early_data(ctx, bytes))
        return ssl_err(e, ERR_UNSUPPORTED, "early data");
    if (config->no_anti_replay)
        SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);
    return 0;
}

int library_options_apply(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION |
                                 SSL_OP_NO_TX_CERTIFICATE_COMPRESSION);
    if (config->role == TLS_ROLE_CLIENT)
        return 0;
    if (!SSL_CTX_set_num_tickets(ctx, config->tickets))
        return ssl_err(e, ERR_UNSUPPORTED, "tickets");
    bool is_stateful = config->early_data_bytes > 0 && !config->no_anti_replay;
    if (config->tickets > 0 && !is_stateful)
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
    return config->early_data_bytes > 0 ? apply_early_data(ctx, config, e) : 0;
}
