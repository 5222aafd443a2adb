/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null_conn.h"
#include <string.h>
#include <strings.h>
#include "base/clock.h"

void null_spin(const struct tls_conn *conn, uint64_t spin_ns)
{
    if (spin_ns == 0)
        return;
    while (clock_thread_cpu_ns() - conn->cpu_start_ns < spin_ns) {
    }
}

/* ---- ClientHello ---- */

static void put_server_name(struct null_writer *w, const char *name)
{
    size_t length = strlen(name);
    null_put(w, NULL_EXTENSION_SERVER_NAME, 2);
    size_t extension = null_open(w, 2), list = null_open(w, 2);
    null_put(w, 0, 1); /* host_name */
    null_put(w, length, 2);
    null_put_bytes(w, name, length);
    null_close(w, list, 2);
    null_close(w, extension, 2);
}

static void put_lists(struct null_writer *w, const struct tls_group_list *groups)
{
    null_put(w, NULL_EXTENSION_GROUPS, 2);
    size_t extension = null_open(w, 2), list = null_open(w, 2);
    for (size_t i = 0; i < groups->count; i++)
        null_put(w, groups->entry[i].group->code, 2);
    null_close(w, list, 2);
    null_close(w, extension, 2);

    null_put(w, NULL_EXTENSION_SIGNATURES, 2);
    extension = null_open(w, 2);
    list = null_open(w, 2);
    for (const struct null_kind *kind = null_kinds; kind->name != NULL; kind++)
        if (kind == null_kinds || kind[-1].scheme != kind->scheme)
            null_put(w, kind->scheme, 2);
    null_close(w, list, 2);
    null_close(w, extension, 2);

    null_put(w, NULL_EXTENSION_VERSIONS, 2);
    null_put(w, 3, 2);
    null_put(w, 2, 1);
    null_put(w, TLS_VERSION_13, 2);

    null_put(w, NULL_EXTENSION_PSK_MODES, 2);
    null_put(w, 2, 2);
    null_put(w, 0x0101, 2); /* one: psk_dhe_ke */
}

static bool sends_share(const struct tls_conn *conn, const struct tls_group_entry *entry)
{
    return conn->retry_group != NULL ? entry->group == conn->retry_group : entry->has_share;
}

static void put_shares(struct null_writer *w, const struct tls_conn *conn)
{
    const struct tls_group_list *groups = &conn->context->groups;
    null_put(w, NULL_EXTENSION_KEY_SHARE, 2);
    size_t extension = null_open(w, 2), list = null_open(w, 2);
    for (size_t i = 0; i < groups->count; i++) {
        if (!sends_share(conn, &groups->entry[i]))
            continue;
        null_put(w, groups->entry[i].group->code, 2);
        size_t share = null_open(w, 2);
        null_put_filler(w, groups->entry[i].group->client_share_bytes);
        null_close(w, share, 2);
    }
    null_close(w, list, 2);
    null_close(w, extension, 2);
}

static void put_work(struct null_writer *w, const struct tls_conn *conn)
{
    const struct tls_null_work *work = &conn->context->work;
    null_put(w, NULL_EXTENSION_WORK, 2);
    size_t extension = null_open(w, 2);
    null_put(w, work->server_spin_ns, 8);
    null_put(w, work->delay_ns, 8);
    null_put(w, (uint64_t)(work->delay_share * 4294967296.0), 8);
    null_put(w, conn->counter, 8);
    null_close(w, extension, 2);
}

enum tls_status null_client_hello(struct tls_conn *conn)
{
    const struct tls_context *context = conn->context;
    struct null_writer *w = null_message_begin(conn, NULL_CLIENT_HELLO);
    null_put(w, TLS_VERSION_12, 2);
    null_put_filler(w, 32); /* random */
    null_put(w, NULL_SESSION_ID_LENGTH, 1);
    null_put_filler(w, NULL_SESSION_ID_LENGTH);
    null_put(w, 2 * context->ciphers, 2);
    for (size_t i = 0; i < context->ciphers; i++)
        null_put(w, context->cipher[i]->code, 2);
    null_put(w, 0x0100, 2); /* one compression method, none */
    size_t extensions = null_open(w, 2);
    if (conn->has_sni)
        put_server_name(w, conn->server_name);
    put_lists(w, &context->groups);
    put_shares(w, conn);
    put_work(w, conn);
    null_close(w, extensions, 2);
    null_message_end(conn, NULL_CLIENT_HELLO);
    conn->state = NULL_STATE_HELLO;
    return TLS_STATUS_OK;
}

/* ---- the server's flight ---- */

