/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and certificates made at start, in memory alone (RFC 5280). */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include "tls/ssl_certificate.h"
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

/* A key and what certifies it. */
struct pair {
    EVP_PKEY *key;
    X509 *certificate;
};

static void pair_fini(struct pair *pair)
{
    EVP_PKEY_free(pair->key);
    X509_free(pair->certificate);
}

/* issuer NULL: signs itself. */
static int pair_init(struct pair *pair, const char *kind, enum certificate_role role,
                     const char *name, const struct pair *issuer, struct err *e)
{
    pair->certificate = NULL;
    pair->key = library_key_make(kind);
    if (pair->key == NULL)
        return ssl_err(e, ERR_FAILED, "making a key");
    struct certificate_request request = {
        .role = role,
        .name = name,
        .key = pair->key,
        .issuer = issuer != NULL ? issuer->certificate : NULL,
        .issuer_key = issuer != NULL ? issuer->key : pair->key,
        .digest = certificate_digest(kind),
    };
    pair->certificate = certificate_make(&request);
    return pair->certificate != NULL ? 0 : ssl_err(e, ERR_FAILED, "making a certificate");
}

/* The text of a memory BIO; the BIO is wiped and freed. */
static char *take_text(BIO *bio)
{
    char *data = NULL, *text = NULL;
    long length = BIO_get_mem_data(bio, &data);
    if (length > 0)
        text = malloc((size_t)length + 1);
    if (text != NULL) {
        memcpy(text, data, (size_t)length);
        text[length] = '\0';
    }
    if (length > 0)
        OPENSSL_cleanse(data, (size_t)length);
    BIO_free(bio);
    return text;
}

static char *key_text(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL)
        return NULL;
    if (!PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)) {
        BIO_free(bio);
        return NULL;
    }
    return take_text(bio);
}

/* `second` may be NULL. */
static char *certificates_text(X509 *first, X509 *second)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL)
        return NULL;
    if (!PEM_write_bio_X509(bio, first) ||
        (second != NULL && !PEM_write_bio_X509(bio, second))) {
        BIO_free(bio);
        return NULL;
    }
    return take_text(bio);
}

static int write_identity(struct tls_identity *out, const struct pair *leaf, X509 *second,
                          X509 *root, struct err *e)
{
    struct tls_identity made = {
        .key_pem = key_text(leaf->key),
        .chain_pem = certificates_text(leaf->certificate, second),
        .root_pem = certificates_text(root, NULL),
    };
    if (made.key_pem == NULL || made.chain_pem == NULL || made.root_pem == NULL) {
        tls_identity_free(&made);
        return ssl_err(e, ERR_FAILED, "writing a certificate");
    }
    *out = made;
    return 0;
}

static int make_alone(const struct tls_identity_spec *spec, struct tls_identity *out,
                      struct err *e)
{
    struct pair pair;
    enum certificate_role role =
        spec->chain == TLS_CHAIN_BARE ? CERTIFICATE_BARE : CERTIFICATE_SERVER;
    int ret = pair_init(&pair, spec->kind, role, spec->host, NULL, e);
    if (ret == 0)
        ret = write_identity(out, &pair, NULL, pair.certificate, e);
    pair_fini(&pair);
    return ret;
}

static int make_chain(const struct tls_identity_spec *spec, struct tls_identity *out,
                      struct err *e)
{
    bool has_middle = spec->chain == TLS_CHAIN_INTERMEDIATE;
    struct pair root = {0}, middle = {0}, leaf = {0};
    int ret = pair_init(&root, spec->kind, CERTIFICATE_ROOT, "Root CA", NULL, e);
    if (ret == 0 && has_middle)
        ret = pair_init(&middle, spec->kind, CERTIFICATE_INTERMEDIATE, "pqc-bench", &root, e);
    if (ret == 0)
        ret = pair_init(&leaf, spec->kind, CERTIFICATE_SERVER, spec->host,
                        has_middle ? &middle : &root, e);
    if (ret == 0)
        ret = write_identity(out, &leaf, middle.certificate, root.certificate, e);
    pair_fini(&leaf);
    pair_fini(&middle);
    pair_fini(&root);
    return ret;
}

static bool is_listed(const char *kind)
{
    for (const char *const *name = ssl_backend_self()->certificates; *name != NULL; name++)
        if (strcmp(*name, kind) == 0)
            return true;
    return false;
}

int ssl_identity_make(const struct tls_identity_spec *spec, struct tls_identity *out,
                      struct err *e)
{
    ERR_clear_error();
    if (!is_listed(spec->kind))
        return err_set(e, ERR_UNSUPPORTED, "certificate %s: not supported by %s", spec->kind,
                       ssl_backend_label());
    if (spec->host == NULL || spec->host[0] == '\0' ||
        strlen(spec->host) > CERTIFICATE_NAME_MAX)
        return err_set(e, ERR_USAGE, "certificate: a host name of 1 to %u characters is needed",
                       CERTIFICATE_NAME_MAX);
    bool is_alone = spec->chain == TLS_CHAIN_SELF_SIGNED || spec->chain == TLS_CHAIN_BARE;
    int ret = is_alone ? make_alone(spec, out, e) : make_chain(spec, out, e);
    ERR_clear_error();
    return ret == 0 ? 0 : err_add_context(e, "certificate %s", spec->kind);
}
