/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h - from an arm to what the embedded server offers for it.
 *
 * Layer: run.
 * Shape: arms that differ only by what the client offers share one endpoint, so that they
 *   meet the same server.  Where an arm leaves the server's groups to us, the endpoint has
 *   the groups of all its arms, the post-quantum ones first, in one list.
 * Threads: one owner.
 */
#ifndef RUN_ENDPOINT_H
#define RUN_ENDPOINT_H

#include "run/arm.h"
#include "run/server.h"

#define ENDPOINT_HOST "localhost"

/* Which endpoint each arm uses, and each endpoint as an arm whose server keys count. */
struct endpoint_list {
    size_t count;
    struct arm arm[SERVER_ENDPOINTS_MAX];
    size_t of_arm[ARMS_MAX];
};
int endpoints_of_arms(const struct arm_list *arms, const struct tls_backends *backends,
                      struct endpoint_list *out, struct err *e)
    __attribute__((warn_unused_result));

/* An endpoint ready to be served.  server points into it: it may not move. */
struct endpoint {
    struct arm arm;
    struct arm_plan plan;
    struct tls_identity identity;
    struct server_endpoint server;
};
/* Makes certificate and configuration; `host` is the certificate's name. */
int endpoint_init(struct endpoint *ep, const struct arm *arm,
                  const struct tls_backends *backends, const char *host, struct err *e)
    __attribute__((warn_unused_result));
void endpoint_fini(struct endpoint *ep);

#endif
