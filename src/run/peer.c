/* SPDX-License-Identifier: Apache-2.0 */
#include "run/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "net/socket.h"

#define FOLDER_BYTES 256u
#define PATH_BYTES 512u
#define SPARE_FILES 128u
#define CONNECTIONS_MAX 20000u
#define START_NS 10000000000u
#define END_NS 500000000u
#define LOOK_MS 10
#define MS_NS 1000000u
#define LOG_BYTES 16384u
#define FOLDER_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"

struct peer {
    const struct peer_options *options;
    pid_t pid, group;          /* pid 0: ended */
    char folder[FOLDER_BYTES]; /* "": not made */
    struct peer_listener listener[SERVER_ENDPOINTS_MAX];
    struct address address[SERVER_ENDPOINTS_MAX];
};

static const char *name_of(const struct peer *p)
{
    return peer_name(p->options->program->kind);
}

/* ---- the folder ---- */

static int make_folder(struct peer *p, struct err *e)
{
    const char *parent = getenv("TMPDIR");
    char path[FOLDER_BYTES];
    /* It stands in configurations, unquoted. */
    if (parent == NULL || parent[0] != '/' || strlen(parent) > FOLDER_BYTES / 2 ||
        parent[strspn(parent, FOLDER_CHARACTERS)] != '\0')
        parent = "/tmp";
    snprintf(path, sizeof path, "%s/pqc-bench.XXXXXX", parent);
    if (mkdtemp(path) == NULL)
        return err_set_errno(e, "%s", path);
    memcpy(p->folder, path, sizeof path);
    return 0;
}

/* The type of nftw's callback. */
static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    (void)!remove(path);
    return 0;
}

static void remove_folder(struct peer *p)
{
    if (p->folder[0] != '\0')
        (void)nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    p->folder[0] = '\0';
}

static int write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        data += done;
        n -= (size_t)done;
    }
    return 0;
}

/* A file for us alone, `times` times the text. */
static int write_file(const struct peer *p, const char *name, const char *text, uint64_t bytes,
                      struct err *e)
{
    char path[PATH_BYTES];
    const uint64_t length = strlen(text);
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int failed = fd < 0 ? -1 : 0;
    for (uint64_t at = 0; failed == 0 && at < bytes; at += length)
        failed =
            write_all(fd, text, bytes - at < length ? (size_t)(bytes - at) : (size_t)length);
    if (failed != 0)
        (void)err_set_errno(e, "%s", path);
    if (fd >= 0)
        close(fd);
    return failed;
}

static int write_text(const struct peer *p, const char *name, const char *text, struct err *e)
{
    return write_file(p, name, text, strlen(text), e);
}

static int write_identity(const struct peer *p, size_t i, struct err *e)
{
    const struct tls_identity *identity = &p->options->endpoint[i].identity;
    char chain[32], key[32], both[32];
    struct text joined = {0};
    peer_file_name(i, "chain", chain, sizeof chain);
    peer_file_name(i, "key", key, sizeof key);
    peer_file_name(i, "both", both, sizeof both);
    text_addf(&joined, "%s%s", identity->chain_pem, identity->key_pem);
    const int failed = write_text(p, chain, identity->chain_pem, e) != 0 ||
                       write_text(p, key, identity->key_pem, e) != 0 ||
                       write_text(p, both, text_str(&joined), e) != 0;
    text_free(&joined);
    return failed ? -1 : 0;
}

static int write_payloads(const struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    char name[64], path[PATH_BYTES], block[65537];
    memset(block, 'x', sizeof block - 1);
    block[sizeof block - 1] = '\0';
    snprintf(path, sizeof path, "%s/" PEER_PAYLOAD_FOLDER, p->folder);
    if (mkdir(path, 0700) != 0)
        return err_set_errno(e, "%s", path);
    for (size_t i = 0; i < o->payloads; i++) {
        snprintf(name, sizeof name, PEER_PAYLOAD_FOLDER "/%" PRIu64, o->payload_bytes[i]);
        if (write_file(p, name, block, o->payload_bytes[i], e) != 0)
            return -1;
    }
    return 0;
}

