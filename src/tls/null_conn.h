/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null_conn.h - the null backend's inside: contexts, connections, records and messages.
 *
 * Layer: tls; for the null*.c files only.
 * Source: RFC 8446, sections 4 (messages), 5 (records), 6 (alerts).
 * Limits: a peer's record is at most 16640 bytes, a ClientHello 16 KiB, any other message
 *   128 KiB; at most 64 records in a row that bring nothing.
 * Threads: a connection has one owner.
 */
#ifndef TLS_NULL_CONN_H
#define TLS_NULL_CONN_H

#include "tls/groups.h"
#include "tls/null.h"
#include "base/bytes.h"
#include "tls/null_wire.h"

#define NULL_RECORD_HEADER 5u
#define NULL_RECORD_SENT_MAX 16384u
#define NULL_RECORD_TAKEN_MAX (16384u + 256u)
#define NULL_HELLO_MAX 16384u
#define NULL_MESSAGE_MAX 131072u
#define NULL_IDLE_RECORDS_MAX 64u
#define NULL_NAME_MAX 255u
#define NULL_TOKEN_LENGTH 32u
#define NULL_SESSION_ID_LENGTH 32u

enum null_record {
    NULL_RECORD_CHANGE_CIPHER_SPEC = 20,
    NULL_RECORD_ALERT = 21,
    NULL_RECORD_HANDSHAKE = 22,
    NULL_RECORD_DATA = 23,
};

enum null_message {
    NULL_CLIENT_HELLO = 1,
    NULL_SERVER_HELLO = 2,
    NULL_NEW_SESSION_TICKET = 4,
    NULL_HELLO_RETRY_REQUEST = 6, /* to the observer only; 2 on the wire */
    NULL_ENCRYPTED_EXTENSIONS = 8,
    NULL_CERTIFICATE = 11,
    NULL_CERTIFICATE_VERIFY = 15,
    NULL_FINISHED = 20,
};

enum null_alert {
    NULL_ALERT_CLOSE_NOTIFY = 0,
    NULL_ALERT_UNEXPECTED_MESSAGE = 10,
    NULL_ALERT_HANDSHAKE_FAILURE = 40,
    NULL_ALERT_BAD_CERTIFICATE = 42,
    NULL_ALERT_ILLEGAL_PARAMETER = 47,
    NULL_ALERT_UNKNOWN_CA = 48,
    NULL_ALERT_DECODE_ERROR = 50,
    NULL_ALERT_DECRYPT_ERROR = 51,
    NULL_ALERT_PROTOCOL_VERSION = 70,
    NULL_ALERT_MISSING_EXTENSION = 109,
};

enum null_extension {
    NULL_EXTENSION_SERVER_NAME = 0,
    NULL_EXTENSION_GROUPS = 10,
    NULL_EXTENSION_SIGNATURES = 13,
    NULL_EXTENSION_VERSIONS = 43,
    NULL_EXTENSION_PSK_MODES = 45,
    NULL_EXTENSION_KEY_SHARE = 51,
    NULL_EXTENSION_WORK = 0xff5a, /* private use: struct null_work_order */
};

struct null_cipher {
    const char *name;
    unsigned code;
    size_t finished_bytes;
};
extern const struct null_cipher null_ciphers[]; /* ended by a NULL name */
const struct null_cipher *null_cipher_by_code(unsigned code);

struct null_kind {
    const char *name, *signature;
    unsigned scheme;
    size_t key_bytes, signature_bytes; /* SubjectPublicKeyInfo, signature */
};
extern const struct null_kind null_kinds[]; /* ended by a NULL name */
const struct null_kind *null_kind_by_name(const char *name);
const struct null_kind *null_kind_by_signature(unsigned scheme, size_t bytes);

/* RFC 8446, 4.1.3: the ServerHello.random that makes it a HelloRetryRequest. */
extern const uint8_t null_retry_random[32];

#define NULL_CIPHERS_MAX 3u

struct tls_context {
    enum tls_role role;
    struct tls_group_list groups;
    bool has_own_order; /* server: a list was given */
    const struct null_cipher *cipher[NULL_CIPHERS_MAX];
    size_t ciphers;
    bool verify, verify_name;
    char *roots; /* client */
    const struct null_kind *kind;
    char token[NULL_TOKEN_LENGTH + 1], host[NULL_NAME_MAX + 1]; /* server */
    enum tls_chain chain;
    unsigned tickets;
    struct tls_null_work work;
    uint64_t counter;           /* of client connections */
    struct null_writer scratch; /* one message being made */
};

