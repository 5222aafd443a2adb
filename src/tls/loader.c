/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/loader.h"
#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"

#define MODULE_PREFIX "pqc-bench-tls-"
#define MODULE_SUFFIX ".so"

#ifndef TLS_MODULES_FROM_PROGRAM
#define TLS_MODULES_FROM_PROGRAM "../lib/pqc-bench"
#endif

/* ---- versions and names ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Runs of digits of any length, without overflow. */
static int compare_numbers(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t length_a = strspn(*a, "0123456789"), length_b = strspn(*b, "0123456789");
    int order =
        length_a != length_b ? (length_a < length_b ? -1 : 1) : strncmp(*a, *b, length_a);
    *a += length_a;
    *b += length_b;
    return order;
}

/* What comes first where one text ends or the characters differ: "-suffix", nothing, the
 * rest. */
static int rank(char c)
{
    return c == '-' ? 0 : c == '\0' ? 1 : (unsigned char)c + 1;
}

int tls_version_compare(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        if (is_digit(*a) && is_digit(*b)) {
            int order = compare_numbers(&a, &b);
            if (order != 0)
                return order;
        } else if (*a != *b) {
            return rank(*a) - rank(*b);
        } else {
            a++;
            b++;
        }
    }
    return 0;
}

char *tls_backend_full_name(const struct tls_backend *backend, char *buf, size_t size)
{
    assert(size > 0);
    snprintf(buf, size, "%s-%s", backend->name, backend->version);
    return buf;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Is `text` the same as `prefix` or does it go on behind it with `next`? */
static const char *behind(const char *text, const char *prefix, char next)
{
    for (; *prefix != '\0'; text++, prefix++)
        if (lower(*text) != lower(*prefix))
            return NULL;
    return *text == '\0' || *text == next ? text : NULL;
}

/* "openssl", "openssl-3.5", "openssl-3.5.7" all name openssl 3.5.7. */
static bool is_named(const struct tls_backend *backend, const char *asked)
{
    const char *rest = behind(asked, backend->name, '-');
    if (rest == NULL)
        return false;
    if (*rest == '\0')
        return true;
    return rest[1] != '\0' && behind(backend->version, rest + 1, '.') != NULL;
}

/* ---- one module ---- */

static bool is_complete(const struct tls_backend *b)
{
    bool has_texts =
        b->name && b->version && b->description && b->groups && b->certificates && b->ciphers;
    bool has_set_up = b->config_check && b->identity_make && b->context_new &&
                      b->context_free && b->conn_new && b->conn_free;
    bool has_traffic = b->handshake && b->read && b->write && b->write_early && b->read_early &&
                       b->shutdown && b->info && b->failure;
    bool has_sessions = b->session_take && b->session_free && b->session_early_data_bytes &&
                        b->session_lifetime_s;
    bool has_primitives = b->primitive_new && b->primitive_run && b->primitive_free;
    return has_texts && has_set_up && has_traffic && has_sessions && has_primitives;
}

/* The module's table, or NULL with the reason in `why`. */
static const struct tls_backend *module_open(const char *path, char *why, size_t why_size)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        /* glibc begins its text with the path, which the caller puts in front itself. */
        const char *text = dlerror();
        size_t length = strlen(path);
        if (text != NULL && strncmp(text, path, length) == 0 && text[length] == ':')
            text += length + 1 + strspn(text + length + 1, " ");
        snprintf(why, why_size, "%s", text != NULL ? text : "does not load");
        return NULL;
    }
    tls_backend_entry *entry = NULL;
    *(void **)&entry = dlsym(module, TLS_BACKEND_SYMBOL);
    const struct tls_backend *backend = entry != NULL ? entry() : NULL;
    if (backend != NULL && backend->abi == TLS_BACKEND_ABI && is_complete(backend))
        return backend;
    if (backend == NULL)
        snprintf(why, why_size, "no TLS backend in it");
    else if (backend->abi != TLS_BACKEND_ABI)
        snprintf(why, why_size, "made for interface %u, this program has %u", backend->abi,
                 TLS_BACKEND_ABI);
    else
        snprintf(why, why_size, "an incomplete TLS backend");
    dlclose(module);
    return NULL;
}

/* ---- the set ---- */

static int order_of(const struct tls_backend *a, const struct tls_backend *b)
{
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : -tls_version_compare(a->version, b->version);
}

/* Keeps the order; false if that name and version is there already. */
static bool insert(struct tls_backends *set, const struct tls_backend *backend,
                   const char *path)
{
    size_t at = 0;
    while (at < set->count && order_of(set->backend[at], backend) < 0)
        at++;
    if (at < set->count && order_of(set->backend[at], backend) == 0)
        return false;
    set->backend = mem_resize(set->backend, set->count + 1, sizeof(*set->backend));
    set->path = mem_resize(set->path, set->count + 1, sizeof(*set->path));
    memmove(&set->backend[at + 1], &set->backend[at],
            (set->count - at) * sizeof(*set->backend));
    memmove(&set->path[at + 1], &set->path[at], (set->count - at) * sizeof(*set->path));
    set->backend[at] = backend;
    set->path[at] = mem_copy_string(path);
    set->count++;
    return true;
}

