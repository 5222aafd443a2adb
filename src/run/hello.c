/* SPDX-License-Identifier: Apache-2.0 */
#include "run/hello.h"
#include <string.h>
#include "base/bytes.h"

#define RECORD_HEADER 5u
#define RECORD_HANDSHAKE 22u
#define MESSAGE_HEADER 4u
#define CLIENT_HELLO 1u
#define EXTENSION_GROUPS 10u
#define EXTENSION_KEY_SHARE 51u
#define VERSION_AND_RANDOM 34u

static bool read_shares(struct bytes_reader extension, struct hello *out)
{
    struct bytes_reader shares = bytes_get_vector(&extension, 2);
    while (!shares.is_bad && shares.left > 0) {
        size_t group = bytes_get(&shares, 2);
        struct bytes_reader key = bytes_get_vector(&shares, 2);
        if (key.is_bad)
            return false;
        if (out->shares < HELLO_SHARES_MAX)
            out->share[out->shares++] = (unsigned)group;
    }
    return !shares.is_bad && !extension.is_bad;
}

static bool read_groups(struct bytes_reader extension, struct hello *out)
{
    struct bytes_reader groups = bytes_get_vector(&extension, 2);
    while (!groups.is_bad && groups.left > 0) {
        size_t group = bytes_get(&groups, 2);
        if (!groups.is_bad && out->groups < HELLO_GROUPS_MAX)
            out->group[out->groups++] = (unsigned)group;
    }
    return !groups.is_bad && !extension.is_bad;
}

static bool read_message(struct bytes_reader body, struct hello *out)
{
    bytes_get_part(&body, VERSION_AND_RANDOM);
    bytes_get_vector(&body, 1); /* session id */
    bytes_get_vector(&body, 2); /* cipher suites */
    bytes_get_vector(&body, 1); /* compression */
    if (body.is_bad)
        return false;
    if (body.left == 0) /* extensions may be left out before TLS 1.3 */
        return true;
    struct bytes_reader extensions = bytes_get_vector(&body, 2);
    while (!extensions.is_bad && extensions.left > 0) {
        size_t type = bytes_get(&extensions, 2);
        struct bytes_reader extension = bytes_get_vector(&extensions, 2);
        if (extension.is_bad)
            return false;
        if (type == EXTENSION_GROUPS && !read_groups(extension, out))
            return false;
        if (type == EXTENSION_KEY_SHARE && !read_shares(extension, out))
            return false;
    }
    return !extensions.is_bad && !body.is_bad;
}

/* The handshake bytes of the first records, until they hold the whole message.  Returns its
 * length without header, or 0. */
static size_t join_records(struct bytes_reader *stream, uint8_t *message, size_t size)
{
    size_t have = 0;
    for (;;) {
        size_t type = bytes_get(stream, 1);
        bytes_get(stream, 2);
        struct bytes_reader record = bytes_get_vector(stream, 2);
        if (record.is_bad || type != RECORD_HANDSHAKE || record.left == 0 ||
            record.left > size - have)
            return 0;
        memcpy(message + have, record.at, record.left);
        have += record.left;
        if (have < MESSAGE_HEADER)
            continue;
        size_t body = (size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3];
        if (have >= MESSAGE_HEADER + body)
            return message[0] == CLIENT_HELLO ? body : 0;
    }
}

bool hello_read(const uint8_t *stream, size_t length, struct hello *out)
{
    uint8_t message[HELLO_BYTES_MAX];
    struct bytes_reader r = bytes_read(stream, length);
    memset(out, 0, sizeof *out);
    size_t body = join_records(&r, message, sizeof message);
    if (body == 0 || !read_message(bytes_read(message + MESSAGE_HEADER, body), out)) {
        memset(out, 0, sizeof *out);
        return false;
    }
    out->record_bytes = length - r.left;
    return true;
}
