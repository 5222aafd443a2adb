/* SPDX-License-Identifier: Apache-2.0 */
/* The key schedule of TLS 1.3 (RFC 8446, 7.1 and 7.3), as either side of a full handshake
 * goes through it once.  The transcript's hash is not part of it. */
#include <string.h>
#include <openssl/hmac.h>
#include "tls/ssl_library.h"

#define KEY_BYTES 32u
#define IV_BYTES 12u

struct schedule {
    const EVP_MD *digest;
    size_t bytes; /* of the digest */
    unsigned char early[EVP_MAX_MD_SIZE], handshake[EVP_MAX_MD_SIZE], master[EVP_MAX_MD_SIZE];
    unsigned char transcript[EVP_MAX_MD_SIZE];
};

static bool extract(const struct schedule *s, const unsigned char *before,
                    unsigned char out[EVP_MAX_MD_SIZE])
{
    static const unsigned char secret[EVP_MAX_MD_SIZE];
    return library_schedule_extract(s->digest, before, secret, s->bytes, out);
}

static bool derive(const struct schedule *s, const unsigned char *secret, const char *label,
                   unsigned char out[EVP_MAX_MD_SIZE])
{
    const struct schedule_label with = {label, s->transcript, s->bytes};
    return library_schedule_expand(s->digest, secret, &with, out, s->bytes);
}

static bool expand(const struct schedule *s, const unsigned char *secret, const char *label,
                   unsigned char *out, size_t bytes)
{
    const struct schedule_label alone = {label, NULL, 0};
    return library_schedule_expand(s->digest, secret, &alone, out, bytes);
}

static bool traffic_keys(const struct schedule *s, const unsigned char *secret)
{
    unsigned char key[KEY_BYTES], iv[IV_BYTES];
    return expand(s, secret, "key", key, sizeof(key)) &&
           expand(s, secret, "iv", iv, sizeof(iv));
}

static bool finished(const struct schedule *s, const unsigned char *secret)
{
    unsigned char key[EVP_MAX_MD_SIZE], mac[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    uint8_t key_bytes = (uint8_t)s->bytes; /* an int to one library, a size_t to the other */
    return expand(s, secret, "finished", key, s->bytes) &&
           HMAC(s->digest, key, key_bytes, s->transcript, s->bytes, mac, &bytes) != NULL;
}

static bool handshake_keys(struct schedule *s)
{
    static const char *const labels[] = {"c hs traffic", "s hs traffic"};
    unsigned char traffic[EVP_MAX_MD_SIZE];
    for (size_t i = 0; i < 2; i++)
        if (!derive(s, s->handshake, labels[i], traffic) || !traffic_keys(s, traffic) ||
            !finished(s, traffic))
            return false;
    return true;
}

static bool application_keys(struct schedule *s)
{
    static const char *const labels[] = {"c ap traffic", "s ap traffic"};
    unsigned char secret[EVP_MAX_MD_SIZE];
    for (size_t i = 0; i < 2; i++)
        if (!derive(s, s->master, labels[i], secret) || !traffic_keys(s, secret))
            return false;
    return derive(s, s->master, "exp master", secret) &&
           derive(s, s->master, "res master", secret);
}

const EVP_MD *ssl_schedule_digest(const char *name)
{
    if (strcmp(name, "SHA384") == 0)
        return EVP_sha384();
    return strcmp(name, "SHA256") == 0 ? EVP_sha256() : NULL;
}

bool ssl_schedule_run(const EVP_MD *digest)
{
    struct schedule s = {.digest = digest, .bytes = (size_t)EVP_MD_size(digest)};
    return extract(&s, NULL, s.early) && extract(&s, s.early, s.handshake) &&
           handshake_keys(&s) && extract(&s, s.handshake, s.master) && application_keys(&s);
}
