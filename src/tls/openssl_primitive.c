/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSSL: single operations, by the EVP calls that its TLS makes for them. */
#include <stdlib.h>
#include <string.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rsa.h>
#include "tls/openssl_names.h"
#include "tls/ssl_library.h"

#define SECRET_BYTES_MAX 512u
/* CertificateVerify signs 64 spaces, a 33-byte label, a zero and a SHA-256 transcript. */
#define MESSAGE_BYTES 130u

struct tls_primitive_op {
    enum tls_primitive what;
    const struct openssl_group *group;
    const struct openssl_kind *kind;
    const EVP_MD *digest; /* SCHEDULE */
    EVP_PKEY *own, *peer; /* group: ours, with its private half, and the other side's */
    unsigned char *share; /* what the other side sent: OPENSSL_malloc'd */
    size_t share_bytes;
    unsigned char *signature; /* VERIFY: of message; SIGN: room */
    size_t signature_bytes;
    unsigned char message[MESSAGE_BYTES];
};

static EVP_PKEY *share_make(const struct openssl_group *group, unsigned char **encoded,
                            size_t *encoded_bytes)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, group->algorithm, NULL);
    if (ctx != NULL && EVP_PKEY_keygen_init(ctx) > 0 &&
        (group->parameter == NULL || EVP_PKEY_CTX_set_group_name(ctx, group->parameter) > 0) &&
        EVP_PKEY_keygen(ctx, &key) > 0) {
        *encoded_bytes = EVP_PKEY_get1_encoded_public_key(key, encoded);
        if (*encoded_bytes == 0) {
            EVP_PKEY_free(key);
            key = NULL;
        }
    }
    EVP_PKEY_CTX_free(ctx);
    return key;
}

/* An empty key of the group, to take a share. */
static EVP_PKEY *share_frame(const struct openssl_group *group)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, group->algorithm, NULL);
    if (ctx != NULL && EVP_PKEY_paramgen_init(ctx) > 0 &&
        (group->parameter == NULL || EVP_PKEY_CTX_set_group_name(ctx, group->parameter) > 0))
        EVP_PKEY_paramgen(ctx, &key);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static EVP_PKEY *share_read(const struct tls_primitive_op *op)
{
    EVP_PKEY *key = share_frame(op->group);
    if (key != NULL && EVP_PKEY_set1_encoded_public_key(key, op->share, op->share_bytes) > 0)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static int run_keygen(const struct tls_primitive_op *op)
{
    unsigned char *encoded = NULL;
    size_t encoded_bytes = 0;
    EVP_PKEY *key = share_make(op->group, &encoded, &encoded_bytes);
    OPENSSL_free(encoded);
    EVP_PKEY_free(key);
    return key != NULL ? 0 : -1;
}

static int derive(EVP_PKEY *own, EVP_PKEY *peer)
{
    unsigned char secret[SECRET_BYTES_MAX];
    size_t bytes = sizeof(secret);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    int ok = ctx != NULL && EVP_PKEY_derive_init(ctx) > 0 &&
             EVP_PKEY_derive_set_peer(ctx, peer) > 0 &&
             EVP_PKEY_derive(ctx, secret, &bytes) > 0;
    EVP_PKEY_CTX_free(ctx);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok ? 0 : -1;
}

static int decapsulate(const struct tls_primitive_op *op)
{
    unsigned char secret[SECRET_BYTES_MAX];
    size_t bytes = sizeof(secret);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, op->own, NULL);
    int ok = ctx != NULL && EVP_PKEY_decapsulate_init(ctx, NULL) > 0 &&
             EVP_PKEY_decapsulate(ctx, secret, &bytes, op->share, op->share_bytes) > 0;
    EVP_PKEY_CTX_free(ctx);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok ? 0 : -1;
}

static int run_derive(const struct tls_primitive_op *op)
{
    if (op->group->is_kem)
        return decapsulate(op);
    EVP_PKEY *peer = share_read(op);
    int ret = peer != NULL ? derive(op->own, peer) : -1;
    EVP_PKEY_free(peer);
    return ret;
}

/* The ciphertext for `peer` into *out (OPENSSL_malloc'd); false: the library failed. */
static bool encapsulate(EVP_PKEY *peer, unsigned char **out, size_t *out_bytes)
{
    unsigned char secret[SECRET_BYTES_MAX];
    size_t bytes = sizeof(secret);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, peer, NULL);
    bool ok = ctx != NULL && EVP_PKEY_encapsulate_init(ctx, NULL) > 0 &&
              EVP_PKEY_encapsulate(ctx, NULL, out_bytes, NULL, &bytes) > 0 &&
              bytes <= sizeof(secret) && (*out = OPENSSL_malloc(*out_bytes)) != NULL &&
              EVP_PKEY_encapsulate(ctx, *out, out_bytes, secret, &bytes) > 0;
    EVP_PKEY_CTX_free(ctx);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok;
}

static int run_encapsulate(const struct tls_primitive_op *op)
{
    unsigned char *answer = NULL;
    size_t answer_bytes = 0;
    EVP_PKEY *own = NULL, *peer = share_read(op);
    bool ok = peer != NULL;
    if (ok && op->group->is_kem) {
        ok = encapsulate(peer, &answer, &answer_bytes);
    } else if (ok) {
        own = share_make(op->group, &answer, &answer_bytes);
        ok = own != NULL && derive(own, peer) == 0;
    }
    OPENSSL_free(answer);
    EVP_PKEY_free(own);
    EVP_PKEY_free(peer);
    return ok ? 0 : -1;
}

