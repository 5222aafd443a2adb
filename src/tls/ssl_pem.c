/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <openssl/pem.h>
#include "tls/ssl_common.h"

static BIO *open_text(const char *pem)
{
    size_t length = strlen(pem);
    return length <= INT_MAX ? BIO_new_mem_buf(pem, (int)length) : NULL;
}

static EVP_PKEY *read_key(const char *pem)
{
    BIO *bio = open_text(pem);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return key;
}

bool ssl_pem_works_in_12(const struct tls_identity *identity)
{
    EVP_PKEY *key = read_key(identity->key_pem);
    int type = key != NULL ? EVP_PKEY_id(key) : EVP_PKEY_NONE;
    EVP_PKEY_free(key);
    ERR_clear_error();
    return type == EVP_PKEY_EC || type == EVP_PKEY_RSA || type == EVP_PKEY_ED25519;
}

static int use_key(SSL_CTX *ctx, const char *pem, struct err *e)
{
    EVP_PKEY *key = read_key(pem);
    int ok = key != NULL && SSL_CTX_use_PrivateKey(ctx, key);
    EVP_PKEY_free(key);
    return ok ? 0 : ssl_err(e, ERR_FAILED, "server key");
}

/* Every certificate of `pem` in turn; false: one was refused, or there is none. */
static bool each_certificate(const char *pem, bool (*use)(SSL_CTX *, X509 *, size_t index),
                             SSL_CTX *ctx)
{
    BIO *bio = open_text(pem);
    size_t count = 0;
    bool ok = bio != NULL;
    while (ok) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        if (certificate == NULL)
            break;
        ok = use(ctx, certificate, count++);
        X509_free(certificate);
    }
    /* The end of the text is an error like any other to the PEM reader. */
    ok = ok && count > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    BIO_free(bio);
    return ok;
}

static bool use_chain_part(SSL_CTX *ctx, X509 *certificate, size_t index)
{
    return index == 0 ? SSL_CTX_use_certificate(ctx, certificate) == 1
                      : SSL_CTX_add1_chain_cert(ctx, certificate) == 1;
}

static bool trust_one(SSL_CTX *ctx, X509 *certificate, size_t index)
{
    (void)index;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), certificate) == 1;
}

int ssl_pem_use_identity(SSL_CTX *ctx, const struct tls_identity *identity, struct err *e)
{
    ERR_clear_error();
    if (!each_certificate(identity->chain_pem, use_chain_part, ctx))
        return ssl_err(e, ERR_FAILED, "server certificate");
    ERR_clear_error();
    if (use_key(ctx, identity->key_pem, e) != 0)
        return -1;
    if (!SSL_CTX_check_private_key(ctx))
        return ssl_err(e, ERR_FAILED, "server key does not fit the certificate");
    return 0;
}

int ssl_pem_trust(SSL_CTX *ctx, const char *roots_pem, struct err *e)
{
    ERR_clear_error();
    if (!each_certificate(roots_pem, trust_one, ctx))
        return ssl_err(e, ERR_FAILED, "trusted roots");
    ERR_clear_error();
    return 0;
}
