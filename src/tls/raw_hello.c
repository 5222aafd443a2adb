/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/raw_hello.h"
#include <assert.h>
#include <string.h>
#include "base/bytes.h"
#include "tls/groups.h"
#include "tls/raw_share.h"

#define RECORD_HEADER 5u
#define RECORD_HANDSHAKE 22u
#define CLIENT_HELLO 1u
#define VERSION_10 0x0301u
#define VERSION_12 0x0303u
#define VERSION_13 0x0304u
#define RANDOM_BYTES 32u
#define EXTENSION_HEADER 4u

enum {
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_SUPPORTED_GROUPS = 10,
    EXTENSION_POINT_FORMATS = 11,
    EXTENSION_SIGNATURE_ALGORITHMS = 13,
    EXTENSION_PADDING = 21,
    EXTENSION_MASTER_SECRET = 23,
    EXTENSION_SUPPORTED_VERSIONS = 43,
    EXTENSION_PSK_MODES = 45,
    EXTENSION_KEY_SHARE = 51,
    EXTENSION_RENEGOTIATION = 0xff01,
};

static const uint16_t suites_13[] = {0x1301, 0x1302, 0x1303};
/* ECDHE with ECDSA and RSA; the last four for servers that know no AEAD. */
static const uint16_t suites_12[] = {0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9,
                                     0xcca8, 0xc009, 0xc013, 0xc00a, 0xc014};
/* What a certificate may be signed with; ML-DSA last. */
static const uint16_t schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804,
                                   0x0805, 0x0806, 0x0809, 0x080a, 0x080b, 0x0401,
                                   0x0501, 0x0601, 0x0904, 0x0905, 0x0906};

static void put_codes(struct bytes_writer *w, const uint16_t *code, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes_put(w, code[i], 2);
}

static size_t open_extension(struct bytes_writer *w, unsigned type)
{
    bytes_put(w, type, 2);
    return bytes_open(w, 2);
}

static void put_empty(struct bytes_writer *w, unsigned type)
{
    bytes_close(w, open_extension(w, type), 2);
}

static void put_suites(struct bytes_writer *w, const struct raw_hello *hello)
{
    size_t mark = bytes_open(w, 2);
    if (hello->offers_13)
        put_codes(w, suites_13, sizeof suites_13 / sizeof suites_13[0]);
    if (hello->offers_12)
        put_codes(w, suites_12, sizeof suites_12 / sizeof suites_12[0]);
    bytes_close(w, mark, 2);
}

static void put_server_name(struct bytes_writer *w, const char *name)
{
    size_t extension = open_extension(w, EXTENSION_SERVER_NAME);
    size_t list = bytes_open(w, 2);
    bytes_put(w, 0, 1); /* host_name */
    size_t host = bytes_open(w, 2);
    bytes_put_data(w, name, strlen(name));
    bytes_close(w, host, 2);
    bytes_close(w, list, 2);
    bytes_close(w, extension, 2);
}

static void put_groups(struct bytes_writer *w, const struct raw_hello *hello)
{
    size_t extension = open_extension(w, EXTENSION_SUPPORTED_GROUPS);
    size_t list = bytes_open(w, 2);
    for (size_t i = 0; i < hello->groups; i++)
        bytes_put(w, hello->group[i], 2);
    bytes_close(w, list, 2);
    bytes_close(w, extension, 2);
}

static void put_schemes(struct bytes_writer *w)
{
    size_t extension = open_extension(w, EXTENSION_SIGNATURE_ALGORITHMS);
    size_t list = bytes_open(w, 2);
    put_codes(w, schemes, sizeof schemes / sizeof schemes[0]);
    bytes_close(w, list, 2);
    bytes_close(w, extension, 2);
}

/* What TLS 1.2 servers look at: uncompressed points, no renegotiation, EMS. */
static void put_old(struct bytes_writer *w)
{
    size_t formats = open_extension(w, EXTENSION_POINT_FORMATS);
    bytes_put(w, 0x0100, 2);
    bytes_close(w, formats, 2);
    put_empty(w, EXTENSION_MASTER_SECRET);
    size_t renegotiation = open_extension(w, EXTENSION_RENEGOTIATION);
    bytes_put(w, 0, 1);
    bytes_close(w, renegotiation, 2);
}

