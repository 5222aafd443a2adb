/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_tc.h - the program tc of iproute2, run in this process's network namespace.
 *
 * Layer: net, private to link*.c.
 * Failures: ERR_UNSUPPORTED with tc's own words and what they want, or that there is no tc.
 * Source: tc(8), capabilities(7) on ambient capabilities.
 */
#ifndef NET_LINK_TC_H
#define NET_LINK_TC_H

#include "base/err.h"

/* words: without "tc", ending with NULL.  Looked for on PATH, then in /usr/sbin and /sbin. */
int link_tc_run(char *const words[], struct err *e) __attribute__((warn_unused_result));

#endif
