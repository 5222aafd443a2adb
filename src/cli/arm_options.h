/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arm_options.h - from the texts of --arm to a list of arms that can run.
 *
 * Layer: cli.
 * Threads: any.
 */
#ifndef CLI_ARM_OPTIONS_H
#define CLI_ARM_OPTIONS_H

#include "cli/options.h"
#include "run/arm.h"
#include "tls/loader.h"

/* For an option row's `check`: is this one arm? */
int arm_options_check(const char *text, struct err *e);

/* All of them, malloc'd; NULL with ERR_USAGE if one is malformed or they do not fit
 * together (arms_check).  Free with free(). */
struct arm_list *arm_options_read(const struct option_list *texts, struct err *e)
    __attribute__((warn_unused_result));

/* Can the backends do every one of them?  ERR_UNSUPPORTED, ERR_USAGE: see arm_plan. */
int arm_options_plan(const struct arm_list *arms, const struct tls_backends *backends,
                     struct err *e) __attribute__((warn_unused_result));

/* The backends of the arms into the result's build facts. */
void arm_options_describe(const struct arm_list *arms, const struct tls_backends *backends,
                          struct result *result);

#endif