struct server_hello {
    bool is_retry, is_13, has_share;
    unsigned cipher, group;
    size_t share_bytes;
};

static bool read_server_hello(struct bytes_reader r, struct server_hello *out)
{
    memset(out, 0, sizeof(*out));
    (void)bytes_get(&r, 2);
    struct bytes_reader random = bytes_get_part(&r, sizeof(null_retry_random));
    out->is_retry =
        !random.is_bad && memcmp(random.at, null_retry_random, sizeof(null_retry_random)) == 0;
    (void)bytes_get_vector(&r, 1);
    out->cipher = (unsigned)bytes_get(&r, 2);
    (void)bytes_get(&r, 1);
    if (!r.is_bad && r.left == 0)
        return true; /* TLS 1.2 without extensions */
    struct bytes_reader extensions = bytes_get_vector(&r, 2);
    while (extensions.left > 0) {
        unsigned type = (unsigned)bytes_get(&extensions, 2);
        struct bytes_reader body = bytes_get_vector(&extensions, 2);
        if (type == NULL_EXTENSION_VERSIONS) {
            out->is_13 = bytes_get(&body, 2) == TLS_VERSION_13;
        } else if (type == NULL_EXTENSION_KEY_SHARE) {
            out->has_share = true;
            out->group = (unsigned)bytes_get(&body, 2);
            if (!out->is_retry)
                out->share_bytes = bytes_get_vector(&body, 2).left;
        }
        if (body.is_bad)
            return false;
    }
    return !r.is_bad && !extensions.is_bad && r.left == 0;
}

static const struct tls_group_entry *find_offered(const struct tls_conn *conn, unsigned code)
{
    const struct tls_group_list *groups = &conn->context->groups;
    for (size_t i = 0; i < groups->count; i++)
        if (groups->entry[i].group->code == code)
            return &groups->entry[i];
    return NULL;
}

static enum tls_status take_retry(struct tls_conn *conn, const struct tls_group_entry *wanted,
                                  size_t bytes)
{
    null_observe(conn, TLS_RECEIVED, NULL_HELLO_RETRY_REQUEST, bytes);
    if (conn->is_hrr)
        return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE, "a second HelloRetryRequest");
    if (wanted == NULL || sends_share(conn, wanted))
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER,
                           "HelloRetryRequest for a group that was not offered or whose share "
                           "was sent");
    conn->is_hrr = true;
    conn->retry_group = wanted->group;
    null_queue_change_cipher_spec(conn);
    return null_client_hello(conn);
}

static const struct null_cipher *find_cipher(const struct tls_conn *conn, unsigned code)
{
    for (size_t i = 0; i < conn->context->ciphers; i++)
        if (conn->context->cipher[i]->code == code)
            return conn->context->cipher[i];
    return NULL;
}

static enum tls_status take_server_hello(struct tls_conn *conn, struct bytes_reader body)
{
    struct server_hello hello;
    if (!read_server_hello(body, &hello))
        return null_refuse(conn, NULL_ALERT_DECODE_ERROR, "a malformed ServerHello");
    if (!hello.is_13) {
        null_refuse(conn, NULL_ALERT_PROTOCOL_VERSION, "");
        return null_fail(conn, TLS_CAUSE_VERSION, NULL_ALERT_PROTOCOL_VERSION,
                         "the server does not speak TLS 1.3");
    }
    const struct tls_group_entry *entry =
        hello.has_share ? find_offered(conn, hello.group) : NULL;
    conn->cipher = find_cipher(conn, hello.cipher);
    if (conn->cipher == NULL)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER, "a cipher that was not offered");
    if (hello.is_retry)
        return take_retry(conn, entry, body.left);
    null_observe(conn, TLS_RECEIVED, NULL_SERVER_HELLO, body.left);
    if (entry == NULL || !sends_share(conn, entry) ||
        hello.share_bytes != entry->group->server_share_bytes)
        return null_refuse(conn, NULL_ALERT_ILLEGAL_PARAMETER,
                           "a group that was not offered, or a share of the wrong size");
    conn->group = entry->group;
    conn->state = NULL_STATE_EXTENSIONS;
    return TLS_STATUS_OK;
}

/* Is `text` the whole of what `r` has left? */
static bool is_same_name(struct bytes_reader r, const char *text)
{
    return r.left == strlen(text) && strncasecmp((const char *)r.at, text, r.left) == 0;
}

static bool is_trusted(const struct tls_context *context, struct bytes_reader token)
{
    char text[NULL_TOKEN_LENGTH + 1] = "";
    if (token.left != NULL_TOKEN_LENGTH || context->roots == NULL)
        return false;
    memcpy(text, token.at, token.left);
    return strlen(text) == NULL_TOKEN_LENGTH && strstr(context->roots, text) != NULL;
}

