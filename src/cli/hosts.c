/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hosts.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/text.h"

static bool is_there(const struct hosts *hosts, const char *text)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (text_same_name(hosts->target[i].text, text))
            return true;
    return false;
}

int hosts_add(struct hosts *hosts, const char *text, unsigned default_port, struct err *e)
{
    struct probe_target target = {.text = NULL};
    if (address_parse(text, ADDRESS_CONNECT, default_port, &target.name, e) != 0)
        return -1;
    if (is_there(hosts, text))
        return 0;
    if (hosts->count == HOSTS_MAX)
        return err_set(e, ERR_USAGE, "'%s': more than %u servers", text, HOSTS_MAX);
    if ((hosts->count & (hosts->count - 1)) == 0)
        hosts->target = mem_resize(hosts->target, hosts->count == 0 ? 1 : 2 * hosts->count,
                                   sizeof *hosts->target);
    target.text = mem_copy_string(text);
    hosts->target[hosts->count++] = target;
    return 0;
}

static char *trim(char *line)
{
    line[strcspn(line, "#")] = '\0';
    while (isspace((unsigned char)*line))
        line++;
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    return line;
}

static int add_lines(struct hosts *hosts, char *content, const char *path,
                     unsigned default_port, struct err *e)
{
    size_t number = 1;
    for (char *at = content; *at != '\0'; number++) {
        char *end = at + strcspn(at, "\n");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        const char *word = trim(at);
        if (word[0] != '\0' && hosts_add(hosts, word, default_port, e) != 0)
            return err_add_context(e, "%s: line %zu", path, number);
        at = next;
    }
    return 0;
}

int hosts_add_file(struct hosts *hosts, const char *path, unsigned default_port, struct err *e)
{
    const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (access(file, R_OK) != 0)
        return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
    char *content = file_read_text("", file, HOSTS_FILE_BYTES_MAX);
    if (content == NULL)
        return err_set(e, ERR_USAGE, "%s: not a file of at most %u bytes", path,
                       HOSTS_FILE_BYTES_MAX);
    size_t before = hosts->count;
    int failed = add_lines(hosts, content, path, default_port, e);
    free(content);
    if (failed == 0 && hosts->count == 0 && before == 0)
        return err_set(e, ERR_USAGE, "%s: no server in it; one HOST[:PORT] a line", path);
    return failed;
}

void hosts_free(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        free((char *)hosts->target[i].text);
        free(hosts->target[i].predicted_groups);
        free(hosts->target[i].prediction);
    }
    free(hosts->target);
    *hosts = (struct hosts){0};
}
