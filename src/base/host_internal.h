/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_internal.h - the parts of host.h that read files, on a root of one's choice.
 *
 * Layer: base, used by base and its tests alone.
 */
#ifndef BASE_HOST_INTERNAL_H
#define BASE_HOST_INTERNAL_H

#include "base/host.h"

/* Fill what /proc, /sys and /etc below root (see file.h) tell; the rest stays as it is. */
void host_read_files(const char *root, struct host_facts *out);

/* Model from the text of /proc/cpuinfo; "" where it names none. */
void host_parse_cpu_model(const char *cpuinfo, char *buf, size_t size);

#endif
