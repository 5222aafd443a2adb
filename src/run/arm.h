/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arm.h - one configuration to compare, and the one table of its keys.
 *
 * Layer: run.
 * Shape: an arm is "NAME: KEY=VALUE KEY=VALUE ..." on the command line and a section
 *   "[arm NAME]" in a scenario file, with the same keys.  Keys are separated by blanks; a
 *   value has no blanks.  The keys, their defaults and help text stand in one table
 *   (arm_keys), from which parsing, --help, the man page and the result's echo are made.
 * Comparison: against the arm named by `baseline`, else the first arm.  An arm whose
 *   settings equal those of the arm it is compared with is a control: its difference is
 *   the noise floor.
 * Threads: one owner each.
 */
#ifndef RUN_ARM_H
#define RUN_ARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "result/result.h"
#include "tls/backend.h"
#include "tls/loader.h"

#define ARM_NAME_MAX 63u
#define ARM_TEXT_MAX 255u
#define ARMS_MAX 64u

/* What became of `predict`. */
struct arm_prediction {
    char source[ARM_TEXT_MAX + 1u]; /* "list", or the name that DNS was asked for; "": none */
    char server[ARM_TEXT_MAX + 1u]; /* what the server is said to prefer, "4588,29" */
    char groups[ARM_TEXT_MAX + 1u]; /* the client's list with its one share; "": the arm's */
    char share[64];                 /* the group of that share, "": the arm's own shares ... */
    char reason[160];               /* ... and why */
};

struct arm {
    char name[ARM_NAME_MAX + 1u];     /* letters, digits and ".+_-" ; unique */
    char baseline[ARM_NAME_MAX + 1u]; /* "": the first arm */
    char groups[ARM_TEXT_MAX + 1u];   /* offered by the client; "": the library's default */
    char predict[ARM_TEXT_MAX + 1u];  /* where the one share to send comes from: "off", "dns",
                                         "dns:SCHEME", or a list; "": as the run says */
    char server_groups[ARM_TEXT_MAX + 1u]; /* "": the default: every group the server has,
                                              in the client's order */
    char certificate[32];                  /* kind, "ecdsa-p256" */
    enum tls_chain chain;
    char cipher[ARM_TEXT_MAX + 1u]; /* "": TLS_AES_256_GCM_SHA384, or its like in TLS 1.2 */
    enum tls_version tls;           /* the only one offered and accepted */
    double resume;                  /* share of connections that try to resume, 0..1 */
    uint32_t early_data_bytes;
    int64_t server_early_data_bytes; /* that the server takes; -1: as many */
    bool anti_replay;                /* the server takes the early data of a ticket once */
    int tickets;            /* the server sends after a full handshake; -1: 0, or 2 where
                               the arm resumes */
    uint64_t payload_bytes; /* response body; 0: "OK\n" */
    bool verify;
    bool sni; /* the client names the server; off: and so cannot verify its name */
    char backend[64], server_backend[64]; /* "": the default backend; server: as backend
                                             names none, the same rule */
    struct tls_null_work null_work;
    struct arm_prediction prediction; /* no key: see run/predict.h */
};

/* Words for "not set": "DEFAULT" for groups (the library's list), "first" for baseline,
 * "auto" for the others.  An empty value is refused everywhere. */
struct arm_key {
    const char *name;     /* "server-groups" */
    const char *argument; /* "LIST" */
    const char *initial;  /* default as text, never empty: arm_set accepts it */
    const char *help;     /* one line */
    int (*set)(struct arm *arm, const char *value, struct err *e); /* use arm_set */
    void (*get)(const struct arm *arm, char *buf, size_t size);    /* use arm_get */
};
/* All keys, ended by a row with name NULL. */
const struct arm_key *arm_keys(void);

void arm_init(struct arm *arm, const char *name); /* every key at its default */
/* What the client is told to offer, a prediction's share marked in it; "": the default. */
const char *arm_groups_sent(const struct arm *arm);

/* Set one key; a group list's syntax is checked here.  ERR_USAGE names the key, the value
 * and what is accepted. */
int arm_set(struct arm *arm, const char *key, const char *value, struct err *e)
    __attribute__((warn_unused_result));

/* Parse "NAME: KEY=VALUE ..."; a key given twice is refused.  The arm's name is put in front
 * of every message once it is known. */
int arm_parse(const char *text, struct arm *out, struct err *e)
    __attribute__((warn_unused_result));

/* The value of a key as text that arm_set accepts. */
char *arm_get(const struct arm *arm, const char *key, char *buf, size_t size);
void arm_echo(const struct arm *arm, struct result_pairs *out); /* every key */

struct arm_list {
    size_t count;
    struct arm arm[ARMS_MAX];
};

/* May an arm have this name?  ERR_USAGE says what is accepted ("first" is taken). */
int arm_check_name(const char *name, struct err *e) __attribute__((warn_unused_result));

/* Names unique, baselines exist (and are no arm of another baseline), at least one arm;
 * early data only where the arm resumes.  A baseline is the first arm, an arm that others
 * name, or one that names itself. */
int arms_check(const struct arm_list *arms, struct err *e) __attribute__((warn_unused_result));
size_t arms_baseline(const struct arm_list *arms, size_t i); /* i itself for a baseline */
bool arms_is_control(const struct arm_list *arms, size_t i);

/* Resolve backends and ask each, before anything runs, whether it can do the arm: unknown
 * groups, certificates, features are ERR_UNSUPPORTED naming arm, thing and backend.
 * The plan points into itself and into the arm: neither may move while it is used. */
struct arm_plan {
    const struct arm *arm;
    const struct tls_backend *client, *server;
    struct tls_config client_config, server_config; /* identity and roots not yet set */
    char server_groups[ARM_TEXT_MAX + 1u];          /* where the arm names none */
};
int arm_plan(const struct arm *arm, const struct tls_backends *backends, struct arm_plan *out,
             struct err *e) __attribute__((warn_unused_result));

#endif
