/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - the server beside the generator as a process of its own, gone whatever ends its
 * parent: the embedded one, or one that watches over nginx or HAProxy.
 *
 * Layer: run.
 * Shape: the parent starts this same program again, as `serve --control-fd N`, over a socket
 *   pair.  It writes what to serve and the child answers with ports and roots; afterwards
 *   the parent asks for counters and samples.  The child ends when the pair's other end is
 *   closed, and by PR_SET_PDEATHSIG when its parent is killed; it is in a process group of
 *   its own, so that Ctrl-C at the terminal reaches the parent alone.
 * Others' servers: the child starts one (peer.h), runs an agent for it (agent.h), which has
 *   what there are no counters and samples for, and lives on behind a killed parent until it
 *   has ended the server and removed its files.  The agent listens on loopback of the parent's
 *   network, so that nothing of it crosses a link.
 * Format: both ends are the same program, so structs go over the pair as they are.
 * Threads: one owner each; start from the thread that outlives the child.
 */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <sys/types.h>
#include "base/cpu.h"
#include "net/link.h"
#include "run/endpoint.h"
#include "run/peer_program.h"
#include "run/server.h"

struct child_options {
    const char *program; /* NULL: /proc/self/exe */
    const struct endpoint_list *endpoints;
    struct cpu_set cores;
    const char *address;             /* "127.0.0.1" or "::1"; ports are free ones */
    const struct peer_program *peer; /* NULL: the embedded server */
    const uint64_t *payload_bytes;   /* peer: bodies that will be asked for, <= ARMS_MAX */
    size_t payloads;
    const struct link *link; /* it runs at its server's end; NULL: here */
};

struct child {
    pid_t pid;
    int control_fd;
    bool is_peer;
    size_t workers, endpoints;
    unsigned port[SERVER_ENDPOINTS_MAX];
    char *root_pem[SERVER_ENDPOINTS_MAX];
    const char *name;             /* for messages: "embedded server", "nginx" */
    char agent[ADDRESS_TEXT_MAX]; /* of a peer; "" for the embedded server */
};

struct child_samples {
    size_t worker;
    uint64_t since_ns;
};

/* The server listens when this returns. */
int child_start(struct child *c, const struct child_options *options, struct err *e)
    __attribute__((warn_unused_result));
void child_stop(struct child *c); /* and wait for its end; a struct of zeros: nothing */

/* Of the embedded server.  ERR_FAILED if the child is gone. */
int child_read_totals(struct child *c, struct server_totals *out, struct err *e)
    __attribute__((warn_unused_result));
/* As sampler_keep and sampler_copy, of every worker and of one. */
int child_keep_samples(struct child *c, uint64_t from_ns, struct err *e)
    __attribute__((warn_unused_result));
struct sample *child_copy_samples(struct child *c, const struct child_samples *which,
                                  size_t *count, struct sample *kept, struct err *e)
    __attribute__((warn_unused_result));

/* What the child does: serve until the other end of `fd` is closed. */
int child_serve(int fd, const struct tls_backends *backends, struct err *e)
    __attribute__((warn_unused_result));

#endif