static bool use_padding(const struct openssl_kind *kind, EVP_PKEY_CTX *ctx)
{
    return kind->bits == 0 ||
           (EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) > 0 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) > 0);
}

static int run_sign(struct tls_primitive_op *op)
{
    EVP_PKEY_CTX *key_ctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    op->signature_bytes = (size_t)EVP_PKEY_get_size(op->own);
    int ok =
        ctx != NULL &&
        EVP_DigestSignInit_ex(ctx, &key_ctx, op->kind->digest, NULL, NULL, op->own, NULL) > 0 &&
        use_padding(op->kind, key_ctx) &&
        EVP_DigestSign(ctx, op->signature, &op->signature_bytes, op->message, MESSAGE_BYTES) >
            0;
    EVP_MD_CTX_free(ctx);
    return ok ? 0 : -1;
}

static int run_verify(const struct tls_primitive_op *op)
{
    EVP_PKEY_CTX *key_ctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int ok = ctx != NULL &&
             EVP_DigestVerifyInit_ex(ctx, &key_ctx, op->kind->digest, NULL, NULL, op->own,
                                     NULL) > 0 &&
             use_padding(op->kind, key_ctx) &&
             EVP_DigestVerify(ctx, op->signature, op->signature_bytes, op->message,
                              MESSAGE_BYTES) > 0;
    EVP_MD_CTX_free(ctx);
    return ok ? 0 : -1;
}

/* TLS13-KDF with `p`, to which mode and digest are added at `n`; fetched anew each time, as
 * libssl does. */
static bool run_kdf(int mode, const EVP_MD *digest, OSSL_PARAM *p, size_t n, unsigned char *out,
                    size_t bytes)
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    char *name = (char *)(uintptr_t)EVP_MD_get0_name(digest);
    p[n++] = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode);
    p[n++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, name, 0);
    p[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX,
                                               (void *)(uintptr_t) "tls13 ", 6);
    p[n] = OSSL_PARAM_construct_end();
    bool ok = ctx != NULL && EVP_KDF_derive(ctx, out, bytes, p) > 0;
    EVP_KDF_CTX_free(ctx);
    return ok;
}

static OSSL_PARAM octets(const char *name, const void *bytes, size_t len)
{
    return OSSL_PARAM_construct_octet_string(name, (void *)(uintptr_t)bytes, len);
}

bool library_schedule_expand(const EVP_MD *digest, const unsigned char *secret,
                             const struct schedule_label *label, unsigned char *out,
                             size_t bytes)
{
    OSSL_PARAM p[8];
    size_t n = 0;
    p[n++] = octets(OSSL_KDF_PARAM_KEY, secret, (size_t)EVP_MD_get_size(digest));
    p[n++] = octets(OSSL_KDF_PARAM_LABEL, label->text, strlen(label->text));
    if (label->context != NULL)
        p[n++] = octets(OSSL_KDF_PARAM_DATA, label->context, label->context_bytes);
    return run_kdf(EVP_KDF_HKDF_MODE_EXPAND_ONLY, digest, p, n, out, bytes);
}

bool library_schedule_extract(const EVP_MD *digest, const unsigned char *before,
                              const unsigned char *secret, size_t bytes, unsigned char *out)
{
    OSSL_PARAM p[8];
    size_t n = 0;
    p[n++] = octets(OSSL_KDF_PARAM_KEY, secret, bytes);
    if (before != NULL)
        p[n++] = octets(OSSL_KDF_PARAM_SALT, before, (size_t)EVP_MD_get_size(digest));
    p[n++] = octets(OSSL_KDF_PARAM_LABEL, "derived", 7);
    return run_kdf(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, digest, p, n, out,
                   (size_t)EVP_MD_get_size(digest));
}

/* Our key and what the other side would have sent for it. */
static bool prepare_group(struct tls_primitive_op *op)
{
    unsigned char *encoded = NULL;
    size_t encoded_bytes = 0;
    bool is_answer = op->what == TLS_PRIMITIVE_DERIVE;
    op->own = share_make(op->group, &encoded, &encoded_bytes);
    bool ok = op->own != NULL;
    if (ok && is_answer && op->group->is_kem) {
        ok = encapsulate(op->own, &op->share, &op->share_bytes);
    } else if (ok && is_answer) {
        op->peer = share_make(op->group, &op->share, &op->share_bytes);
        ok = op->peer != NULL;
    } else {
        op->share = encoded;
        op->share_bytes = encoded_bytes;
        encoded = NULL;
    }
    OPENSSL_free(encoded);
    return ok;
}

static bool prepare_kind(struct tls_primitive_op *op)
{
    memset(op->message, ' ', sizeof(op->message));
    op->own = library_key_make(op->kind->name);
    if (op->own == NULL)
        return false;
    op->signature = OPENSSL_malloc((size_t)EVP_PKEY_get_size(op->own));
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
        op->kind = openssl_kind_find(name);
    else if (what == TLS_PRIMITIVE_SCHEDULE)
        op->digest = ssl_schedule_digest(name);
    else
        op->group = openssl_group_find(name);
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
        return run_derive(op);
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
    EVP_PKEY_free(op->own);
    EVP_PKEY_free(op->peer);
    OPENSSL_free(op->share);
    OPENSSL_free(op->signature);
    free(op);
}
