/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssl_library.h - where OpenSSL and AWS-LC differ; each module links one side of it
 * (openssl*.c or awslc*.c).
 *
 * Layer: tls, inside a module only.
 * Threads: as in backend.h; library_start runs before everything else, once.
 */
#ifndef TLS_SSL_LIBRARY_H
#define TLS_SSL_LIBRARY_H

#include "tls/groups.h"
#include "tls/ssl_common.h"

struct library_facts {
    const char *name, *version, *description;
    unsigned features;
};

/* Start the library: no configuration file, no exit handler.  -1: it refuses to start. */
int library_start(void);
void library_facts(struct library_facts *out);

/* Can the library make this key share (a group of tls_group_all())?  Tries it. */
bool library_has_group(const struct tls_group *group);
/* Can it make, send and verify certificates of this kind?  Tries it, but for RSA keys. */
bool library_has_certificate(const char *kind);

/* What this library cannot do of a well-formed list that names only groups it has. */
int library_groups_check(const struct tls_config *config, const struct tls_group_list *list,
                         struct err *e);
int library_groups_apply(SSL_CTX *ctx, const struct tls_config *config,
                         const struct tls_group_list *list, struct err *e);

/* Tickets, early data, certificate compression and the like: check and apply. */
int library_options_check(const struct tls_config *config, struct err *e);
int library_options_apply(SSL_CTX *ctx, const struct tls_config *config, struct err *e);

/* Before the first byte: offer `session` (NULL: none). false: out of memory. */
bool library_conn_prepare(struct tls_conn *conn, const struct tls_session *session);
/* The ops of the same name, error queue included. */
enum tls_status library_handshake(struct tls_conn *conn);
enum tls_status library_write_early(struct tls_conn *conn, const void *buf, size_t len,
                                    size_t *count);
enum tls_status library_read_early(struct tls_conn *conn, void *buf, size_t len, size_t *count);
/* The negotiated group's name, "" where none. */
const char *library_group_name(const SSL *ssl);
/* Does this reason of ERR_LIB_SSL say that the versions do not meet? */
bool library_is_version_reason(int reason);

/* A private key of a certificate kind; NULL with the error queue filled. */
EVP_PKEY *library_key_make(const char *kind);

struct schedule_label {
    const char *text;             /* without "tls13 " */
    const unsigned char *context; /* NULL: empty */
    size_t context_bytes;
};

/* One derivation of the key schedule, as the library's own TLS makes it.  extract: HKDF-Extract
 * of `secret`, the salt derived from the secret `before` (NULL: the first, no salt); expand:
 * HKDF-Expand-Label.  Secrets have the digest's length.  false: the library failed. */
bool library_schedule_extract(const EVP_MD *digest, const unsigned char *before,
                              const unsigned char *secret, size_t bytes, unsigned char *out);
bool library_schedule_expand(const EVP_MD *digest, const unsigned char *secret,
                             const struct schedule_label *label, unsigned char *out,
                             size_t bytes);

/* ssl_schedule.c: a name like SHA384 (NULL: none of TLS 1.3), and the whole schedule once. */
const EVP_MD *ssl_schedule_digest(const char *name);
bool ssl_schedule_run(const EVP_MD *digest);

/* The primitive ops. */
struct tls_primitive_op *library_primitive_new(enum tls_primitive what, const char *name,
                                               struct err *e);
int library_primitive_run(struct tls_primitive_op *op);
void library_primitive_free(struct tls_primitive_op *op);

#endif
