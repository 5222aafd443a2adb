/* SPDX-License-Identifier: Apache-2.0 */
#include "run/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "net/socket.h"
#include "run/peer_folder.h"

#define PATH_BYTES 512u
#define SPARE_FILES 128u
#define CONNECTIONS_MAX 20000u
#define START_NS 10000000000u
#define END_NS 500000000u
#define LOOK_MS 10
#define MS_NS 1000000u
#define LOG_BYTES 16384u
#define HAPROXY_CORES_MAX 64u /* threads of a group */

struct process {
    pid_t pid, group; /* pid 0: ended */
};

struct peer {
    const struct peer_options *options;
    struct peer_folder folder;
    struct peer_listener listener[SERVER_ENDPOINTS_MAX];
    struct address address[SERVER_ENDPOINTS_MAX];
    struct process process[SERVER_ENDPOINTS_MAX];
    size_t processes;
};

/* ---- its files ---- */

static int write_identity(const struct peer *p, size_t i, struct err *e)
{
    const struct tls_identity *identity = &p->options->endpoint[i].identity;
    char chain[32], key[32], both[32];
    struct text joined = {0};
    peer_file_name(i, PEER_CHAIN_FILE, chain, sizeof chain);
    peer_file_name(i, PEER_KEY_FILE, key, sizeof key);
    peer_file_name(i, PEER_BOTH_FILE, both, sizeof both);
    text_addf(&joined, "%s%s", identity->chain_pem, identity->key_pem);
    const int failed = peer_folder_write(&p->folder, chain, identity->chain_pem, e) != 0 ||
                       peer_folder_write(&p->folder, key, identity->key_pem, e) != 0 ||
                       peer_folder_write(&p->folder, both, text_str(&joined), e) != 0;
    text_free(&joined);
    return failed ? -1 : 0;
}

static int write_payloads(const struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    char name[64];
    if (peer_folder_add(&p->folder, PEER_PAYLOAD_FOLDER, e) != 0)
        return -1;
    for (size_t i = 0; i < o->payloads; i++) {
        snprintf(name, sizeof name, PEER_PAYLOAD_FOLDER "/%" PRIu64, o->payload_bytes[i]);
        if (peer_folder_fill(&p->folder, name, o->payload_bytes[i], e) != 0)
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

/* What a process reads: its configuration, and OpenSSL's. */
static int write_config(const struct peer_config *c, const struct peer_folder *folder,
                        struct err *e)
{
    char name[32];
    struct text text = {0};
    peer_config_write(c, &text);
    peer_file_name(c->process, PEER_CONFIG_FILE, name, sizeof name);
    int failed = peer_folder_write(folder, name, text_str(&text), e);
    text_free(&text);
    peer_config_write_openssl(c, &text);
    peer_file_name(c->process, PEER_OPENSSL_FILE, name, sizeof name);
    if (failed == 0)
        failed = peer_folder_write(folder, name, text_str(&text), e);
    text_free(&text);
    return failed;
}

static int write_configs(struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    struct peer_config config = {
        .program = o->program,
        .folder = p->folder.path,
        .listener = p->listener,
        .listeners = o->endpoints,
        .payload_bytes = o->payload_bytes,
        .payloads = o->payloads,
        .cores = o->cores,
        .connections = raise_file_limit(),
        .is_root = geteuid() == 0,
    };
    for (; config.process < p->processes; config.process++)
        if (write_config(&config, &p->folder, e) != 0)
            return -1;
    return 0;
}

static int prepare(struct peer *p, struct err *e)
{
    const struct peer_options *o = p->options;
    static const struct socket_listen_options listening = {.backlog = 0};
    if (o->program->kind == PEER_HAPROXY && o->cores.count > HAPROXY_CORES_MAX)
        return err_set(e, ERR_UNSUPPORTED, "--server-cores: %zu cores (accepted: up to %u)",
                       o->cores.count, HAPROXY_CORES_MAX);
    for (size_t i = 0; i < o->endpoints; i++) {
        struct peer_listener *l = &p->listener[i];
        l->config = &o->endpoint[i].plan.server_config;
        l->fd = socket_listen(&o->endpoint[i].server.address, &listening, &p->address[i], e);
        if (l->fd < 0)
            return -1;
        address_format(&p->address[i], l->address, sizeof l->address);
    }
    p->processes = peer_config_assign(o->program->kind, p->listener, o->endpoints);
    if (peer_folder_make(&p->folder, e) != 0)
        return -1;
    for (size_t i = 0; i < o->endpoints; i++)
        if (write_identity(p, i, e) != 0)
            return -1;
    if (write_payloads(p, e) != 0 || peer_folder_write(&p->folder, PEER_LOG_FILE, "", e) != 0)
        return -1;
    return write_configs(p, e);
}

/* ---- the processes ---- */

struct command {
    char config[PATH_BYTES], log[PATH_BYTES], openssl[PATH_BYTES];
    const char *word[12];
    struct text sockets; /* "NGINX=5;6;" */
    char *environment[3];
};

static void make_path(const struct peer *p, size_t process, const char *what, char *out)
{
    char name[32];
    peer_file_name(process, what, name, sizeof name);
    snprintf(out, PATH_BYTES, "%s/%s", p->folder.path, name);
}

/* OpenSSL's own configuration is ours alone: the machine's would be measured too. */
static void make_command(const struct peer *p, size_t process, struct command *c)
{
    const struct peer_program *program = p->options->program;
    const char *const nginx[] = {program->path, "-p", p->folder.path, "-e",
                                 "stderr",      "-c", c->config,      NULL};
    const char *const haproxy[] = {program->path, "-db", "-f", c->config, NULL};
    char path[PATH_BYTES];
    *c = (struct command){.sockets = {0}};
    make_path(p, process, PEER_CONFIG_FILE, c->config);
    make_path(p, process, PEER_OPENSSL_FILE, path);
    snprintf(c->openssl, sizeof c->openssl, "OPENSSL_CONF=%.400s", path);
    snprintf(c->log, sizeof c->log, "%s/" PEER_LOG_FILE, p->folder.path);
    if (program->kind == PEER_HAPROXY)
        memcpy(c->word, haproxy, sizeof haproxy);
    else
        memcpy(c->word, nginx, sizeof nginx);
    text_add(&c->sockets, "NGINX=");
    for (size_t i = 0; i < p->options->endpoints; i++)
        text_addf(&c->sockets, "%d;", p->listener[i].fd);
    c->environment[0] = c->openssl;
    c->environment[1] = program->kind == PEER_NGINX ? c->sockets.data : NULL;
}

/* Between fork and exec: only what is safe there.  SIGTERM, since a main process that is
 * killed leaves its workers. */
static void become_server(const struct peer *p, size_t process, const struct command *c,
                          pid_t parent)
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
        if (p->listener[i].process == process)
            fcntl(p->listener[i].fd, F_SETFD, 0);
    execve(p->options->program->path, (char *const *)(uintptr_t)c->word, c->environment);
    _exit(127);
}

static int launch(struct peer *p, size_t process, struct err *e)
{
    struct command command;
    struct process *made = &p->process[process];
    make_command(p, process, &command);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0)
        become_server(p, process, &command, parent);
    text_free(&command.sockets);
    if (pid < 0)
        return err_set_errno(e, "fork");
    setpgid(pid, pid); /* whoever is first */
    made->pid = made->group = pid;
    return 0;
}

