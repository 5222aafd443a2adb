/* SPDX-License-Identifier: Apache-2.0 */
#include "run/peer_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#define OUTPUT_MAX_BYTES 65536u
#define ANSWER_NS 5000000000u
#define MS_NS 1000000u
#define DAEMON_FOLDERS "/usr/local/sbin:/usr/sbin:/sbin"
#define TLS_LEAST 3, 5

struct row {
    const char *name, *question, *version, *built, *running;
    unsigned least[2];
};

static const struct row rows[PEER_KINDS] = {
    [PEER_NONE] = {.name = "embedded"},
    [PEER_NGINX] = {"nginx",
                    "-V",
                    "nginx version: nginx/",
                    "built with OpenSSL ",
                    "running with OpenSSL ",
                    {1, 26}},
    [PEER_HAPROXY] = {"haproxy",
                      "-vv",
                      "HAProxy version ",
                      "Built with OpenSSL version : OpenSSL ",
                      "Running on OpenSSL version : OpenSSL ",
                      {3, 0}},
};

const char *peer_name(enum peer_kind kind)
{
    return rows[kind].name;
}

/* ---- what it says ---- */

/* The digits and dots behind a phrase. */
static bool find_version(const char *text, const char *phrase, char *out, size_t size)
{
    const char *at = strstr(text, phrase);
    if (at == NULL)
        return false;
    at += strlen(phrase);
    const size_t length = strspn(at, "0123456789.");
    snprintf(out, size, "%.*s", (int)length, at);
    return length > 0 && length < size;
}

static bool is_at_least(const char *version, unsigned major, unsigned minor)
{
    uint64_t a = 0, b = 0;
    const char *p = file_scan_u64(version, &a);
    if (p == NULL || *p != '.' || file_scan_u64(p + 1, &b) == NULL)
        return false;
    return a != major ? a > major : b >= minor;
}

static void find_modules(const char *text, struct peer_program *out)
{
    static const struct {
        const char *absent;
        enum peer_module module;
    } modules[] = {
        {"--without-http_proxy_module", PEER_MODULE_PROXY},
        {"--without-http_fastcgi_module", PEER_MODULE_FASTCGI},
        {"--without-http_uwsgi_module", PEER_MODULE_UWSGI},
        {"--without-http_scgi_module", PEER_MODULE_SCGI},
    };
    out->modules = 0;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (strstr(text, modules[i].absent) == NULL)
            out->modules |= (unsigned)modules[i].module;
}

int peer_read_version(enum peer_kind kind, const char *text, struct peer_program *out,
                      struct err *e)
{
    const struct row *row = &rows[kind];
    out->kind = kind;
    if (!find_version(text, row->version, out->version, sizeof out->version))
        return err_set(e, ERR_USAGE, "this is no %s", row->name);
    if (!is_at_least(out->version, row->least[0], row->least[1]))
        return err_set(e, ERR_UNSUPPORTED, "%s %s is too old (needed: %u.%u or newer)",
                       row->name, out->version, row->least[0], row->least[1]);
    if (!find_version(text, row->running, out->tls_version, sizeof out->tls_version) &&
        !find_version(text, row->built, out->tls_version, sizeof out->tls_version))
        return err_set(e, ERR_UNSUPPORTED, "this %s was built without OpenSSL", row->name);
    if (!is_at_least(out->tls_version, TLS_LEAST))
        return err_set(e, ERR_UNSUPPORTED,
                       "this %s runs with OpenSSL %s, which has no X25519MLKEM768 (needed: 3.5 "
                       "or newer)",
                       row->name, out->tls_version);
    if (kind == PEER_NGINX && strstr(text, "--with-http_ssl_module") == NULL)
        return err_set(e, ERR_UNSUPPORTED, "this nginx was built without http_ssl_module");
    find_modules(text, out);
    return 0;
}

/* ---- asking it ---- */

static void become_program(const char *path, const char *question, int out)
{
    char *const words[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)question, NULL};
    char *const nothing[] = {NULL};
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(127);
    execve(path, words, nothing);
    _exit(127);
}