/* As many descriptors as the hard limit gives; what is left for connections. */
static unsigned raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX / 2;
    const rlim_t wanted = 2 * CONNECTIONS_MAX + SPARE_FILES; /* HAProxy counts two a piece */
    if (limit.rlim_cur < wanted)
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * SPARE_FILES ? (unsigned)(limit.rlim_cur - SPARE_FILES) / 2
                                            : SPARE_FILES / 2;
}

static int write_config(const struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    struct text text = {0};
    const struct peer_config config = {
        .program = o->program,
        .folder = p->folder,
        .listener = p->listener,
        .listeners = o->endpoints,
        .payload_bytes = o->payload_bytes,
        .payloads = o->payloads,
        .workers = o->cores.count > 0 ? (unsigned)o->cores.count : 1,
        .connections = raise_file_limit(),
        .is_root = geteuid() == 0,
    };
    peer_config_write(&config, &text);
    const int failed = write_text(p, PEER_CONFIG_FILE, text_str(&text), e);
    text_free(&text);
    return failed;
}

static int prepare(struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    static const struct socket_listen_options listening = {.backlog = 0};
    for (size_t i = 0; i < o->endpoints; i++) {
        struct peer_listener *l = &p->listener[i];
        l->config = &o->endpoint[i].plan.server_config;
        l->fd = socket_listen(&o->endpoint[i].server.address, &listening, &p->address[i], e);
        if (l->fd < 0)
            return -1;
        l->port = address_port(&p->address[i]);
    }
    if (make_folder(p, e) != 0)
        return -1;
    for (size_t i = 0; i < o->endpoints; i++)
        if (write_identity(p, i, e) != 0)
            return -1;
    if (write_payloads(p, e) != 0 || write_text(p, PEER_LOG_FILE, "", e) != 0)
        return -1;
    return write_config(p, e);
}

/* ---- the process ---- */

struct command {
    char config[PATH_BYTES], log[PATH_BYTES];
    const char *word[12];
    struct text sockets; /* "NGINX=5;6;" */
    char *environment[2];
};

static void make_command(const struct peer *p, struct command *c)
{
    const struct peer_program *program = p->options->program;
    const char *const nginx[] = {program->path, "-p", p->folder, "-e",
                                 "stderr",      "-c", c->config, NULL};
    const char *const haproxy[] = {program->path, "-db", "-f", c->config, NULL};
    *c = (struct command){.sockets = {0}};
    snprintf(c->config, sizeof c->config, "%s/" PEER_CONFIG_FILE, p->folder);
    snprintf(c->log, sizeof c->log, "%s/" PEER_LOG_FILE, p->folder);
    if (program->kind == PEER_HAPROXY)
        memcpy(c->word, haproxy, sizeof haproxy);
    else
        memcpy(c->word, nginx, sizeof nginx);
    text_add(&c->sockets, "NGINX=");
    for (size_t i = 0; i < p->options->endpoints; i++)
        text_addf(&c->sockets, "%d;", p->listener[i].fd);
    c->environment[0] = c->sockets.data;
}

/* Between fork and exec: only what is safe there.  SIGTERM, since a main process that is
 * killed leaves its workers. */
static void become_server(const struct peer *p, const struct command *c, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(c->log, O_WRONLY | O_APPEND);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(127);
    for (size_t i = 0; i < p->options->endpoints; i++)
        fcntl(p->listener[i].fd, F_SETFD, 0);
    execve(p->options->program->path, (char *const *)(uintptr_t)c->word, c->environment);
    _exit(127);
}

static int launch(struct peer *p, struct err *e)
{
    struct command command;
    make_command(p, &command);
    const pid_t parent = getpid();
    /* Workers that lost their main process become ours, to be waited for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    p->pid = fork();
    if (p->pid == 0)
        become_server(p, &command, parent);
    const int failed = p->pid > 0 ? 0 : err_set_errno(e, "fork");
    if (failed == 0)
        setpgid(p->pid, p->pid); /* whoever is first */
    else
        p->pid = 0;
    p->group = p->pid;
    text_free(&command.sockets);
    return failed;
}

