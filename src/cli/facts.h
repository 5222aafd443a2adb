/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - host facts as names and texts, in the names of the result file.
 *
 * Layer: cli.
 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include <stddef.h>
#include "base/host.h"

enum fact_kind { FACT_TEXT, FACT_NUMBER, FACT_SWITCH };

struct fact {
    const char *name; /* "cpu_model" */
    enum fact_kind kind;
    char text[160]; /* TEXT: as it is; else as a person reads it */
    double number;
    bool is_on;
};
#define FACTS_MAX 40u

/* Those that are known, in order; returns their number. */
size_t facts_list(const struct host_facts *host, struct fact out[FACTS_MAX]);

#endif
