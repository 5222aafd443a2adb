/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/ssl_certificate.h"
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/x509v3.h>

#define AGE_S 3600L
#define LIFE_S (30L * 24 * 3600)
#define SERIAL_BITS 63 /* the top one set and the sign bit clear: always 8 bytes */

const EVP_MD *certificate_digest(const char *kind)
{
    if (strcmp(kind, "ecdsa-p384") == 0)
        return EVP_sha384();
    if (strncmp(kind, "ecdsa-", 6) == 0 || strncmp(kind, "rsa-", 4) == 0)
        return EVP_sha256();
    return NULL;
}

static bool set_serial(X509 *x, enum certificate_role role)
{
    if (role == CERTIFICATE_BARE)
        return ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1;
    BIGNUM *serial = BN_new();
    bool ok = serial != NULL &&
              BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(x)) != NULL;
    BN_free(serial);
    return ok;
}

static bool set_names(X509 *x, const struct certificate_request *request)
{
    X509_NAME *name = X509_NAME_new();
    bool ok =
        name != NULL &&
        X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                   (const unsigned char *)request->name, -1, -1, 0) == 1 &&
        X509_set_subject_name(x, name) == 1;
    X509_NAME *issuer = request->issuer != NULL ? X509_get_subject_name(request->issuer) : name;
    ok = ok && X509_set_issuer_name(x, issuer) == 1;
    X509_NAME_free(name);
    return ok;
}

static bool add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &ctx, nid, value);
    bool ok = extension != NULL && X509_add_ext(x, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* By hand: a name with a comma must not become a second name. */
static bool add_alternative_name(X509 *x, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    int address_bytes = inet_pton(AF_INET, host, address) == 1    ? 4
                        : inet_pton(AF_INET6, host, address) == 1 ? 16
                                                                  : 0;
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = address_bytes > 0 ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    bool ok = false;
    if (names == NULL || name == NULL || value == NULL) {
        ASN1_STRING_free(value);
        GENERAL_NAME_free(name);
    } else if (address_bytes > 0) {
        ok = ASN1_STRING_set(value, address, address_bytes) == 1;
        GENERAL_NAME_set0_value(name, GEN_IPADD, value);
        ok = sk_GENERAL_NAME_push(names, name) > 0 && ok;
    } else {
        ok = ASN1_STRING_set(value, host, -1) == 1;
        GENERAL_NAME_set0_value(name, GEN_DNS, value);
        ok = sk_GENERAL_NAME_push(names, name) > 0 && ok;
    }
    ok = ok && X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return ok;
}

static bool add_authority(X509 *x, const struct certificate_request *request)
{
    /* A self-signed certificate is its own authority. */
    return request->issuer == NULL ||
           add_extension(x, request->issuer, NID_authority_key_identifier, "keyid:always");
}

static bool add_extensions(X509 *x, const struct certificate_request *request)
{
    switch (request->role) {
    case CERTIFICATE_BARE:
        return true;
    case CERTIFICATE_SERVER:
        return add_authority(x, request) &&
               add_extension(x, x, NID_ext_key_usage, "serverAuth") &&
               add_alternative_name(x, request->name);
    case CERTIFICATE_INTERMEDIATE:
        return add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
               add_extension(x, x, NID_key_usage, "critical,keyCertSign,cRLSign") &&
               add_extension(x, x, NID_subject_key_identifier, "hash") &&
               add_authority(x, request);
    case CERTIFICATE_ROOT:
        return add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(x, x, NID_key_usage, "critical,keyCertSign,cRLSign") &&
               add_extension(x, x, NID_subject_key_identifier, "hash");
    }
    return false;
}

X509 *certificate_make(const struct certificate_request *request)
{
    X509 *x = X509_new();
    if (x != NULL && X509_set_version(x, 2) && set_serial(x, request->role) &&
        set_names(x, request) && X509_gmtime_adj(X509_getm_notBefore(x), -AGE_S) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(x), LIFE_S) != NULL &&
        X509_set_pubkey(x, request->key) && add_extensions(x, request) &&
        X509_sign(x, request->issuer_key, request->digest) > 0)
        return x;
    X509_free(x);
    return NULL;
}
