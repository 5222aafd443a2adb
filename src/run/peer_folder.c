/* SPDX-License-Identifier: Apache-2.0 */
#include "run/peer_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (PEER_FOLDER_BYTES + 256u)
#define BLOCK_BYTES 65536u
#define PLAIN_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"

int peer_folder_make(struct peer_folder *f, struct err *e)
{
    const char *parent = getenv("TMPDIR");
    char path[PEER_FOLDER_BYTES];
    if (parent == NULL || parent[0] != '/' || strlen(parent) > PEER_FOLDER_BYTES / 2 ||
        parent[strspn(parent, PLAIN_CHARACTERS)] != '\0')
        parent = "/tmp";
    snprintf(path, sizeof path, "%s/pqc-bench.XXXXXX", parent);
    if (mkdtemp(path) == NULL)
        return err_set_errno(e, "%s", path);
    memcpy(f->path, path, sizeof path);
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

void peer_folder_remove(struct peer_folder *f)
{
    if (f->path[0] != '\0')
        (void)nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    f->path[0] = '\0';
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

/* The block again and again. */
static int write_file(const struct peer_folder *f, const char *name, const char *block,
                      uint64_t bytes, struct err *e)
{
    char path[PATH_BYTES];
    const uint64_t length = strlen(block);
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int failed = fd < 0 ? -1 : 0;
    for (uint64_t at = 0; failed == 0 && at < bytes; at += length)
        failed =
            write_all(fd, block, bytes - at < length ? (size_t)(bytes - at) : (size_t)length);
    if (failed != 0)
        (void)err_set_errno(e, "%s", path);
    if (fd >= 0)
        close(fd);
    return failed;
}

int peer_folder_write(const struct peer_folder *f, const char *name, const char *text,
                      struct err *e)
{
    return write_file(f, name, text, strlen(text), e);
}

int peer_folder_fill(const struct peer_folder *f, const char *name, uint64_t bytes,
                     struct err *e)
{
    char block[BLOCK_BYTES + 1];
    memset(block, 'x', BLOCK_BYTES);
    block[BLOCK_BYTES] = '\0';
    return write_file(f, name, block, bytes, e);
}

int peer_folder_add(const struct peer_folder *f, const char *name, struct err *e)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return mkdir(path, 0700) == 0 ? 0 : err_set_errno(e, "%s", path);
}
