/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/raw_answer.h"
#include <string.h>
#include "base/bytes.h"

#define VERSION_12 0x0303u
#define CURVE_BY_NAME 3u
#define RANDOM_BYTES 32u
#define ALERT_WARNING 1u
#define ALERT_FATAL 2u
#define ALERT_CLOSE_NOTIFY 0u
#define MESSAGE_HEADER 4u

enum { RECORD_CIPHER_CHANGE = 20, RECORD_ALERT = 21, RECORD_HANDSHAKE = 22 };
enum { MESSAGE_HELLO = 2, MESSAGE_KEY_EXCHANGE = 12, MESSAGE_HELLO_DONE = 14 };
enum { EXTENSION_PSK = 41, EXTENSION_VERSIONS = 43, EXTENSION_SHARE = 51 };

/* SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3). */
static const uint8_t retry_random[RANDOM_BYTES] = {
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
    0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
    0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
};

/* The handshake's bytes without their records, as far as they came. */
struct joined {
    size_t length;
    uint8_t data[RAW_ANSWER_BYTES_MAX];
};

static void read_extension(size_t type, struct bytes_reader body, struct raw_answer *out)
{
    if (type == EXTENSION_VERSIONS)
        out->version = (unsigned)bytes_get(&body, 2);
    else if (type == EXTENSION_SHARE)
        out->group = (unsigned)bytes_get(&body, 2);
    else if (type == EXTENSION_PSK)
        out->is_psk = true;
}

static bool read_hello(struct bytes_reader body, struct raw_answer *out)
{
    out->version = (unsigned)bytes_get(&body, 2);
    struct bytes_reader random = bytes_get_part(&body, RANDOM_BYTES);
    bytes_get_vector(&body, 1); /* session id */
    out->cipher = (unsigned)bytes_get(&body, 2);
    bytes_get(&body, 1); /* compression */
    if (body.is_bad)
        return false;
    struct bytes_reader extensions = {NULL, 0, false};
    if (body.left > 0)
        extensions = bytes_get_vector(&body, 2);
    while (!extensions.is_bad && extensions.left > 0) {
        size_t type = bytes_get(&extensions, 2);
        struct bytes_reader extension = bytes_get_vector(&extensions, 2);
        if (!extensions.is_bad)
            read_extension(type, extension, out);
    }
    out->kind = memcmp(random.at, retry_random, RANDOM_BYTES) == 0 ? RAW_ANSWER_RETRY
                                                                   : RAW_ANSWER_HELLO;
    return !extensions.is_bad && !body.is_bad;
}

/* False: read no further. */
static bool read_message(size_t type, struct bytes_reader body, struct raw_answer *out)
{
    if (out->kind == RAW_ANSWER_PART) {
        if (type != MESSAGE_HELLO || !read_hello(body, out))
            out->kind = RAW_ANSWER_FOREIGN;
        return out->kind == RAW_ANSWER_HELLO && out->version == VERSION_12;
    }
    if (type == MESSAGE_KEY_EXCHANGE && bytes_get(&body, 1) == CURVE_BY_NAME)
        out->group = (unsigned)bytes_get(&body, 2);
    return type != MESSAGE_KEY_EXCHANGE && type != MESSAGE_HELLO_DONE;
}

/* True: the answer is settled. */
static bool read_messages(const struct joined *joined, struct raw_answer *out)
{
    struct bytes_reader all = bytes_read(joined->data, joined->length);
    out->kind = RAW_ANSWER_PART;
    while (all.left >= MESSAGE_HEADER) {
        size_t type = bytes_get(&all, 1);
        struct bytes_reader body = bytes_get_vector(&all, 3);
        if (body.is_bad)
            break;
        if (!read_message(type, body, out))
            return true;
    }
    /* A TLS 1.2 server's flight that is not all there: what it says is not complete. */
    out->kind = RAW_ANSWER_PART;
    return false;
}

/* A warning is passed over, as a library does it: some servers send one about the name and
 * go on.  True: read on. */
static bool read_alert(struct bytes_reader *stream, struct raw_answer *out)
{
    struct bytes_reader body = bytes_get_vector(stream, 2);
    if (stream->is_bad)
        return false; /* not whole yet */
    size_t level = bytes_get(&body, 1);
    out->alert = (unsigned)bytes_get(&body, 1);
    if (body.is_bad || (level != ALERT_FATAL && level != ALERT_WARNING))
        out->kind = RAW_ANSWER_FOREIGN;
    else if (level == ALERT_FATAL || out->alert == ALERT_CLOSE_NOTIFY)
        out->kind = RAW_ANSWER_ALERT;
    return out->kind == RAW_ANSWER_PART;
}

/* One record; false: not whole, or the answer is settled. */
static bool read_record(struct bytes_reader *stream, struct joined *joined,
                        struct raw_answer *out)
{
    size_t type = bytes_get(stream, 1);
    size_t version = stream->left > 0 ? stream->at[0] : 3;
    bytes_get(stream, 2);
    if (version != 3 || (type != RECORD_ALERT && type != RECORD_HANDSHAKE &&
                         (type != RECORD_CIPHER_CHANGE || joined->length == 0)))
        out->kind = RAW_ANSWER_FOREIGN;
    if (out->kind != RAW_ANSWER_PART)
        return false;
    if (type == RECORD_ALERT)
        return read_alert(stream, out);
    struct bytes_reader body = bytes_get_vector(stream, 2);
    if (body.is_bad)
        return false;
    if (type != RECORD_HANDSHAKE)
        return true;
    if (body.left > sizeof joined->data - joined->length) {
        out->kind = RAW_ANSWER_FOREIGN;
        return false;
    }
    memcpy(joined->data + joined->length, body.at, body.left);
    joined->length += body.left;
    return !read_messages(joined, out);
}

void raw_answer_read(const uint8_t *stream, size_t length, struct raw_answer *out)
{
    struct joined joined;
    struct bytes_reader r = bytes_read(stream, length);
    *out = (struct raw_answer){.kind = RAW_ANSWER_PART};
    joined.length = 0;
    while (r.left > 0 && read_record(&r, &joined, out))
        continue;
    if (out->kind == RAW_ANSWER_PART && length > RAW_ANSWER_BYTES_MAX)
        out->kind = RAW_ANSWER_FOREIGN;
}
