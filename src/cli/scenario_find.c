/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scenario_find.h"
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/outfile.h"

#define SUFFIX ".ini"

/* From the program's directory: where it was built, and where it was installed. */
static const char *const places[] = {"../scenarios", SCENARIOS_FROM_PROGRAM};
#define PLACES (sizeof places / sizeof places[0])

static char *place_directory(size_t place)
{
    char *program = build_program_directory();
    char *directory = program ? outfile_join(program, places[place]) : NULL;
    free(program);
    return directory;
}

static char *find_in(size_t place, const char *name)
{
    char *directory = place_directory(place);
    if (!directory)
        return NULL;
    struct text file = {0};
    text_addf(&file, "%s/%s%s", directory, name, SUFFIX);
    free(directory);
    if (access(text_str(&file), R_OK) == 0)
        return text_take(&file);
    text_free(&file);
    return NULL;
}

static int is_scenario(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > strlen(SUFFIX) && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* ", one-process, quick"; of the first place that has any. */
static void add_known(struct text *out)
{
    for (size_t place = 0; place < PLACES && out->length == 0; place++) {
        struct dirent **entries = NULL;
        char *directory = place_directory(place);
        int count = directory ? scandir(directory, &entries, is_scenario, alphasort) : -1;
        for (int i = 0; i < count; i++) {
            size_t length = strlen(entries[i]->d_name) - strlen(SUFFIX);
            text_addf(out, "%s%.*s", i > 0 ? ", " : "", (int)length, entries[i]->d_name);
            free(entries[i]);
        }
        free(entries);
        free(directory);
    }
}

char *scenario_find(const char *typed, struct err *e)
{
    if (strcmp(typed, "-") == 0 || access(typed, F_OK) == 0)
        return mem_copy_string(typed);
    bool is_name = *typed && !strchr(typed, '/');
    for (size_t place = 0; is_name && place < PLACES; place++) {
        char *path = find_in(place, typed);
        if (path)
            return path;
    }
    struct text known = {0};
    add_known(&known);
    err_set(e, ERR_USAGE, "%s: no such scenario file%s%s", typed,
            known.length > 0 ? "; those that come with pqc-bench are " : "", text_str(&known));
    text_free(&known);
    return NULL;
}

char *scenario_name(const char *path)
{
    struct text out = {0};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0)
        length -= strlen(SUFFIX);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        text_add_bytes(&out, isalnum(c) || strchr("._+", c) ? &name[i] : "-", 1);
    }
    if (out.length == 0 || out.data[0] == '-' || out.data[0] == '.')
        text_add(&out, "scenario");
    return text_take(&out);
}
