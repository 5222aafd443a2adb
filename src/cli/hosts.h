/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - the servers that a probe is to ask, from operands and a file.
 *
 * Layer: cli.
 * Shape: HOST[:PORT] each; in a file one a line, blanks around it, empty lines and what
 *   follows '#' left out; "-" is
 *   standard input.  A server that is named twice is asked once.
 * Bounds: HOSTS_MAX servers, a file of HOSTS_FILE_BYTES_MAX.
 * Failures: ERR_USAGE names the value, and for a file its name and line.
 */
#ifndef CLI_HOSTS_H
#define CLI_HOSTS_H

#include "run/probe.h"

#define HOSTS_MAX 10000u
#define HOSTS_FILE_BYTES_MAX (4u << 20)

struct hosts {
    size_t count;
    struct probe_target *target; /* texts are owned */
};

int hosts_add(struct hosts *hosts, const char *text, unsigned default_port, struct err *e)
    __attribute__((warn_unused_result));
int hosts_add_file(struct hosts *hosts, const char *path, unsigned default_port, struct err *e)
    __attribute__((warn_unused_result));
void hosts_free(struct hosts *hosts);

#endif