/* ---- does it answer? ---- */

/* The first line of its log that is no mere remark. */
static int ended_early(struct peer *p, struct err *e)
{
    char path[PATH_BYTES];
    struct text shown = {0};
    snprintf(path, sizeof path, "%s/" PEER_LOG_FILE, p->folder);
    char *log = file_read_text("", path, LOG_BYTES);
    const char *line = log != NULL ? log : "";
    for (const char *at = line; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
        if (strstr(at, "emerg") != NULL || strstr(at, "ALERT") != NULL)
            line = at;
    char *copy = mem_copy_string(line);
    copy[strcspn(copy, "\n")] = '\0';
    text_add_harmless(&shown, copy);
    err_set(e, ERR_FAILED, "it ended before it answered: %.400s", text_str(&shown));
    text_free(&shown);
    free(copy);
    free(log);
    return -1;
}

static bool has_ended(struct peer *p)
{
    if (p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == p->pid)
        p->pid = 0;
    return p->pid == 0;
}

/* Plain HTTP on a TLS port: an error page or an end, but only by a server that runs. */
static int wait_for_answer(struct peer *p, size_t i, uint64_t until_ns, struct err *e)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    const int fd = socket_connect(&p->address[i], NULL);
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    bool is_sent = false;
    int failed = fd < 0 ? err_set_errno(e, "connect") : 1;
    while (failed > 0) {
        if (has_ended(p))
            failed = ended_early(p, e);
        else if (clock_now_ns() > until_ns)
            failed = err_set(e, ERR_FAILED, "it does not answer");
        else if (poll(&wait, 1, LOOK_MS) <= 0)
            continue;
        else if (is_sent)
            failed = 0;
        else {
            is_sent = send(fd, request, strlen(request), MSG_NOSIGNAL) > 0;
            wait.events = POLLIN;
        }
    }
    if (fd >= 0)
        close(fd);
    return failed;
}

static int wait_until_ready(struct peer *p, struct err *e)
{
    const uint64_t until_ns = clock_now_ns() + START_NS;
    int failed = 0;
    for (size_t i = 0; i < p->options->endpoints && failed == 0; i++)
        failed = wait_for_answer(p, i, until_ns, e);
    return failed;
}

/* Once they are the server's alone, its end is seen by who connects. */
static void close_listeners(struct peer *p)
{
    for (size_t i = 0; i < p->options->endpoints; i++) {
        if (p->listener[i].fd >= 0)
            close(p->listener[i].fd);
        p->listener[i].fd = -1;
    }
}

/* ---- its life ---- */

struct peer *peer_start(const struct peer_options *options, struct err *e)
{
    struct peer *p = mem_alloc_zeroed(1, sizeof *p);
    p->options = options;
    for (size_t i = 0; i < options->endpoints; i++)
        p->listener[i].fd = -1;
    if (prepare(p, e) == 0 && launch(p, e) == 0 && wait_until_ready(p, e) == 0) {
        close_listeners(p);
        return p;
    }
    err_add_context(e, "%s", name_of(p));
    peer_stop(p);
    return NULL;
}

/* Politely, then by force; with what is left of its group. */
static void end_process(struct peer *p)
{
    const uint64_t until_ns = clock_now_ns() + END_NS;
    if (p->group <= 0)
        return;
    if (p->pid > 0)
        kill(p->pid, SIGTERM);
    while (!has_ended(p) && clock_now_ns() < until_ns)
        (void)clock_sleep_until_ns(clock_now_ns() + LOOK_MS * MS_NS);
    kill(-p->group, SIGKILL);
    while (waitpid(-p->group, NULL, 0) > 0 || errno == EINTR)
        ;
    p->pid = p->group = 0;
}

void peer_stop(struct peer *p)
{
    if (p == NULL)
        return;
    end_process(p);
    close_listeners(p);
    remove_folder(p);
    free(p);
}

pid_t peer_pid(const struct peer *p)
{
    return p->pid;
}

unsigned peer_port(const struct peer *p, size_t endpoint)
{
    return p->listener[endpoint].port;
}
