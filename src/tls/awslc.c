/* SPDX-License-Identifier: Apache-2.0 */
/* AWS-LC: the library as a whole, its contexts and groups. */
#include <stdio.h>
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/service_indicator.h>
#include "base/text.h"
#include "tls/awslc_names.h"
#include "tls/ssl_library.h"

#define GROUP_TEXT_BYTES (TLS_GROUPS_MAX * TLS_GROUPS_NAME_MAX)
#define TICKETS_MAX 16u             /* SSL_CTX_set_num_tickets caps silently */
#define EARLY_DATA_BYTES_MAX 14336u /* what the library announces in every ticket */

int library_start(void)
{
    CRYPTO_library_init(); /* reads no configuration */
    return 0;
}

void library_facts(struct library_facts *out)
{
    *out = (struct library_facts){
        .name = "aws-lc",
        .version = AWSLC_VERSION_NUMBER_STRING,
        .description = awslc_version_string(),
        .features = TLS_FEATURE_TLS12 | TLS_FEATURE_RESUMPTION | TLS_FEATURE_EARLY_DATA |
                    TLS_FEATURE_KEY_LOG | TLS_FEATURE_MESSAGES | TLS_FEATURE_TUPLES,
    };
}

static int use_groups(SSL_CTX *ctx, const struct tls_group_list *list)
{
    char text[GROUP_TEXT_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < list->count && at < sizeof(text); i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? ":" : "",
                               SSL_get_group_name((uint16_t)list->entry[i].group->code));
    return SSL_CTX_set1_groups_list(ctx, text);
}

/* Do the halves that we compose the group's operations from add up to it? */
static bool is_composed(const struct tls_group *group)
{
    const struct awslc_group *known = awslc_group_find(group->name);
    size_t offer = 0, answer = 0;
    for (size_t i = 0; known != NULL && i < HALVES; i++) {
        offer += known->half[i].offer_bytes;
        answer += known->half[i].answer_bytes;
    }
    return offer > 0 && offer == group->client_share_bytes &&
           answer == group->server_share_bytes;
}

bool library_has_group(const struct tls_group *group)
{
    if (SSL_get_group_name((uint16_t)group->code) == NULL || !is_composed(group))
        return false;
    struct tls_group_list one = {.count = 1, .entry = {{.group = group}}};
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool has = ctx != NULL && use_groups(ctx, &one) == 1;
    SSL_CTX_free(ctx);
    struct tls_primitive_op *op =
        has ? library_primitive_new(TLS_PRIMITIVE_KEYGEN, group->name, NULL) : NULL;
    has = op != NULL && library_primitive_run(op) == 0;
    library_primitive_free(op);
    ERR_clear_error();
    return has;
}

EVP_PKEY *library_key_make(const char *kind)
{
    const struct awslc_kind *known = awslc_kind_find(kind);
    if (known == NULL)
        return NULL;
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(known->type, NULL);
    bool ok = ctx != NULL;
    if (ok && known->type == EVP_PKEY_PQDSA)
        ok = EVP_PKEY_CTX_pqdsa_set_params(ctx, known->nid) > 0;
    ok = ok && EVP_PKEY_keygen_init(ctx) > 0;
    if (ok && known->type == EVP_PKEY_EC)
        ok = EVP_PKEY_CTX_set_ec_paramgen_curve_nid(ctx, known->nid) > 0;
    if (ok && known->type == EVP_PKEY_RSA)
        ok = EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, known->bits) > 0;
    if (ok)
        EVP_PKEY_keygen(ctx, &key);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

bool library_has_certificate(const char *kind)
{
    const struct awslc_kind *known = awslc_kind_find(kind);
    if (known == NULL ||
        SSL_get_signature_algorithm_key_type(known->signature) == EVP_PKEY_NONE)
        return false;
    if (known->type == EVP_PKEY_RSA) /* making one takes a second */
        return true;
    EVP_PKEY *key = library_key_make(kind);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return key != NULL;
}

/* Which entry gets the second share: the first that is post-quantum where the first of all
 * is not, or the other way round.  This is the library's rule, without a way around. */
static size_t second_share(const struct tls_group_list *list)
{
    size_t i = 1;
    while (i < list->count &&
           list->entry[i].group->is_post_quantum == list->entry[0].group->is_post_quantum)
        i++;
    return i;
}

static int refuse_shares(const struct tls_config *config, const struct tls_group_list *list,
                         size_t second, struct err *e)
{
    bool has_second = second < list->count;
    return err_set(e, ERR_UNSUPPORTED,
                   "groups=%s: this choice of key shares is not supported by %s, which sends "
                   "one for the first group and one for the first of the other kind "
                   "(post-quantum or not), here for %s%s%s",
                   config->groups, ssl_backend_label(), list->entry[0].group->name,
                   has_second ? " and " : " alone",
                   has_second ? list->entry[second].group->name : "");
}