static int launch_all(struct peer *p, struct err *e)
{
    /* Workers that lost their main process become ours, to be waited for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < p->processes; i++)
        if (launch(p, i, e) != 0)
            return -1;
    return 0;
}

/* ---- does it answer? ---- */

/* The first line of its log that is no mere remark. */
static int ended_early(struct peer *p, struct err *e)
{
    char path[PATH_BYTES];
    struct text shown = {0};
    snprintf(path, sizeof path, "%s/" PEER_LOG_FILE, p->folder.path);
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

static bool has_ended(struct process *process)
{
    if (process->pid > 0 && waitpid(process->pid, NULL, WNOHANG) == process->pid)
        process->pid = 0;
    return process->pid == 0;
}

/* Plain HTTP on a TLS port: an error page or an end, but only by a server that runs. */
static int wait_for_answer(struct peer *p, size_t i, uint64_t until_ns, struct err *e)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    const int fd = socket_connect(&p->address[i], NULL);
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    bool is_sent = false;
    int failed = 1;
    if (fd < 0)
        return err_set_errno(e, "connect");
    while (failed > 0) {
        if (has_ended(&p->process[p->listener[i].process]))
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
    if (prepare(p, e) == 0 && launch_all(p, e) == 0 && wait_until_ready(p, e) == 0) {
        close_listeners(p);
        return p;
    }
    err_add_context(e, "%s", peer_name(options->program->kind));
    peer_stop(p);
    return NULL;
}

static bool have_ended(struct peer *p)
{
    bool all = true;
    for (size_t i = 0; i < p->processes; i++)
        all = has_ended(&p->process[i]) && all;
    return all;
}

/* Politely, then by force; with what is left of their groups. */
static void end_processes(struct peer *p)
{
    const uint64_t until_ns = clock_now_ns() + END_NS;
    for (size_t i = 0; i < p->processes; i++)
        if (p->process[i].pid > 0)
            kill(p->process[i].pid, SIGTERM);
    while (!have_ended(p) && clock_now_ns() < until_ns)
        (void)clock_sleep_until_ns(clock_now_ns() + LOOK_MS * MS_NS);
    for (size_t i = 0; i < p->processes; i++) {
        struct process *process = &p->process[i];
        if (process->group <= 0)
            continue;
        kill(-process->group, SIGKILL);
        while (waitpid(-process->group, NULL, 0) > 0 || errno == EINTR)
            ;
        *process = (struct process){0};
    }
}

void peer_stop(struct peer *p)
{
    if (p == NULL)
        return;
    end_processes(p);
    close_listeners(p);
    peer_folder_remove(&p->folder);
    free(p);
}

unsigned peer_port(const struct peer *p, size_t endpoint)
{
    return address_port(&p->address[endpoint]);
}
