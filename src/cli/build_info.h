/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_info.h - what this program was built from, and where it stands.
 *
 * Layer: cli.
 * Threads: any.
 */
#ifndef CLI_BUILD_INFO_H
#define CLI_BUILD_INFO_H

#include <stdbool.h>
#include "result/result.h"
#include "tls/loader.h"

const char *build_version(void); /* "0.1.0" */

/* Version, compiler, flags and sanitizer into the result's build facts. */
void build_describe(struct result_build *out);
bool build_is_sanitized(void);

/* "pqc-bench 0.1.0" and a line for each backend; the lines for a person are malloc'd. */
char *build_version_text(const struct tls_backends *backends);

/* The directory of the running program, malloc'd; NULL where the kernel does not tell. */
char *build_program_directory(void);

#endif
