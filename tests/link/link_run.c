/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_run - two commands, one at each end of an emulated link.
 *
 * Usage: link_run SPEC CLIENT-COMMAND [SERVER-COMMAND]
 *
 * Both go to the shell; CLIENT and SERVER in their environment are the ends' addresses.  The
 * server's command is started first and is killed when the client's has ended.  Prints the
 * link's counters on standard error, one way a line.  Exit status: the client's; 77 where
 * this machine can make no links, with the reason.  SEED and CAPTURE in the environment.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/units.h"
#include "net/link.h"

static pid_t start(const struct link *link, enum link_end end, const char *command)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct err e = ERR_INIT;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (link_enter(link, end, &e) != 0) {
        fprintf(stderr, "link_run: %s\n", e.text);
        _exit(126);
    }
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void print_counters(const struct link *link)
{
    struct link_counters c[LINK_WAYS];
    link_read_counters(link, c);
    for (unsigned i = 0; i < LINK_WAYS; i++)
        fprintf(stderr,
                "%s packets=%" PRIu64 " bytes=%" PRIu64 " delivered=%" PRIu64 " lost=%" PRIu64
                " queue_full=%" PRIu64 " overflow=%" PRIu64 " late_p99_ns=%" PRIu64
                " late_max_ns=%" PRIu64 "\n",
                link_way_name((enum link_way)i), c[i].packets, c[i].bytes, c[i].delivered,
                c[i].lost, c[i].queue_full, c[i].overflow, link_late_ns(&c[i], 0.99),
                c[i].late_max_ns);
}

static int run(const struct link *link, char **argv, int argc)
{
    int status = 0;
    setenv("CLIENT", link_host(LINK_CLIENT), 1);
    setenv("SERVER", link_host(LINK_SERVER), 1);
    const pid_t server = argc > 3 ? start(link, LINK_SERVER, argv[3]) : 0;
    const pid_t client = start(link, LINK_CLIENT, argv[2]);
    waitpid(client, &status, 0);
    if (server > 0) {
        kill(-server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    print_counters(link);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    struct link_spec spec;
    struct err e = ERR_INIT;
    uint64_t seed = 1;
    const char *text = getenv("SEED");
    if (argc < 3 || (text != NULL && units_parse_count(text, 0, UINT64_MAX, &seed, &e) != 0) ||
        link_spec_parse(argv[1], &spec, &e) != 0) {
        fprintf(stderr, "link_run: %s\n", argc < 3 ? "SPEC COMMAND [COMMAND]" : e.text);
        return 2;
    }
    const struct link_options options = {
        .spec = &spec, .seed = seed, .capture = getenv("CAPTURE")};
    struct link *link = link_open(&options, &e);
    if (link == NULL) {
        fprintf(stderr, "link_run: %s\n", e.text);
        return e.kind == ERR_UNSUPPORTED ? 77 : 1;
    }
    int status = run(link, argv, argc);
    if (link_close(link, &e) != 0) {
        fprintf(stderr, "link_run: %s\n", e.text);
        status = 1;
    }
    return status;
}
