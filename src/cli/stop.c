/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdio.h>
#include "cli/stop.h"

static volatile sig_atomic_t stop_signal;

static const struct {
    int number;
    const char *name;
} watched[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

static void note_signal(int number)
{
    if (stop_signal != 0) {
        signal(number, SIG_DFL); /* takes effect when this handler returns */
        raise(number);
        return;
    }
    stop_signal = number;
}

void stop_install(void)
{
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
        struct sigaction old, new = {.sa_handler = note_signal};
        sigemptyset(&new.sa_mask);
        if (sigaction(watched[i].number, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigaction(watched[i].number, &new, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

const volatile sig_atomic_t *stop_flag(void)
{
    return &stop_signal;
}

const char *stop_signal_name(int number, char *buf, unsigned size)
{
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        if (watched[i].number == number)
            return watched[i].name;
    snprintf(buf, size, "signal %d", number);
    return buf;
}

void stop_end_by_signal(int number)
{
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}
