/* SPDX-License-Identifier: Apache-2.0 */
/* A client and a server of the null backend in one thread, for tests. */
#ifndef UNIT_NULL_PAIR_H
#define UNIT_NULL_PAIR_H

#include "cmocka_all.h"
#include <string.h>
#include "tls/null.h"
#include "tls/ring.h"

struct seen {
    unsigned count;
    struct {
        enum tls_direction direction;
        unsigned type;
        size_t bytes;
    } message[32];
};

struct pair {
    const struct tls_backend *tls;
    struct duplex *duplex;
    struct tls_identity identity;
    struct tls_config config[2]; /* by duplex_side */
    struct tls_context *context[2];
    struct tls_conn *conn[2];
    enum tls_status status[2];
    struct seen seen[2];
    const char *server_name;
};

static inline void see(void *arg, enum tls_direction direction, unsigned type, size_t bytes)
{
    struct seen *seen = arg;
    assert_true(seen->count < COUNT_OF(seen->message));
    seen->message[seen->count].direction = direction;
    seen->message[seen->count].type = type;
    seen->message[seen->count++].bytes = bytes;
}

static inline void pair_init(struct pair *p, const struct tls_identity_spec *spec)
{
    struct tls_identity_spec usual = {"ecdsa-p256", TLS_CHAIN_SELF_SIGNED, "localhost"};
    struct err e = ERR_INIT;
    memset(p, 0, sizeof(*p));
    p->tls = tls_null_backend();
    p->duplex = duplex_new(1 << 16);
    p->server_name = "localhost";
    assert_int_equal(p->tls->identity_make(spec != NULL ? spec : &usual, &p->identity, &e), 0);
    p->config[DUPLEX_CLIENT] = (struct tls_config){.role = TLS_ROLE_CLIENT,
                                                   .roots_pem = p->identity.root_pem,
                                                   .verify = true,
                                                   .verify_name = true};
    p->config[DUPLEX_SERVER] =
        (struct tls_config){.role = TLS_ROLE_SERVER, .identity = &p->identity};
}

static inline void pair_connect(struct pair *p)
{
    struct err e = ERR_INIT;
    duplex_reset(p->duplex);
    for (int i = 0; i < 2; i++) {
        if (p->context[i] == NULL)
            p->context[i] = p->tls->context_new(&p->config[i], &e);
        if (p->context[i] == NULL)
            fail_msg("%s", e.text);
        p->seen[i].count = 0;
        struct tls_connect c = {.io = duplex_io(p->duplex, (enum duplex_side)i),
                                .observer = {.message = see, .arg = &p->seen[i]},
                                .server_name = i == DUPLEX_CLIENT ? p->server_name : NULL};
        p->conn[i] = p->tls->conn_new(p->context[i], &c);
        assert_non_null(p->conn[i]);
        p->status[i] = TLS_STATUS_WANT_READ;
    }
}

static inline bool is_waiting(enum tls_status status)
{
    return status == TLS_STATUS_WANT_READ || status == TLS_STATUS_WANT_WRITE;
}

/* Both ends in turns until neither waits, or for as many turns as any handshake needs. */
static inline void pair_handshake(struct pair *p)
{
    pair_connect(p);
    for (int turn = 0; turn < 200; turn++)
        for (int i = 0; i < 2; i++)
            if (is_waiting(p->status[i]))
                p->status[i] = p->tls->handshake(p->conn[i]);
}

static inline void pair_disconnect(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        p->tls->conn_free(p->conn[i]);
        p->conn[i] = NULL;
    }
}

static inline void pair_fini(struct pair *p)
{
    pair_disconnect(p);
    for (int i = 0; i < 2; i++)
        p->tls->context_free(p->context[i]);
    tls_identity_free(&p->identity);
    duplex_free(p->duplex);
}

static inline void assert_done(const struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        struct tls_failure failure;
        p->tls->failure(p->conn[i], &failure);
        if (p->status[i] != TLS_STATUS_OK)
            fail_msg("side %d: status %d, cause %d, code %d, %s", i, (int)p->status[i],
                     (int)failure.cause, failure.code, failure.detail);
    }
}

static inline void assert_failed(const struct pair *p, enum duplex_side side,
                                 enum tls_cause cause, int code)
{
    struct tls_failure failure;
    assert_int_equal(p->status[side], TLS_STATUS_FAILED);
    p->tls->failure(p->conn[side], &failure);
    if (failure.cause != cause || failure.code != code)
        fail_msg("side %d: cause %d, code %d, %s", (int)side, (int)failure.cause, failure.code,
                 failure.detail);
}

static inline void use_groups(struct pair *p, const char *client, const char *server)
{
    p->config[DUPLEX_CLIENT].groups = client;
    p->config[DUPLEX_SERVER].groups = server;
}

#endif
