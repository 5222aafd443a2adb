/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/awslc_names.h"
#include <string.h>
#include <openssl/evp.h>
#include <openssl/nid.h>
#include <openssl/ssl.h>

/* clang-format off */
#define X25519_HALF {HALF_X25519, NID_X25519, 32, 32}
#define P256_HALF {HALF_EC, NID_X9_62_prime256v1, 65, 65}
#define P384_HALF {HALF_EC, NID_secp384r1, 97, 97}
#define P521_HALF {HALF_EC, NID_secp521r1, 133, 133}
#define MLKEM512_HALF {HALF_KEM, NID_MLKEM512, 800, 768}
#define MLKEM768_HALF {HALF_KEM, NID_MLKEM768, 1184, 1088}
#define MLKEM1024_HALF {HALF_KEM, NID_MLKEM1024, 1568, 1568}

static const struct awslc_group groups[] = {
    {"X25519", {X25519_HALF}},
    {"secp256r1", {P256_HALF}},
    {"secp384r1", {P384_HALF}},
    {"secp521r1", {P521_HALF}},
    {"MLKEM512", {MLKEM512_HALF}},
    {"MLKEM768", {MLKEM768_HALF}},
    {"MLKEM1024", {MLKEM1024_HALF}},
    {"SecP256r1MLKEM768", {P256_HALF, MLKEM768_HALF}},
    {"X25519MLKEM768", {MLKEM768_HALF, X25519_HALF}},
    {"SecP384r1MLKEM1024", {P384_HALF, MLKEM1024_HALF}},
};

static const struct awslc_kind kinds[] = {
    {"ecdsa-p256", EVP_PKEY_EC, NID_X9_62_prime256v1, 0, SSL_SIGN_ECDSA_SECP256R1_SHA256},
    {"ecdsa-p384", EVP_PKEY_EC, NID_secp384r1, 0, SSL_SIGN_ECDSA_SECP384R1_SHA384},
    {"rsa-2048", EVP_PKEY_RSA, NID_undef, 2048, SSL_SIGN_RSA_PSS_RSAE_SHA256},
    {"rsa-3072", EVP_PKEY_RSA, NID_undef, 3072, SSL_SIGN_RSA_PSS_RSAE_SHA256},
    {"ed25519", EVP_PKEY_ED25519, NID_undef, 0, SSL_SIGN_ED25519},
    {"mldsa44", EVP_PKEY_PQDSA, NID_MLDSA44, 0, SSL_SIGN_MLDSA44},
    {"mldsa65", EVP_PKEY_PQDSA, NID_MLDSA65, 0, SSL_SIGN_MLDSA65},
    {"mldsa87", EVP_PKEY_PQDSA, NID_MLDSA87, 0, SSL_SIGN_MLDSA87},
};
/* clang-format on */

const struct awslc_group *awslc_group_find(const char *name)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

const struct awslc_kind *awslc_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}
