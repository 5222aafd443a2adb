/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over every file of the folders (or the files) given, in order of
 * name, and prints how many there were.  A folder without files is a mistake: exit 1. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fuzz_target.h"

/* The whole file, in memory that ends where it ends, so that ASan sees a read behind it. */
static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    const long end = ftell(file);
    rewind(file);
    uint8_t *data = malloc(end > 0 ? (size_t)end : 1);
    if (data == NULL || end < 0) {
        perror(path);
        exit(1);
    }
    *size = fread(data, 1, (size_t)end, file);
    fclose(file);
    return data;
}

static unsigned replay_file(const char *path)
{
    size_t size;
    uint8_t *data = read_whole(path, &size);
    printf("%s (%zu bytes)\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static unsigned replay_folder(const char *path)
{
    struct dirent **entries;
    unsigned files = 0;
    const int n = scandir(path, &entries, is_visible, alphasort);
    if (n < 0) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        files += replay_file(file);
        free(entries[i]);
    }
    free(entries);
    return files;
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++) {
        struct stat facts;
        if (stat(argv[i], &facts) != 0) {
            perror(argv[i]);
            return 1;
        }
        files += S_ISDIR(facts.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    printf("%u files\n", files);
    return files == 0;
}
