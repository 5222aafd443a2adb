/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_config.h - what nginx and HAProxy are told, so that they serve what the embedded
 * server would.
 *
 * Layer: run.
 * Shape: a text for each program, one listener an endpoint, the sockets of which are open
 *   already (nginx finds them in its environment, HAProxy by number).  GET / answers the
 *   three bytes "OK\n", GET /bytes/N those payloads that were asked for.
 * Names: files in the folder are as PEER_*_FILE has them, payloads bytes/N.
 * Threads: any.
 */
#ifndef RUN_PEER_CONFIG_H
#define RUN_PEER_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include "base/cpu.h"
#include "base/text.h"
#include "net/address.h"
#include "run/arm.h"
#include "run/peer_program.h"

/* Of a process, and of a listener: see peer_file_name. */
#define PEER_CONFIG_FILE "config"
#define PEER_OPENSSL_FILE "openssl.cnf"
#define PEER_CHAIN_FILE "chain.pem" /* nginx */
#define PEER_KEY_FILE "key.pem"     /* nginx */
#define PEER_BOTH_FILE "both.pem"   /* HAProxy */
#define PEER_LOG_FILE "log"         /* of all */
#define PEER_PAYLOAD_FOLDER "bytes"
#define PEER_PAYLOAD_MAX_BYTES (UINT64_C(64) << 20)

struct peer_listener {
    const struct tls_config *config;
    int fd;
    char address[ADDRESS_TEXT_MAX]; /* "127.0.0.1:4433", as the socket has it */
    size_t process;                 /* that serves it */
};

/* Fills in `process`; how many there are.  HAProxy has one number of tickets for all of its
 * listeners, so that one process serves those of a number. */
size_t peer_config_assign(enum peer_kind kind, struct peer_listener *listener, size_t count);

struct peer_config {
    const struct peer_program *program;
    const char *folder; /* no blanks or quotes in it */
    const struct peer_listener *listener;
    size_t listeners;
    size_t process; /* which to write for */
    const uint64_t *payload_bytes;
    size_t payloads;
    struct cpu_set cores; /* one worker each, pinned; count 0: one worker, not pinned */
    unsigned connections; /* of all workers */
    bool is_root;         /* workers stay what we are, to read the folder */
};
void peer_config_write(const struct peer_config *c, struct text *out);
/* For OPENSSL_CONF: how many tickets, which HAProxy has no setting for. */
void peer_config_write_openssl(const struct peer_config *c, struct text *out);

/* "2.key.pem" */
void peer_file_name(size_t number, const char *what, char *buf, size_t size);

/* ERR_UNSUPPORTED names the key of the arm that this server cannot be told. */
int peer_check_arm(enum peer_kind kind, const struct arm *arm, struct err *e)
    __attribute__((warn_unused_result));

#endif
