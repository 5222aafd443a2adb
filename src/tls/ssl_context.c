/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

#define FFDHE_FIRST 0x0100u
#define FFDHE_LAST 0x01ffu
#define SECP256R1 0x0017u

/* TLS 1.2 here means ECDHE: hybrids and KEMs are of TLS 1.3, and we list no DHE cipher. */
static bool works_in_12(const struct tls_group *group)
{
    return !group->is_post_quantum && (group->code < FFDHE_FIRST || group->code > FFDHE_LAST);
}

static int check_groups_for_12(const struct tls_config *config,
                               const struct tls_group_list *list, struct err *e)
{
    if (config->version_max != TLS_VERSION_12 || list->is_default)
        return 0;
    for (size_t i = 0; i < list->count; i++)
        if (works_in_12(list->entry[i].group))
            return 0;
    return err_set(e, ERR_UNSUPPORTED, "groups=%s: none of them is supported by TLS 1.2",
                   config->groups);
}

/* The list as far as this library goes; only with config->groups. */
static int read_groups(const struct tls_config *config, struct tls_group_list *list,
                       struct err *e)
{
    if (tls_groups_parse(config->groups, list, e) != 0 ||
        tls_groups_restrict(list, ssl_backend_self()->groups, ssl_backend_label(), e) != 0 ||
        check_groups_for_12(config, list, e) != 0)
        return -1;
    return library_groups_check(config, list, e);
}

static int check_versions(const struct tls_config *config, struct err *e)
{
    if (config->version_min != TLS_VERSION_ANY && config->version_max != TLS_VERSION_ANY &&
        config->version_min > config->version_max)
        return err_set(e, ERR_USAGE, "tls: the lowest version is above the highest");
    if (config->early_data_bytes > 0 && config->version_max == TLS_VERSION_12)
        return err_set(e, ERR_UNSUPPORTED, "early data: not supported by TLS 1.2");
    if (config->identity != NULL && config->version_max == TLS_VERSION_12 &&
        !ssl_pem_works_in_12(config->identity))
        return err_set(e, ERR_UNSUPPORTED,
                       "certificate: its kind of key is not supported by TLS 1.2");
    return 0;
}

int ssl_config_check(const struct tls_config *config, struct err *e)
{
    struct tls_group_list list;
    if (check_versions(config, e) != 0 || ssl_ciphers_check(config, e) != 0 ||
        library_options_check(config, e) != 0)
        return -1;
    return config->groups == NULL ? 0 : read_groups(config, &list, e);
}

static int apply_versions(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    enum tls_version least =
        config->version_min != TLS_VERSION_ANY ? config->version_min : TLS_VERSION_12;
    if (!SSL_CTX_set_min_proto_version(ctx, (uint16_t)least) ||
        (config->version_max != TLS_VERSION_ANY &&
         !SSL_CTX_set_max_proto_version(ctx, (uint16_t)config->version_max)))
        return ssl_err(e, ERR_UNSUPPORTED, "tls version");
    return 0;
}

/* Two ways to ask for the impossible that a server answers with a bare alert 40. */
static const char *hint_at(const struct tls_config *config, const struct tls_group_list *list)
{
    bool has_any = list->is_default, has_curve = list->is_default;
    if (config->role == TLS_ROLE_SERVER || config->version_min == TLS_VERSION_13)
        return NULL;
    for (size_t i = 0; i < list->count; i++) {
        has_any |= works_in_12(list->entry[i].group);
        has_curve |= list->entry[i].group->code == SECP256R1;
    }
    if (!has_any)
        return "no group that is offered exists in TLS 1.2";
    if (!has_curve && config->version_max == TLS_VERSION_12)
        return "in TLS 1.2 an ECDSA certificate's curve must be among the groups, and "
               "secp256r1 "
               "is not";
    return NULL;
}

static int apply_groups(struct tls_context *context, const struct tls_config *config,
                        struct err *e)
{
    struct tls_group_list list;
    if (config->groups == NULL)
        return 0;
    if (read_groups(config, &list, e) != 0)
        return -1;
    context->hint = hint_at(config, &list);
    return library_groups_apply(context->ctx, config, &list, e);
}

static int apply_client(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    SSL_CTX_set_verify(ctx, config->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (config->roots_pem != NULL && ssl_pem_trust(ctx, config->roots_pem, e) != 0)
        return -1;
    if (!config->resume) {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        return 0;
    }
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, ssl_session_seen);
    return 0;
}

/* The families differ in how long their keys are. */
static int use_ticket_key(SSL_CTX *ctx, const uint8_t *key, struct err *e)
{
    uint8_t copy[TLS_TICKET_KEY_BYTES];
    const long bytes = (long)SSL_CTX_get_tlsext_ticket_keys(ctx, NULL, 0);
    memcpy(copy, key, sizeof(copy));
    if (bytes <= 0 || bytes > (long)sizeof(copy) ||
        SSL_CTX_set_tlsext_ticket_keys(ctx, copy, (unsigned)bytes) != 1)
        return ssl_err(e, ERR_FAILED, "ticket key");
    return 0;
}

static int apply_server(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    static const unsigned char id[] = "pqc-bench";
    if (config->identity == NULL)
        return err_set(e, ERR_USAGE, "server: a certificate is needed");
    if (!SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1))
        return ssl_err(e, ERR_FAILED, "session id context");
    if (config->tickets == 0) {
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET); /* for TLS 1.2 */
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    }
    if (config->ticket_key != NULL && use_ticket_key(ctx, config->ticket_key, e) != 0)
        return -1;
    return ssl_pem_use_identity(ctx, config->identity, e);
}

static int apply_config(struct tls_context *context, const struct tls_config *config,
                        struct err *e)
{
    SSL_CTX *ctx = context->ctx;
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_msg_callback(ctx, ssl_message_seen);
    if (apply_versions(ctx, config, e) != 0 || apply_groups(context, config, e) != 0 ||
        ssl_ciphers_apply(ctx, config, e) != 0)
        return -1;
    if ((config->role == TLS_ROLE_CLIENT ? apply_client : apply_server)(ctx, config, e) != 0)
        return -1;
    return library_options_apply(ctx, config, e);
}

struct tls_context *ssl_context_new(const struct tls_config *config, struct err *e)
{
    ERR_clear_error();
    if (ssl_config_check(config, e) != 0)
        return NULL;
    struct tls_context *context = calloc(1, sizeof(*context));
    if (context == NULL) {
        err_set(e, ERR_SYSTEM, "out of memory");
        return NULL;
    }
    context->role = config->role;
    context->verify_name = config->verify && config->verify_name;
    context->has_tickets = config->role == TLS_ROLE_SERVER && config->tickets > 0;
    context->early_data_bytes = config->early_data_bytes;
    context->bio_method = ssl_bio_method_new();
    context->ctx = SSL_CTX_new(TLS_method());
    int ok = -1;
    if (context->bio_method == NULL || context->ctx == NULL)
        ssl_err(e, ERR_SYSTEM, "TLS context");
    else
        ok = apply_config(context, config, e);
    ERR_clear_error();
    if (ok != 0) {
        ssl_context_free(context);
        return NULL;
    }
    return context;
}

void ssl_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_CTX_free(context->ctx);
    if (context->bio_method != NULL)
        BIO_meth_free(context->bio_method);
    free(context);
}
