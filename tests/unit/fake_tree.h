/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_tree.h - a directory that stands in for the root of another machine.
 *
 * Shape: tree_make fills `root` with a new temporary directory; tree_write adds a file with
 *   the directories above it; tree_remove takes it all away.  Every failure ends the test.
 */
#ifndef UNIT_FAKE_TREE_H
#define UNIT_FAKE_TREE_H

#include "cmocka_all.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tree {
    char root[64];
};

static inline void tree_make(struct tree *t)
{
    const char *base = getenv("TMPDIR");
    snprintf(t->root, sizeof t->root, "%.40s/pqcXXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(t->root));
}

static inline void tree_write(const struct tree *t, const char *path, const char *text)
{
    char full[4096];
    snprintf(full, sizeof full, "%s%s", t->root, path);
    for (char *p = full + strlen(t->root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline int tree_remove_entry(const char *path, const struct stat *s, int type,
                                    struct FTW *where)
{
    (void)s;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void tree_remove(const struct tree *t)
{
    nftw(t->root, tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
