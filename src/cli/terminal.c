/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/terminal.h"

void terminal_guard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

bool terminal_is(int fd)
{
    return isatty(fd) == 1;
}

unsigned terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < 40 ? 40 : size.ws_col;
}

bool terminal_has_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool is_utf8 = text_same_name(nl_langinfo_l(CODESET, locale), "UTF-8");
    freelocale(locale);
    return is_utf8;
}

bool terminal_has_colours(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color)
        return false;
    return terminal_is(fd) && term && strcmp(term, "dumb") != 0;
}
