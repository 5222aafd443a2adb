/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/text.h"
#include "net/link_relay.h"
#include "net/link_space.h"

struct link {
    struct link_spec spec;
    struct link_shared *shared;
    pid_t pid;
    int control_fd, space_fd[LINK_ENDS];
};

union ancillary {
    struct cmsghdr head;
    char room[CMSG_SPACE(LINK_ENDS * sizeof(int))];
};

/* ---- the child ---- */

/* The one word to the parent: the error, or none and the namespaces' descriptors. */
static int send_report(int fd, struct err *error, const int *space_fd)
{
    union ancillary ancillary;
    struct iovec part = {error, sizeof(*error)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    memset(&ancillary, 0, sizeof(ancillary));
    if (error->kind == ERR_NONE) {
        message.msg_control = ancillary.room;
        message.msg_controllen = sizeof(ancillary.room);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(LINK_ENDS * sizeof(int));
        memcpy(CMSG_DATA(c), space_fd, LINK_ENDS * sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*error) ? 0 : -1;
}

/* Not what the parent has open: another's end of a pipe kept here would never end.  What is
 * kept goes to the lowest numbers, the rest is closed. */
static int keep_only(int control_fd, int *capture_fd)
{
    const int low = STDERR_FILENO + 1;
    const int control = fcntl(control_fd, F_DUPFD_CLOEXEC, 1000);
    const int capture = *capture_fd < 0 ? -1 : fcntl(*capture_fd, F_DUPFD_CLOEXEC, 1000);
    if (dup2(control, low) < 0)
        return -1;
    if (capture >= 0)
        *capture_fd = dup2(capture, low + 1);
    close_range((unsigned)(capture >= 0 ? low + 2 : low + 1), ~0u, 0);
    return low;
}

/* A packet that is due goes before what it is due to. */
static void ask_for_promptness(void)
{
    const struct sched_param first = {.sched_priority = 1};
    (void)sched_setscheduler(0, SCHED_FIFO, &first);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static int carry(const struct link_options *options, struct link_shared *shared, int control_fd,
                 int capture_fd)
{
    struct link_relay_options relay = {.spec = options->spec,
                                       .seed = options->seed,
                                       .tun_fd = {-1, -1},
                                       .control_fd = control_fd,
                                       .shared = shared};
    int space_fd[LINK_ENDS] = {-1, -1};
    struct err e = ERR_INIT;
    for (unsigned i = 0; i < LINK_ENDS && e.kind == ERR_NONE; i++)
        (void)!link_space_make((enum link_end)i, options->spec, &relay.tun_fd[i], &space_fd[i],
                               &e);
    if (e.kind == ERR_NONE && options->spec->is_netem)
        (void)!link_netem_make(options->spec, relay.netem, &e);
    if (capture_fd >= 0 && (relay.capture = fdopen(capture_fd, "w")) == NULL)
        err_set_errno(&e, "--capture");
    if (send_report(control_fd, &e, space_fd) != 0 || e.kind != ERR_NONE)
        return 1;
    for (unsigned i = 0; i < LINK_ENDS; i++)
        close(space_fd[i]);
    ask_for_promptness();
    return link_relay_run(&relay, &e) == 0 ? 0 : 1;
}

static void be_child(const struct link_options *options, struct link_shared *shared,
                     pid_t parent, const int fd[2])
{
    int capture_fd = fd[1];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "link");
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0); /* Ctrl-C reaches the parent alone */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    const int control_fd = keep_only(fd[0], &capture_fd);
    _exit(control_fd < 0 ? 1 : carry(options, shared, control_fd, capture_fd));
}

/* ---- the parent ---- */

static int receive_report(struct link *l, struct err *e)
{
    struct err error;
    union ancillary ancillary;
    struct iovec part = {&error, sizeof(error)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.room,
                             .msg_controllen = sizeof(ancillary.room)};
    ssize_t n;
    do {
        n = recvmsg(l->control_fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(error))
        return err_set(e, ERR_FAILED, "its process ended before it was there");
    if (error.kind != ERR_NONE) {
        if (e != NULL)
            *e = error;
        return -1;
    }
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c == NULL || c->cmsg_len != CMSG_LEN(LINK_ENDS * sizeof(int)))
        return err_set(e, ERR_FAILED, "its namespaces did not come");
    memcpy(l->space_fd, CMSG_DATA(c), LINK_ENDS * sizeof(int));
    return 0;
}

static int start(struct link *l, const struct link_options *options, int capture_fd,
                 struct err *e)
{
    int pair[2];
    if (link_space_gain_rights(e) != 0)
        return -1;
    l->shared = mmap(NULL, sizeof(*l->shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l->shared == MAP_FAILED) {
        l->shared = NULL;
        return err_set_errno(e, "its memory");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return err_set_errno(e, "socketpair");
    const pid_t parent = getpid();
    const int fd[2] = {pair[1], capture_fd};
    fflush(NULL); /* what is buffered is the parent's to write */
    l->pid = fork();
    if (l->pid == 0)
        be_child(options, l->shared, parent, fd);
    close(pair[1]);
    l->control_fd = pair[0];
    if (l->pid < 0)
        return err_set_errno(e, "fork");
    return receive_report(l, e);
}

struct link *link_open(const struct link_options *options, struct err *e)
{
    struct link *l = mem_alloc_zeroed(1, sizeof(*l));
    int capture_fd = -1, failed = 0;
    l->spec = *options->spec;
    l->control_fd = l->space_fd[0] = l->space_fd[1] = -1;
    if (options->capture != NULL) {
        capture_fd = open(options->capture, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (capture_fd < 0)
            failed = err_set_errno(e, "--capture: %.200s", options->capture);
    }
    if (failed == 0 && start(l, options, capture_fd, e) != 0)
        failed = err_add_context(e, "--link");
    if (capture_fd >= 0)
        close(capture_fd);
    if (failed == 0)
        return l;
    (void)link_close(l, NULL);
    return NULL;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int link_close(struct link *l, struct err *e)
{
    int status = 0;
    if (l == NULL)
        return 0;
    for (unsigned i = 0; i < LINK_ENDS; i++)
        close_fd(&l->space_fd[i]);
    close_fd(&l->control_fd);
    if (l->pid > 0)
        while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (l->shared != NULL)
        munmap(l->shared, sizeof(*l->shared));
    free(l);
    if (WIFSIGNALED(status))
        return err_set(e, ERR_FAILED, "--link: its process was killed by signal %d",
                       WTERMSIG(status));
    if (status != 0)
        return err_set(e, ERR_FAILED,
                       "--link: its process ended early, or the capture could "
                       "not be written");
    return 0;
}

int link_check(const struct link *l, struct err *e)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == 0)
        return 0;
    return err_set(e, ERR_FAILED, "--link: its process is gone");
}

int link_enter(const struct link *l, enum link_end end, struct err *e)
{
    if (setns(l->space_fd[end], CLONE_NEWNET) != 0)
        return err_set_errno(e, "--link: enter the %s's namespace",
                             end == LINK_CLIENT ? "client" : "server");
    return 0;
}

const char *link_host(enum link_end end)
{
    return end == LINK_CLIENT ? LINK_CLIENT_HOST : LINK_SERVER_HOST;
}

const struct link_spec *link_get_spec(const struct link *l)
{
    return &l->spec;
}

void link_read_counters(const struct link *l, struct link_counters out[LINK_WAYS])
{
    memcpy(out, l->shared->counters, sizeof(l->shared->counters));
}

uint64_t link_late_ns(const struct link_counters *c, double q)
{
    uint64_t all = 0, seen = 0;
    for (unsigned i = 0; i < LINK_LATE_BUCKETS; i++)
        all += c->late[i];
    for (unsigned i = 0; i < LINK_LATE_BUCKETS && all > 0; i++) {
        seen += c->late[i];
        if ((double)seen >= q * (double)all)
            return (uint64_t)1000 << i;
    }
    return 0;
}

void link_read_flow(const struct link *l, unsigned client_port, struct link_flow *out)
{
    *out = l->shared->flows.flow[client_port % LINK_FLOWS];
}

int link_probe(bool is_netem, struct err *e)
{
    struct link_spec plain = {
        .way = {{.burst_packets = 1, .queue_packets = 1},
                {.burst_packets = 1, .queue_packets = 1}},
        .mtu_bytes = 1500,
        .cc = "reno", /* the one that every kernel has */
        .is_netem = is_netem,
    };
    int pair[2], status;
    struct err answer = ERR_INIT;
    if (pipe2(pair, O_CLOEXEC) != 0)
        return err_set_errno(e, "pipe");
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        const struct link_options options = {.spec = &plain};
        struct link *l = link_open(&options, &answer);
        (void)link_close(l, NULL);
        _exit(write(pair[1], &answer, sizeof(answer)) == (ssize_t)sizeof(answer) ? 0 : 1);
    }
    close(pair[1]);
    const ssize_t n = pid > 0 ? read(pair[0], &answer, sizeof(answer)) : -1;
    close(pair[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    if (n != (ssize_t)sizeof(answer))
        return err_set(e, ERR_FAILED, "--link: it could not be tried");
    if (answer.kind == ERR_NONE)
        return 0;
    if (e != NULL)
        *e = answer;
    return -1;
}
