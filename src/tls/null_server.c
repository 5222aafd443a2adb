/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null_conn.h"
#include <string.h>

/* Near what OpenSSL puts into a certificate besides key and signature. */
#define CERTIFICATE_FRAME_BYTES 118u
#define CERTIFICATE_EXTENSIONS_BYTES 98u
#define TICKET_BYTES 229u /* 255 bytes on the wire with 17 of protection left out: 238 */

/* ---- ClientHello ---- */

struct client_hello {
    struct bytes_reader session_id, ciphers, groups, shares;
    bool is_13, has_order;
    struct null_work_order order;
};

static void read_versions(struct bytes_reader *body, struct client_hello *out)
{
    struct bytes_reader versions = bytes_get_vector(body, 1);
    while (versions.left >= 2)
        if (bytes_get(&versions, 2) == TLS_VERSION_13)
            out->is_13 = true;
}

static void read_order(struct bytes_reader *body, struct client_hello *out)
{
    out->has_order = true;
    out->order.server_spin_ns = bytes_get(body, 8);
    out->order.delay_ns = bytes_get(body, 8);
    out->order.delay_share = bytes_get(body, 8);
    out->order.counter = bytes_get(body, 8);
}

static bool read_extensions(struct bytes_reader extensions, struct client_hello *out)
{
    while (extensions.left > 0) {
        unsigned type = (unsigned)bytes_get(&extensions, 2);
        struct bytes_reader body = bytes_get_vector(&extensions, 2);
        if (type == NULL_EXTENSION_GROUPS)
            out->groups = bytes_get_vector(&body, 2);
        else if (type == NULL_EXTENSION_KEY_SHARE)
            out->shares = bytes_get_vector(&body, 2);
        else if (type == NULL_EXTENSION_VERSIONS)
            read_versions(&body, out);
        else if (type == NULL_EXTENSION_WORK)
            read_order(&body, out);
        if (body.is_bad)
            return false;
    }
    return !extensions.is_bad;
}

static bool read_client_hello(struct bytes_reader r, struct client_hello *out)
{
    memset(out, 0, sizeof(*out));
    (void)bytes_get(&r, 2);
    (void)bytes_get_part(&r, 32);
    out->session_id = bytes_get_vector(&r, 1);
    out->ciphers = bytes_get_vector(&r, 2);
    (void)bytes_get_vector(&r, 1);
    if (r.is_bad || out->session_id.left > NULL_SESSION_ID_LENGTH)
        return false;
    if (r.left == 0)
        return true; /* before TLS 1.3 */
    struct bytes_reader extensions = bytes_get_vector(&r, 2);
    return !r.is_bad && r.left == 0 && read_extensions(extensions, out);
}

static bool has_code(struct bytes_reader list, unsigned code)
{
    while (list.left >= 2)
        if (bytes_get(&list, 2) == code)
            return true;
    return false;
}

/* ---- choosing ---- */

static const struct null_cipher *choose_cipher(const struct tls_context *context,
                                               struct bytes_reader offered)
{
    while (offered.left >= 2) {
        unsigned code = (unsigned)bytes_get(&offered, 2);
        for (size_t i = 0; i < context->ciphers; i++)
            if (context->cipher[i]->code == code)
                return context->cipher[i];
    }
    return NULL;
}

/* False if the hello has no share for the group; *bytes is its size. */
static bool find_share(struct bytes_reader shares, unsigned code, size_t *bytes)
{
    while (shares.left > 0) {
        unsigned group = (unsigned)bytes_get(&shares, 2);
        struct bytes_reader share = bytes_get_vector(&shares, 2);
        *bytes = share.left;
        if (!shares.is_bad && group == code)
            return true;
    }
    return false;
}

static bool is_own_group(const struct tls_context *context, unsigned code)
{
    for (size_t i = 0; i < context->groups.count; i++)
        if (context->groups.entry[i].group->code == code)
            return true;
    return false;
}

static const struct tls_group *choose_by_own_order(const struct tls_context *context,
                                                   const struct client_hello *hello)
{
    for (size_t i = 0; i < context->groups.count; i++)
        if (has_code(hello->groups, context->groups.entry[i].group->code))
            return context->groups.entry[i].group;
    return NULL;
}

