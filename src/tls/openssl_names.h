/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openssl_names.h - how OpenSSL's EVP calls the groups and certificate kinds of TLS.
 *
 * Layer: tls, inside the OpenSSL module only.
 * Threads: any (static tables).
 */
#ifndef TLS_OPENSSL_NAMES_H
#define TLS_OPENSSL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct openssl_group {
    const char *name;      /* tls_group.name */
    const char *algorithm; /* EVP key type */
    const char *parameter; /* its group, NULL: the type says it all */
    bool is_kem;
};

struct openssl_kind {
    const char *name;          /* tls_identity_spec.kind */
    const char *algorithm;     /* EVP key type */
    const char *curve;         /* NULL: none */
    size_t bits;               /* RSA, else 0 */
    const char *digest;        /* in CertificateVerify; NULL: the scheme's own */
    const char *tls_signature; /* SignatureScheme's name */
};

/* NULL if unknown. */
const struct openssl_group *openssl_group_find(const char *name);
const struct openssl_kind *openssl_kind_find(const char *name);

#endif
