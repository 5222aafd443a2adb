/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/results.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/text.h"
#include "cli/outfile.h"
#include "cli/result_file.h"

#define NAME "result.json"

static bool is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool is_there(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

static int read_one(struct results_side *side, const char *path, struct err *e)
{
    if (side->runs >= RESULTS_RUNS_MAX)
        return err_set(e, ERR_USAGE, "'%.300s': more than %u results", side->name,
                       RESULTS_RUNS_MAX);
    struct result *result = result_file_read(path, e);
    if (result == NULL)
        return -1;
    side->file[side->runs] = mem_copy_string(path);
    side->run[side->runs++] = result;
    return 0;
}

/* Directories in it that hold a result, in the order of their names. */
static int read_below(struct results_side *side, const char *directory, struct err *e)
{
    struct dirent **entry = NULL;
    const int count = scandir(directory, &entry, NULL, alphasort);
    const size_t before = side->runs;
    int failed = count < 0 ? err_set_errno(e, "%s", directory) : 0;
    for (int i = 0; i < count; i++) {
        char *below = outfile_join(directory, entry[i]->d_name);
        char *file = outfile_join(below, NAME);
        if (failed == 0 && entry[i]->d_name[0] != '.' && is_there(file))
            failed = read_one(side, file, e);
        free(file);
        free(below);
        free(entry[i]);
    }
    free(entry);
    if (failed == 0 && side->runs == before)
        return err_set(e, ERR_USAGE, "%s: holds neither a " NAME " nor directories with one",
                       directory);
    return failed;
}

static int read_path(struct results_side *side, const char *path, struct err *e)
{
    char *file = outfile_join(path, NAME);
    const bool is_many = is_directory(path) && !is_there(file);
    free(file);
    return is_many ? read_below(side, path, e) : read_one(side, path, e);
}

int results_read(struct results *r, const char *word, struct err *e)
{
    assert(r->sides < RESULTS_SIDES_MAX);
    struct results_side *side = &r->side[r->sides++];
    *side = (struct results_side){.name = mem_copy_string(word)};
    if (strchr(word, ',') == NULL || is_there(word))
        return read_path(side, word, e);
    char *words = mem_copy_string(word);
    int failed = 0;
    for (char *at = words; at != NULL && failed == 0;) {
        char *path = strsep(&at, ",");
        failed = path[0] == '\0'
                     ? err_set(e, ERR_USAGE, "'%.300s': nothing between two commas", word)
                     : read_path(side, path, e);
    }
    free(words);
    return failed;
}

void results_free(struct results *r)
{
    for (size_t i = 0; i < r->sides; i++) {
        struct results_side *side = &r->side[i];
        for (size_t k = 0; k < side->runs; k++) {
            result_free(side->run[k]);
            free(side->file[k]);
        }
        free(side->name);
    }
    *r = (struct results){0};
}
