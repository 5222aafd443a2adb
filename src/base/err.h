/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - why something could not be set up, as one line of text and a kind.
 *
 * Layer: base.  No I/O: only main prints.
 * Shape: a struct err lives on the caller's stack; the callee fills it and
 *   returns -1 (or NULL); each level above may put context in front.
 * Kinds: the kind decides the exit status (1 the measurement failed, 2 usage, 3 it was made
 *   and says no).  A handshake that fails is not an error but data: see tls_failure.
 * Threads: one owner each.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_kind {
    ERR_NONE = 0,
    ERR_USAGE,       /* the user asked for something malformed; exit 2 */
    ERR_UNSUPPORTED, /* well formed, but not here ("not supported by ..."); exit 2 */
    ERR_SYSTEM,      /* the machine said no: files, sockets, memory; exit 1 */
    ERR_FAILED,      /* the measurement could not be made; exit 1 */
    ERR_UNMET,       /* it was made, and what the user wants to hold does not; exit 3 */
};

struct err {
    enum err_kind kind;
    char text[640];
};

#define ERR_INIT                     \
    {                                \
        .kind = ERR_NONE, .text = "" \
    }

/* Fill e and return -1, so that callers can write `return err_set(...)`.
 * e may be NULL (the caller does not care); text that is too long is cut. */
int err_set(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with ": " and the text of the current errno behind; kind ERR_SYSTEM. */
int err_set_errno(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put context and ": " in front of what is there; returns -1. */
int err_add_context(struct err *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Exit status for the kind: 0 to 3. */
int err_exit_status(const struct err *e);

#endif
