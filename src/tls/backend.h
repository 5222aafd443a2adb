/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what a TLS library must offer to be measured: one const table.
 *
 * Layer: tls (may include base only).
 * Shape: a backend is a loadable module with its library inside and every symbol hidden
 *   but TLS_BACKEND_SYMBOL, a function of type tls_backend_entry.  Several modules, also
 *   several versions of one library, live in one process.
 * Transport: the backend does no system call of its own; bytes go through struct tls_io,
 *   so that a ring, a socket and a test script look alike and every byte is counted.
 * Threads: a backend and a context may be used by many threads only where said so; a
 *   connection belongs to one.  We make one context per arm and thread.
 * Source: RFC 8446, RFC 5246; names of groups, suites and signature schemes as in the
 *   IANA TLS registries.
 */
#ifndef TLS_BACKEND_H
#define TLS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "tls/identity.h"

#define TLS_BACKEND_ABI 1u
#define TLS_TICKET_KEY_BYTES 80u
#define TLS_BACKEND_SYMBOL "pqc_bench_tls_backend"

enum tls_role { TLS_ROLE_CLIENT, TLS_ROLE_SERVER };

enum tls_version { TLS_VERSION_ANY = 0, TLS_VERSION_12 = 0x0303, TLS_VERSION_13 = 0x0304 };

enum tls_direction { TLS_SENT, TLS_RECEIVED };

/* What a call left the connection in. */
enum tls_status {
    TLS_STATUS_OK,         /* done; for read and write: *count bytes (> 0) moved */
    TLS_STATUS_WANT_READ,  /* call again when the transport is readable */
    TLS_STATUS_WANT_WRITE, /* call again when the transport is writable */
    TLS_STATUS_CLOSED,     /* the peer sent close_notify */
    TLS_STATUS_FAILED,     /* see failure(); only free() may follow */
};

/*
 * Bytes below TLS.  recv: > 0 bytes, 0 end of stream, -1 with errno (EAGAIN: would
 * block).  send: > 0 bytes taken, -1 with errno.  Neither raises SIGPIPE.  `arg` outlives
 * the connection.
 */
struct tls_io {
    ssize_t (*recv)(void *arg, void *buf, size_t len);
    ssize_t (*send)(void *arg, const void *buf, size_t len);
    void *arg;
};

/*
 * What may be watched; each function may be NULL, and a NULL observer costs nothing.
 * message: one call per whole handshake message, in order; `bytes` includes the 4-byte
 *   header; `type` is HandshakeType (1 ClientHello, 2 ServerHello, ...; the dummy
 *   message_hash is not reported; a HelloRetryRequest is reported as type 6, its number in
 *   the drafts).
 * key_log: one line in the NSS key log format without newline.
 */
#define TLS_MESSAGE_HELLO_RETRY_REQUEST 6u
struct tls_observer {
    void (*message)(void *arg, enum tls_direction direction, unsigned type, size_t bytes);
    void (*key_log)(void *arg, const char *line);
    void *arg;
};

/* What the null backend does instead of cryptography; other backends ignore it.  A client
 * asks in its hello, so that arms can differ on one server process. */
struct tls_null_work {
    uint64_t client_spin_ns, server_spin_ns; /* CPU burnt per handshake, per side */
    uint64_t delay_ns;                       /* extra CPU burnt at the server ... */
    double delay_share;                      /* ... in this share of handshakes, 0..1 */
};

/* How contexts are made.  Strings and structs are read during context_new only. */
struct tls_config {
    enum tls_role role;
    enum tls_version version_min, version_max; /* ANY: 1.2 and the library's highest */
    const char *groups;  /* OpenSSL 3.5 list syntax (see groups.h); NULL: library default */
    const char *ciphers; /* TLS 1.3 suites or 1.2 cipher names, ':' between; NULL: default */
    const struct tls_identity *identity; /* server: mandatory; client: NULL */
    const char *roots_pem;     /* client: trusted roots; NULL with verify on: refuse all */
    bool verify;               /* client: chain, name and validity are checked */
    bool verify_name;          /* client: the server's name too (needs server_name) */
    const uint8_t *ticket_key; /* server: TLS_TICKET_KEY_BYTES of chance that seal tickets, the
                                  same for contexts that share them; NULL: the context's own */
    unsigned tickets;          /* server: tickets per full handshake, 0 = none */
    bool resume;               /* client: offer and keep sessions */
    uint32_t early_data_bytes; /* server: accepted at most; client: > 0 wants it */
    bool no_anti_replay;       /* server: early data with stateless tickets */
    struct tls_null_work null_work;
};

