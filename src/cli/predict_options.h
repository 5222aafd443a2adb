/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_options.h - the options of key share prediction, the same for every command.
 *
 * Layer: cli.
 * Shape: a command has a struct predict_options among its values and PREDICT_OPTION_ROWS in
 *   its table.
 * Threads: any.
 */
#ifndef CLI_PREDICT_OPTIONS_H
#define CLI_PREDICT_OPTIONS_H

#include "cli/options.h"
#include "net/address.h"
#include "run/predict.h"

struct predict_options {
    char *how, *name, *resolver; /* NULL: not given */
};

/* table: rows for a command's options */
#define PREDICT_ROW(type, at, member, option, word, text, note, checker)        \
    {                                                                           \
        .name = option, .kind = OPTION_TEXT, .argument = word, .help = text,    \
        .unset_note = note, .check = checker,                                   \
        .offset = offsetof(type, at) + offsetof(struct predict_options, member) \
    }
#define PREDICT_OPTION_ROWS(type, at)                                                          \
    PREDICT_ROW(type, at, how, "predict", "HOW",                                               \
                "send one key share, the server's choice as told by: dns (its HTTPS record), " \
                "dns:SCHEME (SVCB), or a list, 4588,29 or names; arms may say otherwise",      \
                "off", predict_check),                                                         \
        PREDICT_ROW(type, at, name, "predict-name", "HOST[:PORT]",                             \
                    "the server that DNS is asked about", "the target",                        \
                    predict_options_check_name),                                               \
        PREDICT_ROW(type, at, resolver, "resolver", "ADDR[:PORT]", "the DNS resolver to ask",  \
                    "the system's", predict_options_check_resolver)

/* For those rows: is it a name, is it an address? */
int predict_options_check_name(const char *value, struct err *e);
int predict_options_check_resolver(const char *value, struct err *e);

/* --predict into the arms that say nothing of it, and every arm's prediction.  target: the
 * server that is met, sni: what stands for its name; both may be NULL.  Without may_ask nobody
 * is asked, and what can be told without asking is checked.  ERR_USAGE where DNS is to be asked
 * and no name is known. */
struct predict_target {
    const struct address_name *target;
    const char *sni;
    const struct tls_backends *backends;
    bool may_ask;
};
int predict_options_apply(const struct predict_options *o, const struct predict_target *t,
                          struct arm_list *arms, struct err *e)
    __attribute__((warn_unused_result));
/* arm_options_read, and then that. */
struct arm_list *predict_options_read_arms(const struct predict_options *o,
                                           const struct predict_target *t,
                                           const struct option_list *texts, struct err *e)
    __attribute__((warn_unused_result));

#endif