static enum tls_status distrust(struct tls_conn *conn, enum null_alert alert,
                                enum tls_null_verify code, const char *why)
{
    null_refuse(conn, alert, why);
    return null_fail(conn, TLS_CAUSE_VERIFY, (int)code, "%s", why);
}

static enum tls_status take_certificate(struct tls_conn *conn, struct bytes_reader body)
{
    const struct tls_context *context = conn->context;
    struct bytes_reader request = bytes_get_vector(&body, 1), list = bytes_get_vector(&body, 3);
    struct bytes_reader leaf = bytes_get_vector(&list, 3);
    struct bytes_reader token = bytes_get_vector(&leaf, 1), host = bytes_get_vector(&leaf, 1);
    if (request.is_bad || list.is_bad || leaf.is_bad || host.is_bad || body.left != 0)
        return null_refuse(conn, NULL_ALERT_DECODE_ERROR, "a malformed certificate");
    if (context->verify && !is_trusted(context, token))
        return distrust(conn, NULL_ALERT_UNKNOWN_CA, TLS_NULL_VERIFY_ROOT,
                        "the certificate's root is not trusted");
    if (context->verify && context->verify_name && !is_same_name(host, conn->server_name))
        return distrust(conn, NULL_ALERT_BAD_CERTIFICATE, TLS_NULL_VERIFY_NAME,
                        "the certificate is for another name");
    conn->state = NULL_STATE_CERTIFICATE_VERIFY;
    return TLS_STATUS_OK;
}

static enum tls_status take_certificate_verify(struct tls_conn *conn, struct bytes_reader body)
{
    unsigned scheme = (unsigned)bytes_get(&body, 2);
    struct bytes_reader signature = bytes_get_vector(&body, 2);
    conn->kind = null_kind_by_signature(scheme, signature.left);
    if (signature.is_bad || body.left != 0)
        return null_refuse(conn, NULL_ALERT_DECODE_ERROR, "a malformed CertificateVerify");
    if (conn->kind == NULL)
        return null_refuse(conn, NULL_ALERT_DECRYPT_ERROR, "a signature of no known kind");
    conn->state = NULL_STATE_FINISHED;
    return TLS_STATUS_OK;
}

static enum tls_status take_finished(struct tls_conn *conn, struct bytes_reader body)
{
    if (body.left != conn->cipher->finished_bytes)
        return null_refuse(conn, NULL_ALERT_DECRYPT_ERROR, "a Finished of the wrong size");
    struct null_writer *w = null_message_begin(conn, NULL_FINISHED);
    null_put_filler(w, conn->cipher->finished_bytes);
    if (!conn->is_hrr)
        null_queue_change_cipher_spec(conn);
    null_message_end(conn, NULL_FINISHED);
    null_spin(conn, conn->context->work.client_spin_ns);
    conn->state = NULL_STATE_DONE;
    return TLS_STATUS_OK;
}

static unsigned expected_type(enum null_state state)
{
    switch (state) {
    case NULL_STATE_HELLO:
        return NULL_SERVER_HELLO;
    case NULL_STATE_EXTENSIONS:
        return NULL_ENCRYPTED_EXTENSIONS;
    case NULL_STATE_CERTIFICATE:
        return NULL_CERTIFICATE;
    case NULL_STATE_CERTIFICATE_VERIFY:
        return NULL_CERTIFICATE_VERIFY;
    case NULL_STATE_FINISHED:
        return NULL_FINISHED;
    case NULL_STATE_SEND_HELLO:
    case NULL_STATE_DONE:
    case NULL_STATE_FAILED:
    default:
        return 0;
    }
}

enum tls_status null_client_take(struct tls_conn *conn, const struct null_message_in *message)
{
    struct bytes_reader body = message->body;
    if (message->type != expected_type(conn->state))
        return null_refuse(conn, NULL_ALERT_UNEXPECTED_MESSAGE, "an unexpected message");
    if (message->type == NULL_SERVER_HELLO)
        return take_server_hello(conn, body);
    null_observe(conn, TLS_RECEIVED, message->type, body.left);
    switch (message->type) {
    case NULL_CERTIFICATE:
        return take_certificate(conn, body);
    case NULL_CERTIFICATE_VERIFY:
        return take_certificate_verify(conn, body);
    case NULL_FINISHED:
        return take_finished(conn, body);
    default: /* EncryptedExtensions: nothing in it concerns us */
        conn->state = NULL_STATE_CERTIFICATE;
        return TLS_STATUS_OK;
    }
}
