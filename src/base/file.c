/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/text.h"

#define CHUNK_BYTES 4096

/* Append all of fd to t; false on an error or beyond the limit. */
static bool read_all(int fd, size_t limit, struct text *t)
{
    char chunk[CHUNK_BYTES];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (t->length + (size_t)n > limit)
            return false;
        text_add_bytes(t, chunk, (size_t)n);
    }
}

char *file_read_text(const char *root, const char *path, size_t limit)
{
    char full[PATH_MAX];
    struct text t = {0};
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full)
        return NULL;
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool is_whole = read_all(fd, limit, &t);
    close(fd);
    if (!is_whole) {
        text_free(&t);
        return NULL;
    }
    return text_take(&t);
}

bool file_read_line(const char *root, const char *path, char *buf, size_t size)
{
    char *text = file_read_text(root, path, CHUNK_BYTES);
    size_t length = text ? strcspn(text, "\n") : size;
    bool fits = length < size;
    if (fits)
        memcpy(buf, text, length);
    buf[fits ? length : 0] = '\0';
    free(text);
    return fits;
}

const char *file_scan_u64(const char *p, uint64_t *out)
{
    uint64_t value = 0;
    if (!p)
        return NULL;
    p += strspn(p, " \t");
    const char *start = p;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return NULL;
    if (p == start)
        return NULL;
    *out = value;
    return p;
}

bool file_read_u64(const char *root, const char *path, uint64_t *out)
{
    char line[64];
    uint64_t value;
    if (!file_read_line(root, path, line, sizeof line))
        return false;
    const char *end = file_scan_u64(line, &value);
    if (!end || *end)
        return false;
    *out = value;
    return true;
}

/* What stands behind the key at the start of a line, NULL where no line has it. */
static const char *find_key(const char *text, const char *key)
{
    size_t length = strlen(key);
    while (strncmp(text, key, length) != 0) {
        text = strchr(text, '\n');
        if (!text)
            return NULL;
        text++;
    }
    return text + length;
}

/* The same in the lines below the one that p is in. */
static const char *find_key_below(const char *p, const char *key)
{
    p = strchr(p, '\n');
    return p ? find_key(p + 1, key) : NULL;
}

bool file_find_u64(const char *text, const char *key, uint64_t *out)
{
    const char *p = find_key(text, key);
    /* "throttled" is not "throttled_usec": a colon or a blank ends the key. */
    while (p && *p != ':' && *p != ' ' && *p != '\t')
        p = find_key_below(p, key);
    if (!p)
        return false;
    return file_scan_u64(p + strspn(p, ": \t"), out) != NULL;
}

bool file_find_text(const char *text, const char *key, char separator, char *buf, size_t size)
{
    buf[0] = '\0';
    for (const char *p = find_key(text, key); p; p = find_key_below(p, key)) {
        p += strspn(p, " \t");
        if (*p != separator)
            continue;
        p += 1 + strspn(p + 1, " \t\"'");
        size_t length = strcspn(p, "\n");
        while (length > 0 && strchr(" \t\"'", p[length - 1]))
            length--;
        snprintf(buf, size, "%.*s", (int)length, p);
        return length > 0;
    }
    return false;
}
