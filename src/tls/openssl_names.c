/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/openssl_names.h"
#include <string.h>

/* clang-format off */
static const struct openssl_group groups[] = {
    {"X25519", "X25519", NULL, false},
    {"X448", "X448", NULL, false},
    {"secp256r1", "EC", "prime256v1", false},
    {"secp384r1", "EC", "secp384r1", false},
    {"secp521r1", "EC", "secp521r1", false},
    {"ffdhe2048", "DH", "ffdhe2048", false},
    {"ffdhe3072", "DH", "ffdhe3072", false},
    {"MLKEM512", "ML-KEM-512", NULL, true},
    {"MLKEM768", "ML-KEM-768", NULL, true},
    {"MLKEM1024", "ML-KEM-1024", NULL, true},
    {"SecP256r1MLKEM768", "SecP256r1MLKEM768", NULL, true},
    {"X25519MLKEM768", "X25519MLKEM768", NULL, true},
    {"SecP384r1MLKEM1024", "SecP384r1MLKEM1024", NULL, true},
};

static const struct openssl_kind kinds[] = {
    {"ecdsa-p256", "EC", "prime256v1", 0, "SHA256", "ecdsa_secp256r1_sha256"},
    {"ecdsa-p384", "EC", "secp384r1", 0, "SHA384", "ecdsa_secp384r1_sha384"},
    {"rsa-2048", "RSA", NULL, 2048, "SHA256", "rsa_pss_rsae_sha256"},
    {"rsa-3072", "RSA", NULL, 3072, "SHA256", "rsa_pss_rsae_sha256"},
    {"ed25519", "ED25519", NULL, 0, NULL, "ed25519"},
    {"mldsa44", "ML-DSA-44", NULL, 0, NULL, "mldsa44"},
    {"mldsa65", "ML-DSA-65", NULL, 0, NULL, "mldsa65"},
    {"mldsa87", "ML-DSA-87", NULL, 0, NULL, "mldsa87"},
};
/* clang-format on */

const struct openssl_group *openssl_group_find(const char *name)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

const struct openssl_kind *openssl_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}