enum tls_early_data { TLS_EARLY_NONE, TLS_EARLY_ACCEPTED, TLS_EARLY_REJECTED };

/* What was negotiated, as the measuring end saw it.  Names are static strings or live as
 * long as the context; never NULL after a finished handshake ("" where none). */
struct tls_info {
    enum tls_version version;
    const char *group;     /* IANA name: "X25519MLKEM768", "x25519" is given as "X25519" */
    const char *cipher;    /* "TLS_AES_256_GCM_SHA384" */
    const char *signature; /* server's CertificateVerify scheme, "" when resumed */
    bool is_hrr, is_resumed;
    enum tls_early_data early_data;
};

/* Why a connection failed. */
enum tls_cause {
    TLS_CAUSE_NONE,
    TLS_CAUSE_ALERT_RECEIVED, /* code: alert number */
    TLS_CAUSE_ALERT_SENT,     /* we refused; code: alert number */
    TLS_CAUSE_VERIFY,         /* certificate refused; code: the library's reason */
    TLS_CAUSE_EOF,            /* end of stream in the middle; code 0 */
    TLS_CAUSE_IO,             /* transport error; code: errno */
    TLS_CAUSE_NOT_TLS,        /* the peer speaks something else */
    TLS_CAUSE_VERSION,        /* no common version (client asked 1.3, got 1.2 ...); code: 70 if
                                 that alert was sent or received, else 0 */
    TLS_CAUSE_PROTOCOL,       /* malformed or unexpected message; no alert known */
    TLS_CAUSE_LOCAL,          /* out of memory, provider failure, misuse */
};
struct tls_failure {
    enum tls_cause cause;
    int code;
    char detail[160]; /* the library's own words; may contain peers' text: not harmless */
};

struct tls_context; /* opaque, per backend */
struct tls_conn;
struct tls_session;
struct tls_primitive_op;

enum tls_feature {
    TLS_FEATURE_TLS12 = 1u << 0,
    TLS_FEATURE_RESUMPTION = 1u << 1,
    TLS_FEATURE_EARLY_DATA = 1u << 2,
    TLS_FEATURE_SHARE_CHOICE = 1u << 3, /* '*' in groups is obeyed, HRR can be provoked */
    TLS_FEATURE_KEY_LOG = 1u << 4,
    TLS_FEATURE_MESSAGES = 1u << 5,
    TLS_FEATURE_TUPLES = 1u << 6, /* '/' in a server's groups */
};

enum tls_primitive {
    TLS_PRIMITIVE_KEYGEN,      /* group: make a key share (client; server for plain DH) */
    TLS_PRIMITIVE_DERIVE,      /* group: client's ECDH or decapsulation */
    TLS_PRIMITIVE_ENCAPSULATE, /* group: server's whole answer: (keygen +) derive or encapsulate
                                */
    TLS_PRIMITIVE_SIGN,        /* certificate kind */
    TLS_PRIMITIVE_VERIFY,      /* certificate kind */
    TLS_PRIMITIVE_SCHEDULE,    /* SHA256 or SHA384: TLS 1.3's key schedule, either side's */
};

struct tls_connect {
    struct tls_io io;
    struct tls_observer observer;
    const char *server_name;     /* client: SNI and name to verify; NULL: none */
    struct tls_session *session; /* client: to resume, NULL: full; stays the caller's */
};

struct tls_backend {
    unsigned abi;            /* TLS_BACKEND_ABI */
    const char *name;        /* "openssl", "aws-lc", "null" */
    const char *version;     /* "3.5.7" */
    const char *description; /* the library's own version line */
    unsigned features;       /* tls_feature bits */

