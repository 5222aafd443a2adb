/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssl_common.h - what the source files of one OpenSSL-like backend module share.
 *
 * Layer: tls, inside a module only.  These files are compiled once per module, against
 *   that module's own headers (OpenSSL of some version, or AWS-LC).
 * Shape: ssl_*.c is code that both families accept; what differs is behind ssl_library.h.
 * Threads: as in backend.h.
 */
#ifndef TLS_SSL_COMMON_H
#define TLS_SSL_COMMON_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include "tls/backend.h"

#define ALERT_NONE (-1)
#define ALERT_PROTOCOL_VERSION 70
#define RECORD_HEADER_BYTES 5u

/* Handshake message types that we look into (RFC 8446 4, RFC 5246 7.4). */
enum {
    MESSAGE_CLIENT_HELLO = 1,
    MESSAGE_SERVER_HELLO = 2,
    MESSAGE_NEW_SESSION_TICKET = 4,
    MESSAGE_SERVER_KEY_EXCHANGE = 12,
    MESSAGE_CERTIFICATE_VERIFY = 15,
};

struct tls_context {
    SSL_CTX *ctx;
    BIO_METHOD *bio_method;
    enum tls_role role;
    bool verify_name, has_tickets;
    uint32_t early_data_bytes;
    const char *hint;     /* client: what a handshake_failure may come from; NULL: no idea */
    unsigned key_loggers; /* connections that ask for the key log: the others pay nothing */
};

#define SESSIONS_KEPT 4u /* the newest of a connection */

struct tls_session {
    SSL_SESSION *session;
    uint32_t early_data_bytes, lifetime_s; /* as its ticket says */
};

/* One allocation of ours per connection. */
struct tls_conn {
    SSL *ssl;
    struct tls_context *context;
    struct tls_io io;
    struct tls_observer observer;
    struct tls_session session[SESSIONS_KEPT]; /* not taken yet, oldest first; owned */
    unsigned sessions;
    int io_errno; /* of the last failed transfer, 0: none */
    int alert_received, alert_sent;
    bool is_eof, is_hrr, saw_handshake, is_complete;
    bool early_was_offered; /* by this client, or by the ClientHello that came */
    bool was_downgraded;    /* client that offered early data: the answer is TLS 1.2 */
    uint32_t ticket_early_bytes, ticket_lifetime_s; /* client: of the newest ticket */
    uint8_t head_bytes;                             /* how much of head is filled */
    uint8_t head[RECORD_HEADER_BYTES];              /* the first bytes the peer sent */
    uint16_t signature_code;                        /* SignatureScheme of the server's proof */
    enum tls_early_data early_data;
    struct tls_failure failure;
};

/* ssl_bio.c: the transport.  NULL: out of memory. */
BIO_METHOD *ssl_bio_method_new(void);
BIO *ssl_bio_new(BIO_METHOD *method, struct tls_conn *conn);
/* The connection behind an SSL object: no ex_data, hence no allocation per connection. */
struct tls_conn *ssl_conn_of(const SSL *ssl);

/* ssl_message.c: sees every handshake message and alert; `arg` is the connection. */
void ssl_message_seen(int is_write, int version, int content_type, const void *buf, size_t len,
                      SSL *ssl, void *arg);
/* IANA name of a SignatureScheme; "" if unknown. */
const char *ssl_signature_name(unsigned code);

/* ssl_failure.c */
/* Fill conn->failure from the error queue and what the transport saw; returns FAILED. */
enum tls_status ssl_fail(struct tls_conn *conn);
/* The status after a call that returned `ret` <= 0; leaves the error queue empty. */
enum tls_status ssl_status(struct tls_conn *conn, int ret);
/* An err from the error queue: "what: reason"; empties the queue; returns -1. */
int ssl_err(struct err *e, enum err_kind kind, const char *what);
/* Before and after each library call. */
void ssl_queue_clear(void);

/* ssl_context.c */
int ssl_config_check(const struct tls_config *config, struct err *e);
struct tls_context *ssl_context_new(const struct tls_config *config, struct err *e);
void ssl_context_free(struct tls_context *context);

/* ssl_ciphers.c: cipher names: TLS 1.3 suites as IANA, others as OpenSSL spells them;
 * IANA's are taken too. */
size_t ssl_ciphers_list(const char **out, size_t max); /* those that the library has */
int ssl_ciphers_check(const struct tls_config *config, struct err *e);
int ssl_ciphers_apply(SSL_CTX *ctx, const struct tls_config *config, struct err *e);

/* ssl_conn.c, ssl_session.c, ssl_info.c: the ops of the same name. */
struct tls_conn *ssl_conn_new(struct tls_context *context, const struct tls_connect *c);
void ssl_conn_free(struct tls_conn *conn);
enum tls_status ssl_conn_read(struct tls_conn *conn, void *buf, size_t len, size_t *count);
enum tls_status ssl_conn_write(struct tls_conn *conn, const void *buf, size_t len,
                               size_t *count);
enum tls_status ssl_conn_shutdown(struct tls_conn *conn);
void ssl_conn_info(const struct tls_conn *conn, struct tls_info *out);
void ssl_conn_failure(const struct tls_conn *conn, struct tls_failure *out);

int ssl_session_seen(SSL *ssl, SSL_SESSION *session);
struct tls_session *ssl_session_take(struct tls_conn *conn);
void ssl_session_free(struct tls_session *session);
uint32_t ssl_session_early_data_bytes(const struct tls_session *session);
uint32_t ssl_session_lifetime_s(const struct tls_session *session);

/* ssl_identity.c */
int ssl_identity_make(const struct tls_identity_spec *spec, struct tls_identity *out,
                      struct err *e);
/* ssl_pem.c: into ctx; errors name the PEM that was refused. */
int ssl_pem_use_identity(SSL_CTX *ctx, const struct tls_identity *identity, struct err *e);
/* Has its key a signature scheme in TLS 1.2?  ML-DSA has none (draft-ietf-tls-mldsa). */
bool ssl_pem_works_in_12(const struct tls_identity *identity);
int ssl_pem_trust(SSL_CTX *ctx, const char *roots_pem, struct err *e);

/* ssl_backend.c */
/* "openssl 3.5.7" for messages; lists of what works. */
const char *ssl_backend_label(void);
const struct tls_backend *ssl_backend_self(void);

#endif