/* What the client asks of the server in its hello. */
struct null_work_order {
    uint64_t server_spin_ns, delay_ns;
    uint64_t delay_share; /* of 2^32 */
    uint64_t counter;
};

enum null_state {
    NULL_STATE_SEND_HELLO, /* client */
    NULL_STATE_HELLO,      /* waits for the peer's hello */
    NULL_STATE_EXTENSIONS, /* client */
    NULL_STATE_CERTIFICATE,
    NULL_STATE_CERTIFICATE_VERIFY,
    NULL_STATE_FINISHED, /* waits for the peer's */
    NULL_STATE_DONE,
    NULL_STATE_FAILED,
};

struct tls_conn {
    struct tls_context *context;
    struct tls_io io;
    struct tls_observer observer;
    enum null_state state;
    struct tls_failure failure;
    char server_name[NULL_NAME_MAX + 1]; /* to verify */
    bool has_sni;                        /* and to send */
    uint64_t counter;
    uint64_t cpu_start_ns; /* entry to the running handshake(), less cpu_used_ns */
    uint64_t cpu_used_ns;  /* in handshake() calls before it */

    const struct tls_group *group, *retry_group;
    const struct null_cipher *cipher;
    const struct null_kind *kind;
    bool is_hrr, is_shut, is_any_record_seen;
    uint8_t session_id_length; /* the client's, echoed */
    uint8_t session_id[NULL_SESSION_ID_LENGTH];

    struct null_writer sending; /* records on their way out */
    size_t sent;                /* of `sending` */
    size_t written;             /* application bytes in `sending` that write() reports */

    struct null_writer messages; /* handshake bytes taken from records */
    size_t consumed;             /* of `messages` */
    unsigned idle_records;

    size_t data_left; /* application data at rx + rx_start, not yet read */
    size_t rx_start, rx_end;
    uint8_t rx[NULL_RECORD_HEADER + NULL_RECORD_TAKEN_MAX]; /* last: not cleared */
};

/* ---- null_conn.c: below the messages ---- */

/* Note the failure and return FAILED; `code` as in struct tls_failure. */
enum tls_status null_fail(struct tls_conn *conn, enum tls_cause cause, int code,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Refuse the peer: send a fatal alert as far as the transport takes it, and fail. */
enum tls_status null_refuse(struct tls_conn *conn, enum null_alert alert, const char *why);

/* Queue one record or a message (in as many records as it needs). */
void null_queue(struct tls_conn *conn, enum null_record type, const void *data, size_t n);
void null_queue_change_cipher_spec(struct tls_conn *conn);
void null_queue_alert(struct tls_conn *conn, unsigned level, enum null_alert alert);
/* Hand what is queued to the transport.  OK, WANT_WRITE, FAILED. */
enum tls_status null_flush(struct tls_conn *conn);

/* A message under way in the context's scratch. */
struct null_writer *null_message_begin(struct tls_conn *conn, enum null_message type);
/* Queue it; `seen_as` is what the observer is told. */
void null_message_end(struct tls_conn *conn, enum null_message seen_as);

struct null_message_in {
    unsigned type;
    struct bytes_reader body;
};
/* The next whole handshake message; valid until the next call. */
enum tls_status null_message_next(struct tls_conn *conn, struct null_message_in *out);
void null_observe(struct tls_conn *conn, enum tls_direction direction, unsigned type,
                  size_t body_bytes);

enum tls_status null_read(struct tls_conn *conn, void *buf, size_t len, size_t *count);
enum tls_status null_write(struct tls_conn *conn, const void *buf, size_t len, size_t *count);
enum tls_status null_shutdown(struct tls_conn *conn);

/* ---- null_client.c, null_server.c: one step of the handshake ---- */

enum tls_status null_client_hello(struct tls_conn *conn);
enum tls_status null_client_take(struct tls_conn *conn, const struct null_message_in *message);
enum tls_status null_server_take(struct tls_conn *conn, const struct null_message_in *message);

/* Use the thread's CPU until the handshake() calls have used `spin_ns` of it. */
void null_spin(const struct tls_conn *conn, uint64_t spin_ns);

#endif