static void put_versions(struct bytes_writer *w, bool offers_12)
{
    size_t extension = open_extension(w, EXTENSION_SUPPORTED_VERSIONS);
    size_t list = bytes_open(w, 1);
    bytes_put(w, VERSION_13, 2);
    if (offers_12)
        bytes_put(w, VERSION_12, 2);
    bytes_close(w, list, 1);
    bytes_close(w, extension, 2);
}

static bool put_shares(struct bytes_writer *w, const struct raw_hello *hello, struct rng *rng)
{
    size_t extension = open_extension(w, EXTENSION_KEY_SHARE);
    size_t list = bytes_open(w, 2);
    for (size_t i = 0; i < hello->shares; i++) {
        bytes_put(w, hello->share[i], 2);
        size_t key = bytes_open(w, 2);
        if (!raw_share_put(hello->share[i], rng, w))
            return false;
        bytes_close(w, key, 2);
    }
    bytes_close(w, list, 2);
    bytes_close(w, extension, 2);
    return true;
}

static bool put_new(struct bytes_writer *w, const struct raw_hello *hello, struct rng *rng)
{
    put_versions(w, hello->offers_12);
    size_t modes = open_extension(w, EXTENSION_PSK_MODES);
    bytes_put(w, 0x0101, 2); /* one: psk_dhe_ke */
    bytes_close(w, modes, 2);
    return put_shares(w, hello, rng);
}

/* The padding extension has a header of its own: a gap that is smaller than it stays. */
static void put_padding(struct bytes_writer *w, size_t record_bytes)
{
    if (record_bytes < w->length + EXTENSION_HEADER)
        return;
    size_t extension = open_extension(w, EXTENSION_PADDING);
    while (!w->is_full && w->length < record_bytes)
        bytes_put(w, 0, 1);
    bytes_close(w, extension, 2);
}

static bool put_extensions(struct bytes_writer *w, const struct raw_hello *hello,
                           struct rng *rng)
{
    size_t mark = bytes_open(w, 2);
    if (hello->server_name != NULL)
        put_server_name(w, hello->server_name);
    put_groups(w, hello);
    put_schemes(w);
    if (hello->offers_12)
        put_old(w);
    bool is_made = !hello->offers_13 || put_new(w, hello, rng);
    put_padding(w, hello->record_bytes);
    bytes_close(w, mark, 2);
    return is_made;
}

bool raw_hello_has_share(unsigned group)
{
    return raw_share_exists(group);
}

size_t raw_hello_write(const struct raw_hello *hello, struct rng *rng, uint8_t *out,
                       size_t room)
{
    assert(hello->groups <= RAW_HELLO_GROUPS_MAX && hello->shares <= RAW_HELLO_SHARES_MAX);
    assert(hello->offers_12 || hello->offers_13);
    struct bytes_writer w = bytes_write(out, room);
    bytes_put(&w, RECORD_HANDSHAKE, 1);
    bytes_put(&w, VERSION_10, 2);
    size_t record = bytes_open(&w, 2);
    bytes_put(&w, CLIENT_HELLO, 1);
    size_t message = bytes_open(&w, 3);
    bytes_put(&w, VERSION_12, 2);
    raw_put_random(&w, rng, RANDOM_BYTES);
    size_t session = bytes_open(&w, 1); /* as if for middleboxes (RFC 8446, D.4) */
    if (hello->offers_13)
        raw_put_random(&w, rng, RANDOM_BYTES);
    bytes_close(&w, session, 1);
    put_suites(&w, hello);
    bytes_put(&w, 0x0100, 2); /* one compression method: none */
    bool is_made = put_extensions(&w, hello, rng);
    bytes_close(&w, message, 3);
    bytes_close(&w, record, 2);
    return is_made && !w.is_full && w.length <= RECORD_HEADER + RAW_HELLO_BYTES_MAX ? w.length
                                                                                    : 0;
}
