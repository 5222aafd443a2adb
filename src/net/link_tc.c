/* SPDX-License-Identifier: Apache-2.0 */
#include "net/link_tc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/text.h"

#define WORDS_MAX 62u
#define SAID_MAX 400u
#define NO_PROGRAM 127

/* In a user namespace an ordinary user's rights end with exec, unless they are ambient. */
static void keep_rights(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof(data));
    if (syscall(SYS_capget, &head, data) != 0)
        return;
    data[0].inheritable |= data[0].permitted & 1u << CAP_NET_ADMIN;
    if (syscall(SYS_capset, &head, data) == 0)
        (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0);
}

static void be_tc(char *const words[], int said_fd)
{
    char name[] = "tc", *all[WORDS_MAX + 2] = {name};
    for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
        all[i + 1] = words[i];
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(said_fd, STDOUT_FILENO) < 0 ||
        dup2(said_fd, STDERR_FILENO) < 0)
        _exit(1);
    keep_rights();
    execvp(name, all);
    execv("/usr/sbin/tc", all);
    execv("/sbin/tc", all);
    _exit(NO_PROGRAM);
}

/* All that it says, up to the room; what is more is read and left. */
static void listen_to(int fd, char said[SAID_MAX])
{
    char rest[256];
    size_t length = 0;
    ssize_t n;
    do {
        const bool has_room = length < SAID_MAX - 1;
        n = read(fd, has_room ? said + length : rest,
                 has_room ? SAID_MAX - 1 - length : sizeof(rest));
        if (n > 0 && has_room)
            length += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    said[length] = '\0';
}

#define WANTS_KERNEL                                                                 \
    "; it needs a kernel with sch_netem (CONFIG_NET_SCH_NETEM, modprobe "            \
    "sch_netem); without the word netem this program's own emulator is used, which " \
    "needs neither"

/* "Specified qdisc kind is unknown" now, "No such file or directory" before Linux 4.16. */
static bool is_about_kernel(const char *said)
{
    return strstr(said, "unknown") != NULL || strstr(said, "No such file") != NULL;
}

static int refuse(int status, char *said, struct err *e)
{
    struct text shown = {0};
    said[strcspn(said, "\n")] = '\0';
    text_add_harmless(&shown, said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
        err_set(
            e, ERR_UNSUPPORTED,
            "netem: no program tc (package iproute2); without the word netem this program's "
            "own emulator is used, which needs neither");
    else
        err_set(e, ERR_UNSUPPORTED, "netem: tc says: %.200s%s",
                shown.length > 0 ? text_str(&shown) : "nothing, but failed",
                is_about_kernel(said) ? WANTS_KERNEL : "");
    text_free(&shown);
    return -1;
}

int link_tc_run(char *const words[], struct err *e)
{
    char said[SAID_MAX];
    int pair[2], status = 0;
    if (pipe2(pair, O_CLOEXEC) != 0)
        return err_set_errno(e, "netem: a pipe");
    const pid_t pid = fork();
    if (pid == 0)
        be_tc(words, pair[1]);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return err_set_errno(e, "netem: fork");
    }
    listen_to(pair[0], said);
    close(pair[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : refuse(status, said, e);
}
