/* SPDX-License-Identifier: Apache-2.0 */
/*
 * awslc_names.h - what AWS-LC composes the groups and certificate kinds of TLS from.
 *
 * Layer: tls, inside the AWS-LC module only.
 * Source: ssl/ssl_key_share.cc of AWS-LC; draft-ietf-tls-ecdhe-mlkem.
 * Threads: any (static tables).
 */
#ifndef TLS_AWSLC_NAMES_H
#define TLS_AWSLC_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum awslc_half_type { HALF_NONE, HALF_X25519, HALF_EC, HALF_KEM };

struct awslc_half {
    enum awslc_half_type type;
    int nid;                          /* curve or KEM */
    size_t offer_bytes, answer_bytes; /* client's and server's share */
};

#define HALVES 2u

struct awslc_group {
    const char *name;               /* tls_group.name */
    struct awslc_half half[HALVES]; /* in wire order; the second may be NONE */
};

struct awslc_kind {
    const char *name;   /* tls_identity_spec.kind */
    int type, nid;      /* EVP_PKEY_*, curve or parameter set */
    int bits;           /* RSA, else 0 */
    uint16_t signature; /* SignatureScheme */
};

/* NULL if unknown. */
const struct awslc_group *awslc_group_find(const char *name);
const struct awslc_kind *awslc_kind_find(const char *name);

#endif
