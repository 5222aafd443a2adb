/* SPDX-License-Identifier: Apache-2.0 */
/*
 * awslc_share.h - one key share, made and answered as AWS-LC's TLS does it.
 *
 * Layer: tls, inside the AWS-LC module only.
 * Shape: a hybrid is its two halves one after the other.  Everything returns false when
 *   the library failed.
 * Source: ssl/ssl_key_share.cc of AWS-LC (Offer, Accept, Finish), which is no interface.
 * Threads: one owner each.
 */
#ifndef TLS_AWSLC_SHARE_H
#define TLS_AWSLC_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include "tls/awslc_names.h"

#define SHARE_BYTES_MAX 2048u

/* The private side of a share that was offered. */
struct awslc_share {
    struct {
        uint8_t x25519[32];
        BIGNUM *scalar;
        EVP_PKEY *kem;
    } half[HALVES];
};

void awslc_share_fini(struct awslc_share *share);

/* The client: make `share` (zeroed before) and what is sent. */
bool awslc_share_offer(const struct awslc_group *group, struct awslc_share *share,
                       uint8_t out[SHARE_BYTES_MAX]);
/* The server: from the client's share to its own and the secret. */
bool awslc_share_accept(const struct awslc_group *group, const uint8_t *offer,
                        uint8_t out[SHARE_BYTES_MAX]);
/* The client again: from the server's share to the secret. */
bool awslc_share_finish(const struct awslc_group *group, struct awslc_share *share,
                        const uint8_t *answer);

#endif
