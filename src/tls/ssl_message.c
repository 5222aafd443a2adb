/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "tls/ssl_common.h"

#define HANDSHAKE_HEADER_BYTES 4u
#define RANDOM_AT (HANDSHAKE_HEADER_BYTES + 2u)

/* The ServerHello random that makes it a HelloRetryRequest: SHA-256 of "HelloRetryRequest"
 * (RFC 8446, 4.1.3). */
static const uint8_t retry_random[32] = {
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
    0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
    0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
};

static const struct {
    uint16_t code;
    const char *name;
} schemes[] = {
    {0x0401, "rsa_pkcs1_sha256"},
    {0x0501, "rsa_pkcs1_sha384"},
    {0x0601, "rsa_pkcs1_sha512"},
    {0x0403, "ecdsa_secp256r1_sha256"},
    {0x0503, "ecdsa_secp384r1_sha384"},
    {0x0603, "ecdsa_secp521r1_sha512"},
    {0x0804, "rsa_pss_rsae_sha256"},
    {0x0805, "rsa_pss_rsae_sha384"},
    {0x0806, "rsa_pss_rsae_sha512"},
    {0x0807, "ed25519"},
    {0x0808, "ed448"},
    {0x0809, "rsa_pss_pss_sha256"},
    {0x080a, "rsa_pss_pss_sha384"},
    {0x080b, "rsa_pss_pss_sha512"},
    {0x0904, "mldsa44"},
    {0x0905, "mldsa65"},
    {0x0906, "mldsa87"},
    {0x0201, "rsa_pkcs1_sha1"},
    {0x0203, "ecdsa_sha1"},
};

const char *ssl_signature_name(unsigned code)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (schemes[i].code == code)
            return schemes[i].name;
    return "";
}

static uint16_t read_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static bool is_retry(const uint8_t *p, size_t len)
{
    return len >= RANDOM_AT + sizeof(retry_random) &&
           memcmp(p + RANDOM_AT, retry_random, sizeof(retry_random)) == 0;
}

/* Where a message shows how the server proves who it is: CertificateVerify (RFC 8446,
 * 4.4.3) or, in TLS 1.2, ServerKeyExchange behind a named curve (RFC 8422, 5.4). */
static uint16_t signature_in(unsigned type, int version, const uint8_t *p, size_t len)
{
    size_t at = HANDSHAKE_HEADER_BYTES;
    if (type == MESSAGE_SERVER_KEY_EXCHANGE) {
        if (version != TLS1_2_VERSION || len < at + 4 || p[at] != 3)
            return 0;
        at += 4u + p[at + 3];
    }
    return len >= at + 2 ? read_u16(p + at) : 0;
}

/* The bytes of extension `wanted` in the block that begins at `at`; NULL: absent. */
static const uint8_t *find_extension(const uint8_t *p, size_t len, size_t at, unsigned wanted,
                                     size_t *bytes)
{
    at += 2; /* the block's length: it reaches to the end of the message */
    while (at + 4 <= len) {
        *bytes = read_u16(p + at + 2);
        if (at + 4 + *bytes > len)
            return NULL;
        if (read_u16(p + at) == wanted)
            return p + at + 4;
        at += 4 + *bytes;
    }
    return NULL;
}

/* Skip a vector with a length of 1 or 2 bytes; past `len` where it is cut off. */
static size_t skip_vector(const uint8_t *p, size_t len, size_t at, size_t length_bytes)
{
    if (at + length_bytes > len)
        return len;
    return at + length_bytes + (length_bytes == 1 ? p[at] : read_u16(p + at));
}

/* Does a ClientHello (RFC 8446, 4.1.2) announce early data? */
static bool offers_early_data(const uint8_t *p, size_t len)
{
    size_t at = RANDOM_AT + 32, bytes;
    at = skip_vector(p, len, at, 1); /* legacy_session_id */
    at = skip_vector(p, len, at, 2); /* cipher_suites */
    at = skip_vector(p, len, at, 1); /* legacy_compression_methods */
    return find_extension(p, len, at, TLSEXT_TYPE_early_data, &bytes) != NULL;
}

/* Has a ServerHello (RFC 8446, 4.1.3) no supported_versions, which TLS 1.3 must have? */
static bool answers_with_12(const uint8_t *p, size_t len)
{
    size_t bytes, at = skip_vector(p, len, RANDOM_AT + 32, 1) + 3; /* cipher, compression */
    return find_extension(p, len, at, TLSEXT_TYPE_supported_versions, &bytes) == NULL;
}

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)read_u16(p) << 16 | read_u16(p + 2);
}

/* A NewSessionTicket (RFC 8446, 4.6.1; RFC 5077, 3.3): lifetime first in both versions. */
static void ticket_seen(struct tls_conn *conn, int version, const uint8_t *p, size_t len)
{
    size_t at = HANDSHAKE_HEADER_BYTES + 8, bytes = 0; /* ticket_lifetime, ticket_age_add */
    conn->ticket_lifetime_s = len >= at ? read_u32(p + HANDSHAKE_HEADER_BYTES) : 0;
    conn->ticket_early_bytes = 0;
    if (version != TLS1_3_VERSION)
        return;
    at = skip_vector(p, len, at, 1); /* ticket_nonce */
    at = skip_vector(p, len, at, 2); /* ticket */
    const uint8_t *limit = find_extension(p, len, at, TLSEXT_TYPE_early_data, &bytes);
    if (limit != NULL && bytes == 4)
        conn->ticket_early_bytes = read_u32(limit);
}

static void received_seen(struct tls_conn *conn, unsigned type, int version, const uint8_t *p,
                          size_t len)
{
    conn->saw_handshake = true;
    if (type == MESSAGE_CLIENT_HELLO && conn->context->early_data_bytes > 0)
        conn->early_was_offered |= offers_early_data(p, len);
    else if (type == MESSAGE_SERVER_HELLO && conn->early_was_offered)
        conn->was_downgraded = answers_with_12(p, len);
    else if (type == MESSAGE_NEW_SESSION_TICKET)
        ticket_seen(conn, version, p, len);
}

static void handshake_seen(struct tls_conn *conn, bool is_write, int version, const uint8_t *p,
                           size_t len)
{
    unsigned type = p[0];
    if (!is_write)
        received_seen(conn, type, version, p, len);
    if (type == MESSAGE_SERVER_HELLO && is_retry(p, len)) {
        conn->is_hrr = true;
        type = TLS_MESSAGE_HELLO_RETRY_REQUEST;
    } else if (type == MESSAGE_CERTIFICATE_VERIFY || type == MESSAGE_SERVER_KEY_EXCHANGE) {
        conn->signature_code = signature_in(type, version, p, len);
    }
    if (conn->observer.message != NULL)
        conn->observer.message(conn->observer.arg, is_write ? TLS_SENT : TLS_RECEIVED, type,
                               len);
}

/* Has the type of the library's message callback. */
void ssl_message_seen(int is_write, int version, int content_type, const void *buf, size_t len,
                      SSL *ssl, void *arg)
{
    (void)ssl;
    const uint8_t *p = buf;
    struct tls_conn *conn = arg;
    if (content_type == SSL3_RT_HANDSHAKE && len >= HANDSHAKE_HEADER_BYTES) {
        handshake_seen(conn, is_write != 0, version, p, len);
    } else if (content_type == SSL3_RT_ALERT && len == 2) {
        if (p[1] == SSL_AD_CLOSE_NOTIFY)
            return;
        if (is_write)
            conn->alert_sent = p[1];
        else
            conn->alert_received = p[1];
    }
}
