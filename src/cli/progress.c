/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#define SHOW_EVERY_NS 200000000u

void progress_init(struct progress *p, const char *title, bool is_wanted)
{
    *p = (struct progress){.title = title, .is_on = is_wanted && terminal_is(STDERR_FILENO)};
}

static void format_left(double left_s, char *buf, size_t size)
{
    unsigned long seconds = left_s < 1e6 ? (unsigned long)ceil(left_s) : 1000000;
    if (seconds < 100)
        snprintf(buf, size, ", %lu s left", seconds);
    else
        snprintf(buf, size, ", %lu min left", (seconds + 59) / 60);
}

char *progress_line(const struct progress *p, const char *step, double done, double left_s,
                    char *buf, size_t size)
{
    char percent[16] = "", left[40] = "";
    if (done >= 0 && done <= 1)
        snprintf(percent, sizeof percent, ", %d %%", (int)(done * 100));
    if (left_s >= 0)
        format_left(left_s, left, sizeof left);
    snprintf(buf, size, "%s: %s%s%s", p->title, step, percent, left);
    return buf;
}

/* Shorter than the line before: blanks wipe what is left of it. */
static void write_line(struct progress *p, const char *line)
{
    size_t limit = terminal_columns(STDERR_FILENO) - 1, length = strlen(line);
    if (length > limit)
        length = limit;
    size_t wipe = p->columns > length ? p->columns - length : 0;
    fprintf(stderr, "\r%.*s%*s", (int)length, line, (int)wipe, "");
    if (wipe > 0)
        fprintf(stderr, "\r%.*s", (int)length, line);
    fflush(stderr);
    p->columns = length;
}

static void report(void *arg, const char *step, double done, double left_s)
{
    struct progress *p = arg;
    uint64_t now = clock_now_ns();
    if (p->shown_ns != 0 && now - p->shown_ns < SHOW_EVERY_NS)
        return;
    char line[256];
    write_line(p, progress_line(p, step, done, left_s, line, sizeof line));
    p->shown_ns = now;
}

void progress_end(struct progress *p)
{
    if (p->columns == 0)
        return;
    write_line(p, "");
    fputc('\r', stderr);
    fflush(stderr);
}

struct run_progress progress_hook(struct progress *p)
{
    return (struct run_progress){.report = p->is_on ? report : NULL, .arg = p};
}
