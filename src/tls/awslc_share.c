/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/awslc_share.h"
#include <openssl/curve25519.h>
#include <openssl/ec.h>
#include <openssl/mem.h>
#include <openssl/nid.h>

#define SECRET_BYTES_MAX 128u

static const EC_GROUP *curve_of(int nid)
{
    switch (nid) {
    case NID_X9_62_prime256v1:
        return EC_group_p256();
    case NID_secp384r1:
        return EC_group_p384();
    default:
        return EC_group_p521();
    }
}

static bool ec_offer(const struct awslc_half *half, BIGNUM **scalar, uint8_t *out)
{
    const EC_GROUP *curve = curve_of(half->nid);
    *scalar = BN_new();
    EC_POINT *point = EC_POINT_new(curve);
    bool ok = *scalar != NULL && point != NULL &&
              BN_rand_range_ex(*scalar, 1, EC_GROUP_get0_order(curve)) &&
              EC_POINT_mul(curve, point, *scalar, NULL, NULL, NULL) &&
              EC_POINT_point2oct(curve, point, POINT_CONVERSION_UNCOMPRESSED, out,
                                 half->offer_bytes, NULL) == half->offer_bytes;
    EC_POINT_free(point);
    return ok;
}

static bool ec_finish(const struct awslc_half *half, const BIGNUM *scalar, const uint8_t *peer)
{
    uint8_t secret[SECRET_BYTES_MAX];
    const EC_GROUP *curve = curve_of(half->nid);
    size_t secret_bytes = (EC_GROUP_get_degree(curve) + 7) / 8;
    EC_POINT *point = EC_POINT_new(curve), *result = EC_POINT_new(curve);
    BIGNUM *x = BN_new();
    bool ok = point != NULL && result != NULL && x != NULL && secret_bytes <= sizeof(secret) &&
              EC_POINT_oct2point(curve, point, peer, half->answer_bytes, NULL) &&
              EC_POINT_mul(curve, result, NULL, point, scalar, NULL) &&
              EC_POINT_get_affine_coordinates_GFp(curve, result, x, NULL, NULL) &&
              BN_bn2bin_padded(secret, secret_bytes, x);
    BN_free(x);
    EC_POINT_free(result);
    EC_POINT_free(point);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok;
}

static bool kem_offer(const struct awslc_half *half, EVP_PKEY **key, uint8_t *out)
{
    size_t bytes = half->offer_bytes;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_KEM, NULL);
    bool ok = ctx != NULL && EVP_PKEY_CTX_kem_set_params(ctx, half->nid) &&
              EVP_PKEY_keygen_init(ctx) && EVP_PKEY_keygen(ctx, key) &&
              EVP_PKEY_get_raw_public_key(*key, out, &bytes);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static bool kem_accept(const struct awslc_half *half, const uint8_t *peer, uint8_t *out)
{
    uint8_t secret[SECRET_BYTES_MAX];
    size_t bytes = half->answer_bytes, secret_bytes = sizeof(secret);
    EVP_PKEY *key = EVP_PKEY_kem_new_raw_public_key(half->nid, peer, half->offer_bytes);
    EVP_PKEY_CTX *ctx = key != NULL ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    bool ok = ctx != NULL && EVP_PKEY_encapsulate(ctx, out, &bytes, secret, &secret_bytes);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok;
}

static bool kem_finish(const struct awslc_half *half, EVP_PKEY *key, const uint8_t *peer)
{
    uint8_t secret[SECRET_BYTES_MAX];
    size_t secret_bytes = sizeof(secret);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    bool ok = ctx != NULL &&
              EVP_PKEY_decapsulate(ctx, secret, &secret_bytes, peer, half->answer_bytes);
    EVP_PKEY_CTX_free(ctx);
    OPENSSL_cleanse(secret, sizeof(secret));
    return ok;
}

bool awslc_share_offer(const struct awslc_group *group, struct awslc_share *share,
                       uint8_t out[SHARE_BYTES_MAX])
{
    bool ok = true;
    for (size_t i = 0; ok && i < HALVES && group->half[i].type != HALF_NONE; i++) {
        const struct awslc_half *half = &group->half[i];
        if (half->type == HALF_X25519)
            X25519_keypair(out, share->half[i].x25519);
        else if (half->type == HALF_EC)
            ok = ec_offer(half, &share->half[i].scalar, out);
        else
            ok = kem_offer(half, &share->half[i].kem, out);
        out += half->offer_bytes;
    }
    return ok;
}

bool awslc_share_finish(const struct awslc_group *group, struct awslc_share *share,
                        const uint8_t *answer)
{
    bool ok = true;
    for (size_t i = 0; ok && i < HALVES && group->half[i].type != HALF_NONE; i++) {
        const struct awslc_half *half = &group->half[i];
        uint8_t secret[32];
        if (half->type == HALF_X25519)
            ok = X25519(secret, share->half[i].x25519, answer) == 1;
        else if (half->type == HALF_EC)
            ok = ec_finish(half, share->half[i].scalar, answer);
        else
            ok = kem_finish(half, share->half[i].kem, answer);
        answer += half->answer_bytes;
    }
    return ok;
}

/* A half that is Diffie-Hellman is answered by an offer of one's own. */
static bool half_accept(const struct awslc_half *half, const uint8_t *offer, uint8_t *out)
{
    if (half->type == HALF_KEM)
        return kem_accept(half, offer, out);
    struct awslc_group alone = {.name = "", .half = {*half}};
    struct awslc_share share = {0};
    bool ok =
        awslc_share_offer(&alone, &share, out) && awslc_share_finish(&alone, &share, offer);
    awslc_share_fini(&share);
    return ok;
}

bool awslc_share_accept(const struct awslc_group *group, const uint8_t *offer,
                        uint8_t out[SHARE_BYTES_MAX])
{
    bool ok = true;
    for (size_t i = 0; ok && i < HALVES && group->half[i].type != HALF_NONE; i++) {
        ok = half_accept(&group->half[i], offer, out);
        offer += group->half[i].offer_bytes;
        out += group->half[i].answer_bytes;
    }
    return ok;
}

void awslc_share_fini(struct awslc_share *share)
{
    for (size_t i = 0; i < HALVES; i++) {
        BN_clear_free(share->half[i].scalar);
        EVP_PKEY_free(share->half[i].kem);
    }
    OPENSSL_cleanse(share, sizeof(*share));
}