/* All that comes until it ends, as far as room and time go. */
static void read_output(int fd, struct text *out)
{
    const uint64_t until_ns = clock_now_ns() + ANSWER_NS;
    char piece[4096];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    uint64_t now_ns;
    while ((now_ns = clock_now_ns()) < until_ns && out->length < OUTPUT_MAX_BYTES) {
        if (poll(&p, 1, (int)((until_ns - now_ns) / MS_NS) + 1) <= 0)
            continue;
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
        if (n > 0)
            text_add_bytes(out, piece, (size_t)n);
    }
}

static int ask(const char *path, const char *question, struct text *out, struct err *e)
{
    int pair[2];
    if (access(path, X_OK) != 0)
        return err_set(e, ERR_USAGE, "%.400s: %s", path, strerror(errno));
    if (pipe2(pair, O_CLOEXEC) != 0)
        return err_set_errno(e, "pipe");
    const pid_t pid = fork();
    if (pid == 0)
        become_program(path, question, pair[1]);
    close(pair[1]);
    if (pid > 0) {
        read_output(pair[0], out);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(pair[0]);
    return pid > 0 ? 0 : err_set_errno(e, "fork");
}

/* ---- where it is ---- */

/* Debian's word for this machine. */
static const char *architecture(void)
{
    static const char *const words[][2] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"},   {"ppc64le", "ppc64el"},
        {"i686", "i386"},    {"riscv64", "riscv64"}, {"s390x", "s390x"},
    };
    struct utsname name;
    if (uname(&name) == 0)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(name.machine, words[i][0]) == 0)
                return words[i][1];
    return "unknown";
}

static bool find_in_cache(const char *name, char *out, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[PEER_PATH_BYTES / 2], path[PEER_PATH_BYTES], entry[256];
    if (base != NULL && base[0] == '/')
        snprintf(folder, sizeof folder, "%s/pqc-bench", base);
    else if (home != NULL && home[0] == '/')
        snprintf(folder, sizeof folder, "%s/.cache/pqc-bench", home);
    else
        return false;
    snprintf(path, sizeof path, "%s/current/%s-%s", folder, name, architecture());
    if (!file_read_line("", path, entry, sizeof entry) || strchr(entry, '/') != NULL)
        return false;
    return (size_t)snprintf(out, size, "%s/%s/bin/%s", folder, entry, name) < size &&
           access(out, X_OK) == 0;
}

static bool find_in_folders(const char *folders, const char *name, char *out, size_t size)
{
    for (const char *at = folders; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, ":");
        if (*at == '/' &&
            (size_t)snprintf(out, size, "%.*s/%s", (int)length, at, name) < size &&
            access(out, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static bool find_program(const char *name, char *out, size_t size)
{
    return find_in_cache(name, out, size) || find_in_folders(getenv("PATH"), name, out, size) ||
           find_in_folders(DAEMON_FOLDERS, name, out, size);
}

int peer_find(enum peer_kind kind, const char *file, struct peer_program *out, struct err *e)
{
    const struct row *row = &rows[kind];
    struct text answer = {0};
    *out = (struct peer_program){.kind = kind};
    if (file != NULL &&
        snprintf(out->path, sizeof out->path, "%s", file) >= (int)PEER_PATH_BYTES)
        return err_set(e, ERR_USAGE, "a path of more than %u bytes", PEER_PATH_BYTES);
    if (file == NULL && !find_program(row->name, out->path, sizeof out->path))
        return err_set(e, ERR_USAGE,
                       "no %s is installed: run tools/deps --peers, or name one with "
                       "--server-program",
                       row->name);
    struct err why = ERR_INIT;
    int failed = ask(out->path, row->question, &answer, e);
    if (failed == 0 && peer_read_version(kind, text_str(&answer), out, &why) != 0)
        failed = err_set(e, why.kind, "%.400s: %.300s%s", out->path, why.text,
                         file == NULL ? "; tools/deps --peers installs another" : "");
    text_free(&answer);
    return failed;
}