int library_groups_check(const struct tls_config *config, const struct tls_group_list *list,
                         struct err *e)
{
    /* What the text takes out of DEFAULT does not show in the list. */
    if (list->is_default && !text_same_name(config->groups, "DEFAULT"))
        return err_set(e, ERR_UNSUPPORTED,
                       "groups=%s: DEFAULT with other groups is not supported by %s",
                       config->groups, ssl_backend_label());
    if (list->is_default || config->role == TLS_ROLE_SERVER ||
        config->version_max == TLS_VERSION_12)
        return 0;
    size_t second = second_share(list);
    for (size_t i = 0; i < list->count; i++)
        if (list->entry[i].has_share != (i == 0 || i == second))
            return refuse_shares(config, list, second, e);
    return 0;
}

int library_groups_apply(SSL_CTX *ctx, const struct tls_config *config,
                         const struct tls_group_list *list, struct err *e)
{
    if (list->is_default)
        return 0;
    if (!use_groups(ctx, list))
        return ssl_err(e, ERR_UNSUPPORTED, "groups");
    /* The server's list is an order of preference, as with OpenSSL. */
    if (config->role == TLS_ROLE_SERVER)
        SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    return 0;
}

const char *library_group_name(const SSL *ssl)
{
    uint16_t code = SSL_get_curve_id(ssl);
    const struct tls_group *group = tls_group_by_code(code);
    const char *name = group != NULL ? group->name
                       : code != 0   ? SSL_get_group_name(code)
                                     : NULL;
    return name != NULL ? name : "";
}

bool library_is_version_reason(int reason)
{
    return reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_SSL_VERSION ||
           reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_UNKNOWN_SSL_VERSION ||
           reason == SSL_R_WRONG_VERSION_ON_EARLY_DATA ||
           reason == SSL_R_NO_SUPPORTED_VERSIONS_ENABLED;
}

int library_options_check(const struct tls_config *config, struct err *e)
{
    if (config->role == TLS_ROLE_CLIENT)
        return 0;
    if (config->tickets > TICKETS_MAX)
        return err_set(e, ERR_UNSUPPORTED, "tickets=%u: not supported by %s (at most %u)",
                       config->tickets, ssl_backend_label(), TICKETS_MAX);
    if (config->early_data_bytes > EARLY_DATA_BYTES_MAX)
        return err_set(e, ERR_UNSUPPORTED, "early-data=%u: not supported by %s (at most %u)",
                       config->early_data_bytes, ssl_backend_label(), EARLY_DATA_BYTES_MAX);
    if (config->early_data_bytes > 0 && !config->no_anti_replay)
        return err_set(e, ERR_UNSUPPORTED,
                       "early-data with anti-replay: not supported by %s, whose servers accept "
                       "early data that is sent again",
                       ssl_backend_label());
    return 0;
}

/* Ed25519 is not among the signatures that a client of this library asks for by itself.  It
 * is added where a trusted root has such a key: elsewhere the hello stays as it is. */
static bool trusts_ed25519(const char *roots_pem)
{
    bool found = false;
    BIO *bio = BIO_new_mem_buf(roots_pem, -1);
    X509 *root;
    while (bio != NULL && !found && (root = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        EVP_PKEY *key = X509_get0_pubkey(root);
        found = key != NULL && EVP_PKEY_id(key) == EVP_PKEY_ED25519;
        X509_free(root);
    }
    BIO_free(bio);
    ERR_clear_error();
    return found;
}

static int ask_for_ed25519(SSL_CTX *ctx, struct err *e)
{
    /* The library's own list (kVerifySignatureAlgorithms) with Ed25519 behind it. */
    static const uint16_t wanted[] = {
        SSL_SIGN_ECDSA_SECP256R1_SHA256,
        SSL_SIGN_RSA_PSS_RSAE_SHA256,
        SSL_SIGN_RSA_PKCS1_SHA256,
        SSL_SIGN_ECDSA_SECP384R1_SHA384,
        SSL_SIGN_RSA_PSS_RSAE_SHA384,
        SSL_SIGN_RSA_PKCS1_SHA384,
        SSL_SIGN_ECDSA_SECP521R1_SHA512,
        SSL_SIGN_RSA_PSS_RSAE_SHA512,
        SSL_SIGN_RSA_PKCS1_SHA512,
        SSL_SIGN_MLDSA44,
        SSL_SIGN_MLDSA65,
        SSL_SIGN_MLDSA87,
        SSL_SIGN_RSA_PKCS1_SHA1,
        SSL_SIGN_ED25519,
    };
    if (!SSL_CTX_set_verify_algorithm_prefs(ctx, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return ssl_err(e, ERR_UNSUPPORTED, "signature ed25519");
    return 0;
}

int library_options_apply(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    if (config->role == TLS_ROLE_CLIENT)
        return config->roots_pem != NULL && trusts_ed25519(config->roots_pem)
                   ? ask_for_ed25519(ctx, e)
                   : 0;
    if (!SSL_CTX_set_num_tickets(ctx, config->tickets))
        return ssl_err(e, ERR_UNSUPPORTED, "tickets");
    if (config->tickets > 0)
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_early_data_enabled(ctx, config->early_data_bytes > 0);
    return 0;
}
