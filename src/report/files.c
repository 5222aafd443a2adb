/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "report/format.h"

#define TEMPORARY_TRIES 100u
#define FILE_MODE 0666

int report_write_fd(int fd, const struct text *content, struct err *e)
{
    const char *data = text_str(content);
    for (size_t done = 0; done < content->length;) {
        const ssize_t n = write(fd, data + done, content->length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(e, "cannot write");
        done += (size_t)n;
    }
    return 0;
}

/* A new file beside path, open for writing; its name, which the caller frees, in *name. */
static int open_beside(const char *path, char **name, struct err *e)
{
    for (unsigned i = 0; i < TEMPORARY_TRIES; i++) {
        struct text candidate = {0};
        text_addf(&candidate, "%s.%ld-%u.tmp", path, (long)getpid(), i);
        *name = text_take(&candidate);
        const int fd =
            open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        if (fd >= 0)
            return fd;
        const int reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST)
            break;
    }
    return err_set_errno(e, "%s", path);
}

static int write_synced(int fd, const char *path, const struct text *content, struct err *e)
{
    if (report_write_fd(fd, content, e) != 0)
        return err_add_context(e, "%s", path);
    /* EINVAL: a file system without sync is still written. */
    if (fsync(fd) != 0 && errno != EINVAL)
        return err_set_errno(e, "%s: cannot sync", path);
    return 0;
}

/* The rename itself survives a power cut only once its directory is synced; where that is
 * not possible nothing is lost but this. */
static void sync_directory(const char *path)
{
    char *copy = mem_copy_string(path);
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

int report_write_file(const char *path, const struct text *content, struct err *e)
{
    char *name = NULL;
    int status = -1;
    const int fd = open_beside(path, &name, e);
    if (fd < 0)
        return -1;
    assert(name != NULL);
    if (write_synced(fd, path, content, e) != 0) {
        close(fd);
        goto out;
    }
    if (close(fd) != 0) {
        err_set_errno(e, "%s", path);
        goto out;
    }
    if (rename(name, path) != 0) {
        err_set_errno(e, "%s", path);
        goto out;
    }
    sync_directory(path);
    status = 0;
out:
    if (status != 0)
        unlink(name);
    free(name);
    return status;
}

int report_probe_directory(const char *directory, struct err *e)
{
    struct stat facts;
    struct text probe = {0};
    char *name = NULL;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return err_set_errno(e, "%s: cannot make the directory", directory);
    if (stat(directory, &facts) != 0)
        return err_set_errno(e, "%s", directory);
    if (!S_ISDIR(facts.st_mode)) {
        errno = ENOTDIR;
        return err_set_errno(e, "%s", directory);
    }
    text_addf(&probe, "%s/probe", directory);
    const int fd = open_beside(text_str(&probe), &name, e);
    text_free(&probe);
    if (fd < 0)
        return -1;
    close(fd);
    unlink(name);
    free(name);
    return 0;
}

int report_write_all(const struct result *r, const char *directory, struct err *e)
{
    const struct report_options options = {
        .columns = 100, .has_colour = false, .has_utf8 = true, .is_detailed = true};
    for (unsigned i = 0; i < REPORT_FORMATS; i++) {
        const struct report_format *format = report_format_of((enum report_format_id)i);
        struct text path = {0}, content = {0};
        if (format->file == NULL)
            continue;
        text_addf(&path, "%s/%s", directory, format->file);
        format->add(r, &content, &options);
        const int status = report_write_file(text_str(&path), &content, e);
        text_free(&path);
        text_free(&content);
        if (status != 0)
            return -1;
    }
    return 0;
}