static const struct tls_group *choose_by_client_order(const struct tls_context *context,
                                                      const struct client_hello *hello)
{
    const struct tls_group *without_share = NULL;
    struct bytes_reader offered = hello->groups;
    while (offered.left >= 2) {
        unsigned code = (unsigned)bytes_get(&offered, 2);
        size_t bytes = 0;
        if (!is_own_group(context, code))
            continue;
        if (find_share(hello->shares, code, &bytes))
            return tls_group_by_code(code);
        if (without_share == NULL)
            without_share = tls_group_by_code(code);
    }
    return without_share;
}

/* ---- the server's flight ---- */

static void send_hello(struct tls_conn *conn, bool is_retry)
{
    struct null_writer *w = null_message_begin(conn, NULL_SERVER_HELLO);
    null_put(w, TLS_VERSION_12, 2);
    if (is_retry)
        null_put_bytes(w, null_retry_random, sizeof(null_retry_random));
    else
        null_put_filler(w, sizeof(null_retry_random));
    null_put(w, conn->session_id_length, 1);
    null_put_bytes(w, conn->session_id, conn->session_id_length);
    null_put(w, conn->cipher->code, 2);
    null_put(w, 0, 1);
    size_t extensions = null_open(w, 2);
    null_put(w, NULL_EXTENSION_VERSIONS, 2);
    null_put(w, 2, 2);
    null_put(w, TLS_VERSION_13, 2);
    null_put(w, NULL_EXTENSION_KEY_SHARE, 2);
    size_t extension = null_open(w, 2);
    null_put(w, is_retry ? conn->retry_group->code : conn->group->code, 2);
    if (!is_retry) {
        null_put(w, conn->group->server_share_bytes, 2);
        null_put_filler(w, conn->group->server_share_bytes);
    }
    null_close(w, extension, 2);
    null_close(w, extensions, 2);
    null_message_end(conn, is_retry ? NULL_HELLO_RETRY_REQUEST : NULL_SERVER_HELLO);
}

/* One entry of the chain; the leaf carries what a client verifies, padded to the size that
 * a real one would have. */
static void put_certificate(struct null_writer *w, const struct tls_context *context,
                            bool is_leaf)
{
    size_t bytes =
        CERTIFICATE_FRAME_BYTES + context->kind->key_bytes + context->kind->signature_bytes;
    bool is_bare = context->chain == TLS_CHAIN_BARE;
    size_t host_length = is_bare ? 0 : strlen(context->host);
    if (!is_bare)
        bytes += CERTIFICATE_EXTENSIONS_BYTES;
    size_t certificate = null_open(w, 3);
    if (is_leaf) {
        null_put(w, strlen(context->token), 1);
        null_put_bytes(w, context->token, strlen(context->token));
        null_put(w, host_length, 1);
        null_put_bytes(w, context->host, host_length);
    }
    size_t used = w->length - certificate;
    if (used < bytes)
        null_put_filler(w, bytes - used);
    null_close(w, certificate, 3);
    null_put(w, 0, 2); /* no extensions */
}

static void send_certificate(struct tls_conn *conn)
{
    const struct tls_context *context = conn->context;
    struct null_writer *w = null_message_begin(conn, NULL_CERTIFICATE);
    null_put(w, 0, 1);
    size_t list = null_open(w, 3);
    put_certificate(w, context, true);
    if (context->chain == TLS_CHAIN_INTERMEDIATE)
        put_certificate(w, context, false);
    null_close(w, list, 3);
    null_message_end(conn, NULL_CERTIFICATE);

    w = null_message_begin(conn, NULL_CERTIFICATE_VERIFY);
    null_put(w, context->kind->scheme, 2);
    null_put(w, context->kind->signature_bytes, 2);
    null_put_filler(w, context->kind->signature_bytes);
    null_message_end(conn, NULL_CERTIFICATE_VERIFY);
}

static void send_flight(struct tls_conn *conn)
{
    send_hello(conn, false);
    if (!conn->is_hrr)
        null_queue_change_cipher_spec(conn);
    struct null_writer *w = null_message_begin(conn, NULL_ENCRYPTED_EXTENSIONS);
    null_put(w, 0, 2);
    null_message_end(conn, NULL_ENCRYPTED_EXTENSIONS);
    send_certificate(conn);
    w = null_message_begin(conn, NULL_FINISHED);
    null_put_filler(w, conn->cipher->finished_bytes);
    null_message_end(conn, NULL_FINISHED);
}

