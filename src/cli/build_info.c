/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/build_info.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const char *build_version(void)
{
    return PQC_BENCH_VERSION;
}

bool build_is_sanitized(void)
{
    return strcmp(PQC_BENCH_SANITIZER, "none") != 0;
}

void build_describe(struct result_build *out)
{
    result_set_text(&out->version, PQC_BENCH_VERSION);
    result_set_text(&out->compiler, COMPILER);
    result_set_text(&out->flags, PQC_BENCH_FLAGS);
    result_set_text(&out->sanitizer, build_is_sanitized() ? PQC_BENCH_SANITIZER : NULL);
}

char *build_version_text(const struct tls_backends *backends)
{
    struct text out = {0};
    text_addf(&out, "pqc-bench %s\n", PQC_BENCH_VERSION);
    for (size_t i = 0; i < backends->count; i++) {
        const struct tls_backend *backend = backends->backend[i];
        char name[128];
        text_addf(&out, "  %s", tls_backend_full_name(backend, name, sizeof name));
        text_addf(&out, "%*s", (int)(20 - (strlen(name) < 18 ? strlen(name) : 18)), "");
        text_add_harmless(&out, backend->description);
        text_add(&out, "\n");
    }
    if (backends->count == 0)
        text_add(&out, "  no TLS backend found\n");
    return text_take(&out);
}

char *build_program_directory(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || (size_t)length >= sizeof path - 1)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return mem_copy_string(path);
}
