/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h - the backend under test, its identities, and a client and server over them.
 *
 * Layer: tests.
 * Shape: a spec is two struct tls_config with useful defaults; a pair is what came of it.
 *   Anything that cannot be set up fails the running test with its message.
 * Threads: one.
 */
#ifndef TESTS_BACKEND_LAB_H
#define TESTS_BACKEND_LAB_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "pump.h"
#include "tls/backend.h"
#include "tls/groups.h"

#define HOST "localhost"

/* Load the module; exits with a message when it cannot. */
const struct tls_backend *lab_load(const char *path);
extern const struct tls_backend *lab; /* the backend under test */
void lab_fini(void);                  /* forget the identities */

bool lab_has(enum tls_feature feature);
bool lab_is_listed(const char *const *names, const char *name);
/* "openssl 3.5.7", as messages name it. */
const char *lab_label(void);

/* Made once per kind and chain, for HOST; owned by the lab. */
const struct tls_identity *lab_identity(const char *kind, enum tls_chain chain);

struct spec {
    struct tls_config client, server;
    const char *name;            /* SNI, and what is verified; NULL: none */
    struct tls_session *session; /* NULL: full handshake */
};
/* TLS 1.3, X25519, one self-signed certificate, verified with its name; no tickets. */
struct spec spec_new(void);
void spec_use(struct spec *spec, const struct tls_identity *identity);
void spec_groups(struct spec *spec, const char *client, const char *server);
void spec_version(struct spec *spec, enum tls_version client, enum tls_version server);
void spec_resume(struct spec *spec, unsigned tickets);

struct pair {
    struct tls_context *context[SIDES];
    struct pump pump;
};
/* Contexts and connections. */
void pair_open(struct pair *pair, const struct spec *spec);
/* The connections anew, over the same contexts. */
void pair_again(struct pair *pair, const struct spec *spec);
void pair_close(struct pair *pair);
/* pair_open and a handshake that must succeed. */
void pair_shake(struct pair *pair, const struct spec *spec);

struct tls_info pair_info(const struct pair *pair, int side);
struct tls_failure pair_failure(const struct pair *pair, int side);
/* Reads the client until it has nothing more; its newest session or NULL. */
struct tls_session *pair_session(struct pair *pair);

/* config_check must refuse, with this kind, and name the thing; context_new too. */
void assert_refused(const struct tls_config *config, enum err_kind kind, const char *thing);
void assert_contains(const char *text, const char *part);
/* Both ways, a few bytes. */
void assert_talks(struct pair *pair);

/* Messages of a type that one end saw in a direction. */
unsigned seen_count(const struct pair *pair, int side, enum tls_direction direction,
                    unsigned type);
size_t seen_bytes(const struct pair *pair, int side, enum tls_direction direction);

#endif
