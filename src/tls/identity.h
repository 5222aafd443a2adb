/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h - a server's certificate and key, and what a client must trust.
 *
 * Layer: tls (may include base only).
 * Shape: text only; a backend makes and reads it (identity_make, context_new).
 * Threads: one owner each.
 */
#ifndef TLS_IDENTITY_H
#define TLS_IDENTITY_H

/* A certificate with its key, as PEM text (NUL-terminated, malloc'd, owned by whoever
 * holds the struct; tls_identity_free).  `chain_pem`: leaf first, as the server sends it.
 * `root_pem`: what a client must trust (the leaf itself when self-signed). */
struct tls_identity {
    char *key_pem, *chain_pem, *root_pem;
};
void tls_identity_free(struct tls_identity *identity); /* leaves it empty; NULL: nothing */

/* BARE: self-signed, without any extension and with serial 1: the smallest certificate
 * there is, which published sizes were taken with (a client that wants subjectAltName
 * refuses its name). */
enum tls_chain {
    TLS_CHAIN_SELF_SIGNED,
    TLS_CHAIN_LEAF,
    TLS_CHAIN_INTERMEDIATE,
    TLS_CHAIN_BARE,
};

/* `kind`: "ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072", "ed25519", "mldsa44",
 * "mldsa65", "mldsa87".  Every certificate of a chain has the same kind.  `host`: the
 * DNS name or address in subjectAltName. */
struct tls_identity_spec {
    const char *kind;
    enum tls_chain chain;
    const char *host;
};

#endif
