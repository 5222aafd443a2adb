/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssl_certificate.h - one X.509 certificate for a key.
 *
 * Layer: tls, inside a module only.
 * Shape: valid from an hour ago for 30 days; names are one commonName; serials are random
 *   and 8 bytes long, so that sizes do not vary with them.
 * Source: RFC 5280; RFC 9881 (ML-DSA), RFC 8410 (Ed25519).
 * Threads: any.
 */
#ifndef TLS_SSL_CERTIFICATE_H
#define TLS_SSL_CERTIFICATE_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#define CERTIFICATE_NAME_MAX 64u /* ub-common-name */

enum certificate_role {
    CERTIFICATE_BARE,         /* no extension, serial 1: the smallest there is */
    CERTIFICATE_SERVER,       /* serverAuth, subjectAltName; with an issuer, its keyid */
    CERTIFICATE_INTERMEDIATE, /* CA, pathlen 0, keyUsage, both key identifiers */
    CERTIFICATE_ROOT,         /* CA, keyUsage, subjectKeyIdentifier */
};

struct certificate_request {
    enum certificate_role role;
    const char *name; /* commonName; SERVER: a DNS name or an address */
    EVP_PKEY *key;
    X509 *issuer; /* NULL: self-signed */
    EVP_PKEY *issuer_key;
    const EVP_MD *digest; /* NULL: the signature scheme's own */
};

/* The digest a key of this kind signs certificates with. */
const EVP_MD *certificate_digest(const char *kind);

/* NULL with the error queue filled. */
X509 *certificate_make(const struct certificate_request *request);

#endif
