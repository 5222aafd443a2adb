/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/null.h"

__attribute__((visibility("default"))) const struct tls_backend *pqc_bench_tls_backend(void);

const struct tls_backend *pqc_bench_tls_backend(void)
{
    return tls_null_backend();
}
