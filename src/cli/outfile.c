/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/outfile.h"
#include "report/files.h"

bool outfile_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

char *outfile_join(const char *directory, const char *name)
{
    struct text path = {0};
    size_t length = strlen(directory);
    text_addf(&path, "%s%s%s", directory, length > 0 && directory[length - 1] == '/' ? "" : "/",
              name);
    return text_take(&path);
}

static bool is_special(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

bool outfile_is_stream(const char *path)
{
    return outfile_is_stdout(path) || is_special(path);
}

/* A name beside the file that the path leads to. */
static char *temporary_path(const char *target)
{
    struct text path = {0};
    const char *slash = strrchr(target, '/');
    size_t directory = slash ? (size_t)(slash - target) + 1 : 0;
    text_add_bytes(&path, target, directory);
    text_addf(&path, ".%s.%ld", target + directory, (long)getpid());
    return text_take(&path);
}

/* The file itself where the path is a symbolic link. */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : mem_copy_string(path);
}

int outfile_probe(const char *path, struct err *e)
{
    struct stat facts;
    if (outfile_is_stdout(path))
        return 0;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        return err_set_errno(e, "%s", path);
    }
    if (is_special(path))
        return access(path, W_OK) == 0 ? 0 : err_set_errno(e, "%s", path);
    char *target = resolve(path), *temporary = temporary_path(target);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int failed = fd < 0 ? err_set_errno(e, "%s", path) : 0;
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    free(target);
    return failed;
}

static int write_special(const char *path, const struct text *content, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(e, "%s", path);
    int failed = report_write_fd(fd, content, e);
    close(fd);
    return failed ? err_add_context(e, "%s", path) : 0;
}

int outfile_write(const char *path, const struct text *content, struct err *e)
{
    if (outfile_is_stdout(path)) {
        fwrite(text_str(content), 1, content->length, stdout); /* main asks how it went */
        return 0;
    }
    if (is_special(path))
        return write_special(path, content, e);
    char *target = resolve(path);
    int failed = report_write_file(target, content, e);
    free(target);
    return failed;
}

static int make_one(const char *path)
{
    struct stat facts;
    if (mkdir(path, 0777) == 0)
        return 0;
    int why = errno;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return 0;
    errno = why == EEXIST ? ENOTDIR : why;
    return -1;
}

int outfile_make_directory(const char *path, struct err *e)
{
    char *part = mem_copy_string(path);
    int failed = 0;
    for (char *at = part; !failed && *at; at++) {
        if (*at != '/' || at == part)
            continue;
        *at = '\0';
        failed = make_one(part);
        *at = '/';
    }
    if (!failed)
        failed = make_one(part);
    if (failed)
        err_set_errno(e, "%s", path);
    free(part);
    return failed ? -1 : 0;
}
