/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inifile.h - an INI text as sections and keys with their line numbers, read strictly.
 *
 * Layer: cli.
 * Shape: [section], key = value, comment lines that begin with '#' or ';', empty lines.
 *   What INI readers disagree about is refused, so that a file means one thing whichever
 *   way the parser was built: a value that goes on in an indented line, a comment behind a
 *   value, "key: value", a line longer than INIFILE_LINE_MAX, a section longer than
 *   INIFILE_SECTION_MAX or a key longer than INIFILE_KEY_MAX, a key before the first section, a
 *   section given twice, control characters and what is no UTF-8.
 * Errors: "NAME:LINE: what is wrong".
 * Threads: one owner each.
 */
#ifndef CLI_INIFILE_H
#define CLI_INIFILE_H

#include <stddef.h>
#include "base/err.h"

#define INIFILE_LINE_MAX 190u
#define INIFILE_SECTION_MAX 48u
#define INIFILE_KEY_MAX 40u
#define INIFILE_TEXT_MAX (256u << 10)

struct inifile_entry {
    char *key, *value; /* blanks around them left out */
    unsigned line;
};
struct inifile_section {
    char *name; /* blanks within made single */
    unsigned line;
    size_t entries;
    struct inifile_entry *entry;
};
struct inifile {
    char *name; /* of the file, for messages */
    size_t sections;
    struct inifile_section *section;
};

/* A key may stand twice in a section here: whether it may is the reader's business. */
int inifile_parse(const char *text, size_t length, const char *name, struct inifile *out,
                  struct err *e) __attribute__((warn_unused_result));

/* The same from a file, "-" for standard input. */
int inifile_read(const char *path, struct inifile *out, struct err *e)
    __attribute__((warn_unused_result));

void inifile_free(struct inifile *document);

#endif
