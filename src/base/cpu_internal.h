/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_internal.h - the parts of cpu.h that work on given text and maps instead of this
 * machine, so that tests can hand them other machines.
 *
 * Layer: base, used by base and its tests alone.
 */
#ifndef BASE_CPU_INTERNAL_H
#define BASE_CPU_INTERNAL_H

#include "base/cpu.h"

/* cpu_parse_list against the cores of `allowed`. */
int cpu_parse_list_within(const char *text, const struct cpu_set *allowed, struct cpu_set *out,
                          struct err *e) __attribute__((warn_unused_result));

/* cpu_split where leader[i] is the lowest thread of the physical core that holds
 * allowed->core[i]. */
bool cpu_split_by_leader(const struct cpu_set *allowed, const unsigned short *leader,
                         struct cpu_set *client, struct cpu_set *server);

/* Add the times of the set's cores (NULL: all) in the text of /proc/stat to *out, which was
 * zeroed before; ticks_per_s as sysconf(_SC_CLK_TCK). */
void cpu_parse_stat(const char *text, const struct cpu_set *set, uint64_t ticks_per_s,
                    struct cpu_losses *out);

/* Field 2 of a schedstat file; false where it is malformed or the kernel keeps none ("0 0
 * 0", which a thread that runs cannot have). */
bool cpu_parse_run_delay(const char *text, uint64_t *out);

#endif
