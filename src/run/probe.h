/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - ask one TLS server what it accepts and prefers, with few, paced connections.
 *
 * Layer: run.
 * Shape: most questions are a ClientHello by hand (tls/raw_hello.h), whose answer is read
 *   as far as it is in the clear; then the connection is closed.  What needs a whole
 *   handshake is done with a TLS library.  One connection at a time, each at its turn by
 *   the rate, never more than connections_max: what is then left is not asked, the most
 *   useful questions coming first.  After three connections in a row that got no answer
 *   at all the server is left alone.
 * Trust: nothing that the server sends is trusted; certificates are not verified, since
 *   nothing is told to the server nor believed of it.
 * Source: RFC 8446; RFC 3207 (SMTP), RFC 9051 6.2.1 (IMAP), PostgreSQL's SSLRequest; the
 *   PROXY protocol, versions 1 and 2.
 * Threads: any; one probe per thread (probe_many).
 */
#ifndef RUN_PROBE_H
#define RUN_PROBE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "net/address.h"
#include "result/probed.h"
#include "tls/backend.h"

/* What a browser offers today, and its two halves. */
#define PROBE_BROWSER_GROUPS "*X25519MLKEM768:*X25519:secp256r1:secp384r1"
#define PROBE_HYBRID_GROUPS "*X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024"
#define PROBE_CLASSICAL_GROUPS "*X25519:secp256r1:secp384r1"

enum probe_starttls {
    PROBE_STARTTLS_NONE,
    PROBE_STARTTLS_SMTP,
    PROBE_STARTTLS_IMAP,
    PROBE_STARTTLS_POSTGRES,
};
unsigned probe_default_port(enum probe_starttls starttls);     /* 443, 25, 143, 5432 */
const char *probe_starttls_name(enum probe_starttls starttls); /* "" none, "smtp", ... */

enum probe_family { PROBE_FAMILY_ANY, PROBE_FAMILY_IPV4, PROBE_FAMILY_IPV6 };

struct probe_options {
    const struct tls_backend *backend; /* with X25519MLKEM768 and a choice of shares */
    enum probe_starttls starttls;
    enum probe_family family;
    unsigned proxy_version;            /* of the PROXY header, 1 or 2; 0: none */
    const char *server_name;           /* NULL: the target's name; "": none */
    unsigned connections_max;          /* >= 1, to one server */
    double rate_per_s;                 /* > 0, new connections to one server */
    uint64_t timeout_ns;               /* of each step: connect, each answer */
    const volatile sig_atomic_t *stop; /* NULL: never; else non-zero ends it */
};

/* The options as a backend sees them: can it do what a probe needs?  ERR_UNSUPPORTED. */
int probe_check(const struct probe_options *options, struct err *e)
    __attribute__((warn_unused_result));

struct probe_target {
    const char *text; /* as written */
    struct address_name name;
    char *predicted_groups; /* a browser's list with its one predicted share; NULL: none */
    char *prediction;       /* for the reader: what was predicted or why not; NULL: not asked */
};
/* *out is filled; what went wrong is in it. */
void probe_host(const struct probe_options *options, const struct probe_target *target,
                struct probed *out);

/* All of them, at most `concurrency` (>= 1) at a time; out has room for `count`.  done, may
 * be NULL: called after each, from one thread at a time. */
struct probe_many {
    const struct probe_options *options;
    const struct probe_target *target;
    size_t count;
    unsigned concurrency;
    struct probed *out;
    void (*done)(void *arg, size_t finished);
    void *arg;
};
/* Where a thread cannot be made, fewer do the work. */
void probe_run_many(const struct probe_many *many);

#endif
