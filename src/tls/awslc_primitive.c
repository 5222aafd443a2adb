/* SPDX-License-Identifier: Apache-2.0 */
/* AWS-LC: single operations, by the calls that its TLS makes for them. */
#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>
#include <openssl/hkdf.h>
#include <openssl/kdf.h>
#include <openssl/mem.h>
#include <openssl/rsa.h>
#include "tls/awslc_share.h"
#include "tls/ssl_library.h"

/* CertificateVerify signs 64 spaces, a 33-byte label, a zero and a SHA-256 transcript. */
#define MESSAGE_BYTES 130u

struct tls_primitive_op {
    enum tls_primitive what;
    const struct awslc_group *group;
    const struct awslc_kind *kind;
    const EVP_MD *digest;     /* SCHEDULE */
    struct awslc_share share; /* DERIVE */
    uint8_t offer[SHARE_BYTES_MAX], answer[SHARE_BYTES_MAX];
    EVP_PKEY *key;      /* SIGN and VERIFY */
    uint8_t *signature; /* room for the largest */
    size_t signature_bytes;
    uint8_t message[MESSAGE_BYTES];
};

static bool use_padding(const struct awslc_kind *kind, EVP_PKEY_CTX *ctx)
{
    return kind->bits == 0 || (EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) &&
                               EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, -1));
}

static int run_sign(struct tls_primitive_op *op)
{
    EVP_PKEY_CTX *key_ctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    op->signature_bytes = (size_t)EVP_PKEY_size(op->key);
    const EVP_MD *digest = SSL_get_signature_algorithm_digest(op->kind->signature);
    bool ok =
        ctx != NULL && EVP_DigestSignInit(ctx, &key_ctx, digest, NULL, op->key) &&
        use_padding(op->kind, key_ctx) &&
        EVP_DigestSign(ctx, op->signature, &op->signature_bytes, op->message, MESSAGE_BYTES);
    EVP_MD_CTX_free(ctx);
    return ok ? 0 : -1;
}

static int run_verify(const struct tls_primitive_op *op)
{
    EVP_PKEY_CTX *key_ctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const EVP_MD *digest = SSL_get_signature_algorithm_digest(op->kind->signature);
    bool ok =
        ctx != NULL && EVP_DigestVerifyInit(ctx, &key_ctx, digest, NULL, op->key) &&
        use_padding(op->kind, key_ctx) &&
        EVP_DigestVerify(ctx, op->signature, op->signature_bytes, op->message, MESSAGE_BYTES);
    EVP_MD_CTX_free(ctx);
    return ok ? 0 : -1;
}

static int run_keygen(const struct tls_primitive_op *op)
{
    uint8_t offer[SHARE_BYTES_MAX];
    struct awslc_share share = {0};
    bool ok = awslc_share_offer(op->group, &share, offer);
    awslc_share_fini(&share);
    return ok ? 0 : -1;
}

static int run_encapsulate(const struct tls_primitive_op *op)
{
    uint8_t answer[SHARE_BYTES_MAX];
    return awslc_share_accept(op->group, op->offer, answer) ? 0 : -1;
}

bool library_schedule_expand(const EVP_MD *digest, const unsigned char *secret,
                             const struct schedule_label *label, unsigned char *out,
                             size_t bytes)
{
    return CRYPTO_tls13_hkdf_expand_label(out, bytes, digest, secret, EVP_MD_size(digest),
                                          (const uint8_t *)label->text, strlen(label->text),
                                          label->context, label->context_bytes);
}

bool library_schedule_extract(const EVP_MD *digest, const unsigned char *before,
                              const unsigned char *secret, size_t bytes, unsigned char *out)
{
    uint8_t salt[EVP_MAX_MD_SIZE] = {0}, empty[EVP_MAX_MD_SIZE];
    size_t salt_bytes = EVP_MD_size(digest), out_bytes = 0;
    unsigned empty_bytes = 0;
    if (before != NULL && !EVP_Digest(NULL, 0, empty, &empty_bytes, digest, NULL))
        return false;
    const struct schedule_label derived = {"derived", empty, empty_bytes};
    if (before != NULL && !library_schedule_expand(digest, before, &derived, salt, salt_bytes))
        return false;
    return HKDF_extract(out, &out_bytes, digest, secret, bytes, salt, salt_bytes);
}

static bool prepare_group(struct tls_primitive_op *op)
{
    return awslc_share_offer(op->group, &op->share, op->offer) &&
           awslc_share_accept(op->group, op->offer, op->answer);
}

static bool prepare_kind(struct tls_primitive_op *op)
{
    memset(op->message, ' ', sizeof(op->message));
    op->key = library_key_make(op->kind->name);
    if (op->key == NULL)
        return false;
    op->signature = malloc((size_t)EVP_PKEY_size(op->key));
    return op->signature != NULL && run_sign(op) == 0;
}

struct tls_primitive_op *library_primitive_new(enum tls_primitive what, const char *name,
                                               struct err *e)
{
    ERR_clear_error();
    struct tls_primitive_op *op = calloc(1, sizeof(*op));
    if (op == NULL) {
        err_set(e, ERR_SYSTEM, "out of memory");
        return NULL;
    }
    op->what = what;
    if (what == TLS_PRIMITIVE_SIGN || what == TLS_PRIMITIVE_VERIFY)
        op->kind = awslc_kind_find(name);
    else if (what == TLS_PRIMITIVE_SCHEDULE)
        op->digest = ssl_schedule_digest(name);
    else
        op->group = awslc_group_find(name);
    if ((op->kind != NULL && prepare_kind(op)) || (op->group != NULL && prepare_group(op)) ||
        op->digest != NULL) {
        ERR_clear_error();
        return op;
    }
    err_set(e, ERR_UNSUPPORTED, "%s: not supported by %s", name, ssl_backend_label());
    library_primitive_free(op);
    ERR_clear_error();
    return NULL;
}

static int run(struct tls_primitive_op *op)
{
    switch (op->what) {
    case TLS_PRIMITIVE_KEYGEN:
        return run_keygen(op);
    case TLS_PRIMITIVE_DERIVE:
        return awslc_share_finish(op->group, &op->share, op->answer) ? 0 : -1;
    case TLS_PRIMITIVE_ENCAPSULATE:
        return run_encapsulate(op);
    case TLS_PRIMITIVE_SIGN:
        return run_sign(op);
    case TLS_PRIMITIVE_VERIFY:
        return run_verify(op);
    case TLS_PRIMITIVE_SCHEDULE:
        return ssl_schedule_run(op->digest) ? 0 : -1;
    }
    return -1;
}

int library_primitive_run(struct tls_primitive_op *op)
{
    int ret = run(op);
    ssl_queue_clear();
    return ret;
}

void library_primitive_free(struct tls_primitive_op *op)
{
    if (op == NULL)
        return;
    awslc_share_fini(&op->share);
    EVP_PKEY_free(op->key);
    free(op->signature);
    free(op);
}
