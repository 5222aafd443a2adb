/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed.h - what a probe found out about one server, as plain data.
 *
 * Layer: result (may include stats base).
 * Units: bytes, ns, counts.
 * Shape: texts are arrays that are cut to size, "" where absent; a count that can be absent
 *   says so.  Texts that a server chose (names in certificates, failure.text) are as they
 *   came: whoever shows them makes them harmless.
 * Threads: one owner.
 */
#ifndef RESULT_PROBED_H
#define RESULT_PROBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "result/seen.h"

#define PROBED_GROUPS_MAX 40u
#define PROBED_FLIGHTS_MAX 12u
#define PROBED_NAME_MAX 64u
#define PROBED_TEXT_MAX 256u

enum probed_answer { PROBED_UNKNOWN, PROBED_NO, PROBED_YES };

/* Why something could not be had. */
struct probed_failure {
    char cause[24]; /* "" none; resolve tcp timeout closed alert not-tls starttls verify
                       protocol local limit stopped */
    int code;       /* alert number or errno, 0 none */
    char text[PROBED_TEXT_MAX];
};

enum probed_order {
    PROBED_ORDER_UNKNOWN, /* fewer than two groups, or not asked */
    PROBED_ORDER_SERVER,  /* its own: the groups stand in it */
    PROBED_ORDER_CLIENT,  /* it takes what the client names first */
};

struct probed_group {
    unsigned code;
    char name[PROBED_NAME_MAX];
    bool is_hybrid, is_post_quantum; /* hybrid, or ML-KEM alone */
    bool is_obsolete;                /* a draft's code point */
    enum probed_answer takes_share;  /* instead of asking for the group before it, is a share
                                        of this one that the client sent taken? */
};
struct probed_groups {
    bool is_complete;   /* the server was asked until it refused */
    bool is_one_by_one; /* it names no group without a share: asked singly, no order */
    enum probed_answer answers_missing_share; /* with HelloRetryRequest */
    enum probed_order order;
    size_t count;
    struct probed_group group[PROBED_GROUPS_MAX];
    struct probed_failure failure; /* where not complete */
};

struct probed_flight {
    enum result_side sender;
    uint64_t bytes;
};
/* One whole handshake. */
struct probed_handshake {
    bool is_tried, is_complete;
    bool is_hrr, is_resumed, is_hybrid; /* is_hybrid: the group */
    char tls[8], group[PROBED_NAME_MAX], cipher[PROBED_NAME_MAX], signature[PROBED_NAME_MAX];
    unsigned round_trips; /* of TLS: flights of the server until the client may send data */
    size_t flights;       /* until the client's last of the handshake; 0 where it failed */
    struct probed_flight flight[PROBED_FLIGHTS_MAX];
    uint64_t client_hello_bytes;  /* its first flight */
    uint64_t server_flight_bytes; /* the largest flight of the server */
    uint64_t bytes[RESULT_SIDES];
    struct probed_failure failure;
};

enum probed_verdict {
    PROBED_UNMEASURED,   /* no server that speaks TLS answered */
    PROBED_POST_QUANTUM, /* a browser's hello gets a hybrid group */
    PROBED_NOT_CHOSEN,   /* a hybrid is accepted, but a browser's hello gets another group */
    PROBED_CLASSICAL,    /* no hybrid that browsers offer is accepted */
    PROBED_REFUSED,      /* a browser's hello fails */
};
#define PROBED_VERDICTS 5u

struct probed {
    char target[PROBED_TEXT_MAX];      /* as the user wrote it */
    char server_name[PROBED_TEXT_MAX]; /* SNI; "" none */
    char address[80];                  /* that answered */
    char starttls[16];                 /* "" none */
    unsigned connections, connections_max;
    bool is_cut;         /* the bound, or an interrupt, left something unasked */
    uint64_t connect_ns; /* of the first connection; 0 absent */
    uint64_t elapsed_ns;
    bool has_answered; /* at least one ServerHello or HelloRetryRequest came */
    enum probed_answer tls12, tls13;
    struct probed_groups groups;
    struct probed_handshake browser, hybrid_only, classical_only;
    struct probed_handshake predicted; /* a browser's list, with its one share predicted */
    char prediction[PROBED_TEXT_MAX];  /* what was predicted, or why nothing; "": not asked */
    struct probed_failure failure;     /* where nothing could be measured */
};

/* X25519MLKEM768, the hybrid of browsers' hellos. */
bool probed_accepts_browsers_hybrid(const struct probed *p);
enum probed_verdict probed_judge(const struct probed *p);
const char *probed_verdict_name(enum probed_verdict verdict); /* "post-quantum", ... */
const char *probed_order_name(enum probed_order order);       /* "server"; NULL: unknown */

#endif
