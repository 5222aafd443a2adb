/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_answer.h - what a server answers to a ClientHello, as far as it is in the clear.
 *
 * Layer: tls.  No I/O, no allocation.
 * Shape: of the first bytes of the server's stream: ServerHello, HelloRetryRequest, an
 *   alert, or something else.  A TLS 1.2 answer is read on to the ServerKeyExchange, which
 *   names the curve.
 * Source: RFC 8446 4.1.3 (ServerHello), 4.1.4, 4.2.8, 5.1, 6; RFC 8422 5.4.
 * Bounds: nothing behind `length` is read; an answer is at most RAW_ANSWER_BYTES_MAX long.
 * Threads: any.
 */
#ifndef TLS_RAW_ANSWER_H
#define TLS_RAW_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_ANSWER_BYTES_MAX 65536u

enum raw_answer_kind {
    RAW_ANSWER_PART,    /* well-formed so far, but not whole */
    RAW_ANSWER_HELLO,   /* ServerHello */
    RAW_ANSWER_RETRY,   /* HelloRetryRequest */
    RAW_ANSWER_ALERT,   /* a fatal alert */
    RAW_ANSWER_FOREIGN, /* no TLS, or malformed */
};

struct raw_answer {
    enum raw_answer_kind kind;
    unsigned version; /* HELLO, RETRY: 0x0304, 0x0303 or what else it says */
    unsigned cipher;
    unsigned group; /* key_share's, the retry's, or the curve of TLS 1.2; 0: none */
    bool is_psk;    /* pre_shared_key was accepted */
    unsigned alert; /* ALERT: its description */
};

void raw_answer_read(const uint8_t *stream, size_t length, struct raw_answer *out);

#endif