static int is_module(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), tail = strlen(MODULE_SUFFIX);
    return strncmp(entry->d_name, MODULE_PREFIX, strlen(MODULE_PREFIX)) == 0 && length > tail &&
           strcmp(entry->d_name + length - tail, MODULE_SUFFIX) == 0;
}

static void load_file(const char *path, struct tls_backends *set, struct text *warnings)
{
    char why[512];
    const struct tls_backend *backend = module_open(path, why, sizeof(why));
    if (backend == NULL)
        text_addf(warnings, "%s: %s\n", path, why);
    else if (!insert(set, backend, path))
        text_addf(warnings, "%s: left out: %s-%s is there already\n", path, backend->name,
                  backend->version);
}

/* Returns the number of module files seen. */
static size_t load_directory(const char *directory, struct tls_backends *set,
                             struct text *warnings)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_module, alphasort);
    for (int i = 0; i < count; i++) {
        struct text path = {0};
        text_addf(&path, "%s/%s", directory, entries[i]->d_name);
        load_file(text_str(&path), set, warnings);
        text_free(&path);
        free(entries[i]);
    }
    free(entries);
    return count > 0 ? (size_t)count : 0;
}

int tls_backends_load_from(const char *const *directories, struct tls_backends *out,
                           char **warnings, struct err *e)
{
    struct text lines = {0}, tried = {0};
    size_t seen = 0;
    *out = (struct tls_backends){0};
    for (; *directories != NULL && seen == 0; directories++) {
        seen = load_directory(*directories, out, &lines);
        text_addf(&tried, "%s%s", tried.length > 0 ? ", " : "", *directories);
    }
    if (out->count == 0 && seen == 0)
        err_set(e, ERR_SYSTEM, "no TLS backends (%s*%s) in %s", MODULE_PREFIX, MODULE_SUFFIX,
                text_str(&tried));
    else if (out->count == 0)
        err_set(e, ERR_SYSTEM, "no TLS backend loads: %s", text_str(&lines));
    if (warnings != NULL)
        *warnings = lines.length > 0 ? text_take(&lines) : NULL;
    text_free(&lines);
    text_free(&tried);
    if (out->count > 0)
        return 0;
    tls_backends_free(out);
    return -1;
}

int tls_backends_load(struct tls_backends *out, char **warnings, struct err *e)
{
    char program[PATH_MAX];
    if (warnings != NULL)
        *warnings = NULL;
    *out = (struct tls_backends){0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (length < 0)
        return err_set_errno(e, "TLS backends: /proc/self/exe");
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    struct text beside = {0}, installed = {0};
    text_addf(&beside, "%s/modules", program);
    text_addf(&installed, "%s/%s", program, TLS_MODULES_FROM_PROGRAM);
    const char *const directories[] = {text_str(&beside), text_str(&installed), NULL};
    int rc = tls_backends_load_from(directories, out, warnings, e);
    text_free(&beside);
    text_free(&installed);
    return rc;
}

void tls_backends_free(struct tls_backends *backends)
{
    if (backends == NULL)
        return;
    for (size_t i = 0; i < backends->count; i++)
        free(backends->path[i]);
    free(backends->path);
    free(backends->backend);
    *backends = (struct tls_backends){0};
}

/* Of two candidates for the default the better one: a real library before none, OpenSSL before
 * others, its long-term series before its other ones.  Equals keep the first, the newest. */
static int default_rank(const struct tls_backend *backend)
{
    if (strcmp(backend->name, "null") == 0)
        return 0;
    if (strcmp(backend->name, "openssl") != 0)
        return 1;
    return strncmp(backend->version, TLS_OPENSSL_LTS ".", strlen(TLS_OPENSSL_LTS) + 1) != 0 ? 2
                                                                                            : 3;
}

static const struct tls_backend *find_default(const struct tls_backends *backends,
                                              struct err *e)
{
    const struct tls_backend *best = NULL;
    for (size_t i = 0; i < backends->count; i++) {
        const struct tls_backend *b = backends->backend[i];
        if (default_rank(b) > (best == NULL ? 0 : default_rank(best)))
            best = b;
    }
    if (best == NULL)
        err_set(e, ERR_UNSUPPORTED,
                "no TLS library is installed: only 'null', which does no cryptography and must "
                "be asked for by name");
    return best;
}

const struct tls_backend *tls_backends_find(const struct tls_backends *backends,
                                            const char *name, struct err *e)
{
    if (name == NULL || *name == '\0')
        return find_default(backends, e);
    struct text installed = {0};
    for (size_t i = 0; i < backends->count; i++) {
        if (is_named(backends->backend[i], name)) {
            text_free(&installed);
            return backends->backend[i];
        }
        text_addf(&installed, "%s%s-%s", i > 0 ? ", " : "", backends->backend[i]->name,
                  backends->backend[i]->version);
    }
    err_set(e, ERR_USAGE, "TLS backend '%.100s' is not here (installed: %s)", name,
            text_str(&installed));
    text_free(&installed);
    return NULL;
}
