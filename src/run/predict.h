/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - TLS key share prediction: one key share, for the group the server would choose.
 *
 * Layer: run (may include result tls net stats base).
 * Shape: the server's list, told by DNS or by the user, against the client's own list: the
 *   first of the server's that the client offers gets the only share.  The client's list
 *   itself stays as it is, group by group; where nothing is in both, so do its shares.  A
 *   prediction that was wrong costs a HelloRetryRequest, which is counted and said.
 * Source: draft-ietf-tls-key-share-prediction; RFC 9460.
 * Threads: any; predict_arms may wait for DNS.
 */
#ifndef RUN_PREDICT_H
#define RUN_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "net/address.h"
#include "result/result.h"
#include "run/arm.h"

#define PREDICT_LIST_MAX 128u /* what a user may write; DNS may tell more */

/* Is it "off", "dns", "dns:SCHEME" or a list?  ERR_USAGE without the option's name. */
int predict_check(const char *value, struct err *e) __attribute__((warn_unused_result));
bool predict_is_dns(const char *value); /* of those that predict_check accepts */

/* "4588,29" or names, without blanks, each once.  *count is at least 1. */
int predict_read_list(const char *text, uint16_t out[PREDICT_LIST_MAX], size_t *count,
                      struct err *e) __attribute__((warn_unused_result));

/* The index in `server` of the first that is in `client` too; `servers` for none. */
size_t predict_choose(const uint16_t *server, size_t servers, const uint16_t *client,
                      size_t clients);

struct predict_from {
    const struct tls_backends *backends;
    const struct address *resolver; /* NULL: the system's */
    const char *host;               /* DNS is asked for it; NULL only without may_ask */
    unsigned port;
    bool may_ask; /* false: arms that need DNS are left for later */
};
/* Fills `prediction` of every arm with a `predict` of its own.  ERR_UNSUPPORTED where it
 * cannot be: TLS 1.2, a client's list that cannot be written down.  ERR_FAILED where no
 * resolver answers. */
int predict_arms(struct arm_list *arms, const struct predict_from *from, struct err *e)
    __attribute__((warn_unused_result));

/* After the run: what was predicted into the result's arms, and a note for each arm that had
 * no prediction or a wrong one. */
void predict_tell(const struct arm_list *arms, struct result *result);

#endif