/* The Weyl sequence of the golden ratio: of any n counters in a row n * share are chosen,
 * give or take two, and evenly spread. */
static bool is_delayed(const struct null_work_order *order)
{
    uint64_t point = (order->counter * 0x9e3779b97f4a7c15u) >> 32;
    return point < order->delay_share;
}

static enum tls_status answer(struct tls_conn *conn, const struct null_work_order *order)
{
    uint64_t spin_ns = order->server_spin_ns + (is_delayed(order) ? order->delay_ns : 0);
    send_flight(conn);
    null_spin(conn, spin_ns);
    conn->state = NULL_STATE_FINISHED;
    return TLS_STATUS_OK;
}

static enum tls_status retry(struct tls_conn *conn, const struct tls_group *wanted)
{
    if (conn->is_hrr)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER,
                           "no share for the group that was asked for");
    conn->is_hrr = true;
    conn->retry_group = wanted;
    send_hello(conn, true);
    null_queue_change_cipher_spec(conn);
    return TLS_STATUS_OK;
}

static enum tls_status take_groups(struct tls_conn *conn, const struct client_hello *hello)
{
    const struct tls_context *context = conn->context;
    const struct tls_group *group = context->has_own_order
                                        ? choose_by_own_order(context, hello)
                                        : choose_by_client_order(context, hello);
    size_t share_bytes = 0;
    if (group == NULL)
        return null_refuse(conn, NULL_ALERT_HANDSHAKE_FAILURE, "no common group");
    if (conn->is_hrr && group != conn->retry_group)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER, "the second hello differs");
    if (!find_share(hello->shares, group->code, &share_bytes))
        return retry(conn, group);
    if (share_bytes != group->client_share_bytes)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER, "a share of the wrong size");
    conn->group = group;
    return answer(conn, &hello->order);
}

static enum tls_status refuse_version(struct tls_conn *conn)
{
    null_refuse(conn, NULL_ALERT_PROTOCOL_VERSION, "");
    return null_fail(conn, TLS_CAUSE_VERSION, NULL_ALERT_PROTOCOL_VERSION,
                     "the client does not offer TLS 1.3");
}

static enum tls_status take_client_hello(struct tls_conn *conn, struct bytes_reader body)
{
    struct client_hello hello;
    if (!read_client_hello(body, &hello))
        return null_refuse(conn, NULL_ALERT_DECODE_ERROR, "a malformed ClientHello");
    if (!hello.is_13)
        return refuse_version(conn);
    if (!hello.has_order)
        return null_refuse(conn, NULL_ALERT_MISSING_EXTENSION, "the client is no null backend");
    if (hello.order.server_spin_ns > TLS_NULL_SPIN_MAX_NS ||
        hello.order.delay_ns > TLS_NULL_SPIN_MAX_NS)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER, "more work than is allowed");
    conn->cipher = choose_cipher(conn->context, hello.ciphers);
    if (conn->cipher == NULL)
        return null_refuse(conn, NULL_ALERT_HANDSHAKE_FAILURE, "no common cipher");
    conn->session_id_length = (uint8_t)hello.session_id.left;
    memcpy(conn->session_id, hello.session_id.at, hello.session_id.left);
    return take_groups(conn, &hello);
}

static enum tls_status take_finished(struct tls_conn *conn, struct bytes_reader body)
{
    if (body.left != conn->cipher->finished_bytes)
        return null_refuse(conn, NULL_ALERT_DECRYPT_ERROR, "a Finished of the wrong size");
    conn->kind = conn->context->kind;
    conn->state = NULL_STATE_DONE;
    for (unsigned i = 0; i < conn->context->tickets; i++) {
        struct null_writer *w = null_message_begin(conn, NULL_NEW_SESSION_TICKET);
        null_put_filler(w, TICKET_BYTES);
        null_message_end(conn, NULL_NEW_SESSION_TICKET);
    }
    return TLS_STATUS_OK;
}

enum tls_status null_server_take(struct tls_conn *conn, const struct null_message_in *message)
{
    unsigned expected = conn->state == NULL_STATE_FINISHED ? NULL_FINISHED : NULL_CLIENT_HELLO;
    if (message->type != expected)
        return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE, "an unexpected message");
    null_observe(conn, TLS_RECEIVED, message->type, message->body.left);
    return expected == NULL_FINISHED ? take_finished(conn, message->body)
                                     : take_client_hello(conn, message->body);
}
