/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "tls/ssl_common.h"

#define LIST_BYTES 512u

struct cipher_name {
    const char *name; /* what both families print */
    const char *iana; /* NULL: the same */
};

static const struct cipher_name table[] = {
    {"TLS_AES_256_GCM_SHA384", NULL},
    {"TLS_CHACHA20_POLY1305_SHA256", NULL},
    {"TLS_AES_128_GCM_SHA256", NULL},
    {"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
    {"ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
    {"ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
    {"ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
    {"ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
    {"ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
};
#define TABLE_COUNT (sizeof(table) / sizeof(table[0]))

/* The library keeps two lists: TLS 1.3 suites, and ciphers up to 1.2. */
struct cipher_lists {
    char suites[LIST_BYTES], ciphers[LIST_BYTES];
};

static bool is_suite(const struct cipher_name *cipher)
{
    return cipher->iana == NULL;
}

static bool same(const char *name, const char *text, size_t length)
{
    return name != NULL && strlen(name) == length && strncasecmp(name, text, length) == 0;
}

static const struct cipher_name *find(const char *text, size_t length)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (same(table[i].name, text, length) || same(table[i].iana, text, length))
            return &table[i];
    return NULL;
}

static bool try_cipher(SSL_CTX *ctx, const struct cipher_name *cipher)
{
    return (is_suite(cipher) ? SSL_CTX_set_ciphersuites(ctx, cipher->name)
                             : SSL_CTX_set_cipher_list(ctx, cipher->name)) == 1;
}

size_t ssl_ciphers_list(const char **out, size_t max)
{
    size_t count = 0;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    for (size_t i = 0; ctx != NULL && i < TABLE_COUNT && count < max; i++)
        if (try_cipher(ctx, &table[i]))
            out[count++] = table[i].name;
    SSL_CTX_free(ctx);
    ERR_clear_error();
    return count;
}

static bool is_supported(const struct cipher_name *cipher)
{
    const char *const *name = ssl_backend_self()->ciphers;
    while (*name != NULL && *name != cipher->name)
        name++;
    return *name != NULL;
}

static void append(char *list, const char *name)
{
    size_t length = strlen(list);
    snprintf(list + length, LIST_BYTES - length, "%s%s", length > 0 ? ":" : "", name);
}

static int add_name(struct cipher_lists *lists, const char *text, size_t length, struct err *e)
{
    const struct cipher_name *cipher = find(text, length);
    if (cipher == NULL || !is_supported(cipher))
        return err_set(e, cipher == NULL ? ERR_USAGE : ERR_UNSUPPORTED,
                       "cipher '%.*s': not supported by %s", (int)length, text,
                       ssl_backend_label());
    char *list = is_suite(cipher) ? lists->suites : lists->ciphers;
    if (strstr(list, cipher->name) != NULL)
        return err_set(e, ERR_USAGE, "cipher '%.*s': named twice", (int)length, text);
    append(list, cipher->name);
    return 0;
}

static int parse(const char *text, struct cipher_lists *lists, struct err *e)
{
    lists->suites[0] = lists->ciphers[0] = '\0';
    for (;;) {
        size_t length = strcspn(text, ":");
        if (length == 0)
            return err_set(e, ERR_USAGE, "ciphers: an empty name in the list");
        if (add_name(lists, text, length, e) != 0)
            return -1;
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

int ssl_ciphers_check(const struct tls_config *config, struct err *e)
{
    if (config->ciphers == NULL)
        return 0;
    struct cipher_lists lists;
    if (parse(config->ciphers, &lists, e) != 0)
        return -1;
    if (config->version_max == TLS_VERSION_12 && lists.ciphers[0] == '\0')
        return err_set(e, ERR_USAGE, "cipher %s: TLS 1.3 only, but TLS 1.2 is asked for",
                       config->ciphers);
    if (config->version_min == TLS_VERSION_13 && lists.suites[0] == '\0')
        return err_set(e, ERR_USAGE, "cipher %s: TLS 1.2 only, but TLS 1.3 is asked for",
                       config->ciphers);
    return 0;
}

int ssl_ciphers_apply(SSL_CTX *ctx, const struct tls_config *config, struct err *e)
{
    if (config->ciphers == NULL)
        return 0;
    struct cipher_lists lists;
    if (parse(config->ciphers, &lists, e) != 0)
        return -1;
    if (lists.suites[0] != '\0' && !SSL_CTX_set_ciphersuites(ctx, lists.suites))
        return ssl_err(e, ERR_UNSUPPORTED, "ciphers");
    if (lists.ciphers[0] != '\0' && !SSL_CTX_set_cipher_list(ctx, lists.ciphers))
        return ssl_err(e, ERR_UNSUPPORTED, "ciphers");
    return 0;
}
