/* SPDX-License-Identifier: Apache-2.0 */
/* A TLS backend for test_loader that does nothing.  It takes its name from its file:
 * pqc-bench-tls-NAME_VERSION.so; VERSION "abi" and "incomplete" are what they say. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "tls/backend.h"
#include "tls/null.h"

__attribute__((visibility("default"))) const struct tls_backend *pqc_bench_tls_backend(void);

const struct tls_backend *pqc_bench_tls_backend(void)
{
    static struct tls_backend fake;
    static char name[64], version[64];
    Dl_info info;
    if (dladdr((void *)&fake, &info) == 0)
        return NULL;
    const char *file = strrchr(info.dli_fname, '/');
    if (sscanf(file != NULL ? file : "", "/pqc-bench-tls-%63[^_]_%63s", name, version) != 2)
        return NULL;
    version[strlen(version) - strlen(".so")] = '\0';
    fake = *tls_null_backend();
    fake.name = name;
    fake.version = version;
    if (strcmp(version, "abi") == 0)
        fake.abi = TLS_BACKEND_ABI + 1;
    if (strcmp(version, "incomplete") == 0)
        fake.handshake = NULL;
    return &fake;
}