    /* NULL-terminated lists of what really works in this build (names by IANA). */
    const char *const *groups;
    const char *const *certificates; /* kinds, for identity_make and verification */
    const char *const *ciphers;

    /* Could context_new with this work?  -1 with ERR_UNSUPPORTED ("group MLKEM512: not
     * supported by aws-lc 1.2") or ERR_USAGE.  Refuses lists that the library accepts and
     * then fails with ("", "?bogus", "X25519/-X25519").  Makes no context. */
    int (*config_check)(const struct tls_config *config, struct err *e);

    /* A fresh key and certificate(s); *out is owned by the caller. */
    int (*identity_make)(const struct tls_identity_spec *spec, struct tls_identity *out,
                         struct err *e);

    /* Contexts. Used by one thread at a time, except that free may come from another. */
    struct tls_context *(*context_new)(const struct tls_config *config, struct err *e);
    void (*context_free)(struct tls_context *context); /* NULL: nothing */

    /* A connection in its initial state; the context must outlive it.  `c` is copied but
     * for what its pointers lead to, which must outlive it (name and session: this call only).
     * NULL when memory or the provider failed.  No byte is moved. */
    struct tls_conn *(*conn_new)(struct tls_context *context, const struct tls_connect *c);
    void (*conn_free)(struct tls_conn *conn); /* NULL: nothing; moves no byte */

    /* Drive the handshake.  OK: complete at this side (client: its Finished was handed to
     * the transport; server: its tickets too), and at each later call.  CLOSED: the peer
     * sent close_notify instead (failure(): none).  Leaves nothing in the thread's error
     * queue. */
    enum tls_status (*handshake)(struct tls_conn *conn);

    /* Application data.  read: also processes tickets and KeyUpdates; WANT_READ after them.
     * All data that the library holds is given before WANT_READ is returned. */
    enum tls_status (*read)(struct tls_conn *conn, void *buf, size_t len, size_t *count);
    enum tls_status (*write)(struct tls_conn *conn, const void *buf, size_t len, size_t *count);

    /* Early data.  Client, before handshake(): OK with *count; only if the session allows
     * it (else FAILED).  Server, before handshake(): OK with *count > 0, or CLOSED when
     * there is no (more) early data and handshake() is to be called; a server whose context
     * takes early data must ask here first.  Between the two it may answer what it got, ahead
     * of the client's Finished (RFC 8446, 2.3), with write_early. */
    enum tls_status (*write_early)(struct tls_conn *conn, const void *buf, size_t len,
                                   size_t *count);
    enum tls_status (*read_early)(struct tls_conn *conn, void *buf, size_t len, size_t *count);

    /* Send close_notify (does not wait for the peer's).  OK, WANT_WRITE or FAILED; again OK
     * when called again. */
    enum tls_status (*shutdown)(struct tls_conn *conn);

    /* After a finished handshake. */
    void (*info)(const struct tls_conn *conn, struct tls_info *out);
    /* After FAILED (else cause NONE). */
    void (*failure)(const struct tls_conn *conn, struct tls_failure *out);

    /* The newest ticket received on this connection and not taken yet, owned by the caller,
     * or NULL; of many, a few are kept.  It may be used for several connections (each gets
     * its own copy) and on any thread, one at a time. */
    struct tls_session *(*session_take)(struct tls_conn *conn);
    void (*session_free)(struct tls_session *session);
    /* Early data bytes that the session permits; ticket lifetime in seconds. */
    uint32_t (*session_early_data_bytes)(const struct tls_session *session);
    uint32_t (*session_lifetime_s)(const struct tls_session *session);

    /* One cryptographic operation, prepared once, run many times; name is a group, a
     * certificate kind or a digest.  run returns 0, or -1 when the library failed. */
    struct tls_primitive_op *(*primitive_new)(enum tls_primitive what, const char *name,
                                              struct err *e);
    int (*primitive_run)(struct tls_primitive_op *op);
    void (*primitive_free)(struct tls_primitive_op *op);
};

/* The same table at each call; NULL: the library refuses to start.  Any thread. */
typedef const struct tls_backend *tls_backend_entry(void);

#endif
