/* SPDX-License-Identifier: Apache-2.0 */
/* The module's entry and its table, filled once: what works is found out by trying. */
#include <pthread.h>
#include <stdio.h>
#include "tls/ssl_common.h"
#include "tls/ssl_library.h"

#define NAMES_MAX 32u

static const char *const kinds[] = {
    "ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-3072",
    "ed25519",    "mldsa44",    "mldsa65",  "mldsa87",
};

/* Written by `fill` alone, before anybody sees it. */
static struct {
    struct tls_backend backend;
    char label[64];
    const char *groups[NAMES_MAX], *certificates[NAMES_MAX], *ciphers[NAMES_MAX];
} self = {
    .backend =
        {
            .abi = TLS_BACKEND_ABI,
            .config_check = ssl_config_check,
            .identity_make = ssl_identity_make,
            .context_new = ssl_context_new,
            .context_free = ssl_context_free,
            .conn_new = ssl_conn_new,
            .conn_free = ssl_conn_free,
            .handshake = library_handshake,
            .read = ssl_conn_read,
            .write = ssl_conn_write,
            .write_early = library_write_early,
            .read_early = library_read_early,
            .shutdown = ssl_conn_shutdown,
            .info = ssl_conn_info,
            .failure = ssl_conn_failure,
            .session_take = ssl_session_take,
            .session_free = ssl_session_free,
            .session_early_data_bytes = ssl_session_early_data_bytes,
            .session_lifetime_s = ssl_session_lifetime_s,
            .primitive_new = library_primitive_new,
            .primitive_run = library_primitive_run,
            .primitive_free = library_primitive_free,
        },
};
static bool is_usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_groups(void)
{
    size_t count = 0;
    for (const struct tls_group *const *g = tls_group_all(); *g != NULL; g++)
        if (count < NAMES_MAX - 1 && library_has_group(*g))
            self.groups[count++] = (*g)->name;
}

static void fill_certificates(void)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (library_has_certificate(kinds[i]))
            self.certificates[count++] = kinds[i];
}

static void fill(void)
{
    if (library_start() != 0)
        return;
    struct library_facts facts;
    library_facts(&facts);
    snprintf(self.label, sizeof(self.label), "%s %s", facts.name, facts.version);
    self.backend.name = facts.name;
    self.backend.version = facts.version;
    self.backend.description = facts.description;
    self.backend.features = facts.features;
    self.backend.groups = self.groups;
    self.backend.certificates = self.certificates;
    self.backend.ciphers = self.ciphers;
    fill_groups();
    fill_certificates();
    ssl_ciphers_list(self.ciphers, NAMES_MAX - 1);
    ERR_clear_error();
    is_usable = true;
}

const char *ssl_backend_label(void)
{
    return self.label;
}

const struct tls_backend *ssl_backend_self(void)
{
    return &self.backend;
}

tls_backend_entry pqc_bench_tls_backend;

__attribute__((visibility("default"))) const struct tls_backend *pqc_bench_tls_backend(void)
{
    pthread_once(&once, fill);
    return is_usable ? &self.backend : NULL;
}
